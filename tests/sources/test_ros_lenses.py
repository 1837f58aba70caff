"""Lenses of cameras in bags: the CameraInfo beside the pictures, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg

from egoequiv.sources import Source, ros
from logs.lenses import check, lacks, lens_of, only
from logs.ros import KINDS, START_NS, bag_name, drive


def bag(kind: str, folder: Path, topic: str = "/camera/camera_info", **changes: Any) -> Source:
    """Pictures of 8 x 6 and a CameraInfo for 640 x 480."""
    writer = drive(kind)
    writer.camera_info(topic, START_NS, changes.pop("size", (480, 640)), **changes)
    return ros(writer.write(folder / bag_name(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_camera_info_by_hand(tmp_path: Path, kind: str) -> None:
    source = bag(kind, tmp_path)
    lens = lens_of(source)
    check(lens, (1.0, 640 / 480), (0.5, 0.5), "/camera/camera_info")
    assert lens.distortion == (-0.3, 0.1, 0.001, 0.002)
    assert source.notes == ()


def test_camera_info_of_another_camera_is_not_used(tmp_path: Path) -> None:
    assert only(bag("mcap", tmp_path, "/other/camera_info")).lens is None


def test_rectified_pictures_have_the_projection_and_no_distortion(tmp_path: Path) -> None:
    writer = drive("ros1")
    writer.messages = [(t.replace("image_raw", "image_rect_color"), ns, message) for t, ns, message in writer.messages]
    writer.camera_info("/camera/camera_info", START_NS, (480, 640))
    lens = lens_of(ros(writer.write(tmp_path / "drive.bag")))
    check(lens, (0.8, 0.8 * 640 / 480), (0.5, 0.5), "/camera/camera_info")
    assert lens.distortion == ()


def test_a_compressed_camera_has_the_info_of_its_namespace(tmp_path: Path) -> None:
    writer = drive("mcap")
    writer.messages = [(t.replace("image_raw", "image_raw/compressed"), *rest) for t, *rest in writer.messages]
    writer.camera_info("/camera/camera_info", START_NS, (480, 640))
    check(lens_of(ros(writer.write(tmp_path / "drive"))), (1.0, 4 / 3), (0.5, 0.5), "/camera/camera_info")


def test_a_region_of_the_sensor(tmp_path: Path) -> None:
    lens = lens_of(bag("mcap", tmp_path, roi=(160, 0, 480, 320)))  # the middle half of the columns
    check(lens, (2.0, 640 / 480), (0.5, 0.5), "/camera/camera_info")


def test_infos_that_say_less_or_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abcde"]
    for folder in folders:
        folder.mkdir()
    blank = bag("mcap", folders[0], k=[0.0] * 9, p=[0.0] * 12)
    assert (only(blank).lens, blank.notes) == (None, ())
    assert any("is not calibrated" in remark for remark in blank.remarks)
    fisheye = bag("mcap", folders[1], distortion_model="equidistant", d=[0.1, 0.2, 0.3, 0.4])
    assert lens_of(fisheye).distortion == ()
    assert any("equidistant (4 numbers) is ignored" in remark for remark in fisheye.remarks)
    small = [8, 0, 3.5, 0, 8, 2.5, 0, 0, 1]
    check(lens_of(bag("mcap", folders[2], height=0, width=0, k=small)), (1, 8 / 6), (0.5, 0.5), "/camera/camera_info")
    lacks(bag("mcap", folders[3], k=[np.nan] * 9), "/camera/camera_info")
    lacks(bag("mcap", folders[4], k=[640, 0, 1e7, 0, 640, 240, 0, 0, 1]), "do not fit pictures of 640 x 480")


def test_a_type_that_only_the_bag_knows_is_a_note(tmp_path: Path) -> None:
    writer = drive("mcap")
    name = "sensor_msgs/msg/CameraInfo"
    del writer.store.types[name], writer.store.fielddefs[name]
    writer.store.register(get_types_from_msg("std_msgs/Header header\nfloat64[9] k\nstring distortion_model", name))
    info = writer.new(name, header=writer.header(START_NS), k=np.ones(9), distortion_model="none")
    writer.add("/camera/camera_info", START_NS, info)
    lacks(ros(writer.write(tmp_path / "drive")), "/camera/camera_info at")
