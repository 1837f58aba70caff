"""Lenses of real logs: those of their files, at whatever size the pictures are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pycolmap
import pykitti.utils
import pytest

from egoequiv.catalog import open_source
from egoequiv.pose.camera import Lens
from egoequiv.sources import Source, kitti, seven_scenes, transforms
from egoequiv.store import FrameStore, ingest
from logs.lenses import check, lens_of


def test_kitti_is_calibrated_for_pictures_four_times_as_large(real_data: Path) -> None:
    lenses = {one.name: one.lens for one in kitti(real_data / "kitti").recordings}
    for name, lens in lenses.items():
        file = real_data / "kitti" / name[:10] / "calib_cam_to_cam.txt"
        assert (lens is None) == (not file.is_file())
        if lens is not None:
            theirs = pykitti.utils.read_calib_file(str(file))
            width, height = map(int, theirs["S_rect_00"])
            assert lens.matrix((height, width)) == pytest.approx(theirs["P_rect_00"].reshape(3, 4)[:, :3], abs=1e-9)
            assert lens.distortion == ()
    city = lenses["2011_09_26_drive_0005"]
    assert isinstance(city, Lens)
    assert city.view_deg == pytest.approx(81.4, abs=0.1)
    # The pictures are 310 x 94: a quarter.
    assert city.matrix((94, 310))[0, 0] == pytest.approx(721.5377 / 4, rel=0.005)
    assert sum(lens is None for lens in lenses.values()) == 2  # of 2011_10_03 there is no calibration


def test_seven_scenes(real_data: Path) -> None:
    source = seven_scenes(real_data / "seven_scenes_redkitchen")
    check(lens_of(source), (585 / 640, 585 / 480), (320.5 / 640, 240.5 / 480), "camera-intrinsics.txt")


def test_fox(real_data: Path) -> None:
    lens = lens_of(transforms(real_data / "fox"))
    check(lens, (1375.52 / 1080, 1374.49 / 1920), (554.558 / 1080, 965.268 / 1920), "transforms.json")
    assert lens.distortion == (0.0578421, -0.0805099, -0.000980296, 0.00015575)
    assert np.deg2rad(lens.view_deg) == pytest.approx(0.7481849, rel=1e-5)  # camera_angle_x of the same file


@pytest.mark.parametrize(("below", "origin"), [("sparse/0", "cameras.bin"), ("sparse_text", "cameras.txt")])
def test_colmap_projects_as_pycolmap_does(real_data: Path, below: str, origin: str) -> None:
    path = real_data / "colmap_building"
    lens = lens_of(open_source("colmap", path / below, images=str(path / "images")))
    (camera,) = pycolmap.Reconstruction(str(path / below)).cameras.values()
    focal, x, y, k = camera.params
    check(lens, (focal / 1080, focal / 1920), (x / 1080, y / 1920), origin)
    assert lens.distortion == (k, 0.0, 0.0, 0.0)
    cv2 = pytest.importorskip("cv2")
    points = np.array([[0.1, -0.2, 1.0], [0.3, 0.2, 1.5], [-0.2, 0.4, 2.0]])
    matrix, distortion = lens.matrix((1920, 1080)), np.array(lens.distortion)
    ours = cv2.projectPoints(points, np.zeros(3), np.zeros(3), matrix, distortion)[0][:, 0]
    assert ours + 0.5 == pytest.approx(np.array([camera.img_from_cam(point) for point in points]), abs=1e-6)


def test_a_store_of_a_real_log_has_its_lens(real_data: Path, tmp_path: Path) -> None:
    source: Source = transforms(real_data / "fox")
    store = ingest(source, tmp_path / "store", size=(64, 36))
    assert FrameStore.open(store.path).lens("fox") == lens_of(source)


def test_tum_does_not_say_its_lens(real_data: Path) -> None:
    assert open_source("tum", real_data / "tum_fr1_xyz").recordings[0].lens is None
