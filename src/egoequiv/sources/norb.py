"""Small NORB: the official binary matrices, plain or gzipped, as recordings of toys on a turntable."""

from __future__ import annotations

import gzip
import shutil
import struct
import tempfile
import weakref
import zlib
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose import Axis, GridSpace
from egoequiv.sources.recording import Image, Recording, Source

_LARGEST = 1_000_000_000  # bytes; twice the images of one part

Part = Literal["auto", "training", "testing", "both"]
CameraSide = Literal["left", "right", "both"]

CATEGORIES = ("animal", "human", "airplane", "truck", "car")
CAMERAS = ("left", "right")
SPACE = GridSpace(
    (
        Axis("elevation", "deg", step=5.0, plus="up", minus="down"),
        Axis("azimuth", "deg", step=20.0, plus="right", minus="left", period=360.0),
    )
)

_BYTE_MAGIC, _INT_MAGIC = 0x1E3D4C55, 0x1E3D4C54
_MAGIC_NAMES = {
    _BYTE_MAGIC: "a byte matrix (-dat)",
    _INT_MAGIC: "an integer matrix (-cat or -info)",
    0x1E3D4C51: "a single-precision matrix",
    0x1E3D4C53: "a double-precision matrix",
    0x1E3D4C56: "a short-integer matrix",
}
# The columns of -info, the largest value of each and the step between values; azimuth is in units of 10 degrees.
_INFO_COLUMNS = (("instance", 9, 1), ("elevation", 8, 1), ("azimuth", 34, 2), ("lighting", 5, 1))


class _Scratch:
    """A folder for unpacked files, made when first needed and removed when nothing uses it any more."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="egoequiv-norb-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def __reduce__(self) -> tuple[type[_Scratch], tuple[Path | None]]:
        return _Scratch, (self._folder,)  # a copy in a worker process reads the folder but does not remove it


@dataclass(frozen=True)
class NorbRecording(Recording):
    """One toy under one lighting, seen by one camera from the whole turntable."""

    name: str
    poses: NDArray[np.float64]
    labels: tuple[str, ...]
    attributes: dict[str, str]
    dat_path: Path
    dat_shape: tuple[int, ...]
    records: NDArray[np.int64]  # (N,) rows of the -dat file
    camera: int
    scratch: _Scratch  # keeps the unpacked file, if there is one, as long as a recording may read it
    times_s: None = None

    def image(self, frame: int) -> Image:
        modified_ns = self.dat_path.stat().st_mtime_ns
        return np.array(_open_images(self.dat_path, self.dat_shape, modified_ns)[self.records[frame], self.camera])


def norb(path: Path, *, part: Part = "auto", camera: CameraSide = "left") -> Source:
    """Read small NORB from the folder that contains its -dat, -cat and -info files."""
    path = Path(path)
    if not path.is_dir():
        raise DataError(f"{path} is not a folder: give the folder that contains the smallnorb-*.mat files")
    recordings: list[NorbRecording] = []
    scratch = _Scratch()
    for chosen in _choose_parts(path, part):
        recordings += _read_part(path, chosen, camera, scratch)
    return Source("norb", SPACE, recordings, {"path": str(path), "part": part, "camera": camera})


def _choose_parts(path: Path, part: Part) -> tuple[str, ...]:
    present = tuple(p for p in ("training", "testing") if any(path.glob(f"smallnorb-*-{p}-dat.mat*")))
    if not present:
        raise DataError(f"{path} contains no smallnorb-*-training-dat.mat or smallnorb-*-testing-dat.mat, plain or .gz")
    if part == "both":
        missing = {"training", "testing"} - set(present)
        if missing:
            raise DataError(f"{path} has no {missing.pop()} part: pass part={present[0]}, or add the missing files")
        return present
    if part == "auto":
        if len(present) > 1:
            raise DataError(f"{path} contains the training and the testing part: add part=training, testing or both")
        return present
    if part not in present:
        raise DataError(f"{path} has no {part} part, only {present[0]}")
    return (part,)


def _read_part(path: Path, part: str, camera: CameraSide, scratch: _Scratch) -> list[NorbRecording]:
    dat = _find(path, part, "dat")
    cat_path, info_path = _find(path, part, "cat"), _find(path, part, "info")
    category = _read_ints(cat_path, 1)[:, 0]
    info = _read_ints(info_path, 4)
    dat_plain = _unpacked(dat, scratch)
    shape = _check_header(dat_plain, _BYTE_MAGIC, shown=dat)
    if len(shape) != 4 or shape[1] != 2:
        raise DataError(f"{dat}: expected dimensions N x 2 x height x width, found {' x '.join(map(str, shape))}")
    for file, count in ((cat_path, len(category)), (info_path, len(info))):
        if count != shape[0]:
            raise DataError(f"{file} has {count} rows but {dat} has {shape[0]} images: they do not belong to one set")
    _check_range(cat_path, "category", category, len(CATEGORIES) - 1)
    for column, (name, largest, step) in enumerate(_INFO_COLUMNS):
        _check_range(info_path, name, info[:, column], largest, step)
    cameras = [0, 1] if camera == "both" else [CAMERAS.index(camera)]
    return [r for c in cameras for r in _recordings(category, info, dat_plain, shape, c, scratch)]


def _recordings(
    category: NDArray[np.int32],
    info: NDArray[np.int32],
    dat: Path,
    shape: tuple[int, ...],
    camera: int,
    scratch: _Scratch,
) -> list[NorbRecording]:
    """Group the records by toy and lighting, each group in order of elevation and azimuth."""
    instance, elevation, azimuth, lighting = info.T
    order = np.lexsort((azimuth, elevation, lighting, instance, category))
    group = np.stack([category, instance, lighting], axis=1)[order]
    starts = np.flatnonzero(np.any(np.diff(group, axis=0, prepend=-1), axis=1))
    recordings = []
    for rows in np.split(order, starts[1:]):
        kind, number, light = CATEGORIES[category[rows[0]]], int(instance[rows[0]]), int(lighting[rows[0]])
        toy = f"{kind}-{number}"
        recordings.append(
            NorbRecording(
                name=f"{toy}/light-{light}/{CAMERAS[camera]}",
                poses=np.stack([30.0 + 5.0 * elevation[rows], 10.0 * azimuth[rows]], axis=1),
                labels=(toy,) * len(rows),
                attributes={
                    "category": kind,
                    "instance": str(number),
                    "toy": toy,
                    "lighting": str(light),
                    "camera": CAMERAS[camera],
                },
                dat_path=dat,
                dat_shape=shape,
                records=rows.astype(np.int64),
                camera=camera,
                scratch=scratch,
            )
        )
    return recordings


def _find(path: Path, part: str, kind: str) -> Path:
    found = sorted(f for f in path.glob(f"smallnorb-*-{part}-{kind}.mat*") if f.suffix in (".mat", ".gz"))
    if not found:
        raise DataError(f"{path} has no smallnorb-*-{part}-{kind}.mat (or .mat.gz); it belongs to the {part} part")
    return found[0]  # the plain file sorts before the gzipped one


def _unpacked(path: Path, scratch: _Scratch) -> Path:
    """The path of the plain file: itself, or a temporary copy unpacked from gzip."""
    if path.suffix != ".gz":
        return path
    if path.stat().st_size > _LARGEST:
        raise DataError(f"{path} has {path.stat().st_size:,} bytes, more than any file of small NORB; fetch it again")
    plain = scratch.folder() / path.stem
    try:
        with gzip.open(path, "rb") as packed, open(plain, "wb") as out:
            while out.tell() <= _LARGEST and (piece := packed.read(1 << 22)):
                out.write(piece)
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise DataError(f"{path}: the gzip data is damaged or cut short ({problem}); get the file again") from problem
    return plain


def _read_ints(path: Path, columns: int) -> NDArray[np.int32]:
    """Read an integer matrix as (rows, columns)."""
    scratch = _Scratch()
    plain = _unpacked(path, scratch)
    shape = _check_header(plain, _INT_MAGIC, shown=path)
    found = prod(shape[1:])
    if found != columns:
        raise DataError(f"{path}: expected {columns} values a row, found {found}; are -cat and -info swapped?")
    values = np.fromfile(plain, "<i4", offset=_header_size(len(shape)))
    return values.reshape(shape[0], columns).astype(np.int32)


def _header_size(dimensions: int) -> int:
    return 4 * (2 + max(3, dimensions))  # at least three sizes are written, for any number of dimensions


def _check_header(path: Path, magic: int, shown: Path) -> tuple[int, ...]:
    """Check magic number, sizes and length of a matrix file; return its dimensions."""
    length = path.stat().st_size
    with open(path, "rb") as file:
        start = file.read(8)
        if len(start) < 8:
            raise DataError(f"{shown} is {'empty' if length == 0 else 'cut short'}: {length} bytes, no header")
        found, dimensions = struct.unpack("<2i", start)
        if found != magic:
            kind = _MAGIC_NAMES.get(found, "not a NORB matrix")
            raise DataError(
                f"{shown}: magic number 0x{found & 0xFFFFFFFF:08X} is {kind}, expected {_MAGIC_NAMES[magic]}; "
                "were two files swapped?"
            )
        if not 1 <= dimensions <= 4:
            raise DataError(f"{shown}: the header says {dimensions} dimensions, expected 1 to 4")
        sizes = file.read(4 * max(3, dimensions))
    if len(sizes) < 4 * max(3, dimensions):
        raise DataError(f"{shown} is cut short: {length} bytes end inside the header")
    shape = struct.unpack(f"<{max(3, dimensions)}i", sizes)[:dimensions]
    if min(shape) < 1:
        raise DataError(f"{shown}: the header says dimensions {shape}, expected positive ones")
    expected = _header_size(dimensions) + prod(shape) * (1 if magic == _BYTE_MAGIC else 4)
    if length != expected:
        problem = "cut short" if length < expected else "too long"
        raise DataError(f"{shown} is {problem}: {length} bytes, the header says {expected}; get the file again")
    return tuple(shape)


def _check_range(path: Path, name: str, values: NDArray[np.int32], largest: int, step: int = 1) -> None:
    bad = np.flatnonzero((values < 0) | (values > largest) | (values % step != 0))
    if len(bad):
        row = int(bad[0])
        allowed = f"0 to {largest}" if step == 1 else f"0 to {largest} in steps of {step}"
        raise DataError(f"{path}: row {row} has {name} {values[row]}, expected {allowed}; is the file swapped?")


@lru_cache(maxsize=8)
def _open_images(path: Path, shape: tuple[int, ...], modified_ns: int) -> NDArray[np.uint8]:  # noqa: ARG001
    """Map a file once; its modification time is part of the key, so that a replaced file is mapped again."""
    return np.memmap(path, np.uint8, "r", offset=_header_size(len(shape)), shape=shape)
