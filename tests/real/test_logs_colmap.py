"""A real COLMAP model, binary and text: poses as pycolmap reads them, and points where the pictures have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pycolmap
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.sources import colmap
from egoequiv.sources.formats import guess_format

R_STORE_OPENCV = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


@pytest.mark.parametrize("below", ["", "sparse/0", "sparse_text"])
def test_poses_are_those_of_pycolmap(real_data: Path, below: str) -> None:
    path = real_data / "colmap_building"
    assert guess_format(path / below).source == "colmap"
    (recording,) = colmap(path / below).recordings
    assert len(recording) == 13
    model = pycolmap.Reconstruction(str(path / (below or "sparse/0")))
    theirs = {image.name: image.cam_from_world().inverse() for image in model.images.values()}
    for k in range(13):
        pose = theirs[recording.file_name(k)]
        assert recording.poses[k, :3] == pytest.approx(pose.translation, abs=1e-9)
        turned = Rotation.from_quat(recording.poses[k, 3:]).as_matrix()
        assert turned == pytest.approx(pose.rotation.matrix() @ R_STORE_OPENCV.T, abs=1e-9)
        assert recording.image(k).shape == (320, 180, 3)


def test_points_are_in_front_of_the_camera_and_on_the_side_where_the_picture_has_them(real_data: Path) -> None:
    path = real_data / "colmap_building"
    (recording,) = colmap(path).recordings
    model = pycolmap.Reconstruction(str(path / "sparse/0"))
    (camera,) = model.cameras.values()
    poses = {recording.file_name(k): recording.poses[k] for k in range(13)}
    for image in model.images.values():
        seen = [point for point in image.points2D if point.has_point3D()]
        places = np.array([model.points3D[point.point3D_id].xyz for point in seen])
        pose = poses[image.name]
        ahead, left, up = Rotation.from_quat(pose[3:]).inv().apply(places - pose[:3]).T
        pixels = np.array([point.xy for point in seen])
        right, down = (pixels - [camera.principal_point_x, camera.principal_point_y]).T / camera.focal_length
        assert (ahead > 0).all()
        assert np.median(np.abs(-left / ahead - right)) < 0.1  # without the distortion of the lens
        assert np.median(np.abs(-up / ahead - down)) < 0.1
