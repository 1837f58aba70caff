"""Every task by name: what features are good for, measured."""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.errors import ConfigError
from egoequiv.evaluation.analogy import analogy
from egoequiv.evaluation.composition import composition
from egoequiv.evaluation.equivariance_task import equivariance
from egoequiv.evaluation.motions import motions
from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.prediction import prediction
from egoequiv.evaluation.readout import readout
from egoequiv.evaluation.recognition import recognition
from egoequiv.evaluation.retrieval import retrieval
from egoequiv.evaluation.slowness import slowness
from egoequiv.evaluation.task import Task

TASKS: dict[str, Task] = {
    task.name: task
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
            ("motions", "seed"),
        ),
        Task(
            "next-view",
            "Next-best view",
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
            ("motions", "steps", "seed"),
        ),
        Task(
            "retrieval",
            "Retrieval",
            "The share of the nearest pairs, by the difference of their features or of their pixels, that have the "
            "motion of the query.",
            retrieval,
            ("motions", "hold_out", "seed"),
        ),
        Task(
            "analogy",
            "Analogy",
            "x_i is to x_j as x_k is to which frame? The mean reciprocal rank of the right one.",
            analogy,
            ("motions", "hold_out", "seed"),
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
        ),
        Task(
            "slowness",
            "Slowness",
            "How often neighbours are nearer to each other than strangers (AUROC; 0.5 is chance).",
            slowness,
            ("seed",),
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


def get_tasks(names: Sequence[str]) -> dict[str, Task]:
    """The tasks of these names, in their order."""
    for name in names:
        if name not in TASKS:
            raise ConfigError(f"task {name!r} is not known; choose from {', '.join(TASKS)}")
    return {name: TASKS[name] for name in names}
