"""Pictures into a store, against Pillow in one thread; and how two workers draw the embedded worlds against one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.measuring import Measured, compare, timed
from benchmarks.pictures import picture_files
from benchmarks.workbench import Workbench
from egoequiv.catalog import open_source
from egoequiv.store import ingest

SIDE = 32


def ingest_vs_pillow(bench: Workbench, ending: str, workers: int = 2) -> Measured:
    """Files of KITTI's size, decoded, turned to gray and resized: PNG in gray as KITTI's camera 0, JPEG in colour."""
    files = picture_files(bench, ending, bench.scale.picture_size, bench.scale.pictures[ending])
    folder = files[0].parents[1]
    out = bench.new_folder() / "store"

    def ours() -> object:
        return ingest(open_source("scenes", folder), out, size=(SIDE, SIDE), workers=workers, overwrite=True)

    def theirs() -> object:
        return pillow(files)

    own, others = (partial(_seconds_each, work, len(files)) for work in (ours, theirs))
    return compare(own, others, bench.scale.few_rounds, warm_up=False, what="frames")


def pillow(files: list[Path]) -> NDArray[np.uint8]:
    """What a short script would do; (N, 32, 32)."""
    small = []
    for path in files:
        with Image.open(path) as picture:
            small.append(np.asarray(picture.convert("L").resize((SIDE, SIDE), Image.Resampling.BILINEAR)))
    return np.stack(small)


def _seconds_each(work: Callable[[], object], count: int) -> float:
    return timed(work)() / count


def two_workers_vs_one(bench: Workbench, world: str) -> Measured:
    """Drawing an embedded world with two workers against one."""
    source = open_source(world, **bench.scale.drawn[world])
    out = bench.new_folder() / "store"

    def drawing(workers: int) -> float:
        return _seconds_each(lambda: ingest(source, out, workers=workers, overwrite=True), source.frame_count)

    return compare(partial(drawing, 2), partial(drawing, 1), bench.scale.few_rounds, warm_up=False, what="frames")
