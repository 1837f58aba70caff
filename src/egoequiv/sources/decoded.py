"""Frames of any recording decoded in order, and where to cut a recording into pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image as PillowImage

from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.names import what_is
from egoequiv.sources.recording import Decoded, Recording
from egoequiv.user_code import is_built_in, user_code


def decoded_frames(recording: Recording, frames: range) -> Iterator[Decoded]:
    """Decode frames in order; what goes wrong in a recording of a user is one line that says of which frame."""
    if is_built_in(recording):
        yield from recording.images(frames)
        return
    stream = iter(recording.images(frames))
    for frame in frames:
        what = f"recording {recording.name!r}, frame {frame}"
        with user_code(what):
            image = next(stream, None)
        if not isinstance(image, np.ndarray | PillowImage.Image | BrokenFrameError):
            raise DataError(f"{what}: expected an array, found {what_is(image)}")
        yield image


def cut(starts: Sequence[int], count: int, length: int) -> Iterator[range]:
    """Ranges of `count` frames that begin at some of `starts`, of at least `length` frames where that can be."""
    begin = 0
    for start in starts:
        if start - begin >= length:
            yield range(begin, start)
            begin = start
    if begin < count:
        yield range(begin, count)
