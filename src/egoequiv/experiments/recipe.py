"""A table as a recipe: the runs of each row, the settings they get, and what is measured of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from egoequiv.errors import ConfigError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.experiments.measure import BASIC, measure_runs
from egoequiv.experiments.options import Effort, Settings
from egoequiv.experiments.published import Key, Metrics
from egoequiv.experiments.run_groups import row_name
from egoequiv.experiments.selection import select_iterations, select_labelled, select_unlabelled
from egoequiv.experiments.table import MeasuredRow, row_of
from egoequiv.method_names import get_method
from egoequiv.training import make_config
from egoequiv.training.jobs import Job
from egoequiv.training.many import run_many


@dataclass(frozen=True)
class Recipe:
    """The rows of one table: methods with labels or without, on one task."""

    name: str  # separates its runs from those of other recipes in the same folder
    base: Settings  # that all runs share
    keys: Sequence[Key]
    chosen: Mapping[Key, Settings]  # what a search has chosen before
    published: Mapping[Key, Metrics] = field(default_factory=dict)
    extra: Callable[[Key, int], Settings] = lambda *_: {}  # settings of a row's own
    search_name: str | None = None  # of the recipe whose search this one shares; None: its own
    search_base: Settings = field(default_factory=dict)  # what that search has otherwise than `base`


@dataclass(frozen=True)
class RowRuns:
    """A row of a table and the runs behind it."""

    name: str
    key: Key
    settings: Settings  # in which it differs from other rows
    jobs: Sequence[Job]  # one for each repetition; once trained, those that did not diverge
    diverged: int = 0

    def measured(
        self, found: Sequence[Sequence[Measurement]], folder: Path, published: Metrics | None = None
    ) -> MeasuredRow:
        """The row in a table of that folder, from the measurements of each run."""
        members = [(job.out, (job.config.seed, job.config.pair_seed)) for job in self.jobs]
        more = {"diverged": self.diverged, "settings": self.settings, "published": dict(published or {})}
        return row_of(self.name, self.key, members, found, folder.absolute(), **more)


def train_rows(rows: Sequence[RowRuns], effort: Effort, what: str) -> list[RowRuns]:
    """Train every repetition of every row, or find it finished; what diverged is counted and left out."""
    jobs = [job for row in rows for job in row.jobs]
    report = partial(effort.on_progress, f"training, {what}")
    outcomes = iter(run_many(jobs, engine=effort.engine, on_progress=report))
    trained = []
    for row in rows:
        own = list(islice(outcomes, len(row.jobs)))
        done = [outcome.job for outcome in own if outcome.result is not None]
        trained.append(replace(row, jobs=done, diverged=len(own) - len(done)))
    return trained


def make_rows(recipe: Recipe, effort: Effort) -> list[MeasuredRow]:
    """Choose settings, train every repetition of every row, and measure them."""
    chosen = _select(recipe, effort) if effort.select else _checked(recipe)
    planned = [
        RowRuns(
            row_name(*key),
            key,
            chosen[key] | recipe.extra(key, effort.iterations),
            _jobs(recipe, effort, key, chosen[key]),
        )
        for key in recipe.keys
    ]
    rows = train_rows(planned, effort, recipe.name)
    runs = [job.out for row in rows for job in row.jobs]
    found = dict(measure_runs(runs, BASIC, None, f"measuring, {recipe.name}", effort.on_progress))
    published = recipe.published
    return [row.measured([found[job.out] for job in row.jobs], effort.out, published.get(row.key)) for row in rows]


def chosen_keys(keys: Sequence[Key], methods: Sequence[str] | None) -> list[Key]:
    """Only the rows of the given methods; of all, if none is given."""
    if methods is None:
        return list(keys)
    have = dict.fromkeys(method for method, _ in keys)
    for method in methods:
        get_method(method)
        if method not in have:
            raise ConfigError(f"method {method!r} is not in this table; choose from {', '.join(have)}")
    return [key for key in keys if key[0] in methods]


def _checked(recipe: Recipe) -> Mapping[Key, Settings]:
    for key in recipe.keys:
        if key not in recipe.chosen:
            raise ConfigError(f"no settings were chosen before for {key[0]!r}: search with --select")
    return recipe.chosen


def _shared(recipe: Recipe, iterations: int) -> Settings:
    """Settings that all runs share. They validate at the end only, because nothing is chosen by it."""
    every = max(100, -(-iterations // 100) * 100)
    return {"threads": 1, "checkpoint_every": 1_000, **recipe.base, "iterations": iterations, "validate_every": every}


def _select(recipe: Recipe, effort: Effort) -> Mapping[Key, Settings]:
    """Choose settings on frames cut from the training part.

    With labels rate, weights and when to stop, by accuracy; without, the rate, by rho.
    """
    iterations = min(effort.iterations, effort.search_iterations)
    base = _shared(recipe, iterations) | recipe.search_base
    folder = effort.out / f"search-{recipe.search_name or recipe.name}-{iterations}"
    labelled = [method for method, labels in recipe.keys if labels]
    found = select_labelled(base, folder, labelled, effort)
    chosen: dict[Key, Settings] = {(method, True): settings for method, settings in found.items()}
    if effort.select_stop:
        trained = {m: chosen[m, True] for m in labelled if get_method(m).terms}
        whole = _shared(recipe, effort.iterations)
        stops = select_iterations(whole, folder, trained, effort)
        for method, stop in stops.items():
            chosen[method, True] |= {"iterations": stop}
    for key in recipe.keys:
        if not key[1]:
            own = base | recipe.extra(key, iterations)
            chosen[key] = select_unlabelled(own, folder, key[0], effort)
    return chosen


def _jobs(recipe: Recipe, effort: Effort, key: Key, settings: Settings) -> list[Job]:
    """One job for each repetition of a row."""
    method, labels = key
    kind = "runs" if effort.select else "runs-preset"
    folder = effort.out / f"{kind}-{recipe.name}-{effort.iterations}"
    base = _shared(recipe, effort.iterations) | recipe.extra(key, effort.iterations)
    own = {**base, **settings, "method": method, "use_labels": labels}
    name = f"{method}-{'labels' if labels else 'no-labels'}"
    if settings.get("iterations", effort.iterations) != effort.iterations:
        name += f"-{settings['iterations']}-iterations"
    return [
        Job(make_config({**own, "seed": repetition}), folder / f"{name}-{repetition}")
        for repetition in range(effort.repeats)
    ]
