"""transforms.json: OpenGL axes, parts, times, and JSON that is not as it should be."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.pose import SE3Space
from egoequiv.sources import transforms
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from helpers import data_error
from logs.motion import camera_to_world
from logs.transforms import write


def rewrite(folder: Path, content: dict[str, Any]) -> None:
    (folder / "transforms.json").write_text(json.dumps(content))


@pytest.mark.parametrize("ending", [".png", "", ".PNG"])
def test_a_camera_that_goes_forward_and_turns_left(tmp_path: Path, ending: str) -> None:
    write(tmp_path / "fox", ending=ending)
    source = transforms(tmp_path / "fox")
    moved = "60 of 60 pictures are not where they should be; first './images/0000.PNG', read from 'images/0000.png'"
    assert source.notes == ((f"fox: {moved}",) if ending == ".PNG" else ())
    (recording,) = source.recordings
    assert recording.name == "fox"
    assert recording.times_s is None
    assert recording.poses[:, :3] == pytest.approx(camera_to_world()[:, :3, 3], abs=1e-9)
    motions = SE3Space().difference(recording.poses[:-1], recording.poses[1:])
    assert motions == pytest.approx(np.tile([0.1, 0, 0, 0, 0, 3.0], (59, 1)), abs=1e-6)
    assert recording.image(5)[0, 0] == 5
    assert [one.details for one in source.listed] == ["60 frames, 32 x 24"]
    for path in (tmp_path, tmp_path / "fox", tmp_path / "fox" / "transforms.json"):
        assert guess_format(path).source == "transforms"
        assert len(transforms(path).recordings[0]) == 60


def test_the_parts_of_a_scene(tmp_path: Path) -> None:
    for part, count in (("train", 4), ("val", 2), ("test", 3)):
        write(tmp_path / "lego", camera_to_world(count), file=f"transforms_{part}.json", ending="")
    source = transforms(tmp_path / "lego")
    found = {recording.name: (recording.attributes["part"], len(recording)) for recording in source.recordings}
    assert found == {"lego/train": ("train", 4), "lego/val": ("val", 2), "lego/test": ("test", 3)}
    assert len({recording.attributes["world"] for recording in source.recordings}) == 1  # one map
    assert len(ingest(source, tmp_path / "store", size=(8, 8), progress=False)) == 9
    assert len(transforms(tmp_path / "lego" / "transforms_test.json").recordings[0]) == 3


def test_a_folder_of_scenes_and_an_archive(tmp_path: Path) -> None:
    write(tmp_path / "all" / "fox", camera_to_world(3))
    write(tmp_path / "all" / "cup", camera_to_world(2))
    (tmp_path / "all" / "cup" / "transforms.json").write_text("{")
    source = transforms(tmp_path / "all")
    assert [recording.name for recording in source.recordings] == ["fox"]
    assert source.notes[-1].startswith("recording 'cup/transforms.json' left out: ")
    with zipfile.ZipFile(tmp_path / "fox.zip", "w") as archive:
        for file in (tmp_path / "all" / "fox").rglob("*"):
            archive.write(file, file.relative_to(tmp_path / "all" / "fox"))
    assert transforms(tmp_path / "fox.zip").recordings[0].image(2)[0, 0] == 2


def test_the_axes_may_be_declared(tmp_path: Path) -> None:
    content = write(tmp_path, camera_to_world(3))
    for frame, pose in zip(content["frames"], camera_to_world(3), strict=True):
        frame["transform_matrix"] = pose[:3].tolist()  # three rows are enough
    rewrite(tmp_path, content)
    poses = transforms(tmp_path, axes="opencv").recordings[0].poses
    assert SE3Space().difference(poses[0], poses[1]) == pytest.approx([0.1, 0, 0, 0, 0, 3.0], abs=1e-6)


def test_frames_are_in_order_of_their_names(tmp_path: Path) -> None:
    content = write(tmp_path, camera_to_world(12))
    for k, frame in enumerate(content["frames"]):
        (tmp_path / "images" / f"{k:04d}.png").rename(tmp_path / "images" / f"r_{k}.png")
        frame["file_path"] = f"images/r_{k}"
    content["frames"] = content["frames"][::-1]
    rewrite(tmp_path, content)
    (recording,) = transforms(tmp_path).recordings
    assert [recording.image(k)[0, 0] for k in range(12)] == list(range(12))
    assert recording.poses[:, :3] == pytest.approx(camera_to_world(12)[:, :3, 3], abs=1e-9)


def test_a_transform_of_the_world_changes_no_motion(tmp_path: Path) -> None:
    write(tmp_path, camera_to_world(3), applied_transform=np.eye(4)[:3].tolist())
    assert "applied_transform moved the world alone" in transforms(tmp_path).remarks[1]


def timed(tmp_path: Path, key: str, times: list[Any]) -> Any:
    content = write(tmp_path, camera_to_world(len(times)))
    for frame, time in zip(content["frames"], times, strict=True):
        if time is not None:
            frame[key] = time
    rewrite(tmp_path, content)
    return transforms(tmp_path)


def test_times_of_frames(tmp_path: Path) -> None:
    source = timed(tmp_path, "timestamp", [10**18, 10**18 + 2 * 10**8, 10**18 + 10**8])
    (recording,) = source.recordings
    assert recording.times_s == pytest.approx([0, 0.1, 0.2])
    assert [recording.image(k)[0, 0] for k in range(3)] == [0, 2, 1]  # in order of time
    assert timed(tmp_path, "time", [0.0, 2.5, 5.0]).recordings[0].times_s == pytest.approx([0, 2.5, 5.0])


@pytest.mark.parametrize(
    ("key", "times", "words"),
    [
        ("time", [0.0, 0.5, 1.0], "a share and not seconds"),
        ("timestamp", [1.5, None, 2.5], "only 2 of 3 frames have a timestamp"),
        ("timestamp", [1.5, 1.5, 2.5], "repeated or starts again"),
        ("timestamp", [1.5, "soon", 2.5], "only 2 of 3 frames have a timestamp"),
    ],
)
def test_times_that_are_not_a_clock_are_not_used(tmp_path: Path, key: str, times: list[Any], words: str) -> None:
    source = timed(tmp_path, key, times)
    assert source.recordings[0].times_s is None
    assert len(source.recordings[0]) == 3
    assert any(words in note for note in (*source.notes, *source.remarks)), source.notes


def test_frames_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    content = write(tmp_path, camera_to_world(9))
    frames = content["frames"]
    frames[0] = "images/0000.png"
    frames[1].pop("file_path")
    frames[2]["file_path"] = "images/nowhere.png"
    frames[3]["transform_matrix"] = [[float("nan")] * 4] * 4
    frames[4]["transform_matrix"] = [["a", {}], None]
    frames[5]["transform_matrix"] = np.diag([1, 1, -1, 1]).tolist()
    frames[6].pop("transform_matrix")
    frames[7]["file_path"] = "C:\\photos\\images\\0007.png"
    rewrite(tmp_path, content)
    source = transforms(tmp_path)
    assert [source.recordings[0].image(k)[0, 0] for k in range(2)] == [8, 7]  # by name, and "." is before "C"
    assert "2 frames without file_path" in source.notes[0]
    assert "1 of 7 pictures are not where they should be" in source.notes[1]
    assert "1 of 7 pictures are missing, first 'images/nowhere.png'" in source.notes[2]
    assert "4 of 6 poses left out" in source.notes[3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ('{"frames": [', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\x80\x04cposix\nsystem\n", "is not JSON"),
        ("[]", "expected an object with a list of frames"),
        ('{"frames": {"a": 1}}', "expected an object with a list of frames"),
        ('{"frames": []}', "has no pictures"),
        ('{"frames": [{"file_path": "/etc/passwd", "transform_matrix": []}]}', "none of its 1 pictures is there"),
        ('{"frames": [{"file_path": "a\\u0000b", "transform_matrix": []}]}', "none of its 1 pictures is there"),
    ],
)
def test_files_that_are_not_a_scene(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "transforms.json").write_text(text, "utf-8", "surrogateescape")
    with data_error(words):
        transforms(tmp_path)


def test_a_size_that_is_absurd_is_not_shown(tmp_path: Path) -> None:
    write(tmp_path, camera_to_world(2), w=10**400)
    assert transforms(tmp_path).listed[0].details == "2 frames"


def test_a_folder_without_a_scene(tmp_path: Path) -> None:
    with data_error("has no transforms.json"):
        transforms(tmp_path)
