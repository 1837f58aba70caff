"""What each task is called on the page, and the words for its few numbers."""

from __future__ import annotations

from dataclasses import dataclass

from egoequiv.report.page.found import Found
from egoequiv.report.tables import title_of

Numbers = dict[str, float | None]


@dataclass(frozen=True)
class Headline:
    """How a task is called, what is measured, and how its few numbers are shown."""

    title: str
    about: str
    digits: int = 3
    higher_is_better: bool = True  # of the first number, which says which run does best


HEADLINES = {
    "next-view": Headline(
        "Next-best view",
        "Accuracy from one view, and from two after the move that the maps choose; a random move is the floor, the "
        "best one in hindsight the ceiling. The first view alone is judged by the training tuples of two views.",
        digits=2,
    ),
    "composition": Headline(
        "Composition",
        "rho of the product of the maps of single steps, for chains of growing length (lower is better, 1 is copying).",
        higher_is_better=False,
    ),
    "retrieval": Headline(
        "Retrieval",
        "The share of the nearest pairs, by the difference of their features or of their pixels, that have the motion "
        "of the query.",
    ),
    "prediction": Headline(
        "Prediction", "Where the true next view ranks among the views of its recording: 1 is always first."
    ),
    "analogy": Headline(
        "Analogy", "x_i is to x_j as x_k is to which frame? The mean reciprocal rank of the right one."
    ),
    "readout": Headline(
        "Read-out",
        "R² of pose and motion read from features by a linear probe and by a small network, on recordings that they "
        "have not seen.",
    ),
    "slowness": Headline(
        "Slowness",
        "How often neighbours are nearer to each other than strangers (AUROC; 0.5 is chance).",
        digits=4,
    ),
}


def numbers_of(found: Found | None) -> Numbers:
    """The few numbers of a finding; none where there is none."""
    if found is None or found.problem is not None or found.task not in HEADLINES:
        return {}
    return {title_of(name): value for name, value in found.headline.items()}


def in_words(numbers: Numbers, digits: int) -> str:
    """Numbers as half a sentence."""
    known = {name: f"{value:.{digits}f}" for name, value in numbers.items() if value is not None}
    return ", ".join(
        f"{name.removesuffix(' %')} {value} %" if name.endswith(" %") else f"{name} {value}"
        for name, value in known.items()
    )
