"""What the doctor tells a user to type can be typed, and corrects the log."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from doctor.test_motion import HZ, SECONDS, Way, compared, faults, seen
from egoequiv.catalog import open_source
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.logged import logged_motion
from egoequiv.pose import CAMERA_POSES
from logs.table import write_csv, write_pictures

TIMES = np.arange(0, SECONDS, 1 / HZ)


def compared_with(folder: Path, **settings: str) -> Comparison:
    """The pictures that a camera on this way would take, beside its log as a table."""
    source = open_source("table", str(folder), **settings)
    motion = logged_motion(source.recordings[0], source.pose_columns, source.settings)
    return Comparison("walk", seen(Way().poses(TIMES)), motion)


def typed(fix: str) -> dict[str, str]:
    """The settings of `--read name=value` on a command line."""
    words = shlex.split(fix)
    assert set(words[::2]) == {"--read"}
    return dict(word.split("=", 1) for word in words[1::2])


@pytest.mark.parametrize("names", [("qx", "qy", "qz", "qw"), ("quat x", "quat y", "quat z", "quat w")])
def test_quaternions_in_another_order_than_their_columns_say(tmp_path: Path, names: tuple[str, ...]) -> None:
    poses = Way().poses(TIMES)
    values = np.concatenate([poses[:, :3], poses[:, [6, 3, 4, 5]]], axis=1)  # w first, in a column that is called x
    files = [f"{k:03d}.png" for k in range(len(poses))]
    write_pictures(tmp_path / "images", files, (4, 4))
    columns = dict(zip(("x", "y", "z", *names), values.T, strict=True))
    write_csv(tmp_path / "poses.csv", {"file": files, "time": TIMES, **columns})
    found = faults(compared_with(tmp_path))
    assert set(found) == {"axes and signs"}
    assert "they are wxyz" in found["axes and signs"].text
    fixed = typed(found["axes and signs"].fix)
    assert fixed == {"rotation": ",".join(names), "quaternion": "wxyz"}
    source = open_source("table", str(tmp_path), **fixed)
    place = [source.pose_columns.index(name) for name in CAMERA_POSES]
    read = np.asarray(source.recordings[0].poses)[:, place]
    np.testing.assert_allclose(np.abs((read[:, 3:] * poses[:, 3:]).sum(axis=1)), 1.0, atol=1e-6)
    assert faults(compared_with(tmp_path, **fixed)) == {}


def test_the_order_that_was_typed_is_not_advised_again() -> None:
    assert set(compared(settings={"quaternion": "wxyz"}).motion.reordered()) == {"xyzw"}
    assert set(compared(settings={}).motion.reordered()) == {"wxyz", "xyzw"}  # nobody knows how it was read
    assert compared(settings={"rotation": "yaw", "quaternion": "xyzw"}).motion.reordered() == {}  # no quaternions
