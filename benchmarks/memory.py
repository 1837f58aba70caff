"""Peak memory of a command as the frames become 4 and 16 times as many.

What is compared is the memory that the processes of the command allocate, beyond the index: the arrays that have an
entry for each frame (poses, times, labels, recordings, attributes) or for each pair. Mapped files are not counted, for
the system drops them when it wants the memory; what was resident with them is given beside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.doctor_cost import examine_command, long_recording
from benchmarks.held_frames import long_log, noise_toys
from benchmarks.measuring import Measured, Peak, egoequiv, peak_memory, summary
from benchmarks.pictures import picture_files
from benchmarks.workbench import Workbench
from egoequiv.store import FrameStore, ingest
from egoequiv.training import RunData, make_config, prepare_data

MB = 2**20
ITERATIONS = 200
SMALL_PICTURE = (310, 94)  # width and height


@dataclass(frozen=True)
class Job:
    """A command line, made again for each run, and the memory that the index takes in it."""

    command: Callable[[], list[str]]
    index_mb: float


def memory_growth(bench: Workbench, command: str, times: int) -> Measured:
    """How many times the memory of 1x the frames `times` as many need."""
    small, large = JOBS[command](bench, 1), JOBS[command](bench, times)
    ratios, peaks = [], []
    for _ in range(bench.scale.few_rounds):
        before, after = peak_memory(small.command()), peak_memory(large.command())
        ratios.append((after.own - large.index_mb) / (before.own - small.index_mb))
        peaks.append((before, after))
    before, after = peaks[len(peaks) // 2]
    return summary(ratios, f"{_words(after, large)} against {_words(before, small)}")


def train_job(bench: Workbench, times: int) -> Job:
    """`egoequiv train` on frames of 96 x 96."""
    store = ingest(noise_toys(times * bench.scale.memory_recordings), bench.new_folder() / "store")
    data = prepare_data(make_config({"data": str(store.path), "method": "equiv"}))

    def command() -> list[str]:
        return egoequiv("train", store.path, "-o", bench.new_folder() / "run", "--iterations", ITERATIONS)

    return Job(command, (index_bytes(store) + pair_bytes(data)) / MB)


def ingest_job(bench: Workbench, times: int) -> Job:
    """`egoequiv ingest scenes` with two workers."""
    files = picture_files(bench, "png", SMALL_PICTURE, times * bench.scale.memory_pictures)
    folder = files[0].parents[1]

    def command() -> list[str]:
        out = bench.new_folder() / "store"
        return egoequiv("ingest", "scenes", folder, "-o", out, "--size", 32, "--workers", 2)

    done = command()
    peak_memory(done)
    return Job(command, index_bytes(FrameStore.open(Path(done[done.index("-o") + 1]))) / MB)


def patterns_job(bench: Workbench, times: int) -> Job:
    """`egoequiv patterns` on poses at 30 Hz."""
    store = ingest(long_log(times, bench.scale.memory_log_frames), bench.new_folder() / "store")
    return Job(lambda: egoequiv("patterns", store.path, "-o", bench.new_folder()), index_bytes(store) / MB)


def doctor_job(bench: Workbench, times: int) -> Job:
    """`egoequiv doctor` on one recording, with one worker."""
    store = long_recording(bench, times)
    return Job(lambda: examine_command(store), index_bytes(store) / MB)


JOBS: dict[str, Callable[[Workbench, int], Job]] = {
    "train": train_job,
    "ingest": ingest_job,
    "patterns": patterns_job,
    "doctor": doctor_job,
}


def index_bytes(store: FrameStore) -> int:
    """The arrays of a store but for its images."""
    columns: list[NDArray[Any] | None] = [store.recording, store.frame, store.times_s, store.poses, store.labels]
    columns += [*store.attributes.values(), *store.pose_columns.values()]
    return sum(column.nbytes for column in columns if column is not None)


def pair_bytes(data: RunData) -> int:
    """The arrays of the streams of a run."""
    streams = [*data.train.values(), *data.validation.values()]
    return sum(column.nbytes for s in streams for column in (s.i, s.j, s.target) if isinstance(column, np.ndarray))


def _words(peak: Peak, job: Job) -> str:
    return f"{peak.own:.0f} MB (index {job.index_mb:.1f}, resident {peak.resident:.0f})"
