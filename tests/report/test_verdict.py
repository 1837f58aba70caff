"""The line that says what features are good for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from egoequiv.evaluation.metric import Metric, Value
from egoequiv.report.verdict import verdict


def value(name: str, number: float, better: Any = "higher", **baselines: float) -> Value:
    return Value(metric=Metric(name=name, title=name, better=better), value=number, baselines=baselines)


def record(*values: Value) -> Any:
    return SimpleNamespace(values=values)


def test_what_is_ahead_and_what_is_not() -> None:
    line = verdict(
        [
            record(value("ratio_atomic", 0.4, "lower", copy=1.0, frozen=0.8)),
            record(value("R2 of yaw", 0.9, mean=0.0, frozen=0.95), value("place", 0.97, pixels=0.5)),
        ]
    )
    assert line == (
        "verdict: these features are ahead of every baseline in following motions (ratio of means, their mean) 0.400; "
        "place 0.970. Not ahead in R2 of yaw 0.900, where frozen has 0.950"
    )


def test_nothing_measured_and_nothing_ahead() -> None:
    assert verdict([]) == ""
    assert verdict([record(value("place", float("nan"), chance=0.1))]) == ""
    assert "not ahead of the baselines in anything" in verdict([record(value("place", 0.1, chance=0.2))])
