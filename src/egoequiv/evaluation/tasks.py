"""Every task by name: what features are good for, measured."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from egoequiv.errors import ConfigError
from egoequiv.evaluation.analogy import analogy
from egoequiv.evaluation.composition import composition
from egoequiv.evaluation.equivariance_task import equivariance
from egoequiv.evaluation.log_task import log_task
from egoequiv.evaluation.motions import motions
from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.own_maps import own_maps
from egoequiv.evaluation.places import places
from egoequiv.evaluation.plan_task import plan
from egoequiv.evaluation.prediction import prediction
from egoequiv.evaluation.probe_task import probe
from egoequiv.evaluation.readout import readout
from egoequiv.evaluation.recognition import recognition
from egoequiv.evaluation.retrieval import retrieval
from egoequiv.evaluation.slowness import slowness
from egoequiv.evaluation.task import Task, TaskOptions
from egoequiv.names import Door, full_name, short_name

CODE_LETTERS = 16  # of the digest of a user's file


@contextmanager
def on_one_core() -> Iterator[None]:
    """Linear algebra on one core: its matrices are small, and threads that wait for each other burn time.

    With two threads on two busy cores the tasks took 20 times as long. Networks keep their threads.
    """
    with threadpool_limits(1, user_api="blas"):
        yield


TASKS: dict[str, Task] = {
    task.name: replace(task, measure=on_one_core()(task.measure))
    for task in (
        Task(
            "recognition",
            "Recognition",
            "How often the classifier of the run names the class of a validation frame, beside chance and the class of "
            "the nearest labelled image in pixels.",
            recognition,
        ),
        Task(
            "equivariance",
            "Equivariance",
            "rho of each motion: how far the best affine map of a motion ends from the true features, as a share of "
            "how far the motion moves them (lower is better, 1 is copying the features).",
            equivariance,
            ("motions", "seed", "fit_on"),
            of_motion=True,
        ),
        Task(
            "log",
            "On this log",
            "What features are good for on a log: R² of motion read from two frames and of the coming motion read from "
            "one, and how often a place is found again, with probes and places of training frames. Beside it pixels, "
            "an untrained network and the frozen backbone.",
            log_task,
            ("seed",),
        ),
        Task(
            "maps",
            "Own maps",
            "rho of the maps that the run has learned itself, for motions it was trained on and for others (lower is "
            "better, 1 is copying the features).",
            own_maps,
            ("motions",),
            of_motion=True,
        ),
        Task(
            "next-view",
            "Next view",
            "Accuracy from one view, and from two after the move that the maps choose. A random move is the lower "
            "limit, the best move in hindsight the upper one. The first view alone is judged by the training frames "
            "that begin the pairs which judge two views.",
            next_view,
            ("motions", "steps", "neighbours", "seed"),
        ),
        Task(
            "composition",
            "Composition",
            "rho of the product of the maps of single steps, for chains of growing length (lower is better, 1 is "
            "copying the features).",
            composition,
            ("motions", "steps", "seed", "fit_on"),
            of_motion=True,
        ),
        Task(
            "retrieval",
            "Retrieval",
            "The share of the nearest pairs, by the difference of their features or of their pixels, that have the "
            "motion of the query.",
            retrieval,
            ("motions", "hold_out", "seed"),
            of_motion=True,
        ),
        Task(
            "analogy",
            "Analogy",
            "x_i is to x_j as x_k is to which frame? The mean reciprocal rank of the right one.",
            analogy,
            ("motions", "hold_out", "seed"),
            of_motion=True,
        ),
        Task(
            "probe",
            "Probe",
            "What few labels tell from frozen features: top-1 of a linear probe and of nearest neighbours from some "
            "labels of each class, or R² of a number from some labelled frames. Beside it the same from pixels and "
            "from an untrained network.",
            probe,
            ("label_column", "per_class", "labelled_frames", "draws", "seed"),
        ),
        Task(
            "readout",
            "Read-out",
            "R² of pose and motion, read from features by a linear probe and by a small network, on recordings that "
            "they were not fitted on. Beside it the same from pixels and from an untrained network.",
            readout,
            ("hold_out", "seed"),
        ),
        Task(
            "prediction",
            "Prediction",
            "The mean reciprocal rank of the true next view among the views of its recording: 1 is always first.",
            prediction,
            ("motions", "hold_out", "seed"),
            of_motion=True,
        ),
        Task(
            "plan",
            "Planning",
            "How often a walk by plans of composed maps comes to a goal view within twice the shortest way plus two "
            "moves. Beside it pixels and an untrained network with fitted maps, a walk without maps, and a random one.",
            plan,
            ("seed",),
            of_motion=True,
        ),
        Task(
            "slowness",
            "Slowness",
            "How often neighbours are nearer to each other than strangers (AUROC; 0.5 is chance).",
            slowness,
            ("seed",),
        ),
        Task(
            "places",
            "Places",
            "Which frame of one traverse shows the place of a frame of another: recall within a tolerance, with and "
            "without what the motion since the last match says, beside patch-normalised pixels and an untrained "
            "network. Within one drive, the places that were seen before.",
            places,
            ("reference", "query", "tolerance", "truth", "revisit_s", "seed"),
        ),
        Task(
            "motions",
            "Motions",
            "The motions between training frames: mined from them, or declared by the names of a grid.",
            motions,
            ("motions",),
        ),
    )
}


DOOR: Door[Any] = Door(
    "task",
    TASKS,
    "egoequiv.tasks",
    "a Task, or a function of (TaskData, TaskOptions, OnProgress) that returns a Finding",
    lambda found: isinstance(found, Task) or callable(found),
)


def get_tasks(names: Sequence[str]) -> dict[str, Task]:
    """The tasks of these names, in their order.

    Args:
        names: of built-in or registered tasks, `package.module:name` or `path/to/file.py:name`.

    Returns:
        The tasks by these names; those of code by full names, under which they are found from every folder.
    """
    return {task.name: task for task in (_task(name) for name in names)}


def file_digest(code: Any) -> str:
    """A digest of the file that a function or class is defined in: it changes when the code does."""
    return sha256(Path(str(inspect.getsourcefile(code))).read_bytes()).hexdigest()[:CODE_LETTERS]


def _task(name: str) -> Task:
    """The task of a name; a plain function becomes a task that is called as it is."""
    found = DOOR.find(name)
    if name in TASKS:
        return TASKS[name]
    full, known = str(full_name(name)), tuple(vars(TaskOptions()))
    if not isinstance(found, Task):
        about = (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")
        found = Task(full, short_name(full), about, found, known)
    for what, text in (("title", found.title), ("about", found.about)):
        if not isinstance(text, str) or not text.isprintable():
            raise ConfigError(f"task {full}: its {what} must be a text of one line, found {text!r}")
    unknown = [name for name in found.options if name not in known]
    if unknown:
        raise ConfigError(f"task {full}: no option {unknown[0]!r}; options are {', '.join(known)}")
    return replace(found, name=full, code=file_digest(found.measure))
