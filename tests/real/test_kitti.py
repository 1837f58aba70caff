"""KITTI raw: real drives, their packets, and the motions that stand out in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.pairs import mine_patterns
from egoequiv.pose import DRIVING_POSES, SE2Space
from egoequiv.sources import Source, kitti
from egoequiv.sources.kitti_locations import LOCATIONS, read_locations
from egoequiv.store import FrameStore, ingest
from helpers import data_error

# The first image of drive 20 was taken 119 ms before the first packet.
FRAMES = {
    "2011_09_26_drive_0002": (10, "city"),
    "2011_09_26_drive_0005": (154, "city"),
    "2011_09_26_drive_0009": (51, "city"),
    "2011_09_26_drive_0013": (144, "city"),
    "2011_09_30_drive_0016": (51, "road"),
    "2011_09_30_drive_0020": (1_103, "residential"),
    "2011_10_03_drive_0027": (200, "residential"),
    "2011_10_03_drive_0042": (51, "road"),
}
LEFT, RIGHT, AHEAD = (3.6, 16.0), (4.8, -15.0), (14.4, 0.0)  # of the paper: metres and degrees in at most a second


@pytest.fixture(scope="module")
def drives(real_data: Path) -> Source:
    return kitti(real_data / "kitti")


@pytest.fixture(scope="module")
def packets(real_data: Path) -> Source:
    return kitti(real_data / "kitti_oxts.zip", camera="none")


@pytest.fixture(scope="module")
def store(packets: Source, tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(packets, tmp_path_factory.mktemp("kitti") / "poses")


def test_there_are_8_drives(drives: Source) -> None:
    assert {r.name: (len(r), r.attributes["location"]) for r in drives.recordings} == FRAMES
    left_out, unused = drives.notes
    assert left_out.startswith("2011_09_30_drive_0020: 1 of 1104 images left out")
    assert left_out.endswith("image_00/data/0000000000.png")
    assert unused == "2011_09_30_drive_0020: 1 of 1104 packets have no image"


def test_pictures_are_gray_and_a_quarter_of_the_size(drives: Source) -> None:
    for recording in drives.recordings:
        image = recording.image(len(recording) // 2)
        assert image.ndim == 2
        assert image.shape[0] == pytest.approx(94, abs=2)
        assert image.shape[1] == pytest.approx(310, abs=4)
        assert image.std() > 10


def test_the_way_by_speed_agrees_with_the_way_on_the_map(drives: Source) -> None:
    x, y, forward, yaw = (DRIVING_POSES.index(name) for name in ("x_m", "y_m", "forward_m", "yaw_deg"))
    for recording in drives.recordings:
        poses = recording.poses
        steps = SE2Space().difference(poses[:-1][:, [x, y, yaw]], poses[1:][:, [x, y, yaw]])
        driven = poses[-1, forward] - poses[0, forward]
        assert steps[:, 0].sum() == pytest.approx(driven, rel=0.03, abs=0.3)
        assert np.abs(steps[:, 1]).max() < 0.3  # a car does not slide sideways
        assert recording.times_s is not None
        assert np.median(np.diff(recording.times_s)) == pytest.approx(0.1, abs=0.01)


def test_the_camera_sits_ahead_of_the_unit_and_looks_ahead(real_data: Path) -> None:
    date = real_data / "kitti" / "2011_09_26"
    imu, seen = (kitti(date, drives="2011_09_26_drive_0005", pose_of=of).recordings[0] for of in ("imu", "camera"))
    turn = Rotation.from_quat(imu.poses[:, 3:7])
    offset = turn.inv().apply(seen.poses[:, :3] - imu.poses[:, :3])
    assert np.allclose(offset, [1.08, -0.32, 0.72], atol=0.05)
    off_axis = (turn.inv() * Rotation.from_quat(seen.poses[:, 3:7])).magnitude()
    assert np.rad2deg(off_axis).max() < 2
    with data_error("calib_imu_to_velo.txt"):
        kitti(real_data / "kitti" / "2011_09_30", pose_of="camera")


def test_the_known_locations_are_those_of_the_data_set(real_data: Path) -> None:
    assert read_locations(real_data, real_data / "kitti_locations.csv") == LOCATIONS


def test_the_archive_holds_151_drives(packets: Source) -> None:
    assert len(packets.recordings) == 151
    assert packets.frame_count == 47_889
    assert packets.notes == ()
    assert not packets.has_images
    dates = {recording.attributes["date"] for recording in packets.recordings}
    assert dates == {"2011_09_26", "2011_09_28", "2011_09_29", "2011_09_30", "2011_10_03"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_motions_of_the_paper_are_found(store: FrameStore, seed: int) -> None:
    mining = mine_patterns(store, seed=seed)
    found = dict(zip(mining.patterns.names, mining.patterns.centres, strict=False))
    assert len(found) == 3
    left, right, ahead = (
        next(centre for name, centre in found.items() if name.startswith(word))
        for word in ("left turn", "right turn", "forward")
    )
    assert left == pytest.approx(LEFT, rel=0.1)
    assert right == pytest.approx(RIGHT, rel=0.1)
    assert ahead[0] == pytest.approx(AHEAD[0], rel=0.1)
    assert ahead[1] == pytest.approx(AHEAD[1], abs=1.5)
