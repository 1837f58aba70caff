"""Pictures decoded from files of any format, one at a time; what cannot be used is named in one line."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import ExifTags, ImageOps, UnidentifiedImageError
from PIL import Image as PillowImage

from egoequiv.errors import BrokenFrameError
from egoequiv.sources.recording import Decoded, Image, Recording

_GRAY_MODES = ("1", "L", "LA")
_SIXTEEN_BITS = (1 << 16) - 1
_UPRIGHT = 1  # of the EXIF orientations
_LYING = (5, 6, 7, 8)  # those by which height and width change places


class PictureRecording(Recording):
    """A recording of picture files, which may be resized before they become arrays."""

    files: Sequence[str | Path]  # where they are; empty where a recording was opened without its pictures

    @abstractmethod
    def picture(self, frame: int) -> PillowImage.Image:
        """Decode one frame, in gray (mode L) or colour (RGB); raise `BrokenFrameError` if that is impossible."""

    def file_name(self, frame: int) -> str | None:
        return Path(self.files[frame]).name if self.files else None

    def image(self, frame: int) -> Image:
        return np.array(self.picture(frame))

    def images(self, frames: range) -> Iterator[Decoded]:
        for frame in frames:
            try:
                yield self.picture(frame)  # it is resized before it becomes an array
            except BrokenFrameError as problem:
                yield problem


def read_picture(path_or_file: str | Path | BinaryIO, where: str) -> Image:
    """Decode one picture, as `open_picture` does, to uint8: (H, W) if it is gray and (H, W, 3) if it has colour."""
    return np.array(open_picture(path_or_file, where))


def open_picture(path_or_file: str | Path | BinaryIO, where: str) -> PillowImage.Image:
    """Decode one picture, to mode L if it is gray and to RGB if it has colour.

    The EXIF orientation is applied, alpha is dropped, and gray with 16 bits keeps the upper 8. Of an animation, the
    first picture is used. `where` is the start of the message of an error.
    """
    with warnings.catch_warnings():
        # After Pillow's warnings, such as for odd tags, the picture is usable, except if it is a decompression bomb.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", PillowImage.DecompressionBombWarning)
        return decode_picture(path_or_file, where)


def decode_picture(
    path_or_file: str | Path | BinaryIO, where: str, formats: tuple[str, ...] | None = None
) -> PillowImage.Image:
    """The same without a change to the warnings of the process, which threads share; only these formats are read."""
    picture = _decode(path_or_file, where, formats)
    if min(picture.size) < 2:
        width, height = picture.size
        raise BrokenFrameError(f"{where}: {width} x {height} pixels, expected at least 2 x 2")
    return _eight_bits(picture, where)


def picture_size(path_or_file: str | Path | BinaryIO, where: str) -> tuple[int, int]:
    """Height and width of a picture as `open_picture` gives it, from its header."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with PillowImage.open(path_or_file) as picture:
                width, height = picture.size
                with suppress(Exception):  # if tags cannot be read, the pixels are left as they are stored
                    if picture.getexif().get(ExifTags.Base.Orientation, _UPRIGHT) in _LYING:
                        width, height = height, width
                return height, width
    except Exception as problem:  # on damaged bytes the decoders raise almost anything
        raise BrokenFrameError(f"{where}: the size of the picture cannot be read") from problem


def _decode(
    path_or_file: str | Path | BinaryIO, where: str, formats: tuple[str, ...] | None = None
) -> PillowImage.Image:
    try:
        with PillowImage.open(path_or_file, formats=formats) as picture:
            picture.load()
            return _upright(picture)
    except (PillowImage.DecompressionBombWarning, PillowImage.DecompressionBombError):
        limit = (PillowImage.MAX_IMAGE_PIXELS or 0) // 1_000_000
        raise BrokenFrameError(f"{where}: more than {limit} million pixels; make the picture smaller") from None
    except UnidentifiedImageError:
        raise BrokenFrameError(f"{where}: not a picture of a known format, or cut short at its start") from None
    except Exception as problem:  # on damaged bytes the decoders raise almost anything
        strerror = problem.strerror if isinstance(problem, OSError) else None
        lines = (strerror or str(problem) or type(problem).__name__).splitlines()
        raise BrokenFrameError(f"{where}: the picture cannot be read ({lines[0]})") from problem


def _upright(picture: PillowImage.Image) -> PillowImage.Image:
    try:
        held = picture.getexif().get(ExifTags.Base.Orientation, _UPRIGHT)
        return picture if held == _UPRIGHT else ImageOps.exif_transpose(picture)
    except Exception:  # if tags cannot be read, the pixels are left as they are stored
        return picture


def _eight_bits(picture: PillowImage.Image, where: str) -> PillowImage.Image:
    mode = picture.mode
    if mode in ("L", "RGB"):  # nearly all pictures; a conversion would copy them once more
        return picture
    if mode == "CMYK":
        raise BrokenFrameError(f"{where}: printing colours (CMYK) have no fixed appearance; convert the picture to RGB")
    if mode == "F":
        raise BrokenFrameError(f"{where}: floating-point pixels have no fixed range; convert the picture to 8 bits")
    if mode == "I" or mode.startswith("I;16"):
        gray = np.array(picture)
        if gray.min() < 0 or gray.max() > _SIXTEEN_BITS:
            raise BrokenFrameError(f"{where}: values from {gray.min()} to {gray.max()}, expected 8 or 16 bits")
        return PillowImage.fromarray((gray >> 8).astype(np.uint8))
    return picture.convert("L" if mode in _GRAY_MODES or _has_gray_palette(picture) else "RGB")


def _has_gray_palette(picture: PillowImage.Image) -> bool:
    palette = picture.getpalette() or []
    return picture.mode == "P" and palette[0::3] == palette[1::3] == palette[2::3]


def crop_to_aspect(image: Image, width: int, height: int) -> Image:
    """The largest central crop with the aspect width to height, to the nearest pixel."""
    left, top, right, bottom = _central(image.shape[1], image.shape[0], width, height)
    return image[top:bottom, left:right]


def crop_picture(picture: PillowImage.Image, width: int, height: int) -> PillowImage.Image:
    """The same crop of a picture that is not an array yet."""
    return picture.crop(_central(*picture.size, width, height))


def _central(columns: int, rows: int, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the crop of a picture with the given columns and rows."""
    if columns * height > rows * width:
        keep = max(1, round(rows * width / height))
        start = (columns - keep) // 2
        return start, 0, start + keep, rows
    keep = max(1, round(columns * height / width))
    start = (rows - keep) // 2
    return 0, start, columns, start + keep
