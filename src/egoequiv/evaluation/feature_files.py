"""Features of all frames of a store as a file, each with the identity of its frame; in bounded memory."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.features import Batches, OnProgress, feature_batches, images_of
from egoequiv.files import check_writable, replacing
from egoequiv.models import EgoNet
from egoequiv.models.network import ALL
from egoequiv.store import FrameStore

SUFFIXES = (".parquet", ".npy")


def feature_files(out: Path) -> list[Path]:
    """The files that features are written to: one of Parquet, or an array and the identities of its rows beside it."""
    if out.suffix not in SUFFIXES:
        raise ConfigError(f"{out}: features are written as .parquet or .npy, so choose one of these endings")
    return [out] if out.suffix == ".parquet" else [out, out.with_suffix(".frames.parquet")]


def write_features(
    net: EgoNet, store: FrameStore, out: Path, on_progress: OnProgress | None = None, *, part: str = ALL
) -> list[Path]:
    """Write the features of every frame, whole or not at all; images are brought to the network's size and colour.

    Args:
        net: the network.
        store: the frames.
        out: `NAME.parquet`, with the columns of `identities` and `features`, a list of D float32; or `NAME.npy`, an
            array (N, D) in the order of the store, with the identities in NAME.frames.parquet.
        on_progress: called with ("features", frames done, frames in all).
        part: the part of the features, for a network that has parts; every feature by default.

    Returns:
        The files written.
    """
    files = feature_files(out)
    for path in files:
        check_writable(path)
    rows = np.arange(len(store))
    own = net.part(part)
    batches = _finite(feature_batches(net, images_of(store), rows, fit=True, part=part, on_progress=on_progress))
    known = identities(store)
    dim = own.stop - own.start
    with ExitStack() as stack:
        temporary = [stack.enter_context(replacing(path)) for path in files]
        if out.suffix == ".parquet":
            _write_parquet(temporary[0], known, dim, batches)
        else:
            pq.write_table(known, temporary[1], compression="zstd")
            array = np.lib.format.open_memmap(temporary[0], "w+", np.float32, (len(store), dim))
            for start, batch in batches:
                array[start : start + len(batch)] = batch
            array.flush()
    return files


def identities(store: FrameStore) -> pa.Table:
    """What identifies each frame: recording, frame, and if the store has them file, time_s and label."""
    names = pa.array(store.recording_names, pa.string())
    columns: dict[str, pa.Array] = {
        "recording": names.take(pa.array(store.recording)),
        "frame": pa.array(store.frame),
    }
    if store.files is not None:
        columns["file"] = pa.array([str(name) or None for name in store.files], pa.string())
    if store.times_s is not None:
        columns["time_s"] = pa.array(store.times_s)
    if store.class_names:
        codes = pa.array(store.labels, mask=store.labels < 0)
        columns["label"] = pa.array(store.class_names, pa.string()).take(codes)
    return pa.table(columns)


def _finite(batches: Batches) -> Batches:
    """The same batches; what is not finite is refused."""
    for start, batch in batches:
        bad = np.flatnonzero(~np.isfinite(batch).all(axis=1))
        if len(bad):
            row = start + int(bad[0])
            raise DataError(f"the features of frame {row} are not finite: the network has diverged, train it again")
        yield start, batch


def _write_parquet(path: Path, known: pa.Table, dim: int, batches: Batches) -> None:
    kind = pa.list_(pa.float32(), dim)
    with pq.ParquetWriter(path, known.schema.append(pa.field("features", kind)), compression="zstd") as writer:
        for start, batch in batches:
            values = pa.FixedSizeListArray.from_arrays(pa.array(batch.reshape(-1)), dim)
            writer.write_table(known.slice(start, len(batch)).append_column("features", values))
