"""The motion of a camera in a bag: what is guessed or missing is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.sources import Source
from logs.ros import START_NS, STEP_NS, BagWriter, along_x, pictures


def opened(path: Path, **settings: Any) -> Source:
    return open_source("ros", path, **settings)


def test_a_gap_in_rates_is_named(tmp_path: Path) -> None:
    bag = BagWriter("mcap")
    for k in range(40):
        stamp = START_NS + k * STEP_NS
        bag.image("/camera/image_raw", stamp, pictures(40)[k])
        if not 10 < k < 30:
            bag.twist("/cmd_vel", stamp, 1.0, 0.0)
    path = bag.write(tmp_path / "bag")
    words = "/cmd_vel: the rates have 1 gap, 2 s together, the longest 2 s: there the integral is a guess"
    source = opened(path, columns="/cmd_vel.linear.x", rates="/cmd_vel.linear.x")
    assert [words in note for note in source.notes] == [True, False]
    assert not any("the rates have" in note for note in opened(path, columns="/cmd_vel.linear.x").notes)
    bridged = opened(path, columns="/cmd_vel.linear.x", rates="/cmd_vel.linear.x", max_gap_s=3.0)
    assert (bridged.frame_count, bridged.notes) == (40, ())


@pytest.mark.parametrize(("frame", "is_said"), [("cam0", True), ("camera_optical_frame", False)])
def test_axes_that_the_name_of_the_frame_does_not_tell_are_said(frame: str, is_said: bool, tmp_path: Path) -> None:
    for way in ("tf", "mounted"):
        bag = BagWriter("mcap")
        for k in range(5):
            stamp = START_NS + k * STEP_NS
            bag.image("/camera/image_raw", stamp, pictures(5)[k], frame=frame)
            if way == "tf":
                bag.tf(stamp, [bag.transform(stamp, "world", frame, along_x(k))])
            else:
                bag.odometry("/odom", stamp, along_x(k))
                bag.tf(stamp, [bag.transform(stamp, "base_link", frame, along_x(0))], "/tf_static")
        path = bag.write(tmp_path / way)
        words = f"camera frame '{frame}' is not named optical, so its axes are taken as ros, x forward, y left, z up"
        assert any(words in remark for remark in opened(path).remarks) == is_said
        for axes in ("opencv", "ros"):
            assert not any("axes" in remark for remark in opened(path, axes=axes).remarks)


def test_a_camera_that_moves_under_one_stamp_is_named(tmp_path: Path) -> None:
    for poses in ("tf", "/odom"):
        bag = BagWriter("mcap")
        for k in range(5):
            stamp = START_NS + k * STEP_NS
            bag.image("/camera/image_raw", stamp, pictures(5)[k], frame="optical")
            body = bag.transform(stamp, "odom", "base_link", along_x(k))
            bag.tf(stamp, [body, bag.transform(START_NS, "base_link", "optical", [0, k, 0, -0.5, 0.5, -0.5, 0.5])])
            bag.odometry("/odom", stamp, along_x(k))
        path = bag.write(tmp_path / poses.strip("/"))
        words = "base_link -> optical: 5 transforms that differ have one stamp"
        source = opened(path, poses=poses)
        assert any(words in note for note in source.notes)
        assert np.ptp(source.recordings[0].poses[:, 1]) == 0
    moved = opened(tmp_path / "tf", poses="tf", stamps="receive")
    assert not any(words in note for note in moved.notes)
    np.testing.assert_allclose(
        moved.recordings[0].poses[:, 1], np.arange(5) * np.cos(np.arange(5) / 10)
    )  # it turns, too
