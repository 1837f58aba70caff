"""Pictures in messages of ROS: sensor_msgs/Image and CompressedImage, decoded when they are needed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.pose.clock import Nanoseconds
from egoequiv.sources.logged import FrameReader
from egoequiv.sources.pictures import open_picture
from egoequiv.sources.recording import Decoded, Image
from egoequiv.sources.ros_bags import open_bag

IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
FRAMES_A_START = 32  # messages from one place where reading begins to the next

# Bytes of a channel, and the channels that are red, green and blue.
_PLAIN: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "mono8": (1, 1, (0,)),
    "8uc1": (1, 1, (0,)),
    "mono16": (2, 1, (0,)),
    "rgb8": (1, 3, (0, 1, 2)),
    "bgr8": (1, 3, (2, 1, 0)),
    "8uc3": (1, 3, (2, 1, 0)),  # as OpenCV orders them
    "rgba8": (1, 4, (0, 1, 2)),
    "bgra8": (1, 4, (2, 1, 0)),
    "8uc4": (1, 4, (2, 1, 0)),
    "rgb16": (2, 3, (0, 1, 2)),
    "bgr16": (2, 3, (2, 1, 0)),
    "rgba16": (2, 4, (0, 1, 2)),
    "bgra16": (2, 4, (2, 1, 0)),
}
_BAYER = ("rggb", "bggr", "gbrg", "grbg")  # the colours of the first two pixels, then of those below them
# Where Y, U and V are among the four bytes of two pixels.
_YUV = {
    "yuv422": (1, 0, 2),
    "uyvy": (1, 0, 2),
    "yuv422_yuy2": (0, 1, 3),
    "yuyv": (0, 1, 3),
    "yuy2": (0, 1, 3),
}
# In the format of compressed messages: depth, and codecs that need the messages before.
_NOT_PICTURES = (
    "compresseddepth",
    "16uc1",
    "32fc1",
    "h264",
    "h265",
    "hevc",
    "avc",
    "av1",
    "vp8",
    "vp9",
    "theora",
    "rvl",
)


def is_camera(kind: str, encoding: str) -> bool:
    """Whether messages of a type and an encoding (or the `format` of a compressed one) are pictures of a camera."""
    encoding = encoding.lower()
    if kind == COMPRESSED:
        return not any(word in encoding for word in _NOT_PICTURES)
    return encoding in _PLAIN or encoding in _YUV or _bayer(encoding) is not None


def decode_image(message: Any, where: str) -> Decoded:
    """The picture of a message, in gray (H, W) or colour (H, W, 3); raise `BrokenFrameError` if that is impossible."""
    if message.__msgtype__ == COMPRESSED:
        return open_picture(io.BytesIO(bytes(message.data)), where)
    encoding = message.encoding.lower()
    if encoding in _YUV:
        pixels, _ = _pixels(message, 1, 2, where)
        return _from_yuv(pixels, _YUV[encoding], where)
    if (bayer := _bayer(encoding)) is not None:
        pattern, size = bayer
        pixels, shift = _pixels(message, size, 1, where)
        return demosaic(pixels[:, :, 0], pattern) if shift == 0 else demosaic(_upper(pixels[:, :, 0]), pattern)
    if encoding not in _PLAIN:
        raise BrokenFrameError(f"{where}: pictures with encoding {message.encoding!r} are not read")
    size, channels, order = _PLAIN[encoding]
    pixels, shift = _pixels(message, size, channels, where)
    colours = pixels[:, :, list(order)] if len(order) == 3 else pixels[:, :, 0]
    return np.ascontiguousarray(_upper(colours) if shift else colours, np.uint8)


def _pixels(message: Any, size: int, channels: int, where: str) -> tuple[NDArray[Any], int]:
    """(H, W, channels) as they are stored, without the padding of rows; and how many bits are too many."""
    height, width, step = int(message.height), int(message.width), int(message.step)
    data = np.asarray(message.data, np.uint8).reshape(-1)
    row = width * channels * size
    if min(height, width) < 2:
        raise BrokenFrameError(f"{where}: {width} x {height} pixels, expected at least 2 x 2")
    step = step or row
    if step < row or len(data) < step * (height - 1) + row:
        raise BrokenFrameError(
            f"{where}: {len(data):,} bytes in rows of {step:,}, expected {height:,} rows of at least {row:,} bytes"
        )
    rows = np.lib.stride_tricks.as_strided(data, (height, row), (step, 1), writeable=False)
    order = ">" if message.is_bigendian else "<"
    return np.ascontiguousarray(rows).view(f"{order}u{size}").reshape(height, width, channels), 8 * (size - 1)


def _upper(pixels: NDArray[Any]) -> Image:
    """The upper 8 of 16 bits."""
    return (pixels >> 8).astype(np.uint8)


def _bayer(encoding: str) -> tuple[str, int] | None:
    """The pattern and the bytes of a channel of an encoding such as bayer_rggb8."""
    name, _, rest = encoding.partition("_")
    pattern, bits = rest[:4], rest[4:]
    return (pattern, int(bits) // 8) if name == "bayer" and pattern in _BAYER and bits in ("8", "16") else None


def demosaic(mosaic: Image, pattern: str) -> Image:
    """Colour (H, W, 3) from a mosaic (H, W): each missing value is the mean of its nearest neighbours (bilinear)."""
    from scipy.ndimage import convolve

    weights = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]])
    out = np.empty((*mosaic.shape, 3), np.uint8)
    for channel, colour in enumerate("rgb"):
        known = np.zeros(mosaic.shape)
        for place in (place for place, letter in enumerate(pattern) if letter == colour):
            known[place // 2 :: 2, place % 2 :: 2] = 1.0
        total = convolve(mosaic * known, weights, mode="constant")
        mean = np.rint(total / convolve(known, weights, mode="constant"))
        out[:, :, channel] = np.where(known == 1.0, mosaic, mean)
    return out


def _from_yuv(pairs: NDArray[Any], places: tuple[int, int, int], where: str) -> Image:
    """Colour from two bytes a pixel (H, W, 2), as in video: ITU-R 601, luma from 16 to 235."""
    height, width = pairs.shape[:2]
    if width % 2:
        raise BrokenFrameError(f"{where}: {width} pixels a row, expected an even number with YUV 4:2:2")
    four = pairs.reshape(height, width // 2, 4).astype(np.float64)
    y_at, u_at, v_at = places
    y = 1.164 * np.maximum(four[:, :, [y_at, y_at + 2]].reshape(height, width) - 16, 0)
    u, v = (np.repeat(four[:, :, place] - 128, 2, axis=1) for place in (u_at, v_at))
    rgb = np.stack([y + 1.596 * v, y - 0.813 * v - 0.391 * u, y + 2.018 * u], axis=2)
    return np.clip(np.rint(rgb), 0, 255).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class BagImages(FrameReader):
    """The pictures of one topic, found by the time at which they were received."""

    path: Path
    topic: str
    log_ns: Nanoseconds  # (N,) when each frame was received; frames are in order of their own stamps
    repeat: NDArray[np.int64]  # (N,) its number among the messages of the topic that were received at the same time
    is_indexed: bool  # whether reading can begin anywhere

    def __len__(self) -> int:
        return len(self.log_ns)

    def starts(self) -> Sequence[int]:
        return range(0, max(len(self), 1), FRAMES_A_START) if self.is_indexed else [0]

    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        if not len(frames):
            return
        wanted = {(int(self.log_ns[frame]), int(self.repeat[frame])): frame for frame in frames}
        asked = iter(frames)
        following = next(asked, None)
        done: dict[int, Decoded] = {}  # frames whose messages came before those of earlier frames
        damage: list[str] = []
        for frame, decoded in self._decoded(wanted, damage):
            done[frame] = decoded
            while following is not None and following in done:
                yield done.pop(following)
                following = next(asked, None)
        reason = damage[0] if damage else f"{self.path} has changed since it was opened"
        while following is not None:
            yield done.pop(following, BrokenFrameError(f"{self._where(following)}: {reason}"))
            following = next(asked, None)

    def _decoded(self, wanted: dict[tuple[int, int], int], damage: list[str]) -> Iterator[tuple[int, Decoded]]:
        """The wanted frames in the order in which they were received."""
        try:
            bag = open_bag(self.path)
        except DataError as problem:
            damage.append(str(problem))
            return
        start, stop = min(wanted)[0], max(wanted)[0] + 1
        last, repeat, left = -1, 0, len(wanted)
        for message in bag.messages([self.topic], start, stop, damage):
            repeat = repeat + 1 if message.log_ns == last else 0
            last = message.log_ns
            frame = wanted.get((last, repeat))
            if frame is None:
                continue
            try:
                yield frame, decode_image(bag.parse(message), self._where(frame))
            except BrokenFrameError as problem:
                yield frame, problem
            except DataError as problem:
                yield frame, BrokenFrameError(str(problem))
            left -= 1
            if not left:
                return

    def _where(self, frame: int) -> str:
        return f"{self.path}, {self.topic}, frame {frame}"


@dataclass(frozen=True)
class NoPictures(FrameReader):
    """Stands where a bag has poses alone."""

    path: Path
    count: int

    def __len__(self) -> int:
        return self.count

    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        raise DataError(f"{self.path} has no pictures")
