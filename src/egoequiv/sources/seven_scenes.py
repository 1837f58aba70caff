"""7-Scenes: sequences of a hand-held camera, a matrix for each frame, and no times."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.pose.camera import Lens
from egoequiv.remarks import Remark
from egoequiv.sources.lenses import lens_or_note, matrix_in, matrix_lens
from egoequiv.sources.logged import LoggedRecording
from egoequiv.sources.posed_pictures import posed_pictures
from egoequiv.sources.recording import Listed, Source
from egoequiv.sources.sequences import folders_with, is_in, join, name_of, read_each, tree_at
from egoequiv.sources.trajectories import decode
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]

_FRAME = re.compile(r"frame-([0-9]{1,9})\.(color\.(?:png|jpe?g)|pose\.txt)", re.IGNORECASE)
_PARTS = {"train": "TrainSplit.txt", "test": "TestSplit.txt"}
_KINECT_HZ = 30.0
_LENS = "camera-intrinsics.txt"
_LENS_SIZE = (480, 640)  # height and width of the pictures that it is for, by convention


def seven_scenes(path: Path, *, rate_hz: float = _KINECT_HZ) -> Source:
    """Read 7-Scenes: `seq-01/frame-000000.color.png` and `.pose.txt`, 4 x 4 from camera to world.

    Args:
        path: a sequence, a scene with its sequences and split files, a folder of scenes, or a zip archive.
        rate_hz: of the camera; times are the number of the frame divided by it, because the data has none.

    """
    path = Path(path)
    if not 0 < rate_hz < 1e6:
        raise ConfigError(f"rate_hz must be above 0, found {rate_hz:g}")
    tree = tree_at(path)
    notes: list[str] = [
        Remark(f"7-Scenes has no times: they are frame numbers at {rate_hz:g} Hz, the rate of its camera")
    ]
    folders = folders_with(tree, _is_sequence)
    if not folders:
        packed = [name for name in tree.files("") if re.fullmatch(r"seq-[0-9]+\.zip", name)]
        hint = f"unpack {packed[0]} and the others first" if packed else "expected 7-Scenes sequences"
        raise DataError(f"{path} has no frame-000000.color.png and frame-000000.pose.txt: {hint}")
    parts = {scene: _read_parts(tree, scene) for scene in {folder.rpartition("/")[0] for folder in folders if folder}}

    def sequence(folder: str) -> LoggedRecording:
        scene, _, last = folder.rpartition("/")
        number = re.search(r"[0-9]+$", last)
        part = parts.get(scene, {}).get(int(number[0])) if number else None
        attributes = {"world": scene or "."} | ({"part": part} if part else {})  # the sequences of a scene have one map
        return _sequence(tree, folder, name_of(path, folder), rate_hz, attributes, notes)

    recordings = read_each(folders, sequence, notes)
    lacking = [recording.name for recording in recordings if "part" not in recording.attributes]
    if lacking and len(lacking) < len(recordings):
        notes.append(f"in neither TrainSplit.txt nor TestSplit.txt, so without a part: {', '.join(lacking)}")
    return Source(
        "seven-scenes",
        SE3Space(),
        recordings,
        {"path": str(path), "rate_hz": rate_hz},
        pose_names=CAMERA_POSES,
        notes=tuple(notes),
        listed=tuple(Listed("camera", r.name, f"{plural(len(r), 'frame')} with a pose") for r in recordings),
        convention="a 4 x 4 matrix for each frame, metres, camera to world, camera axes opencv; times are frame "
        f"numbers at {rate_hz:g} Hz",
    )


def _is_sequence(tree: Tree, folder: str) -> bool:
    return any(_FRAME.fullmatch(name) for name in tree.files(folder)[:1000])


def _read_parts(tree: Tree, scene: str) -> dict[int, str]:
    """The part of each sequence number, from rows such as `sequence3`."""
    names = tree.files(scene)
    return {
        int(number): part
        for part, file in _PARTS.items()
        if file in names
        for number in re.findall(r"(?i)seq(?:uence)?[-_ ]?([0-9]{1,6})", decode(tree.read(join(scene, file))))
    }


def _sequence(
    tree: Tree, folder: str, name: str, rate_hz: float, attributes: dict[str, str], notes: list[str]
) -> LoggedRecording:
    pictures: dict[int, str] = {}
    poses: dict[int, str] = {}
    for file in tree.files(folder):
        if found := _FRAME.fullmatch(file):
            (poses if found[2].lower() == "pose.txt" else pictures).setdefault(int(found[1]), file)
    lone = sorted(poses.keys() ^ pictures.keys())
    if lone:
        alone = "a picture or a pose alone and"
        left = plural(len(lone), f"frame has {alone} is", f"frames have {alone} are")
        notes.append(f"{name}: {left} left out, first {lone[0]}")
    numbers = sorted(poses.keys() & pictures.keys())
    matrices = np.array([_matrix(tree.read(join(folder, poses[number]))) for number in numbers]).reshape(-1, 4, 4)
    names = [pictures[number] for number in numbers]
    files = [join(folder, file) for file in names]
    times_s = np.array(numbers) / rate_hz
    return posed_pictures(
        name,
        tree,
        files,
        names,
        matrices,
        "opencv",
        notes,
        times_s=times_s,
        attributes=attributes,
        lens=_lens(tree, folder, notes),
    )


def _lens(tree: Tree, folder: str, notes: list[str]) -> Lens | None:
    """The lens from a file in the sequence, its scene or the root, if there is one."""
    places = (folder, folder.rpartition("/")[0], "")
    path = next((join(place, _LENS) for place in places if _LENS in tree.files(place)), None)
    if path is None:
        return None
    where = tree.where(path)
    return lens_or_note(lambda: matrix_lens(matrix_in(tree.read(path), where), _LENS_SIZE, where), notes)


def _matrix(data: bytes) -> Array:
    """The 4 x 4 of a pose file; not numbers where it has not 16 of them, so that the frame is left out."""
    try:
        numbers = np.array([float(word) for word in data.decode("ascii").split()])
    except ValueError:
        numbers = np.empty(0)
    return numbers.reshape(4, 4) if len(numbers) == 16 else np.full((4, 4), np.nan)


def is_seven_scenes(path: Path) -> bool:
    """Files such as frame-000000.color.png and frame-000000.pose.txt, here or up to two folders below."""

    def is_one(tree: Tree, folder: str) -> bool:
        kinds = {found[2].lower() == "pose.txt" for n in tree.files(folder)[:50] if (found := _FRAME.fullmatch(n))}
        return len(kinds) == 2

    return is_in(path, is_one)
