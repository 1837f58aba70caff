"""Frames of any inputs decoded, fitted and given in batches, with what is known of them; in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError
from egoequiv.file_names import readable
from egoequiv.progress import Progress
from egoequiv.store.decoding import fit_image
from egoequiv.store.frame_store import ATTRIBUTE_PREFIX, FILE, LOG_FRAME
from egoequiv.store.inputs import INPUT, Frames

BATCH = 512  # frames, or as many as these bytes hold
_BYTES = 64_000_000
_TOLD = 16  # frames between two reports of progress
_ORDER = (INPUT, "recording", "frame", LOG_FRAME, FILE, "time_s", "label")  # of columns; attributes come last


@dataclass
class FrameBatches:
    """All frames of some inputs in order, (N, H, W, C) at a time.

    Args:
        frames: What the inputs hold.
        image_shape: Height, width and channels to which images are brought, as `egoequiv ingest` does it.
        skip_broken: Leave out frames that cannot be decoded; otherwise the first of them is an error.
    """

    frames: Sequence[Frames]
    image_shape: tuple[int, int, int]
    skip_broken: bool = False
    broken: list[str] = field(default_factory=list)  # why frames were left out, so far

    def schema(self) -> pa.Schema:
        """The columns of what is known, those of all inputs together."""
        found: dict[str, pa.DataType] = {}
        for one in self.frames:
            rows = np.arange(len(one))[:1]
            found |= {entry.name: entry.type for entry in one.known(rows).schema}
        if len({one.place for one in self.frames}) > 1:
            found[INPUT] = pa.string()
        names = [name for name in _ORDER if name in found]
        names += [name for name in found if name.startswith(ATTRIBUTE_PREFIX)]
        return pa.schema([(name, found[name]) for name in names])

    def batches(self, on_progress: Progress | None = None) -> Iterator[tuple[pa.Table, NDArray[np.uint8]]]:
        """What is known of the frames of a batch, and their images; `on_progress` gets frames done and in all."""
        schema, total, done = self.schema(), sum(map(len, self.frames)), 0
        images = np.empty((max(min(BATCH, _BYTES // prod(self.image_shape)), 1), *self.image_shape), np.uint8)
        filled = 0
        waiting: list[tuple[Frames, list[int]]] = []
        for frames in self.frames:
            waiting.append((frames, []))
            for row, decoded in enumerate(frames.images()):
                done += 1
                if on_progress is not None and done % _TOLD == 0:
                    on_progress(done, total)
                if isinstance(decoded, BrokenFrameError):
                    self._leave_out(decoded)
                    continue
                images[filled] = fit_image(decoded, *self.image_shape)
                waiting[-1][1].append(row)
                filled += 1
                if filled == len(images):
                    yield _known(waiting, schema), images
                    filled, waiting = 0, [(frames, [])]
        if filled:
            yield _known(waiting, schema), images[:filled]
        if on_progress is not None:
            on_progress(total, total)

    def _leave_out(self, problem: BrokenFrameError) -> None:
        if not self.skip_broken:
            raise BrokenFrameError(f"{problem}; leave out what cannot be read with --skip-broken") from problem
        self.broken.append(str(problem))


def _known(waiting: Sequence[tuple[Frames, Sequence[int]]], schema: pa.Schema) -> pa.Table:
    """What is known of frames of one or more inputs, in the columns that they have together."""
    tables = []
    for frames, rows in waiting:
        if not rows:
            continue
        known = frames.known(np.array(rows, np.int64))
        named = pa.array([readable(frames.place)] * len(rows), pa.string())
        columns = [
            named
            if entry.name == INPUT
            else known[entry.name]
            if entry.name in known.column_names
            else pa.nulls(len(rows), entry.type)
            for entry in schema
        ]
        tables.append(pa.table(columns, schema=schema))
    return pa.concat_tables(tables)
