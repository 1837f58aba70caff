"""A camera that moves through the logs of the tests: its poses, and pictures that follow from them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
R_OPENCV_OPENGL = np.diag([1.0, -1.0, -1.0])


def camera_to_world(count: int = 60, step_m: float = 0.1, left_deg: float = 3.0) -> Array:
    """T_world_camera (N, 4, 4) in OpenCV axes: every step goes forward and turns left; the world is z up.

    The first camera stands at the origin and looks along x of the world.
    """
    level = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])  # x right, y down, z forward
    poses = np.tile(np.eye(4), (count, 1, 1))
    place = np.zeros(3)
    for k in range(count):
        turned = Rotation.from_euler("z", left_deg * k, degrees=True).as_matrix() @ level
        poses[k, :3, :3], poses[k, :3, 3] = turned, place
        place = place + step_m * turned[:, 2]
    return poses


def tum_row(pose: Array) -> str:
    """A pose as text: x y z qx qy qz qw."""
    values = [*pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat()]
    return " ".join(f"{value:.9f}" for value in values)


def save_picture(path: Path, number: int, size: tuple[int, int] = (32, 24)) -> None:
    """A gray picture of stripes that move to the right, as for a camera that turns left; the corner is `number`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    pixels = (120 + 60 * np.sin((x - 2 * number) / 3) + 30 * np.cos(y / 4)).astype(np.uint8)
    pixels[:4, :4] = number
    Image.fromarray(pixels).save(path)
