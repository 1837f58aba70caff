"""Features trained on poses from pictures beside features trained on the poses of the log: same frames, same split."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.cache import program_digest as code_digest
from egoequiv.errors import DataError
from egoequiv.evaluation.measurement import Measurement, Subject, read_measurement
from egoequiv.evaluation.readout import FRAME
from egoequiv.evaluation.task import OnProgress, Task, TaskData, TaskOptions
from egoequiv.evaluation.tasks import get_tasks
from egoequiv.experiments.faults.pieces import cut_recordings
from egoequiv.experiments.measure import make_measurement, program_digest
from egoequiv.experiments.options import Effort, sources_of
from egoequiv.experiments.recipe import RowRuns, train_rows
from egoequiv.experiments.stores import experiment_store
from egoequiv.experiments.table import Table, compare_rows, merge_rows
from egoequiv.experiments.task_data import untrained_like
from egoequiv.experiments.visual.accuracy import accuracy_table
from egoequiv.models import load_model
from egoequiv.odometry.visual import visual_poses
from egoequiv.pairs import Split, count_leaked, make_split
from egoequiv.sources import Source
from egoequiv.sources.part import RecordingPart
from egoequiv.store import FrameStore
from egoequiv.training import make_config
from egoequiv.training.data import motions_of
from egoequiv.training.jobs import Job

TASKS = ("equivariance", "readout")
PIECE = "piece"  # the attribute of frames by which they are split and read
PIECE_S = 3.0  # so that a log of one recording has several
GUARD_S = 1.05  # that lie between two pieces, so that none has frames close to those of another
SIZE = 32
SPLIT = f"by-{PIECE}"
POSE = f" from {FRAME}, "  # read-outs of the pose of a single frame, which says where a piece is, not how it moves


@dataclass(frozen=True, kw_only=True)
class VisualOptions(Effort):
    """What `egoequiv reproduce visual` takes."""

    data: Sequence[Path] = ()  # logs with poses; without any, the embedded drive
    features: bool = True  # whether any are trained
    repeats: int = 3
    iterations: int = 2_000
    size: int = SIZE


class _Piece(RecordingPart):
    """Part of a recording that says in an attribute which one it is."""

    @property
    def attributes(self) -> Mapping[str, str]:  # type: ignore[override]
        return {**super().attributes, PIECE: self.name}


def reproduce_visual(options: VisualOptions) -> dict[str, Table]:
    """Errors of poses from pictures, and for each log the features that are trained on them."""
    sources = sources_of(options.data)
    tables = {"accuracy": accuracy_table(sources, options.engine, options.on_progress)}
    for name, source in sources.items() if options.features else ():
        tables[f"features-{name}"] = features_table(name, source, options)
    return tables


def features_table(name: str, source: Source, options: VisualOptions) -> Table:
    """Measure rho and the read-out of the log's motion, of features trained on either kind of poses."""
    seen, logged = _both(name, source, options)
    made_from = {"log": name, "odometry": code_digest("odometry")[:16]}
    stores = {
        "visual poses": experiment_store(options, f"{name}-visual", made_from, seen),
        "poses of the log": experiment_store(options, f"{name}-log", made_from, logged),
    }
    planned = [
        RowRuns(f"trained on {kind}", ("equiv", False), {}, _jobs(name, kind, store, options))
        for kind, store in stores.items()
    ]
    trained = train_rows(planned, options, name)
    store = stores["poses of the log"]
    split = make_split(store, SPLIT)
    other = make_split(stores["visual poses"], SPLIT)
    if not np.array_equal(split.validation, other.validation):
        raise DataError(f"{name}: the two stores are not split in the same way")
    found = [[_measured(job, store, split, options.on_progress) for job in row.jobs] for row in trained]
    metrics, rows = merge_rows([row.measured(own, options.out) for row, own in zip(trained, found, strict=True)])
    shown = [metric.name for metric in metrics if not metric.is_detail and POSE not in metric.name]
    return Table(
        title=f"{name}: features trained on poses from pictures",
        metrics=metrics,
        columns=tuple(shown),
        rows=rows,
        comparisons=[test for metric in shown for test in compare_rows(rows, metric)],
        about=_about(source, seen, store, split, options),
    )


def _both(name: str, source: Source, options: VisualOptions) -> tuple[Source, Source]:
    """The frames whose motion the pictures tell, with the poses that they show, and with those of the log."""
    report = partial(options.on_progress, f"poses, {name}")
    seen = visual_poses(in_pieces(source), engine=options.engine, on_progress=report)
    parts = []
    for part in seen.recordings:
        assert isinstance(part, RecordingPart)
        poses = np.asarray(part.whole.poses)[part.frames.start : part.frames.stop]
        parts.append(replace(part, poses=poses))
    return seen, replace(source, recordings=parts)


def in_pieces(source: Source) -> Source:
    """The same frames in pieces of a few seconds, with a gap between them; the attribute `piece` names them."""
    pieces = cut_recordings(source.recordings, PIECE_S)
    return replace(source, recordings=[_guarded(piece.part) for piece in pieces])


def _guarded(part: RecordingPart) -> _Piece:
    """A piece without its last second, unless it is the last of its recording."""
    times_s, count = part.times_s, len(part)
    if times_s is not None and part.frames.stop < len(part.whole):
        count = max(int(np.searchsorted(times_s, times_s[-1] - GUARD_S)), 1)
    frames = range(part.frames.start, part.frames.start + count)
    return _Piece(part.whole, frames, part.name, part.poses[:count], part.lens)


def _jobs(name: str, kind: str, store: FrameStore, effort: Effort) -> list[Job]:
    base = {
        "data": str(store.path),
        "method": "equiv",
        "use_labels": False,
        "encoder": "kitti",
        "split": SPLIT,
        "keep_from": "both",
        "iterations": effort.iterations,
        "threads": 1,
        "checkpoint_every": 1_000,
        "validate_every": max(effort.iterations, 100),
    }
    folder = effort.out / f"runs-{name}-{effort.iterations}"
    return [
        Job(make_config({**base, "seed": seed}), folder / f"{kind.replace(' ', '-')}-{seed}")
        for seed in range(effort.repeats)
    ]


def _measured(job: Job, store: FrameStore, split: Split, on_progress: OnProgress) -> list[Measurement]:
    """What a run is worth on the motions of the log; read if it was measured before."""
    net = load_model(job.out)
    config = job.config.model_copy(update={"data": str(store.path), "space": None, "patterns": None})
    data = TaskData(
        net=net,
        store=store,
        split=split,
        patterns=motions_of(store, split, config),
        untrained=untrained_like(net, config),
        max_gap_s=config.max_gap_s,
        neighbour_gap_s=config.neighbour_gap_s,
    )
    return [_measure(job.out, task, data, on_progress) for task in get_tasks(TASKS).values()]


def _measure(run: Path, task: Task, data: TaskData, on_progress: OnProgress) -> Measurement:
    """What a task measures; read if it was measured before."""
    options = TaskOptions(hold_out=PIECE)
    subject = Subject(
        task=task.name,
        weights=sha256((run / "last.safetensors").read_bytes()).hexdigest(),
        data=data.store.fingerprint(),
        frames=json.dumps({"split": data.split.kind, "motions": "of the log"}),
        settings=options.only(task.options),
        code=program_digest(),
    )
    return read_measurement(run, subject) or make_measurement(run, subject, task, data, options, on_progress)


def _about(source: Source, seen: Source, store: FrameStore, split: Split, options: VisualOptions) -> dict[str, Any]:
    return {
        "frames": f"{len(store):,} of {source.frame_count:,}, outside guards and where pictures tell the motion",
        "pieces": f"{len(seen.recordings)} of about {PIECE_S - GUARD_S:.0f} s, {GUARD_S:g} s apart",
        "split": split.kind,
        "validation_frames": len(split.validation),
        "leaked_validation_frames": count_leaked(store, split),
        "iterations": options.iterations,
        "repeats": options.repeats,
        "measured": "on the motions of the log's own poses, whatever poses a run was trained on",
    }
