"""Features of frames as a file, each with the identity of its frame; in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import readable
from egoequiv.files import check_writable, replacing
from egoequiv.models.motion_model import MotionModel
from egoequiv.models.network import ALL
from egoequiv.progress import Progress
from egoequiv.store.frame_batches import FrameBatches
from egoequiv.store.inputs import OpenedInputs

SUFFIXES = (".parquet", ".npy")
FEATURES = "features"
Features = NDArray[np.float32]
Write = Callable[[pa.Table, Features], None]


@dataclass(frozen=True)
class Written:
    """What was written."""

    files: tuple[Path, ...]
    frames: int
    features: int
    broken: tuple[str, ...]  # why frames were left out


def feature_files(out: Path) -> list[Path]:
    """The files that features are written to: one of Parquet, or an array and the identities of its rows beside it."""
    if out.suffix not in SUFFIXES:
        raise ConfigError(f"{out}: features are written as .parquet or .npy, so choose one of these endings")
    return [out] if out.suffix == ".parquet" else [out, out.with_suffix(".frames.parquet")]


def write_features(
    model: MotionModel,
    inputs: OpenedInputs,
    out: Path,
    on_progress: Progress | None = None,
    *,
    part: str = ALL,
    skip_broken: bool = False,
    about: Mapping[str, str] | None = None,
) -> Written:
    """Write the features of every frame, whole or not at all; images are brought to the network's size and colour.

    Args:
        model: of a run or an export.
        inputs: the frames, see `open_inputs`; they are decoded one after another and kept nowhere.
        out: `NAME.parquet`, with what is known of each frame and `features`, a list of D float32; or `NAME.npy`, an
            array (N, D) in the same order, with what is known in NAME.frames.parquet.
        on_progress: called with frames done, frames in all.
        part: the part of the features, for a network that has parts; every feature by default.
        skip_broken: leave out frames that cannot be decoded; by default the first of them is an error.
        about: texts that are kept with the file, such as the name of the run.

    Returns:
        The files, and what was left out.
    """
    files, own = feature_files(out), model.part(part)
    for path in files:
        check_writable(path)
    dim, count = own.stop - own.start, 0
    frames = FrameBatches(inputs.frames, model.image_shape, skip_broken)
    said = {key: readable(value) for key, value in (about or {}).items()}
    schema = frames.schema().with_metadata({"part": part, **said})
    writer = _parquet(out, schema, dim) if len(files) == 1 else _array(out, files[1], schema, dim)
    with writer as write:
        for known, images in frames.batches(on_progress):
            features = np.ascontiguousarray(model.embed(images)[:, own], np.float32)
            check_finite(features, known)
            write(known, features)
            count += len(features)
        if not count:
            raise DataError(f"none of {len(inputs)} frames can be read: {frames.broken[0]}")
    return Written(tuple(files), count, dim, tuple(frames.broken))


def check_finite(features: Features, known: pa.Table) -> None:
    """Refuse features that are not finite."""
    bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if len(bad):
        recording, frame = (known[name][int(bad[0])].as_py() for name in ("recording", "frame"))
        raise DataError(
            f"the features of frame {frame} of {recording} are not finite: the network has diverged, train it again"
        )


@contextmanager
def _parquet(path: Path, schema: pa.Schema, dim: int) -> Iterator[Write]:
    """A table with a row group for each batch."""
    whole = schema.append(pa.field(FEATURES, pa.list_(pa.float32(), dim)))
    with (
        replacing(path) as temporary,
        open(temporary, "wb") as file,  # Arrow opens no name that is not UTF-8
        pq.ParquetWriter(file, whole, compression="zstd") as writer,
    ):

        def write(known: pa.Table, features: Features) -> None:
            values = pa.FixedSizeListArray.from_arrays(pa.array(features.reshape(-1)), dim)
            writer.write_table(known.append_column(FEATURES, values).cast(whole))

        yield write


@contextmanager
def _array(path: Path, identities: Path, schema: pa.Schema, dim: int) -> Iterator[Write]:
    """An array whose number of rows is known at the end, when its header is written once more, and a table."""
    rows = 0
    with (
        replacing(path) as temporary,
        replacing(identities) as beside,
        open(temporary, "w+b") as file,
        open(beside, "wb") as table,
        pq.ParquetWriter(table, schema, compression="zstd") as writer,
    ):

        def header() -> None:
            layout = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
            np.lib.format.write_array_header_1_0(file, layout)

        def write(known: pa.Table, features: Features) -> None:
            nonlocal rows
            file.write(features.astype("<f4", copy=False).tobytes())
            writer.write_table(known.cast(schema))
            rows += len(features)

        header()
        begin = file.tell()
        yield write
        file.seek(0)
        header()
        if file.tell() != begin:  # numpy leaves room for any number of rows
            raise AssertionError(f"{path}: the header of {rows} rows is longer than that of none")
