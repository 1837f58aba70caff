"""Pictures in messages of ROS: every encoding against numbers by hand or OpenCV, padding, byte order, damage."""

from io import BytesIO
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from egoequiv.errors import BrokenFrameError
from egoequiv.sources.ros_images import COMPRESSED, IMAGE, decode_image, demosaic, is_camera

RNG = np.random.default_rng(1)
RGB = RNG.integers(0, 256, (6, 8, 3), dtype=np.uint8)
ALPHA = np.full((6, 8, 1), 9, np.uint8)


def message(pixels: np.ndarray, code: str, /, pad: int = 0, **changes: Any) -> Any:
    rows = np.ascontiguousarray(pixels).view(np.uint8).reshape(pixels.shape[0], -1)
    rows = np.pad(rows, ((0, 0), (0, pad)), constant_values=99)
    fields: dict[str, Any] = {
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "step": rows.shape[1],
        "encoding": code,
        "is_bigendian": 0,
        "data": rows.reshape(-1),
        "__msgtype__": IMAGE,
    }
    return SimpleNamespace(**(fields | changes))


def decoded(data: np.ndarray, encoding: str, **changes: Any) -> np.ndarray:
    return np.asarray(decode_image(message(data, encoding, **changes), "here"))


@pytest.mark.parametrize(
    ("encoding", "stored"),
    [
        ("rgb8", RGB),
        ("bgr8", RGB[:, :, ::-1]),
        ("8UC3", RGB[:, :, ::-1]),
        ("rgba8", np.concatenate([RGB, ALPHA], axis=2)),
        ("bgra8", np.concatenate([RGB[:, :, ::-1], ALPHA], axis=2)),
        ("rgb16", RGB.astype(np.uint16) * 256 + 17),
        ("bgr16", RGB[:, :, ::-1].astype(np.uint16) * 256 + 17),
    ],
)
@pytest.mark.parametrize("pad", [0, 5])
def test_colours_come_in_the_order_red_green_blue(encoding: str, stored: np.ndarray, pad: int) -> None:
    assert np.array_equal(decoded(stored, encoding, pad=pad), RGB)


def test_gray_keeps_its_bytes_and_the_upper_half_of_16_bits() -> None:
    gray = RGB[:, :, 0]
    assert np.array_equal(decoded(gray, "mono8", pad=3), gray)
    wide = gray.astype(np.uint16) * 256 + 200
    assert np.array_equal(decoded(wide.astype("<u2"), "mono16"), gray)
    assert np.array_equal(decoded(wide.astype(">u2"), "mono16", is_bigendian=1, pad=2), gray)


@pytest.mark.parametrize(
    ("encoding", "code"),
    [
        ("yuv422", cv2.COLOR_YUV2RGB_UYVY),
        ("uyvy", cv2.COLOR_YUV2RGB_UYVY),
        ("yuv422_yuy2", cv2.COLOR_YUV2RGB_YUY2),
        ("yuyv", cv2.COLOR_YUV2RGB_YUY2),
    ],
)
def test_yuv_agrees_with_opencv(encoding: str, code: int) -> None:
    stored = RNG.integers(0, 256, (6, 8, 2), dtype=np.uint8)
    assert np.abs(decoded(stored, encoding).astype(int) - cv2.cvtColor(stored, code).astype(int)).max() <= 1


# OpenCV names a pattern after the second row, from its second pixel.
PATTERNS = {
    "rggb": cv2.COLOR_BayerBG2RGB,
    "bggr": cv2.COLOR_BayerRG2RGB,
    "gbrg": cv2.COLOR_BayerGR2RGB,
    "grbg": cv2.COLOR_BayerGB2RGB,
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_mosaics_agree_with_opencv_inside_and_are_of_16_bits_too(pattern: str) -> None:
    mosaic = RNG.integers(0, 256, (10, 12), dtype=np.uint8)
    ours, theirs = decoded(mosaic, f"bayer_{pattern}8"), cv2.cvtColor(mosaic, PATTERNS[pattern])
    assert np.abs(ours[1:-1, 1:-1].astype(int) - theirs[1:-1, 1:-1].astype(int)).max() <= 1
    assert np.array_equal(decoded(mosaic.astype(np.uint16) << 8, f"bayer_{pattern}16"), ours)


def test_a_mosaic_by_hand() -> None:
    mosaic = np.array([[10, 20], [30, 40]], np.uint8)  # R G / G B
    assert demosaic(mosaic, "rggb")[0, 0].tolist() == [10, 25, 40]
    assert demosaic(mosaic, "rggb")[1, 1].tolist() == [10, 25, 40]
    assert demosaic(mosaic, "rggb")[0, 1].tolist() == [10, 20, 40]


def test_compressed_pictures_are_decoded_by_pillow() -> None:
    packed = BytesIO()
    Image.fromarray(RGB).save(packed, "PNG")
    data = np.frombuffer(packed.getvalue(), np.uint8)
    found = decode_image(SimpleNamespace(__msgtype__=COMPRESSED, data=data, format="rgb8; png compressed "), "here")
    assert np.array_equal(np.asarray(found), RGB)


@pytest.mark.parametrize(
    ("kind", "encoding", "expected"),
    [
        (IMAGE, "mono8", True),
        (IMAGE, "bayer_grbg8", True),
        (IMAGE, "16UC1", False),
        (IMAGE, "32FC1", False),
        (IMAGE, "", False),
        (COMPRESSED, "bgr8; jpeg compressed bgr8", True),
        (COMPRESSED, "jpeg", True),
        (COMPRESSED, "16UC1; compressedDepth png", False),
        (COMPRESSED, "h264", False),
    ],
)
def test_what_is_a_camera(kind: str, encoding: str, expected: bool) -> None:
    assert is_camera(kind, encoding) is expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"height": 7}, "48 bytes in rows of 8, expected 7 rows"),
        ({"height": 4_000_000_000}, "expected 4,000,000,000 rows"),
        ({"width": 9}, "expected 6 rows of at least 9 bytes"),
        ({"step": 4}, "in rows of 4"),
        ({"width": 0, "step": 0}, "0 x 6 pixels"),
        ({"data": np.zeros(0, np.uint8)}, "0 bytes"),
        ({"encoding": "nv21"}, "encoding 'nv21' are not read"),
        ({"encoding": "bayer_rggb12"}, "are not read"),
    ],
)
def test_pictures_that_do_not_fit_their_fields_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BrokenFrameError, match=words):
        decode_image(message(RGB[:, :, 0], "mono8", **changes), "here")
