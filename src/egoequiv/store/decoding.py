"""Frames decoded, fitted and written into their rows, a piece of a recording at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.engines import Tick
from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.files import cannot_write
from egoequiv.names import what_is
from egoequiv.sources import Recording
from egoequiv.sources.pictures import PictureRecording
from egoequiv.user_code import is_built_in, user_code

_PIECES = 64  # or more: then the last one keeps the other workers waiting for a hundredth of the time
_FRAMES_A_PIECE = range(8, 33)  # fewer take longer to hand out than to decode, more take too much memory
_BYTES_A_PIECE = 100_000_000


@dataclass(frozen=True)
class Piece:
    """Some frames of a recording, and the row at which the first of them goes into the store."""

    recording: int
    frames: range
    row: int


def cut_into_pieces(recordings: Sequence[Recording], frame_bytes: int) -> list[Piece]:
    """All frames of all recordings in pieces that are decoded one by one, none of which takes much memory."""
    total = sum(len(recording) for recording in recordings)
    length = min(max(total // _PIECES, _FRAMES_A_PIECE[0]), _FRAMES_A_PIECE[-1])
    length = max(min(length, _BYTES_A_PIECE // frame_bytes), 1)
    pieces = []
    row = 0
    for number, recording in enumerate(recordings):
        for start in range(0, len(recording), length):
            pieces.append(Piece(number, range(start, min(start + length, len(recording))), row + start))
        row += len(recording)
    return pieces


def decode_piece(
    recordings: Sequence[Recording], path: Path, shape: tuple[int, ...], strict: bool, piece: Piece, tick: Tick
) -> dict[int, str]:
    """Write the frames of a piece to their rows, the same bytes however often; the rows of broken ones come back."""
    recording = recordings[piece.recording]
    _, height, width, channels = shape
    images = np.zeros((len(piece.frames), height, width, channels), np.uint8)
    broken: dict[int, str] = {}
    for number, frame in enumerate(piece.frames):
        try:
            if isinstance(recording, PictureRecording):
                images[number] = fit_picture(recording.picture(frame), height, width, channels)
            else:
                # Named, so that it lives until the next one is there: if the memory of each went back to the system
                # first, the next would get it page by page again, which may take longer than to decode it.
                image = image_of(recording, frame)
                images[number] = fit_image(image, height, width, channels)
        except BrokenFrameError as problem:
            if strict:
                raise
            broken[piece.row + number] = str(problem)
    _write_rows(path, prod(shape), piece.row, images)
    tick(len(images))
    return broken


def image_of(recording: Recording, frame: int) -> NDArray[np.uint8]:
    """Decode one frame; what goes wrong in a recording of a user is one line that says of which frame."""
    if is_built_in(recording):
        return recording.image(frame)
    what = f"recording {recording.name!r}, frame {frame}"
    with user_code(what):
        image = recording.image(frame)
    if not isinstance(image, np.ndarray):
        raise DataError(f"{what}: expected an array, found {what_is(image)}")
    return image


def _write_rows(path: Path, size: int, row: int, images: NDArray[np.uint8]) -> None:
    """Write images into a file that ends with `size` bytes of rows.

    Not through a memory map: it writes whole pages, so over a network two machines would undo each other's rows.
    """
    try:
        with open(path, "r+b") as file:
            header = os.fstat(file.fileno()).st_size - size
            file.seek(header + row * images[0].size)
            file.write(images.data)
    except OSError as problem:
        raise cannot_write(path, problem) from problem


def fit_image(image: NDArray[np.uint8], height: int, width: int, channels: int) -> NDArray[np.uint8]:
    """Bring an image (H, W) or (H, W, 3) to (height, width, channels), squeezing it if the aspect differs."""
    if image.dtype != np.uint8 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)):
        raise DataError(f"expected a uint8 image (H, W) or (H, W, 3), found {image.dtype} {image.shape}")
    if image.shape[:2] == (height, width) and (image.ndim == 3) == (channels == 3):
        return image.reshape(height, width, channels)
    return fit_picture(PillowImage.fromarray(image), height, width, channels)


def fit_picture(picture: PillowImage.Image, height: int, width: int, channels: int) -> NDArray[np.uint8]:
    """Bring a gray or RGB picture to (height, width, channels) as `fit_image` does, without making an array of it."""
    mode = "L" if channels == 1 else "RGB"
    if picture.mode != mode:
        picture = picture.convert(mode)
    # Pillow widens the filter when it shrinks, so bilinear does not alias.
    picture = picture.resize((width, height), PillowImage.Resampling.BILINEAR)
    return np.asarray(picture).reshape(height, width, channels)
