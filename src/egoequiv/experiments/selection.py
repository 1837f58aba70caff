"""Choosing settings for a table, on frames cut from the training part; the reported frames are never read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf, isnan
from pathlib import Path

from egoequiv.errors import EgoEquivError
from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.options import Effort, Settings
from egoequiv.method_names import get_method
from egoequiv.training import make_config
from egoequiv.training.jobs import Job
from egoequiv.training.many import run_many
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.search import HOLDOUT, LEARNING_RATES, GreedySearch


def select_labelled(base: Settings, folder: Path, methods: Sequence[str], effort: Effort) -> dict[str, Settings]:
    """Greedy search by accuracy; methods that have nothing to choose share the rate."""
    if not methods:
        return {}
    search = GreedySearch(
        base=base,
        out=folder,
        learning_rates=effort.grid.learning_rates,
        weights=effort.grid.weights,
        rate_seeds=range(effort.grid.rate_seeds),
        seeds=range(effort.grid.seeds),
        engine=effort.engine,
        on_progress=lambda what, done, total: effort.on_progress(f"search, {what}", done, total),
    )
    selection = search.run([method for method in methods if get_method(method).without_labels().terms])
    return {method: selection.settings(method) if get_method(method).terms else {} for method in methods}


def select_iterations(base: Settings, folder: Path, methods: Mapping[str, Settings], effort: Effort) -> dict[str, int]:
    """For each method, when to stop: the tenth of `base["iterations"]` at which accuracy is highest.

    The paper stops each method where its validation loss begins to rise; here the accuracy on held-out training frames
    decides, as the mean over two draws of labels and weights.
    """
    every = max(100, base["iterations"] // 10 // 100 * 100)
    held = {"holdout_fraction": HOLDOUT, "validate_every": every, "checkpoint_every": every}
    jobs = [
        Job(
            make_config({**base, **settings, "method": method, "seed": seed, **held}),
            folder / f"{method},iterations={base['iterations']},seed={seed}",
        )
        for method, settings in methods.items()
        for seed in range(2)
    ]
    outcomes = run_many(jobs, engine=effort.engine, on_progress=partial(effort.on_progress, "search, iterations"))
    chosen = {}
    for method in methods:
        curves = [_accuracies(o.job.out) for o in outcomes if o.job.config.method == method and o.result is not None]
        common = set.intersection(*(set(curve) for curve in curves)) if curves else set()
        if not common:
            raise EgoEquivError(f"{method} diverged with the settings chosen for it; lower the learning rates")
        # Of equally good ones the shortest is taken.
        chosen[method] = max(sorted(common), key=lambda iteration: sum(curve[iteration] for curve in curves))
    return chosen


def _accuracies(run: Path) -> dict[int, float]:
    lines = RunFolder(run).metrics()
    return {int(line["iteration"]): line["validation_top1"] for line in lines if "validation_top1" in line}


def select_unlabelled(base: Settings, folder: Path, method: str, effort: Effort) -> Settings:
    """The learning rate whose features have the lowest rho on held-out training frames.

    The loss itself would be a poor judge: features shrunk to a point have a low loss and no equivariance.
    """
    own = {**base, "holdout_fraction": HOLDOUT, "method": method, "use_labels": False}
    jobs = [
        Job(make_config({**own, "learning_rate": rate}), folder / f"{method},no-labels,rate={rate:g}")
        for rate in LEARNING_RATES[:3]
    ]
    report = partial(effort.on_progress, f"search, {method} without labels")
    scores = {}
    for outcome in run_many(jobs, engine=effort.engine, on_progress=report):
        if outcome.result is not None:
            rho = measure_run(outcome.job.out, ("equivariance",))[0].value("rho_atomic")
            scores[outcome.job.config.learning_rate] = inf if rho is None or isnan(rho.value) else rho.value
    if not scores:
        raise EgoEquivError(f"every learning rate of {method} without labels diverged: {LEARNING_RATES[:3]}")
    return {"learning_rate": min(scores, key=lambda rate: scores[rate])}
