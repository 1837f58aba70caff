"""Frames decoded, fitted and written into their rows, a piece of a recording at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from platform import node

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.engines import Tick
from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.files import cannot_write
from egoequiv.sources import Recording
from egoequiv.sources.decoded import cut, decoded_frames

_PIECES = 64  # or more: then the last one keeps the other workers waiting for a hundredth of the time
_FRAMES_A_PIECE = range(8, 33)  # fewer take longer to hand out than to decode, more take too much memory
_VIDEO_PIECES = 24  # or more: each opens the video, which takes as long as decoding fifteen frames of 640 x 480
_VIDEO_FRAMES_A_PIECE = range(32, 257)
_BYTES_A_PIECE = 100_000_000


@dataclass(frozen=True)
class Piece:
    """Some frames of a recording, and the row at which the first of them goes into the store."""

    recording: int
    frames: range
    row: int


def cut_into_pieces(recordings: Sequence[Recording], frame_bytes: int) -> list[Piece]:
    """All frames of all recordings in pieces that are decoded one by one, in any order.

    A piece begins where decoding can begin, so pieces of a video may be long; they take no more memory for it.
    """
    total = sum(len(recording) for recording in recordings)
    length = max(min(_within(_FRAMES_A_PIECE, total // _PIECES), _BYTES_A_PIECE // frame_bytes), 1)
    video_length = _within(_VIDEO_FRAMES_A_PIECE, total // _VIDEO_PIECES)
    pieces = []
    row = 0
    for number, recording in enumerate(recordings):
        starts = recording.starts()
        for frames in cut(starts, len(recording), video_length if len(starts) < len(recording) else length):
            pieces.append(Piece(number, frames, row + frames.start))
        row += len(recording)
    return pieces


def _within(limits: range, length: int) -> int:
    return min(max(length, limits[0]), limits[-1])


def decode_piece(
    recordings: Sequence[Recording], path: Path, shape: tuple[int, ...], strict: bool, piece: Piece, tick: Tick
) -> dict[int, str]:
    """Write the frames of a piece to their rows, the same bytes however often; the rows of broken ones come back."""
    recording = recordings[piece.recording]
    _, height, width, channels = shape
    most = max(min(_FRAMES_A_PIECE[-1], _BYTES_A_PIECE // prod(shape[1:])), 1)
    images = np.zeros((min(len(piece.frames), most), height, width, channels), np.uint8)
    broken: dict[int, str] = {}
    filled = 0
    for row, decoded in enumerate(decoded_frames(recording, piece.frames), piece.row):
        if isinstance(decoded, BrokenFrameError):
            if strict:
                raise decoded
            broken[row] = str(decoded)
            images[filled] = 0
        else:
            images[filled] = fit_image(decoded, height, width, channels)
        filled += 1
        if filled == len(images) or row + 1 == piece.row + len(piece.frames):
            _write_rows(path, prod(shape), row + 1 - filled, images[:filled])
            tick(filled)
            filled = 0
    _note_done(path, piece, broken)
    return broken


def _journals(images: Path) -> list[Path]:
    return sorted(images.parent.glob("done-*.jsonl"))


def _note_done(images: Path, piece: Piece, broken: dict[int, str]) -> None:
    """Note that a piece is on disk; each process has a journal of its own, because others may write too."""
    journal = images.parent / f"done-{node()}-{os.getpid()}.jsonl"
    try:
        with open(images, "rb") as file:
            os.fdatasync(file.fileno())  # first, so that no piece is noted whose rows a power cut has lost
        with open(journal, "a", encoding="utf-8") as file:
            file.write(json.dumps({"row": piece.row, "broken": broken}) + "\n")
    except OSError as problem:
        raise cannot_write(journal, problem) from problem


def pieces_done(images: Path) -> dict[int, dict[int, str]]:
    """The pieces that were decoded before: the row at which each begins, and its broken rows with the reasons."""
    done: dict[int, dict[int, str]] = {}
    for journal in _journals(images):
        for line in journal.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found = json.loads(line)
                done[int(found["row"])] = {int(row): str(reason) for row, reason in found["broken"].items()}
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # the last line of a process that was killed
    return done


def forget_journals(images: Path) -> None:
    """Remove the notes of what is done, when all of it is."""
    for journal in _journals(images):
        journal.unlink()


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


def fit_image(
    image: NDArray[np.uint8] | PillowImage.Image, height: int, width: int, channels: int
) -> NDArray[np.uint8]:
    """Bring an image (H, W, C), (H, W) or a gray or RGB picture to (height, width, channels), squeezing it to fit."""
    mode = "L" if channels == 1 else "RGB"
    if isinstance(image, np.ndarray):
        if image.ndim == 3 and image.shape[2] == 1:
            image = image[..., 0]
        if image.dtype != np.uint8 or not (image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)):
            raise DataError(f"expected a uint8 image (H, W), (H, W, 1) or (H, W, 3), found {image.dtype} {image.shape}")
        if image.shape[:2] == (height, width) and (image.ndim == 3) == (channels == 3):
            return image.reshape(height, width, channels)
        image = PillowImage.fromarray(image)
    if image.mode != mode:
        image = image.convert(mode)
    # Pillow widens the filter when it shrinks, so bilinear does not alias.
    image = image.resize((width, height), PillowImage.Resampling.BILINEAR)
    return np.asarray(image).reshape(height, width, channels)
