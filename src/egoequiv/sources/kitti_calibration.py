"""KITTI's calibration files: where a camera is mounted on the car, and its lens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose.camera import Lens
from egoequiv.sources.lenses import distortion_of, matrix_lens
from egoequiv.sources.trees import Tree

Array = NDArray[np.float64]

FILES = ("calib_imu_to_velo.txt", "calib_velo_to_cam.txt", "calib_cam_to_cam.txt")
ODOMETRY_FILE = "calib.txt"
# From axes x forward, y left, z up to a camera's x right, y down, z forward.
R_OPTICAL_VEHICLE = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def t_imu_camera(tree: Tree, folder: str, camera: int) -> Array:
    """T_imu_camera (4, 4): the camera's position on the car, its axes turned to x forward, y left, z up."""
    wanted = ({"R": 9, "T": 3}, {"R": 9, "T": 3}, {"R_rect_00": 9, _p_rect(camera): 12})
    imu_to_velo, velo_to_cam, cam_to_cam = (
        _read(tree, _path(folder, name), keys) for name, keys in zip(FILES, wanted, strict=True)
    )
    t_velo_imu = _rigid(imu_to_velo["R"].reshape(3, 3), imu_to_velo["T"])
    t_cam_velo = _rigid(velo_to_cam["R"].reshape(3, 3), velo_to_cam["T"])
    t_rect_cam = _rigid(cam_to_cam["R_rect_00"].reshape(3, 3), np.zeros(3))
    projection = cam_to_cam[_p_rect(camera)].reshape(3, 4)
    t_camera_rect = _rigid(np.eye(3), np.array([projection[0, 3] / projection[0, 0], 0.0, 0.0]))
    t_camera_imu = t_camera_rect @ t_rect_cam @ t_cam_velo @ t_velo_imu
    t_imu_optical = np.linalg.inv(t_camera_imu).astype(np.float64)
    return t_imu_optical @ _rigid(R_OPTICAL_VEHICLE, np.zeros(3))


def drive_lens(tree: Tree, folder: str, camera: int, is_rectified: bool) -> Lens:
    """The lens of a camera of KITTI raw, from `calib_cam_to_cam.txt` in a folder."""
    path = _path(folder, FILES[2])
    where = tree.where(path)
    S, K, D, P = (f"{letter}_{camera:02d}" for letter in ("S", "K", "D", "P_rect"))
    if is_rectified:
        S = S.replace("_", "_rect_")
        found = _read(tree, path, {S: 2, P: 12})
        return matrix_lens(found[P].reshape(3, 4)[:, :3], (found[S][1], found[S][0]), where)
    found = _read(tree, path, {S: 2, K: 9, D: 5})
    distortion = distortion_of("plumb_bob", found[D].tolist(), where, [])
    return matrix_lens(found[K].reshape(3, 3), (found[S][1], found[S][0]), where, distortion=distortion)


def odometry_lens(tree: Tree, camera: int, size: tuple[int, int]) -> Lens:
    """The lens of a camera of KITTI odometry, from `calib.txt`; `size` is that of the pictures, height and width."""
    projection = _read(tree, ODOMETRY_FILE, {f"P{camera}": 12})[f"P{camera}"].reshape(3, 4)
    return matrix_lens(projection[:, :3], size, tree.where(ODOMETRY_FILE), is_size_stated=False)


def _path(folder: str, name: str) -> str:
    return f"{folder}/{name}".removeprefix("/")


def _p_rect(camera: int) -> str:
    return f"P_rect_{camera:02d}"


def _rigid(rotation: Array, translation: Array) -> Array:
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = rotation, translation
    return transform


def _can_be(key: str, values: Array) -> bool:
    """Whether R is a rotation, and K, P and S begin with a focal length or a width; T and D may be anything."""
    if key.startswith("R"):
        matrix = values.reshape(3, 3)
        return bool(np.abs(matrix @ matrix.T - np.eye(3)).max() < 1e-3 and np.linalg.det(matrix) > 0)
    return key[0] in "TD" or bool(values[0] > 0)


def _read(tree: Tree, path: str, wanted: dict[str, int]) -> dict[str, Array]:
    """The wanted lines `KEY: numbers` of a calibration file."""
    found: dict[str, Array] = {}
    for row, line in enumerate(tree.read(path).decode("utf-8", "replace").splitlines(), 1):
        key, _, rest = line.partition(":")
        if key in wanted:
            try:
                found[key] = np.array([float(word) for word in rest.split()])
            except ValueError:
                raise DataError(
                    f"{tree.where(path)}, row {row}: {key} contains something that is not a number"
                ) from None
            if len(found[key]) != wanted[key] or not np.isfinite(found[key]).all():
                raise DataError(f"{tree.where(path)}, row {row}: expected {wanted[key]} finite numbers for {key}")
            if not _can_be(key, found[key]):
                raise DataError(f"{tree.where(path)}, row {row}: the values of {key} are damaged; get the file again")
    for key in wanted:
        if key not in found:
            raise DataError(f"{tree.where(path)}: there is no line {key!r}; get the calibration files again")
    return found
