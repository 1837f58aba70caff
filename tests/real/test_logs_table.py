"""The source `table` on real logs."""

from pathlib import Path

import numpy as np
from evo.core.sync import matching_time_indices
from evo.tools.file_interface import read_tum_trajectory_file
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.pose import SE3Space
from egoequiv.sources.tables import read_table


def test_a_hand_held_camera_moves_as_evo_reads_it(real_data: Path) -> None:
    source = open_source("table", real_data / "tum_fr1_xyz", poses="groundtruth.txt", axes="opencv")
    assert isinstance(source.space, SE3Space)
    (recording,) = source.recordings
    assert len(recording) > 700
    known = read_tum_trajectory_file(str(real_data / "tum_fr1_xyz" / "groundtruth.txt"))
    start = float(recording.attributes["start"])
    ours, theirs = matching_time_indices(recording.times_s + start, known.timestamps, max_diff=0.002)
    assert len(ours) > 100
    np.testing.assert_allclose(recording.poses[ours, :3], known.positions_xyz[theirs], atol=2e-3)
    turned = Rotation.from_quat(known.orientations_quat_wxyz[theirs][:, [1, 2, 3, 0]])
    ahead = Rotation.from_quat(recording.poses[ours, 3:]).apply([1.0, 0.0, 0.0])
    np.testing.assert_allclose(ahead, turned.apply([0.0, 0.0, 1.0]), atol=1e-2)


def test_columns_of_a_drone(real_data: Path) -> None:
    table = read_table(real_data / "bags" / "V102_groundtruth.csv")
    assert list(table.columns)[:2] == ["timestamp", "p_RS_R_x [m]"]
    assert table.times("timestamp")[0] == 1403715524907143168
    length = np.linalg.norm([table.numbers(f"q_RS_{c} []") for c in "wxyz"], axis=0)
    np.testing.assert_allclose(length, 1.0, atol=1e-3)


def test_two_walks_of_pictures(real_data: Path) -> None:
    source = open_source("table", real_data / "gardens_point")
    assert [(r.name, len(r)) for r in source.recordings] == [("day_left", 200), ("day_right", 200)]
