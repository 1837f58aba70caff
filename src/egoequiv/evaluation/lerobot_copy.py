"""Features written back into a LeRobot data set: a copy of it whose tables have one column more."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.evaluation.feature_files import Written, check_finite
from egoequiv.evaluation.lerobot_stats import FeatureStats, add_stats
from egoequiv.file_names import parquet_file
from egoequiv.files import new_folder, plain, write_json
from egoequiv.models.motion_model import MotionModel
from egoequiv.models.network import ALL
from egoequiv.pose import NoMotion
from egoequiv.progress import Progress, silent
from egoequiv.sources.lerobot_cameras import choose_camera, find_cameras
from egoequiv.sources.lerobot_episodes import Episodes, Match
from egoequiv.sources.lerobot_files import LeRobotFiles, find_root, read_head
from egoequiv.sources.lerobot_motion import Motion
from egoequiv.store.frame_batches import FrameBatches
from egoequiv.store.inputs import RecordingFrames

COLUMN = "observation.features"
SCRATCH = ".features.npy"  # beside the copy while a table is made: the features of its rows
_LINKED = (".mp4", ".mkv", ".avi", ".webm", ".mov", ".png", ".jpg", ".jpeg")  # no program changes these in place


def append_features(
    model: MotionModel,
    dataset: Path,
    out: Path,
    on_progress: Progress = silent,
    *,
    column: str = COLUMN,
    part: str = ALL,
    skip_broken: bool = False,
    camera: str = "",
    match: Match = "time",
) -> Written:
    """Copy a LeRobot data set (versions 2.x and 3.0), with the features of the picture of each row as a column.

    The data set itself is only read. Videos and pictures are linked (hard links) where the file system allows it, and
    copied otherwise. `meta/info.json` and the statistics get the new feature.

    Args:
        model: of a run or an export.
        dataset: the folder of the data set.
        out: the folder of the copy; it appears when the copy is complete.
        on_progress: called with rows done, rows in all.
        column: the name of the new feature.
        part: the part of the features.
        skip_broken: give rows without a picture NaN in every feature; by default the first of them is an error.
        camera: the key of a camera; by default the first that is there.
        match: rows and frames of videos by `time`, or by `number`.

    Returns:
        The folder, and which rows have no picture.
    """
    if dataset.is_file() or find_root(dataset) != dataset.resolve():
        raise DataError(f"{dataset} is not the folder of a LeRobot data set: there is no meta/info.json in it")
    if out.resolve().is_relative_to(dataset.resolve()):
        raise ConfigError(f"-o {out} lies inside of {dataset}, which is never changed: choose another folder")
    files = LeRobotFiles.open(dataset)
    if plain(files.info) != files.info:
        raise DataError(
            f"{dataset / 'meta' / 'info.json'} holds NaN or an infinite number, which is not JSON: correct it there"
        )
    schemas = [read_head(file).schema for file in files.tables]
    if column in {name for schema in schemas for name in schema.names} | set(files.features) or not column:
        raise ConfigError(f"{dataset} has a feature {column!r} already: choose another name with --column")
    chosen = choose_camera(find_cameras(files, schemas[0]), camera, files.root)
    episodes = Episodes(files, chosen, Motion(NoMotion(), ()), match)
    copied = _Tables(model, model.part(part), episodes, column, skip_broken, on_progress)
    with new_folder(out) as folder:
        _copy_rest(files, folder)
        for file in files.tables:
            copied.write(file, folder / file.relative_to(files.root))
        described = {"dtype": "float32", "shape": [copied.dim], "names": None}
        write_json(folder / "meta" / "info.json", {**files.info, "features": {**files.features, column: described}})
        add_stats(folder, column, copied.stats)
    return Written((out,), copied.total, copied.dim, tuple(copied.broken))


@dataclass
class _Tables:
    """Writes tables with the features of their rows, and remembers what had no picture."""

    model: MotionModel
    own: slice  # the part of the features
    episodes: Episodes
    column: str
    skip_broken: bool
    on_progress: Progress
    done: int = 0
    broken: list[str] = field(default_factory=list)
    stats: FeatureStats = field(default_factory=FeatureStats)

    def __post_init__(self) -> None:
        self.total = sum(pq.read_metadata(file).num_rows for file in self.episodes.files.tables)

    @property
    def dim(self) -> int:
        return int(self.own.stop - self.own.start)

    def write(self, file: Path, target: Path) -> None:
        """Write one table; its features are on disk until they are in it, so a long one takes no more memory."""
        count = pq.read_metadata(file).num_rows
        scratch = target.parent / SCRATCH
        features = np.lib.format.open_memmap(scratch, "w+", np.float32, (count, self.dim))
        features[:] = np.nan
        before, why = len(self.episodes.left), list[str]()
        for recording, rows in self.episodes.of_table(file):
            why += self._embed(RecordingFrames(str(file), recording), rows, features)
            self.stats.add(int(recording.name.rpartition("_")[2]), np.asarray(features[rows]))
        self._lacking(file, np.flatnonzero(np.isnan(features[:, 0])), [*why, *self.episodes.left[before:]])
        with parquet_file(file) as opened:
            schema = with_column(opened.schema_arrow, self.column, self.dim)
            with open(target, "wb") as copy, pq.ParquetWriter(copy, schema) as writer:
                row = 0
                for group in range(opened.num_row_groups):
                    table = opened.read_row_group(group)
                    own = np.asarray(features[row : row + table.num_rows])
                    writer.write_table(_appended(table, own, schema))
                    row += table.num_rows
        del features
        scratch.unlink()
        self.done += count
        self.on_progress(self.done, self.total)

    def _embed(self, frames: RecordingFrames, rows: NDArray[np.int64], features: NDArray[np.float32]) -> list[str]:
        """Put the features of an episode into their rows; why some pictures could not be read."""
        batches = FrameBatches([frames], self.model.image_shape, self.skip_broken)
        begin = self.done + int(rows[0])
        for known, images in batches.batches(lambda done, _: self.on_progress(begin + done, self.total)):
            found = self.model.embed(images)[:, self.own]
            check_finite(found, known)
            features[rows[known["frame"].to_numpy()]] = found
        return batches.broken

    def _lacking(self, file: Path, missing: NDArray[np.int64], why: list[str]) -> None:
        """Rows without a picture are an error, or are counted."""
        if not len(missing):
            return
        reason = why[0] if why else "no frame of the video is within half a frame of its time"
        said = [
            f"{file}, row {int(missing[0])}: no picture ({reason})",
            *(f"{file}, row {int(k)}" for k in missing[1:]),
        ]
        if not self.skip_broken:
            more = f", and none for {len(missing) - 1} other rows" if len(missing) > 1 else ""
            raise BrokenFrameError(f"{said[0]}{more}; --skip-broken gives such rows NaN in place of features")
        self.broken += said


def with_column(schema: pa.Schema, name: str, dim: int) -> pa.Schema:
    """The schema of a table with one more feature of `dim` numbers, as its other lists of numbers are.

    What the `datasets` library keeps of features in the metadata gets it too: it refuses tables that differ from that.
    """
    lists = [one.type for one in schema if pa.types.is_list(one.type) and pa.types.is_floating(one.type.value_type)]
    kind = pa.list_(pa.float32()) if lists else pa.list_(pa.float32(), dim)
    metadata = dict(schema.metadata or {})
    try:
        said = json.loads(metadata[b"huggingface"])
        features: dict[str, Any] = said["info"]["features"]
        features[name] = {
            "feature": {"dtype": "float32", "_type": "Value"},
            "length": dim,
            "_type": _sequence(features),
        }
        metadata[b"huggingface"] = json.dumps(said).encode()
    except (KeyError, TypeError, ValueError):
        pass  # there is no such metadata, and nothing to keep in step
    return schema.append(pa.field(name, kind)).with_metadata(metadata or None)


def _sequence(features: dict[str, Any]) -> str:
    """What the features of a table call a list of numbers: `Sequence`, or since datasets 4 `List`."""
    kinds = [one.get("_type") for one in features.values() if isinstance(one, dict) and "feature" in one]
    return str(kinds[0]) if kinds and re.fullmatch(r"Sequence|List", str(kinds[0])) else "Sequence"


def _appended(table: pa.Table, features: NDArray[np.float32], schema: pa.Schema) -> pa.Table:
    dim = features.shape[1]
    flat = pa.array(features.reshape(-1))
    kind = schema.field(len(schema) - 1).type
    if pa.types.is_fixed_size_list(kind):
        values = pa.FixedSizeListArray.from_arrays(flat, dim)
    else:
        values = pa.ListArray.from_arrays(pa.array(np.arange(len(features) + 1, dtype=np.int32) * dim), flat)
    columns = [*table.columns, values.cast(kind)]
    return pa.Table.from_arrays(columns, schema=schema)


def _copy_rest(files: LeRobotFiles, folder: Path) -> None:
    """Link or copy everything but the tables."""
    tables = set(files.tables)
    for path in sorted(files.root.rglob("*")):
        target = folder / path.relative_to(files.root)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.is_file() and path not in tables:
            _link(path.resolve(), target)


def _link(path: Path, target: Path) -> None:
    if path.suffix.lower() in _LINKED:
        try:
            os.link(path, target)
            return
        except OSError:
            pass  # another file system, or one without links
    shutil.copyfile(path, target)
