"""What a report lacks, measured: every run of no table, and each task on one repetition of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import EgoEquivError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.evaluation.tasks import TASKS, get_tasks
from egoequiv.experiments.collect import Exhibit, Experiment, Subject
from egoequiv.experiments.measure import BASIC, RunMeasurer
from egoequiv.experiments.task_data import Shared
from egoequiv.files import read_json
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.store.label_tables import LabelPlace
from egoequiv.store.remote import is_url
from egoequiv.training.run_folder import CONFIG

STAGE = "measuring"
MOTIONS = "motions"
ON_REQUEST = (MOTIONS, "places", "plan")  # tasks that a report does not measure by itself: plan takes minutes


@dataclass(frozen=True)
class Work:
    """Tasks to measure of one run; runs with the same `frames` share what depends on the frames alone."""

    run: Path
    tasks: tuple[str, ...]
    frames: str


Done = tuple[Path, dict[str, Measurement], str | None]  # a run, what was measured of it, why it could not be opened


def measure_missing(
    experiments: Sequence[Experiment],
    tasks: Sequence[str] | None = None,
    engine: Engine | None = None,
    on_progress: OnProgress = silent,
) -> tuple[dict[tuple[Path, str], Measurement], list[str]]:
    """Measure what is missing for these tasks, or for all, on several processes.

    Returns:
        What was measured, by run and task; and sentences about runs that could not be opened.
    """
    names = (
        list(get_tasks(tasks)) if tasks is not None else [name for name in TASKS if name not in (*BASIC, *ON_REQUEST)]
    )
    work = missing_work(experiments, names)
    if not work:
        return {}, []
    engine = engine or LocalEngine()
    total = sum(len(one.tasks) for one in work)
    on_progress(STAGE, 0, total)
    ordered = engine.shares(sorted(work, key=lambda one: one.frames))  # runs on the same frames together
    each = engine.run(_measure, ordered, lambda done: on_progress(STAGE, min(done, total), total))
    done: list[Done] = [one for share in each for one in share]
    found = {(run, task): one for run, measured, _ in done for task, one in measured.items()}
    reasons: dict[str, list[str]] = {}
    for run, _, problem in done:
        if problem is not None:
            reasons.setdefault(problem, []).append(run.name)
    return found, [f"Could not be measured: {', '.join(runs)}: {problem}" for problem, runs in reasons.items()]


def missing_work(experiments: Sequence[Experiment], tasks: Sequence[str]) -> list[Work]:
    """The runs that lack measurements, and which."""
    wanted: dict[Path, tuple[Subject, list[str]]] = {}
    for exhibit in (exhibit for experiment in experiments for exhibit in experiment.exhibits):
        for subject in exhibit.subjects:
            if exhibit.is_of_runs:
                for run in subject.group.runs:
                    wanted.setdefault(run, (subject, []))[1].extend(BASIC)
            own = [*tasks, MOTIONS] if subject is moving_subject(exhibit) else tasks
            wanted.setdefault(subject.run, (subject, []))[1].extend(own)
    work = []
    for run, (subject, names) in wanted.items():
        left = tuple(name for name in dict.fromkeys(names) if subject.measurement(name, run) is None)
        if left:
            settings = subject.group.settings
            work.append(Work(run, left, f"{settings['data']} {settings['split']} {settings['split_seed']}"))
    return work


def moving_subject(exhibit: Exhibit) -> Subject | None:
    """The run whose motions are drawn: the first that has learned some, or the first of all."""
    learned = [subject for subject in exhibit.subjects if subject.result.get("patterns")]
    return next(iter([*learned, *exhibit.subjects]), None)


def _measure(work: Sequence[Work], tick: Tick) -> list[Done]:
    """Measure the share of one worker."""
    shared: dict[str, Shared] = {}
    done = []
    for one in work:
        measurer = RunMeasurer(one.run, shared=shared.setdefault(one.frames, {}))
        measured: dict[str, Measurement] = {}
        problem = None
        for name, task in get_tasks(one.tasks).items():
            try:
                measured[name] = measurer.measure(task)
            except EgoEquivError as found:
                problem = why_not_opened(one.run, found)
                tick(len(one.tasks) - len(measured))
                break
            tick(1)
        done.append((one.run, measured, problem))
    return done


def why_not_opened(run: Path, problem: EgoEquivError) -> str:
    """Why a run could not be opened, and what to do where its store is gone."""
    try:
        config: Mapping[str, object] = read_json(run / CONFIG, RUN_KIND)
    except EgoEquivError:
        return str(problem)
    places = [str(place) for place in (config.get("data"), config.get("labels")) if place is not None]
    files = [str(table.path) if (table := LabelPlace.parse(place)) else place for place in places]
    gone = [place for place in files if not is_url(place) and not Path(place).exists()]
    if not gone:
        return str(problem)
    return (
        f"the store {gone[0]} is no longer where it was in training: bring it back, or, if it was moved, link it there "
        "(ln -s NEW OLD), and write the report again"
    )
