"""Measurements of runs: read where they are kept, made where they are not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from egoequiv import __version__, evaluation
from egoequiv.errors import DataError, EgoEquivError
from egoequiv.evaluation.collapsed import of_collapsed
from egoequiv.evaluation.measurement import Measurement, Subject, read_measurement, write_measurement
from egoequiv.evaluation.task import AUTO, Finding, OnProgress, Task, TaskData, TaskOptions, counted, silent
from egoequiv.evaluation.tasks import file_digest, get_tasks
from egoequiv.experiments.run_groups import SPLITTING
from egoequiv.experiments.task_data import Shared, open_task_data
from egoequiv.file_names import readable
from egoequiv.files import read_json
from egoequiv.models import get_encoder
from egoequiv.models.checkpoint import RUN_KIND, Which, load_spec
from egoequiv.models.network import ALL, EQUIVARIANT
from egoequiv.names import is_code
from egoequiv.pairs import Split, count_leaked, count_near_copies
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore
from egoequiv.store.label_tables import LabelPlace, with_labels
from egoequiv.store.logs import is_store
from egoequiv.training.config import TrainConfig
from egoequiv.training.open_run import open_run
from egoequiv.training.run_folder import DATA
from egoequiv.user_code import user_code

BASIC = ("recognition", "equivariance")  # the tasks behind `egoequiv evaluate RUN` and every table


class RunMeasurer:
    """Measures one run; its store and network are opened when something is missing, and only once.

    Args:
        run: The folder of the run.
        store: Another store to measure on; None for the run's own.
        which: Which checkpoint.
        labels: A table of labels for the frames; the split stays that of the run.
        everything: Measure on all frames of the store, not on the validation part.
        shared: What runs on the same frames share, such as neighbours by pixels.
    """

    def __init__(
        self,
        run: Path,
        store: str | None = None,
        which: Which = "last",
        *,
        labels: str | None = None,
        everything: bool = False,
        shared: Shared | None = None,
    ) -> None:
        self.run, self.store, self.which, self.everything = run, store, which, everything
        self.labels = labels
        self.opened = open_run(run, which, store, labels)
        self.shared: Shared = {} if shared is None else shared

    @property
    def config(self) -> TrainConfig:
        """The settings of the run, with the other store in place of its own, if one was given."""
        return self.opened.config

    @cached_property
    def weights(self) -> str:
        """The digest of the checkpoint."""
        path = self.run / f"{self.which}.safetensors"
        try:
            return sha256(path.read_bytes()).hexdigest()
        except FileNotFoundError:
            raise DataError(f"{path} is missing: the run has no checkpoint yet; train it first") from None

    @cached_property
    def fingerprint(self) -> str:
        """What identifies the stores: as they are now, or as the run began with them where they are gone."""
        try:
            store = FrameStore.open(self.config.data)
            others = []
            for place in filter(None, (self.config.labels, self.labels)):
                if LabelPlace.parse(place):
                    store = with_labels(store, place)
                else:
                    others.append(FrameStore.open(place).fingerprint())
            return " ".join(dict.fromkeys([store.fingerprint(), *others]))
        except EgoEquivError:
            if self.store is not None or not (self.run / DATA).exists():
                raise
            return str(read_json(self.run / DATA, RUN_KIND).get("fingerprint", ""))

    def settled(self, task: Task, options: TaskOptions | None) -> TaskOptions:
        """The options of a measurement, with the part of the features that a task is meant for if none is named."""
        options = options or TaskOptions()
        return options if options.part != AUTO else replace(options, part=self._usual_part(task.of_motion))

    def _usual_part(self, of_motion: bool) -> str:
        return EQUIVARIANT if of_motion and EQUIVARIANT in load_spec(self.run).parts else ALL

    def subject(self, task: Task, options: TaskOptions) -> Subject:
        """What a task would measure."""
        options, name = self.settled(task, options), self.config.encoder
        encoder = file_digest(get_encoder(name)) if is_code(name) else ""
        return Subject(
            task=task.name,
            weights=self.weights,
            data=" ".join([self.fingerprint, *other_fingerprints(task, options)]),
            frames=self._frames,
            settings=options.only(("part", *task.options)),
            code=" ".join([program_digest(), *filter(None, [task.code, encoder])]),
        )

    @property
    def _frames(self) -> str:
        """Which frames are measured: what decides the split, or all."""
        deciding = {name: getattr(self.config, name) for name in (*SPLITTING, "space", "max_gap_s")}
        return "all" if self.everything else json.dumps(deciding, sort_keys=True)

    def is_own(self, found: Measurement) -> bool:
        """Whether a measurement is of these weights and frames, by the default options; its code may be gone."""
        subject, usual = found.subject, TaskOptions(part=self._usual_part(found.of_motion))
        defaults = usual.only([name for name in subject.settings if hasattr(TaskOptions, name)])
        mine = (self.weights, self.fingerprint, self._frames, defaults)
        return mine == (subject.weights, subject.data, subject.frames, subject.settings)

    def kept(self, task: Task, options: TaskOptions | None = None) -> Measurement | None:
        """What was measured before, of the same weights, frames and settings."""
        return read_measurement(self.run, self.subject(task, options or TaskOptions()))

    def measure(self, task: Task, options: TaskOptions | None = None, on_progress: OnProgress = silent) -> Measurement:
        """Measure, unless it was measured before; where it cannot be measured, the record says why."""
        options = self.settled(task, options)
        subject = self.subject(task, options)
        kept = read_measurement(self.run, subject)
        if kept is not None:
            return kept
        data = self.data.of_part(options.part)  # outside of the record of problems: an unknown part is a mistake
        how: dict[str, Any] = {"which": self.which, "notes": self._notes(options.part)}
        if not self.everything:
            how["leakage"] = self._leakage
        return make_measurement(self.run, subject, task, data, options, on_progress, **how)

    @cached_property
    def data(self) -> TaskData:
        """The network of the run with its frames."""
        return open_task_data(self.opened, self.everything, self.shared)

    @cached_property
    def _leakage(self) -> Leakage:
        data, split = self.data, self.data.split
        return data.once(
            ("leakage", split.train, split.validation, split.kind, split.place_m, self.config.max_gap_s),
            lambda: leakage_of(data.store, split, self.config.max_gap_s),
        )

    def _notes(self, part: str) -> list[str]:
        """Which part of the features is measured, and whether the network was trained on the frames."""
        own, dim = self.opened.net.part(part), self.opened.net.encoder.feature_dim
        notes = [] if part == ALL else [f"measured on the part {part}, {own.stop - own.start} of {dim} features"]
        again = () if self.everything else self.opened.learned_before
        if again:
            notes.append(
                f"{len(again)} of the recordings that are measured have the name of one that the run learned from, "
                f"such as {again[0]}: if they show the same, measure on others"
            )
        if self.everything and self.opened.folder.trained_on(self.data.store) is not None:
            notes.append(
                f"{self.run} was trained on frames of this store, and this is measured on all of them: without a STORE "
                "only validation frames are measured"
            )
        return notes


class Leakage(NamedTuple):
    """What is known of validation frames that training frames nearly repeat."""

    leaked: int  # have a training frame close by
    near_copies: int | None  # further ones that look like a training frame, if that is known


def leakage_of(store: FrameStore, split: Split, max_gap_s: float) -> Leakage:
    """How many validation frames have a training frame close by, and how many further ones look like one."""
    return Leakage(count_leaked(store, split, max_gap_s), count_near_copies(store, split, max_gap_s))


def make_measurement(
    run: Path,
    subject: Subject,
    task: Task,
    data: TaskData,
    options: TaskOptions,
    on_progress: OnProgress = silent,
    *,
    which: str = "last",
    leakage: Leakage | None = None,
    notes: Sequence[str] = (),
) -> Measurement:
    """Measure a task and keep what was found; where it cannot be measured, the record says why, and is not kept.

    `leakage` is None where all frames are measured, or nothing is said of it.
    """
    about: dict[str, Any] = {
        "subject": subject,
        "title": task.title,
        "about": task.about,
        "of_motion": task.of_motion,
        "run": readable(run.name),
        "checkpoint": which,
        "motions": data.motions,
    }
    usual = _frames(data.store, data.split.validation, data.split.kind, leakage)
    try:
        with user_code(f"task {task.name}") if task.code else nullcontext():
            on_progress(task.title, 0, 1)
            found = task.measure(data, options, on_progress)
            on_progress(task.title, 1, 1)
            if not isinstance(found, Finding):
                raise DataError(f"task {task.name} must return a Finding, it returns a {type(found).__name__}")
            if data.has_collapsed(data.part):
                found = of_collapsed(found, data.part)
            frames = usual
            if found.frames is not None:  # chosen by the task itself, whatever the split
                frames = _frames(*found.frames, "all", None)
            if (own := found.measured_on) is not None and leakage is not None:  # perhaps of another store
                rows = own.split.validation[own.classes[own.split.validation] >= 0]
                is_same = own.store is data.store and own.split is data.split
                told = leakage if is_same else leakage_of(own.store, own.split, data.max_gap_s)
                frames = _frames(own.store, rows, own.split.kind, told)
            record = _with_finding({**about, **frames}, found, notes)
    except EgoEquivError as problem:
        return Measurement(**about, **usual, problem=str(problem))  # not kept: the cause may be gone next time
    write_measurement(run, record)
    return record


def _frames(store: FrameStore, rows: Indices, split: str, leakage: Leakage | None) -> dict[str, Any]:
    """What a record says of the frames that were measured."""
    counts = {"frames": len(rows), "recordings": len(np.unique(store.recording[rows]))}
    told = {"leaked": None, "near_copies": None} if leakage is None else leakage._asdict()
    return {"store": readable(Path(store.place).name), "split": split, **counts, **told}


def _with_finding(about: Mapping[str, Any], found: Finding, notes: Sequence[str]) -> Measurement:
    """The record of what a task found, checked as if it was read from its file."""
    arrays = {str(name): np.asarray(array) for name, array in found.arrays.items()}
    unfit = [name for name, array in arrays.items() if array.dtype.kind not in "biuf"]
    if unfit:
        raise DataError(f"array {unfit[0]!r} of a finding must hold numbers, found {arrays[unfit[0]].dtype}")
    for table in found.tables:
        if any(len(row) != len(table.columns) for row in table.rows):
            raise DataError(f"table {table.caption!r} of a finding has {len(table.columns)} columns, not each row")
    return Measurement(
        **about,
        values=list(found.values),
        tables=list(found.tables),
        details=json.loads(json.dumps(dict(found.details), allow_nan=False)),
        notes=[*found.notes, *notes],
    ).with_arrays(arrays)


def other_fingerprints(task: Task, options: TaskOptions) -> list[str]:
    """What identifies the stores and tables that a task reads beside the store of the run, where options name some."""
    named = [getattr(options, name) for name in ("reference", "query") if name in task.options]
    found = [FrameStore.open(place).fingerprint() for place in named if place is not None and is_store(place)]
    if "truth" in task.options and options.truth is not None:
        found.append(_file_digest(Path(options.truth)))
    return found


def _file_digest(path: Path) -> str:
    """What identifies the content of a file that the user names."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror or problem}") from problem


@cache
def program_digest() -> str:
    """What identifies the code that measures: the version, and a digest of the packages that numbers come from."""
    root = Path(evaluation.__file__).parents[1]
    folders = ("evaluation", "experiments", "models", "pairs", "planning", "pose", "store", "training")
    places = [*(root / folder for folder in folders), root.parent / "egoequiv_worlds"]  # where walks are drawn
    files = sorted(path for place in places for path in place.rglob("*.py"))
    return f"{__version__}-{sha256(b''.join(path.read_bytes() for path in files)).hexdigest()[:8]}"


def measure_run(
    run: str | Path, tasks: Sequence[str] = BASIC, options: TaskOptions | None = None, which: Which = "last"
) -> list[Measurement]:
    """Measure tasks of a run on its validation frames; what was measured before is read from its folder.

    Args:
        run: The folder of a run.
        tasks: Names of tasks; by default recognition and equivariance, as far as the data has labels and poses.
        options: Options of the tasks.
        which: The last weights, or the best on validation.

    Returns:
        One measurement for each task; `problem` says why one could not be made.

    Example:
        >>> for value in measure_run("my-run")[0].values:  # doctest: +SKIP
        ...     print(value.name, value.text(), value.interval)
    """
    measurer = RunMeasurer(Path(run), which=which)
    return [measurer.measure(task, options) for task in get_tasks(tasks).values()]


def measure_runs(
    runs: Sequence[Path], tasks: Sequence[str], store: str | None, what: str, on_progress: OnProgress
) -> Iterator[tuple[Path, list[Measurement]]]:
    """Each run with what could be measured of it, on its validation frames or on all frames of another store."""
    for run in counted(runs, what, on_progress):
        measurer = RunMeasurer(run, store, everything=store is not None)
        yield run, defined([measurer.measure(task) for task in get_tasks(tasks).values()])


def defined(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Those that could be made."""
    return [one for one in measurements if one.problem is None]
