"""Pictures and videos into a store, against a plain loop in one process; and two workers against one on the worlds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import av
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


def ingest_video_vs_pyav(bench: Workbench, workers: int = 2) -> Measured:
    """A video of H.264 at 640 x 480 with a key frame a second: decoded, turned to gray and resized."""
    path = _video(bench.new_folder() / "drive.mp4", bench.scale.video_frames)
    out = bench.new_folder() / "store"

    def ours() -> object:
        return ingest(open_source("video", path), out, size=(SIDE, SIDE), workers=workers, overwrite=True)

    def theirs() -> object:
        return pyav(path)

    own, others = (partial(_seconds_each, work, bench.scale.video_frames) for work in (ours, theirs))
    return compare(own, others, bench.scale.few_rounds, warm_up=False, what="frames")


def pyav(path: Path) -> NDArray[np.uint8]:
    """What a short script would do; (N, 32, 32)."""
    small = []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            picture = frame.to_image().convert("L").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
            small.append(np.asarray(picture))
    return np.stack(small)


def _video(path: Path, count: int) -> Path:
    """A street that moves past: a wide picture with detail, of which each frame shows a part."""
    rng = np.random.default_rng(0)
    coarse = Image.fromarray(rng.integers(0, 255, (60, 400, 3), np.uint8))
    street = np.asarray(coarse.resize((4000, 480), Image.Resampling.BICUBIC))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 640, 480, "yuv420p"
        stream.codec_context.gop_size = 30
        for k in range(count):
            start = 3 * k % (4000 - 640)
            view = np.ascontiguousarray(street[:, start : start + 640])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(view, format="rgb24")))
        container.mux(stream.encode())
    return path


def _seconds_each(work: Callable[[], object], count: int) -> float:
    return timed(work)() / count


def two_workers_vs_one(bench: Workbench, world: str) -> Measured:
    """Drawing an embedded world with two workers against one."""
    source = open_source(world, **bench.scale.drawn[world])
    out = bench.new_folder() / "store"

    def drawing(workers: int) -> float:
        return _seconds_each(lambda: ingest(source, out, workers=workers, overwrite=True), source.frame_count)

    return compare(partial(drawing, 2), partial(drawing, 1), bench.scale.few_rounds, warm_up=False, what="frames")
