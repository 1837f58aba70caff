"""What `egoequiv doctor` costs: processor time for a minute of video on one core, and memory as recordings grow."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np

from benchmarks.held_frames import NoiseRecording
from benchmarks.measuring import Measured, run_command, summary
from benchmarks.workbench import Workbench
from egoequiv.catalog import open_source
from egoequiv.pose import PlanarSpace
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest

HZ = 10


def processor_time(bench: Workbench) -> Measured:
    """Seconds of processor time for a second of video: the embedded drive, 310 x 94 at 10 Hz, start-up included."""
    store = ingest(open_source("drive", **bench.scale.drives), bench.new_folder() / "store", workers=2)
    minutes = len(store) / HZ / 60
    spent = []
    for _ in range(bench.scale.few_rounds):
        before = _children_s()
        run_command(examine_command(store))
        spent.append(_children_s() - before)
    words = f"{float(np.median(spent)) / minutes:.1f} s of processor time for a minute of video"
    return summary([one / minutes / 60 for one in spent], words)


def long_recording(bench: Workbench, times: int) -> FrameStore:
    """One recording with noise for pictures, of a car that turns."""
    frames = times * bench.scale.memory_doctor_frames
    yaw = 20 * np.sin(np.arange(frames) / 15)
    log = NoiseRecording("log", np.column_stack([np.arange(frames) * 0.5, yaw]), 64, times_s=np.arange(frames) / HZ)
    return ingest(Source("noise", PlanarSpace(), [log]), bench.new_folder() / "store")


def examine_command(store: FrameStore) -> list[str]:
    """A command that examines a store on one core; unlike `egoequiv doctor` it ends with 0 if there are faults."""
    return [sys.executable, "-m", "benchmarks.doctor_cost", str(store.path)]


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(place: str) -> None:
    """Examine a store and write its page, as the command does."""
    from egoequiv.doctor.examine import examine
    from egoequiv.doctor.stored import store_as_source
    from egoequiv.engines import LocalEngine
    from egoequiv.report.doctor_page import doctor_report
    from egoequiv.report.page import to_html

    diagnosis = examine(store_as_source(FrameStore.open(place)), engine=LocalEngine(1))
    print(len(to_html(doctor_report(diagnosis, Path(place).name))))


if __name__ == "__main__":
    main(sys.argv[1])
