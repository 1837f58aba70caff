"""The few numbers of each task that stand for it, and the words for its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from egoequiv.report.page.tasks import Found

Described = dict[str, Any]
Numbers = dict[str, float | None]


@dataclass(frozen=True)
class Headline:
    """How a task is called, what is measured, and its few numbers, the first of which says which run does best."""

    title: str
    about: str
    numbers: Callable[[Described], Numbers]
    digits: int = 3
    higher_is_better: bool = True


def _next_view(result: Described) -> Numbers:
    one, two = result["accuracy_pct"][:2]
    return {
        "two views %": two["chosen"]["mean"],
        "one view %": one["chosen"]["mean"],
        "random move %": two["random"]["mean"],
        "best move %": two["best"]["mean"],
        "first view alone %": two["first_view_alone"]["mean"],
    }


def _composition(result: Described) -> Numbers:
    numbers: Numbers = {}
    for name, steps in result["chains"].items():
        if steps:
            numbers[f"{name}, 1 step"] = steps[0]["composed"]["rho"]
            numbers[f"{name}, {steps[-1]['steps']} steps"] = steps[-1]["composed"]["rho"]
    # The longest chain of the last kind, all motions in turn, says which run does best.
    return dict(reversed(numbers.items()))


def _retrieval(result: Described) -> Numbers:
    every = {space: rows[0] for space, rows in result["precision"].items()}
    numbers: Numbers = {f"precision@1, {space}": row["at_1"] for space, row in every.items()}
    numbers |= {f"precision@{result['k']}, {space}": row["at_k"] for space, row in every.items()}
    return numbers | {"chance": next(iter(every.values()))["chance"]}


def _ranks(result: Described) -> Numbers:
    """The mean reciprocal rank over all motions, of each way to predict; maps before what they are compared with."""
    scope = result["scores"][0]["scope"]
    found = {s["prediction"]: s["mrr"] for s in result["scores"] if s["motion"] == "all" and s["scope"] == scope}
    ordered = sorted(found, key=lambda name: "fitted" not in name)
    return {f"MRR, {name}": found[name] for name in ordered} | {"chance": result["scores"][0]["chance_mrr"]}


def _readout(result: Described) -> Numbers:
    best: Numbers = {}
    for row in result["rows"]:
        name = f"{row['quantity']} from {row['read_from']}"
        if best.get(name) is None or (row["r2"] is not None and row["r2"] > (best[name] or 0)):
            best[name] = row["r2"]
    return dict(reversed(best.items()))  # motion from two frames first


def _slowness(result: Described) -> Numbers:
    rows = [row for row in result["rows"] if row["norm"] == "l2"]
    return {f"{row['part']} frames": row["auroc"] for row in reversed(rows)}


HEADLINES = {
    "next-view": Headline(
        "Next-best view",
        "Accuracy from one view, and from two after the move that the maps choose; a random move is the floor, the "
        "best one in hindsight the ceiling. The first view alone is judged by the training tuples of two views.",
        _next_view,
        digits=2,
    ),
    "composition": Headline(
        "Composition",
        "rho of the product of the maps of single steps, for chains of growing length (lower is better, 1 is copying).",
        _composition,
        higher_is_better=False,
    ),
    "retrieval": Headline(
        "Retrieval",
        "The share of the nearest pairs, by the difference of their features or of their pixels, that have the motion "
        "of the query.",
        _retrieval,
    ),
    "prediction": Headline(
        "Prediction", "Where the true next view ranks among the views of its recording: 1 is always first.", _ranks
    ),
    "analogy": Headline(
        "Analogy", "x_i is to x_j as x_k is to which frame? The mean reciprocal rank of the right one.", _ranks
    ),
    "readout": Headline(
        "Read-out",
        "R² of pose and motion read from features by the better of a linear probe and a small network, on recordings "
        "that it has not seen.",
        _readout,
    ),
    "slowness": Headline(
        "Slowness",
        "How often neighbours are nearer to each other than strangers (AUROC; 0.5 is chance).",
        _slowness,
        digits=4,
    ),
}


def numbers_of(found: Found | None) -> Numbers:
    """The few numbers of a finding; none where there is none."""
    if found is None or found.problem is not None or found.task not in HEADLINES:
        return {}
    return HEADLINES[found.task].numbers(found.result)


def in_words(numbers: Numbers, digits: int) -> str:
    """Numbers as half a sentence."""
    known = {name: f"{value:.{digits}f}" for name, value in numbers.items() if value is not None}
    return ", ".join(
        f"{name.removesuffix(' %')} {value} %" if name.endswith(" %") else f"{name} {value}"
        for name, value in known.items()
    )
