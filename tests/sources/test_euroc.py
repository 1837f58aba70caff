"""EuRoC in the ASL layout: the camera's place on the body, two kinds of ground truth, and files that are broken."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from evo.tools import file_interface
from scipy.spatial.transform import Rotation

from egoequiv.errors import ConfigError
from egoequiv.pose import SE3Space
from egoequiv.sources import euroc
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from helpers import data_error
from logs.euroc import HEADER, START_NS, T_BODY_CAM0, prepare, sensor_yaml, truth_csv, write
from logs.motion import camera_to_world

MARKER = np.array([[0.0, 0.0, 1.0, 0.3], [1.0, 0.0, 0.0, 0.1], [0.0, 1.0, 0.0, -0.2], [0.0, 0.0, 0.0, 1.0]])
R_STORE_BODY = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])  # x up, y right, z forward


def test_poses_are_those_of_the_camera_and_not_of_the_body(tmp_path: Path) -> None:
    write(tmp_path / "V1_01", every=1)
    source = euroc(tmp_path / "V1_01")
    (recording,) = source.recordings
    assert recording.name == "V1_01"
    assert recording.poses[:, :3] == pytest.approx(camera_to_world()[:, :3, 3], abs=1e-6)
    motions = SE3Space().difference(recording.poses[:-1], recording.poses[1:])
    assert motions == pytest.approx(np.tile([0.1, 0, 0, 0, 0, 3.0], (59, 1)), abs=1e-5)
    assert recording.times_s is not None
    assert recording.times_s[:3] == pytest.approx([0, 0.005, 0.010], abs=1e-12)
    assert recording.attributes == {"start": "1403715524.907143168"}
    assert recording.image(4)[0, 0] == 4
    assert source.remarks == ("camera cam0 of 2: choose with --read camera=cam1",)
    assert {one.name: one.used for one in source.listed if one.kind == "camera"} == {"cam0": True, "cam1": False}


def test_a_ground_truth_with_a_place_of_its_own_on_the_body(tmp_path: Path) -> None:
    write(tmp_path, every=1, truth="vicon0", truth_mount=MARKER, cameras=("cam0",))
    recording = euroc(tmp_path).recordings[0]
    assert recording.poses[:, :3] == pytest.approx(camera_to_world()[:, :3, 3], abs=1e-6)
    motions = SE3Space().difference(recording.poses[:-1], recording.poses[1:])
    assert motions == pytest.approx(np.tile([0.1, 0, 0, 0, 0, 3.0], (59, 1)), abs=1e-5)


def test_the_body_alone_is_that_of_evo(tmp_path: Path) -> None:
    prepare(tmp_path)
    source = euroc(tmp_path / "groundtruth.csv")
    theirs = file_interface.read_euroc_csv_trajectory(str(tmp_path / "groundtruth.csv"))
    poses = source.recordings[0].poses
    assert not source.has_images
    assert poses[:, :3] == pytest.approx(theirs.positions_xyz, abs=1e-9)
    expected = np.array(theirs.poses_se3)[:, :3, :3] @ R_STORE_BODY.T
    assert Rotation.from_quat(poses[:, 3:]).as_matrix() == pytest.approx(expected, abs=1e-6)
    assert "its axes are taken as up,right,forward" in source.remarks[0]
    # That is how the drone flies: its body looks where its camera does.
    motions = SE3Space().difference(poses[:-1], poses[1:])
    assert motions[:, 5] == pytest.approx(np.full(len(poses) - 1, 0.3), abs=1e-5)
    assert len(ingest(source, tmp_path / "store", progress=False)) == len(poses)
    assert guess_format(tmp_path / "groundtruth.csv").source == "euroc"
    assert euroc(tmp_path / "groundtruth.csv", axes="ros").notes == ()


@pytest.mark.parametrize("below", ["", "mav0"])
def test_the_folder_may_be_mav0_or_what_contains_it(tmp_path: Path, below: str) -> None:
    write(tmp_path / "V1_01")
    assert len(euroc(tmp_path / "V1_01" / below).recordings[0]) == 6
    assert guess_format(tmp_path / "V1_01" / below).source == "euroc"


def test_several_sequences_and_an_archive(tmp_path: Path) -> None:
    for name in ("MH_01", "MH_02", "MH_03"):
        write(tmp_path / "all" / name)
    (tmp_path / "all" / "MH_02" / "mav0" / "cam0" / "sensor.yaml").unlink()
    source = euroc(tmp_path / "all")
    assert [recording.name for recording in source.recordings] == ["MH_01", "MH_03"]
    assert any("recording 'MH_02/mav0' left out" in note and "mount=" in note for note in source.notes)
    assert guess_format(tmp_path / "all").source == "euroc"
    cam1 = euroc(tmp_path / "all", camera="cam1")
    assert len(cam1.recordings) == 3
    (tmp_path / "all" / "MH_03" / "mav0" / "cam1").rename(tmp_path / "elsewhere")
    assert [r.name for r in euroc(tmp_path / "all", camera="cam1").recordings] == ["MH_01", "MH_02"]
    mount = " ".join(map(str, T_BODY_CAM0.ravel()))
    assert len(euroc(tmp_path / "all", mount=mount).recordings) == 3
    with zipfile.ZipFile(tmp_path / "MH_01.zip", "w") as archive:
        for file in (tmp_path / "all" / "MH_01").rglob("*"):
            archive.write(file, file.relative_to(tmp_path / "all" / "MH_01"))
    assert euroc(tmp_path / "MH_01.zip").recordings[0].name == "MH_01"


def test_the_order_of_the_quaternion_is_that_of_the_header(tmp_path: Path) -> None:
    rows = truth_csv(camera_to_world(5)).splitlines()[1:]
    words = [row.split(",") for row in rows]
    swapped = [",".join([*row[:4], *row[5:8], row[4]]) for row in words]
    header = "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_x [], q_RS_y [], q_RS_z [], q_RS_w []"
    (tmp_path / "xyzw.csv").write_text("\n".join([header, *swapped]))
    (tmp_path / "wxyz.csv").write_text("\n".join([HEADER.removeprefix("#"), *rows]))
    first, second = (euroc(tmp_path / name).recordings[0].poses for name in ("xyzw.csv", "wxyz.csv"))
    assert first == pytest.approx(second, abs=1e-12)


def test_positions_without_orientation_are_not_enough(tmp_path: Path) -> None:
    write(tmp_path, truth="leica0")
    (tmp_path / "mav0" / "imu0").mkdir()
    with data_error("no ground truth with orientation", "leica0 has positions without orientation"):
        euroc(tmp_path)


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        (sensor_yaml(np.diag([1.0, 1.0, -1.0, 1.0])), "not a rotation"),
        (sensor_yaml(np.full((4, 4), np.nan)), "expected 7 numbers"),
        (sensor_yaml(T_BODY_CAM0)[:-130], "with T_BS is missing"),
        ("T_BS: !!python/object/apply:os.system ['touch hacked']\n", "with T_BS is missing"),
        ("T_BS:\n  cols: 4\nother:\n  data: [1, 2]\n", "with T_BS is missing"),
    ],
)
def test_a_place_of_the_camera_that_cannot_be_read(tmp_path: Path, yaml: str, words: str) -> None:
    write(tmp_path)
    (tmp_path / "mav0" / "cam0" / "sensor.yaml").write_text(yaml)
    with data_error(words):
        euroc(tmp_path)


def test_cut_lists_and_missing_pictures_are_counted(tmp_path: Path) -> None:
    write(tmp_path)
    camera = tmp_path / "mav0" / "cam0"
    (camera / "data.csv").write_text((camera / "data.csv").read_text() + "14037155\n")
    (camera / "data" / f"{START_NS}.png").unlink()
    source = euroc(tmp_path, camera="cam0")
    assert len(source.recordings[0]) == 5
    assert "1 of 7 rows are not a time and a file, first line 8, '14037155'" in source.notes[0]
    assert f"1 of 6 pictures are missing, first '{START_NS}.png'" in source.notes[1]


def test_a_choice_that_is_not_there_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(ConfigError, match=r"camera='cam7': .* has cam0, cam1, or none"):
        euroc(tmp_path, camera="cam7")
    with pytest.raises(ConfigError, match=r"poses='vicon0': .* has state_groundtruth_estimate0"):
        euroc(tmp_path, poses="vicon0")
    with data_error("has no mav0"):
        euroc(tmp_path / "mav0" / "cam0" / "data")
