"""Greedy selection of the learning rate and the loss weights, on a part cut from the training frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.engines import Engine
from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.files import read_json, write_json
from egoequiv.method_names import declared_name, display_name, get_method
from egoequiv.plurals import plural
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig, make_config
from egoequiv.training.data import open_data
from egoequiv.training.defaults import SPLITS, is_settled
from egoequiv.training.jobs import Job, Outcome
from egoequiv.training.loop import OnNote, silent
from egoequiv.training.many import run_many
from egoequiv.training.validation import score

LEARNING_RATES = (0.1, 0.01, 0.001, 0.0001)
WEIGHTS = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-4, 3))  # 0.01 to 10 in steps of 10^0.5
HOLDOUT = 0.25  # of the training frames
SELECTION = "selection.json"  # in the folder of a search
SAME = 1e-9  # scores that differ by less are a tie


@dataclass(frozen=True)
class Trial:
    """One setting that was tried; its score is the mean over seeds, not a number if any of them diverged."""

    method: str
    settings: dict[str, Any]
    score: float
    diverged_at: int | None = None
    weights: dict[str, float] = field(default_factory=dict)  # of every term but that of the labels


@dataclass(frozen=True)
class Selection:
    """The chosen learning rate, the chosen weights of each method, and everything that was tried."""

    learning_rate: float
    weight: dict[str, dict[str, float]]
    trials: list[Trial] = field(default_factory=list)
    rates: dict[str, float] = field(default_factory=dict)  # of methods that keep their own
    names: dict[str, str] = field(default_factory=dict)  # of methods that are code of a user, as they call themselves
    base: dict[str, str] = field(default_factory=dict)  # the settings that all runs share, as they are typed

    def settings(self, method: str) -> dict[str, Any]:
        """The chosen settings of one method."""
        return {"learning_rate": self.rates.get(method, self.learning_rate), "weight": self.weight.get(method, {})}

    def name(self, method: str) -> str:
        """How a method is called in tables; no code is imported for it."""
        return self.names.get(method, method)

    def stages(self) -> list[list[Trial]]:
        """The trials that each choice was between, the best first and among equals the first that was tried."""
        stages: dict[tuple[str, ...], list[Trial]] = {}
        for trial in self.trials:
            stages.setdefault((trial.method, *trial.settings.get("weight", {})), []).append(trial)
        return [
            sorted(stage, key=lambda one: (one is not _winner(stage), isnan(one.score), -one.score))
            for stage in stages.values()
        ]

    @classmethod
    def load(cls, path: Path) -> Selection:
        """A selection from its file; no code of a method is imported."""
        found = read_json(path, "the folder of a search")
        try:
            trials = [_read_trial(**one) for one in found["trials"]]
            weight = {method: _numbers(own) for method, own in found["weight"].items()}
            names = {method: str(name) for method, name in found.get("names", {}).items()}
            rates, base = _numbers(found.get("rates", {})), {k: str(v) for k, v in found.get("base", {}).items()}
            return cls(float(found["learning_rate"]), weight, trials, rates, names, base)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise DataError(f"{path} is damaged ({problem!r}): repeat the search, its runs are kept") from None

    def describe(self) -> dict[str, Any]:
        """A JSON object; a trial that diverged has the score null."""
        return {
            "learning_rate": self.learning_rate,
            "weight": self.weight,
            "rates": self.rates,
            "names": self.names,
            "base": self.base,
            "trials": [
                {
                    "method": t.method,
                    "settings": t.settings,
                    "score": None if isnan(t.score) else t.score,
                    "diverged_at": t.diverged_at,
                    "weights": t.weights,
                }
                for t in self.trials
            ],
        }


OnProgress = Callable[[str, int, int], None]  # what is being tried, how many iterations are done, of how many


@dataclass(frozen=True)
class GreedySearch:
    """Greedy cross-validation: the rate on labels alone, then each regulariser's weight at that rate.

    A method with settings of its own, an encoder and an optimiser for which the rate was not chosen, keeps its rate.
    Every run trains on a part of the training frames and is scored on the rest of them; the validation frames are
    never read. A run that diverges has lost.
    """

    base: Mapping[str, Any]  # settings that all runs share
    out: Path
    learning_rates: Sequence[float] = LEARNING_RATES
    weights: Sequence[float] = WEIGHTS
    rate_seeds: Sequence[int] = range(5)  # everything after depends on the rate, so it is chosen with more care
    seeds: Sequence[int] = range(2)
    engine: Engine | None = None
    on_progress: OnProgress | None = None
    on_note: OnNote = silent
    decided: Mapping[str, Any] = field(default_factory=dict)  # settings that follow the data

    def run(self, methods: Sequence[str]) -> Selection:
        """Search for the settings of the given methods; the outcome is written to OUT/selection.json."""
        if not make_config({**self.base, "method": "equiv"}).use_labels:
            raise ConfigError("a search chooses by accuracy and needs labels: leave out use_labels=false")
        shared = make_config({"holdout_fraction": HOLDOUT, **self.base, "method": "clsnet"})
        if shared.labels is None and shared.label_column == "label" and not FrameStore.open(shared.data).class_names:
            raise ConfigError(
                f"a search chooses by accuracy, and {shared.data} has no labels: name a table or another store of "
                "labels with --set labels=, or an attribute with --set label_column="
            )
        if is_settled(shared):
            return self._run(methods)
        opened = open_data(shared)  # once, so that all runs have the same encoder and the same split
        for line in opened.choices:
            self.on_note(line)
        decided = {name: getattr(opened.config, name) for name in ("encoder", *SPLITS)}
        return replace(self, decided=decided)._run(methods)

    def _run(self, methods: Sequence[str]) -> Selection:
        trials: list[Trial] = []
        grid: list[dict[str, Any]] = [{"learning_rate": rate} for rate in dict.fromkeys(self.learning_rates)]
        tried = self._try("clsnet", grid, self.rate_seeds)
        trials += tried
        rate = float(_winner(tried).settings["learning_rate"])
        chosen: dict[str, dict[str, float]] = {}
        for method in _in_order(methods):
            kept, searched = _terms_to_search(method, chosen)
            for term in searched:
                weights = dict.fromkeys(self.weights)
                grid = [{"learning_rate": _rate(method, rate), "weight": {**kept, term: weight}} for weight in weights]
                tried = self._try(method, grid, self.seeds)
                trials += tried
                kept = dict(_winner(tried).settings["weight"])
            chosen[method] = kept
        rates = {method: own for method in chosen if (own := _rate(method, rate)) != rate}
        names = {method: name for method in chosen if (name := declared_name(method)) != method}
        selection = Selection(rate, chosen, trials, rates, names, _typed(self.base))
        write_json(self.out / SELECTION, selection.describe())
        return selection

    def _try(self, method: str, grid: Sequence[dict[str, Any]], seeds: Sequence[int]) -> list[Trial]:
        """The mean score of each setting over the seeds: label draws and initial weights."""
        jobs = [
            Job(self._config(method, setting, seed), self._folder(method, setting, seed))
            for setting in grid
            for seed in seeds
        ]
        report = self.on_progress and partial(self.on_progress, f"{method}: {plural(len(grid), 'setting')}")
        outcomes = run_many(jobs, engine=self.engine, on_progress=report)
        per_setting = len(seeds)
        return [
            _trial(method, setting, outcomes[k * per_setting : (k + 1) * per_setting]) for k, setting in enumerate(grid)
        ]

    def _config(self, method: str, setting: dict[str, Any], seed: int) -> TrainConfig:
        own = get_method(method).defaults
        decided = {name: value for name, value in self.decided.items() if name not in own}
        values = {"holdout_fraction": HOLDOUT, "threads": 1, **self.base, **decided, **setting}
        values |= {"method": method, "seed": seed}
        config = make_config(values)
        if not config.holdout_fraction:
            raise ConfigError("a search needs holdout_fraction above 0, or it would see the validation frames")
        return config

    def _folder(self, method: str, setting: dict[str, Any], seed: int) -> Path:
        weights = "".join(f",{term}={_short(weight)}" for term, weight in setting.get("weight", {}).items())
        return self.out / f"{display_name(method)},rate={_short(setting['learning_rate'])}{weights},seed={seed}"


def _read_trial(
    method: str,
    settings: dict[str, Any],
    score: float | None,
    diverged_at: int | None,
    weights: Mapping[str, Any] | None = None,
) -> Trial:
    """A trial as `Selection.describe` wrote it."""
    known: dict[str, Any] = {"learning_rate": float(settings["learning_rate"])}
    known |= {"weight": _numbers(settings["weight"])} if "weight" in settings else {}
    all_weights = _numbers(known.get("weight", {}) if weights is None else weights)
    return Trial(str(method), known, nan if score is None else float(score), diverged_at, all_weights)


def _typed(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as they are typed behind --set; of those with parts, the settings of the encoder alone."""
    flat = {name: str(value) for name, value in settings.items() if not isinstance(value, dict | list | tuple)}
    return flat | {f"encoder.{name}": str(value) for name, value in settings.get("encoder_settings", {}).items()}


def _numbers(weights: Mapping[str, Any]) -> dict[str, float]:
    return {str(term): float(weight) for term, weight in weights.items()}


def _rate(method: str, chosen: float) -> float:
    """The learning rate of a method: its own where it has one, or the one chosen on labels."""
    return float(get_method(method).defaults.get("learning_rate", chosen))


def _short(value: float) -> str:
    """A number for a folder's name: short, but never the same for two numbers."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def _in_order(methods: Sequence[str]) -> list[str]:
    """The methods, each after the one whose weights it keeps, which is added where it is missing."""
    ordered: dict[str, None] = {}
    for name in methods:
        method = get_method(name)
        if method.keeps is not None:
            ordered.setdefault(method.keeps)
        ordered.setdefault(name)
    return list(ordered)


def _terms_to_search(name: str, chosen: Mapping[str, dict[str, float]]) -> tuple[dict[str, float], list[str]]:
    """Weights kept from a method searched before (equiv+drlim keeps drlim's), and the terms still to search."""
    method = get_method(name)
    kept = dict(chosen[method.keeps]) if method.keeps is not None else {}
    return kept, [term.name for term in method.without_labels().terms if term.name not in kept]


def _trial(method: str, setting: dict[str, Any], outcomes: Sequence[Outcome]) -> Trial:
    terms = get_method(method).without_labels().terms
    weights = {term.name: term.weight for term in terms} | setting.get("weight", {})
    diverged = [o.diverged_at for o in outcomes if o.diverged_at is not None]
    if diverged:
        return Trial(method, setting, nan, min(diverged), weights)
    mean = float(np.mean([score(o.result["metrics"]) for o in outcomes if o.result]))
    return Trial(method, setting, mean, weights=weights)


def _winner(trials: Sequence[Trial]) -> Trial:
    finite = [trial for trial in trials if not isnan(trial.score)]
    if not finite:
        tried = ", ".join(str(trial.settings) for trial in trials)
        raise EgoEquivError(f"every setting of {trials[0].method} diverged: {tried}; try lower learning rates")
    best = max(trial.score for trial in finite)
    return next(trial for trial in finite if trial.score >= best - SAME)  # of a tie the first that was tried
