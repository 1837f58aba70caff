"""COLMAP: photographs with the poses that structure from motion gave them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.pose.conventions import are_unit_quaternions
from egoequiv.remarks import Remark
from egoequiv.sources.colmap_cameras import model_lens
from egoequiv.sources.colmap_model import PosedImage, read_images
from egoequiv.sources.logged import LoggedRecording
from egoequiv.sources.posed_pictures import posed_pictures
from egoequiv.sources.recording import Listed, Source
from egoequiv.sources.sequences import FilesThere, folders_with, is_in, name_of, named, pictures_in, read_each
from egoequiv.sources.trees import FolderTree, Tree

Array = NDArray[np.float64]

_FILES = ("images.bin", "images.txt")
_CAMERA_FILES = ("cameras.bin", "cameras.txt")
_CAMERAS_LISTED = 10


def colmap(path: Path, *, images: str = "", camera: str = "") -> Source:
    """Read COLMAP models, binary or text: the pose of each photograph. Points are not read.

    Args:
        path: a model (a folder with images.bin or images.txt), a project with sparse/0, or a folder of models.
        images: the folder of the photographs; by default `images` beside the models.
        camera: the number of one camera of the model; by default all.

    """
    path = Path(path)
    if path.name in _FILES + _CAMERA_FILES:
        path = path.parent
    if not path.is_dir():
        raise DataError(f"{path} is not a folder: expected a COLMAP model, or a project with sparse/0")
    models, others = _find_models(path)
    notes: list[str] = [
        Remark("the scale of a COLMAP model is arbitrary: metres are units of the model, and there are no times")
    ]
    listed = [
        *(Listed("model", model or ".", "", True) for model in models),
        *(Listed("model", model, "not read: give its folder as the path", False) for model in others),
    ]

    def model(folder: str) -> LoggedRecording:
        found = read_images(path / folder, notes)
        counts = Counter(image.camera for image in found)
        if camera and camera not in map(str, counts):
            raise ConfigError(f"camera={camera!r}: {path / folder} has {', '.join(map(str, sorted(counts)))}")
        listed.extend(
            Listed("camera", str(one), plural(count, "image"), camera in ("", str(one)), f"camera={one}")
            for one, count in counts.most_common(_CAMERAS_LISTED)
        )
        kept = [image for image in found if camera in ("", str(image.camera))]
        name = name_of(path, folder)
        names = [image.name for image in kept]
        pictures = FolderTree(_find_pictures(path, path / folder, images))
        files = FilesThere(pictures).find(names, [""], name, notes)
        first = next((file for file in files if file is not None), None)
        used = Counter(image.camera for image in kept)
        lens = model_lens(path / folder, used, pictures, first, name, notes)
        return posed_pictures(name, pictures, files, names, _camera_to_world(kept), "opencv", notes, lens=lens)

    recordings = read_each(models, model, notes)
    return Source(
        "colmap",
        SE3Space(),
        recordings,
        {"path": str(path), "images": images, "camera": camera},
        pose_names=CAMERA_POSES,
        notes=tuple(notes),
        listed=tuple(listed),
        convention="images of the model, world to camera with the quaternion w first, inverted; camera axes opencv; "
        "units of the model",
    )


def _camera_to_world(images: list[PosedImage]) -> Array:
    """Camera to world (N, 3, 4); not numbers where the quaternion is not a rotation."""
    from scipy.spatial.transform import Rotation

    wxyz = np.array([image.quaternion for image in images], np.float64).reshape(-1, 4)
    translation = np.array([image.translation for image in images], np.float64).reshape(-1, 3)
    usable = are_unit_quaternions(wxyz)
    matrices = np.full((len(images), 3, 4), np.nan)
    turned = Rotation.from_quat(wxyz[usable][:, [1, 2, 3, 0]]).inv()
    matrices[usable, :, :3] = turned.as_matrix()
    matrices[usable, :, 3] = -turned.apply(translation[usable])
    return matrices


def _is_model(tree: Tree, folder: str) -> bool:
    names = tree.files(folder)
    return any(name in names for name in _FILES) and any(name in names for name in _CAMERA_FILES)


def _find_models(path: Path) -> tuple[list[str], list[str]]:
    """The models to read, and other ones: those below a folder `sparse` come first, because others are copies."""
    found = folders_with(FolderTree(path), _is_model, depth=3)
    if not found:
        raise DataError(
            f"{path} has no COLMAP model: a folder such as sparse/0 with cameras.bin and images.bin, or .txt"
        )
    sparse = [folder for folder in found if "sparse" in folder.split("/")]
    chosen = sparse or found
    return chosen, [folder for folder in found if folder not in chosen]


def _find_pictures(path: Path, model: Path, images: str) -> Path:
    """The folder of the photographs: as it is set, or `images` beside the model or up to three folders above it."""
    above = [model, *model.resolve().parents][:4]
    if images:
        folders = [Path(images), path / images, *(place / images for place in above)]
    else:
        folders = [place / name for place in above for name in ("images", "input")]
        folders += [model] if pictures_in(FolderTree(model), "") else []
    for folder in folders:
        if folder.is_dir():
            return folder
    if images:
        raise ConfigError(f"images={named(images)} is not a folder")
    raise DataError(
        f"{model}: no folder `images` beside the model: name that of the photographs with --read images=FOLDER"
    )


def is_colmap(path: Path) -> bool:
    """A folder with images.bin and cameras.bin, or .txt, here or up to two folders below."""
    return path.is_dir() and is_in(path, _is_model)
