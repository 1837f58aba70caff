"""Frames of a LeRobot data set: pictures inside a table, and rows matched to the frames of a video by time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError, DataError
from egoequiv.pose.clock import Nanoseconds, nearest_in_time
from egoequiv.pose.track import usual_step_ns
from egoequiv.sources.logged import FrameReader
from egoequiv.sources.pictures import open_picture
from egoequiv.sources.recording import Decoded

Indices = NDArray[np.int64]
_ROWS_AT_ONCE = 16
_CLOCKS_DIFFER = 0.02  # of the length of an episode


@dataclass(frozen=True)
class TablePictures(FrameReader):
    """Pictures in a column of a Parquet file: their bytes, or paths below the data set; frames are its rows."""

    root: Path
    table: Path
    column: str
    groups: tuple[int, ...]  # the first row of each row group, and the number of rows

    @classmethod
    def of(cls, root: Path, table: Path, column: str) -> TablePictures:
        import pyarrow.parquet as pq

        with pq.ParquetFile(table) as opened:
            counts = [opened.metadata.row_group(k).num_rows for k in range(opened.metadata.num_row_groups)]
        return cls(root, table, column, (0, *np.cumsum(counts).tolist()))

    def __len__(self) -> int:
        return self.groups[-1]

    def starts(self) -> Sequence[int]:
        return self.groups[:-1]

    def read(self, frames: Sequence[int]) -> Iterator[Decoded]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        waiting = list(frames)[::-1]
        reason = "its row cannot be read"
        try:
            with pq.ParquetFile(self.table) as opened:
                while waiting:
                    group = int(np.searchsorted(self.groups, waiting[-1], side="right")) - 1
                    row = self.groups[group]
                    for batch in opened.iter_batches(_ROWS_AT_ONCE, row_groups=[group], columns=[self.column]):
                        while waiting and waiting[-1] < row + len(batch):
                            yield self._picture(batch[self.column][waiting[-1] - row].as_py(), waiting[-1])
                            waiting.pop()
                        row += len(batch)
                        if not waiting or waiting[-1] >= self.groups[group + 1]:
                            break
        except (pa.ArrowException, OSError, KeyError) as problem:
            reason = (str(problem).splitlines() or [reason])[0]
        for frame in reversed(waiting):
            yield BrokenFrameError(f"{self.table}, row {frame}: {reason}")

    def _picture(self, cell: Any, row: int) -> Decoded:
        where = f"{self.table}, row {row}, {self.column}"
        contents = cell.get("bytes") if isinstance(cell, dict) else cell
        try:
            if contents:
                return open_picture(io.BytesIO(contents), where)
            name = cell.get("path") if isinstance(cell, dict) else None
            if not isinstance(name, str) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                return BrokenFrameError(f"{where}: no picture, and no path below the data set")
            file = self.root / name
            return open_picture(file, str(file))
        except BrokenFrameError as problem:
            return problem


def match_rows(row_ns: Nanoseconds, frame_ns: Nanoseconds) -> tuple[Indices, Indices]:
    """Each row with the frame nearest in time, at most half a frame away; a frame belongs to one row.

    Args:
        row_ns: (N,) times of the rows of a table, in order.
        frame_ns: (M,) times of the frames of a video, in order.

    Returns:
        Rows and their frames, both (K,) and in order.

    """
    if not len(row_ns) or not len(frame_ns):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    nearest = nearest_in_time(frame_ns, row_ns)
    distance = np.abs(row_ns - frame_ns[nearest])
    step = usual_step_ns(frame_ns) or usual_step_ns(row_ns)
    rows = np.flatnonzero(distance <= step // 2 + 1)
    # Of the rows of one frame the nearest is kept.
    order = rows[np.lexsort((distance[rows], nearest[rows]))]
    frames, first = np.unique(nearest[order], return_index=True)
    return order[first].astype(np.int64), frames.astype(np.int64)


def check_clocks(row_ns: Nanoseconds, frame_ns: Nanoseconds) -> None:
    """Refuse a video whose clock runs at another rate than the table's: the nearest frames would be wrong ones."""
    if abs(len(row_ns) - len(frame_ns)) > 1 or len(row_ns) < 3 or len(frame_ns) < 3:
        return
    rows_s, frames_s = ((times[-1] - times[0]) / 1e9 for times in (row_ns, frame_ns))
    allowed_s = max(_CLOCKS_DIFFER * rows_s, 2 * usual_step_ns(row_ns) / 1e9)
    if abs(rows_s - frames_s) > allowed_s:
        raise DataError(
            f"{len(frame_ns)} frames over {frames_s:.3g} s in the video, {len(row_ns)} rows over {rows_s:.3g} s in the "
            "table: one of the clocks is wrong; if row k shows frame k, read it with --read match=number"
        )
