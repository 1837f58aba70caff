"""What is measured of a run, and how it is called in the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from egoequiv.evaluation.equivariance_task import rho_metric
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.probes import LINEAR
from egoequiv.evaluation.readout import PAIR
from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments.beyond.worlds import World
from egoequiv.models.network import ALL, EQUIVARIANT, INVARIANT

LABELS = (6, 20)  # of each class, and one table column for each
FRAMES = 200  # labelled, where a number is read
DRAWS = 3  # of labelled frames, in each repetition
STEPS = 3
RECOGNITION, EQUIVARIANCE, USE = "recognition", "equivariance", "use"
TABLES = {
    RECOGNITION: "recognition with few labels",
    EQUIVARIANCE: "equivariance error",
    USE: "what features are good for",
}
TOP: dict[str, Any] = {"digits": 2, "is_percent": True, "family": "top"}
WALKS: dict[str, Any] = TOP | {"family": "plan"}
SMALL_NETWORK = "small MLP"  # the other probe of the task `readout`
SHOWN_AXES = 2  # motions of more components are shown as their mean alone


MEASURED = ("probe", "equivariance", "composition", "readout", "prediction", "next-view", "plan", "recognition")


def tasks_of(
    world: World, parts: Iterable[str], seed: int, has_head: bool, only: Sequence[str] = MEASURED
) -> list[tuple[str, TaskOptions]]:
    """The tasks of a run, those of motion on the equivariant part of its features where it has one."""
    part = EQUIVARIANT if EQUIVARIANT in parts else ALL
    moving = TaskOptions(part=part, fit_on="training", hold_out=world.hold_out, steps=STEPS)
    tasks = [("equivariance", moving), ("composition", moving), ("readout", moving), ("prediction", moving)]
    if world.number is not None:
        few = TaskOptions(label_column=world.number, labelled_frames=FRAMES, draws=DRAWS, seed=seed)
        tasks.insert(0, ("probe", few))
    if world.has_classes:
        tasks.insert(0, ("probe", TaskOptions(per_class=LABELS, draws=DRAWS, seed=seed)))
        tasks.append(("next-view", TaskOptions()))
    if world.is_grid:
        tasks.append(("plan", TaskOptions(part=part)))
    if has_head:
        tasks.append(("recognition", TaskOptions()))
    return [(name, options) for name, options in tasks if name in only]


def values_of(measured: Mapping[str, Measurement]) -> list[Value]:
    """The columns of one run, from its measurements by task."""
    found = {task: measured[task].values if task in measured else [] for task in MEASURED}
    return [
        *_probe(found["probe"]),
        *_renamed(found["recognition"], {"top1": Metric(name="joint", title="joint %", **TOP)}),
        *_rho(found["equivariance"]),
        *_after_steps(found["composition"]),
        *_read_out(found["readout"]),
        *_renamed(
            found["prediction"],
            {
                "MRR, fitted map": Metric(name="mrr", title="MRR", within=(0.0, 1.0), family="MRR"),
                "hit@5, fitted map": Metric(name="hit5", title="hit@5", within=(0.0, 1.0), family="hit@5"),
            },
        ),
        *_renamed(found["next-view"], {"two_views": Metric(name="next_view", title="next view %", **TOP)}),
        *_renamed(
            found["plan"],
            {
                "success": Metric(name="plan", title="plan %", **WALKS),
                "success_other": Metric(name="plan_other", title="plan, other light %", **WALKS),
            },
        ),
    ]


def table_of(metric: Metric) -> str:
    """The table that a column is in."""
    if metric.name == "label_r2" or (metric.family == "top" and metric.name != "next_view"):
        return RECOGNITION
    return EQUIVARIANCE if metric.family == "rho" else USE


def cost_values(seconds: float | None, weights: int) -> list[Value]:
    """How long a run is trained, and how many weights its encoder has."""
    shown: dict[str, Any] = {"digits": 0, "better": "neither", "within": (0.0, None)}
    values = [Value(metric=Metric(name="weights", title="weights", **shown), value=float(weights))]
    if seconds is not None:
        values.append(Value(metric=Metric(name="seconds", title="training s", **shown), value=seconds))
    return values


def _probe(found: Sequence[Value]) -> list[Value]:
    """Of all features, and of the invariant part; or R2 of a number.

    A row without parts has one value in both columns, so that a part can be compared with all features of another row.
    """
    names = {}
    for labels in LABELS:
        for part in ("", f" ({INVARIANT})"):
            beside = ", inv." if part else ""
            for name, title in ((f"probe_{labels}", f"{labels} labels"), (f"knn5_{labels}", f"{labels}, k-NN")):
                is_detail = bool(part) and name.startswith("knn")
                names[name + part] = Metric(name=name + part, title=f"{title}{beside} %", is_detail=is_detail, **TOP)
    for value in found:
        if value.metric.family == "R2" and not value.metric.is_detail:
            title = value.metric.title.replace("R2 of", "R2,")
            names[value.name] = value.metric.model_copy(update={"name": "label_r2", "title": title})
    values = {value.name: value for value in _renamed(found, names)}
    for name, metric in names.items():
        whole = name.removesuffix(f" ({INVARIANT})")
        if name not in values and whole in values:
            values[name] = values[whole].model_copy(update={"metric": metric})
    return [values[metric.name] for metric in names.values() if metric.name in values]


def _rho(found: Sequence[Value]) -> list[Value]:
    """Of atomic and composite motions, and of single atomic ones."""
    means = {"rho_atomic": rho_metric("rho_atomic"), "rho_composite": rho_metric("rho_composite")}
    single = [value.metric for value in found if value.metric.motion is not None and value.metric.family == "rho"]
    means |= {one.name: one for one in single if "+" not in str(one.motion)}
    return _renamed(found, means)


def _after_steps(found: Sequence[Value]) -> list[Value]:
    """Rho of the product of maps after some steps, the mean over what is repeated."""
    own = [value for value in found if value.name.endswith(f", {STEPS} steps, product")]
    return _mean(own, rho_metric("rho_steps", f"rho, {STEPS} steps"))


def _read_out(found: Sequence[Value]) -> list[Value]:
    """R2 of motion by a small network, of each component and their mean; by the linear probe as a detail.

    A turn is not linear in the features of two frames. Baselines are rows of the table, read by the same probes.
    """
    shown: dict[str, Any] = {"family": "R2", "within": (None, 1.0), "baselines": {"mean": 0.0}}
    values: list[Value] = []
    for probe in (SMALL_NETWORK, LINEAR):
        ending = f" from {PAIR}, {probe}"
        known = [value for value in found if value.name.endswith(ending) and isfinite(value.value)]
        own = [value.model_copy(update={"baselines": {}}) for value in known]
        is_detail, beside = probe == LINEAR, ", linear" if probe == LINEAR else ""
        mean = Metric(name=f"r2_motion{beside}", title=f"R2 motion{beside}", is_detail=is_detail, **shown)
        values += _mean(own, mean)
        for value in own:
            quantity = value.name.removeprefix("R2 of ").removesuffix(ending)
            name, title = f"r2_{quantity}{beside}", f"R2 {quantity.removesuffix('_deg')}{beside}"
            metric = Metric(name=name, title=title, is_detail=is_detail or len(own) > SHOWN_AXES, **shown)
            values.append(value.model_copy(update={"metric": metric}))
    return values


def _mean(own: Sequence[Value], metric: Metric) -> list[Value]:
    if not own:
        return []
    names = set.intersection(*(set(value.baselines) for value in own))
    baselines = {name: float(np.mean([value.baselines[name] for value in own])) for name in sorted(names)}
    return [Value(metric=metric, value=float(np.mean([value.value for value in own])), baselines=baselines)]


def _renamed(found: Sequence[Value], metrics: Mapping[str, Metric]) -> list[Value]:
    """The values of these names under other metrics, in this order."""
    known = {value.name: value for value in found}
    return [known[name].model_copy(update={"metric": new}) for name, new in metrics.items() if name in known]
