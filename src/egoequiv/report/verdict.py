"""One line of verdict: what features are good for, and what a baseline does as well."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Value

TITLES = {
    "rho_atomic": "following motions (rho, their mean)",
    "ratio_atomic": "following motions (ratio of means, their mean)",
}


def verdict(measurements: Sequence[Measurement]) -> str:
    """Of what was measured of a run, where its features are ahead of every baseline, and where they are not."""
    values = [value for one in measurements for value in one.values if _counts(value)]
    ahead = [_in_words(value) for value in values if not value.is_marked]
    level = [f"{_in_words(value)}, where {_best(value)}" for value in values if value.is_marked]
    if not values:
        return ""
    good = f"ahead of every baseline in {'; '.join(ahead)}" if ahead else "not ahead of the baselines in anything"
    return f"verdict: these features are {good}" + (f". Not ahead in {'; '.join(level)}" if ahead and level else "")


def _counts(value: Value) -> bool:
    metric = value.metric
    is_main = not metric.is_detail and metric.motion is None and metric.better != "neither"
    return is_main and isfinite(value.value) and bool(value.all_baselines())


def _in_words(value: Value) -> str:
    title = TITLES.get(value.name, value.metric.title)
    return f"{title} {value.metric.text(value.value)}"


def _best(value: Value) -> str:
    """The baseline that is at least as good."""
    known = {name: number for name, number in value.all_baselines().items() if isfinite(number)}
    pick = max if value.metric.better == "higher" else min
    name = pick(known, key=lambda one: known[one])
    return f"{name} has {value.metric.text(known[name])}"
