"""Choosing settings for a table, on frames cut from the training part; the reported frames are never read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any

from egoequiv.errors import EgoEquivError
from egoequiv.experiments.measure import measure_run
from egoequiv.methods import get_method
from egoequiv.training import make_config
from egoequiv.training.many import Job, run_many
from egoequiv.training.search import HOLDOUT, LEARNING_RATES, GreedySearch

Settings = dict[str, Any]
OnStage = Callable[[str, int, int], None]


def select_labelled(
    base: Settings, folder: Path, methods: Sequence[str], processes: int | None, on_stage: OnStage
) -> dict[str, Settings]:
    """Greedy search by accuracy; methods that have nothing to choose share the rate."""
    stage = "search"

    def name_stage(name: str) -> None:
        nonlocal stage
        stage = f"search, {name}"

    search = GreedySearch(
        base=base,
        out=folder,
        processes=processes,
        on_stage=name_stage,
        on_progress=lambda done, total: on_stage(stage, done, total),
    )
    if not methods:
        return {}
    selection = search.run([method for method in methods if get_method(method).without_labels().terms])
    return {method: selection.settings(method) if get_method(method).terms else {} for method in methods}


def select_unlabelled(base: Settings, folder: Path, method: str, processes: int | None, on_stage: OnStage) -> Settings:
    """The learning rate whose features have the lowest rho on held-out training frames.

    The loss itself would be a poor judge: features shrunk to a point have a low loss and no equivariance.
    """
    jobs = []
    for rate in LEARNING_RATES[:3]:
        config = make_config(
            {**base, "holdout_fraction": HOLDOUT, "method": method, "use_labels": False, "learning_rate": rate}
        )
        jobs.append(Job(config, folder / f"{method},no-labels,rate={rate:g}"))
    stage = f"search, {method} without labels"
    outcomes = run_many(jobs, processes=processes, on_progress=lambda done, total: on_stage(stage, done, total))
    scores = {}
    for outcome in outcomes:
        if outcome.result is not None:
            rho = measure_run(outcome.job.out)["metrics"].get("rho_atomic")
            scores[outcome.job.config.learning_rate] = inf if rho is None else rho
    if not scores:
        raise EgoEquivError(f"every learning rate of {method} without labels diverged: {LEARNING_RATES[:3]}")
    return {"learning_rate": min(scores, key=lambda rate: scores[rate])}
