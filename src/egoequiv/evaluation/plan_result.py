"""What the task `plan` found: how often walks come to their goal, under each condition and by each way to walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.evaluation.findings import baseline_texts, cell, estimated, notes_of, thumbnails
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.plan_conditions import Outcome, excess_of
from egoequiv.evaluation.plan_walks import Errands
from egoequiv.evaluation.pose_grid import PoseGrid
from egoequiv.evaluation.statistics import group_interval, group_mean
from egoequiv.evaluation.task import Finding
from egoequiv.files import plain
from egoequiv.pairs.candidates import Indices
from egoequiv.planning.belief import Floats
from egoequiv.store import FrameStore

T = TypeVar("T")
RUN, PIXELS, UNTRAINED, GREEDY, RANDOM = "run", "pixels", "untrained network", "greedy walk", "random walk"
SAME = "same recording"
SHOWN = 6  # walks of the figure
NOTES = (
    "success: the walk comes to the goal within twice the shortest way plus two moves; it is told when it is there, so "
    "that it knows where it is not",
    "stops: not told, the walk ends by itself at the goal, within the same moves",
    "excess: moves beyond the shortest way, of walks that came to the goal; the shortest way has 100 % and 0",
    "pixels and the untrained network have maps fitted on training recordings; the greedy walk has no maps, and every "
    "look at a neighbour and every way back is a move",
)


@dataclass(frozen=True, eq=False)
class Condition:
    """Walks of one kind: where the goal view is from, and what became of the walks by each way to walk."""

    name: str
    grid: PoseGrid
    errands: list[Errands]
    outcomes: dict[str, Outcome]
    things: Indices | None = None  # what each recording of the store shows, where some show the same

    @property
    def steps(self) -> Indices:
        """The shortest way of each walk, (N,)."""
        return np.concatenate([own.steps for own in self.errands])

    @property
    def groups(self) -> Indices:
        """The thing that each walk is round, or where these are not known the recording that it is in, (N,)."""
        recording = np.concatenate([np.full(len(own.start), self.grid.recordings[own.walked]) for own in self.errands])
        return recording if self.things is None else self.things[recording]

    @property
    def kind(self) -> str:
        """What the groups are."""
        return "recording" if self.things is None else "thing"

    def values(self) -> list[Value]:
        """Success, what stops by itself, and the excess of the way."""
        is_first = self.name == SAME
        ending, words = ("", "") if is_first else ("_other", f", {self.name}")
        groups, kind, percent = self.groups, self.kind, {"digits": 1, "is_percent": True, "family": "plan"}
        shares = {way: 100.0 * float(np.mean(one.arrived >= 0)) for way, one in self.outcomes.items()}
        stops = {way: 100.0 * float(np.mean(s)) for way, one in self.outcomes.items() if (s := one.stopped) is not None}
        excess = {way: _mean(excess_of(one.arrived, self.steps)) for way, one in self.outcomes.items()}
        own = self.outcomes[RUN]
        assert own.stopped is not None
        reached = own.arrived >= 0
        counted: dict[str, Any] = {"digits": 2, "better": "neither", "within": (0.0, None), "is_detail": True}
        each: list[tuple[str, str, dict[str, Any], NDArray[Any], Indices, dict[str, float]]] = [
            ("success", " %", percent, reached, groups, shares),
            ("stops", " %", percent, own.stopped, groups, stops),
            ("excess", "", counted, excess_of(own.arrived, self.steps), groups[reached], excess),
        ]
        return [
            estimated(
                Metric(name=f"{name}{ending}", title=f"{name}{words}{unit}", **more),
                group_mean(scores, among),
                among,
                kind=kind,
                baselines=_others(known),
            )
            for name, unit, more, scores, among, known in each
        ]

    def gains(self) -> dict[str, dict[str, Any]]:
        """How much higher the success of the run is than that of each baseline, on the same walks."""
        own = self.outcomes[RUN].arrived >= 0
        found = {}
        for way in _others(self.outcomes):
            higher = 100.0 * (own.astype(np.float64) - (self.outcomes[way].arrived >= 0))
            ends = group_interval(higher, self.groups, within=(-100.0, 100.0))
            found[way] = {"difference": float(higher.mean()), "interval": list(ends)}
        return found

    def step_costs(self) -> dict[str, float]:
        """The cost of a step by each way to plan, as chosen for it."""
        return {way: one.step_cost for way, one in self.outcomes.items() if one.step_cost is not None}

    def by_distance(self) -> dict[str, list[dict[str, Any]]]:
        """The share of successful walks for each length of the shortest way."""
        steps = self.steps
        return {
            way: [
                {
                    "steps": int(length),
                    "success_pct": 100.0 * float(np.mean(one.arrived[steps == length] >= 0)),
                    "walks": int((steps == length).sum()),
                }
                for length in np.unique(steps)
            ]
            for way, one in self.outcomes.items()
        }

    def strips(self, store: FrameStore) -> dict[str, NDArray[Any]]:
        """Some walks as small pictures, and their goals."""
        paths = self.outcomes[RUN].paths
        assert paths is not None
        shown = np.linspace(0, len(self.errands) - 1, min(SHOWN, len(self.errands))).astype(np.int64)
        errands = [self.errands[k] for k in shown]
        walks = list(zip(paths[shown], errands, strict=True))
        rows = np.stack([np.where(path >= 0, self.grid.rows[own.walked][path], -1) for path, own in walks])
        goals = np.array([self.grid.rows[own.seen, own.goal[0]] for own in errands])
        reached = np.array([path[path >= 0][-1] == own.goal[0] for path, own in walks])
        ending = "" if self.name == SAME else "_other"
        return {
            f"views{ending}": thumbnails(store, rows),
            f"is_view{ending}": rows >= 0,
            f"goals{ending}": thumbnails(store, goals),
            f"reached{ending}": reached,
        }


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else nan


def _others(numbers: Mapping[str, T]) -> dict[str, T]:
    return {way: number for way, number in numbers.items() if way != RUN}


def finding_of(store: FrameStore, conditions: Sequence[Condition], maps: str, notes: Sequence[str]) -> Finding:
    """Values of each condition, a table of all ways to walk, and what figures are drawn from."""
    values = [value for condition in conditions for value in condition.values()]
    heads = [f"{head}, {one.name}" for one in conditions for head in ("success %", "stops %", "excess")]
    rows = [
        [_title(way, maps), *(cell(value) if way == RUN else baseline_texts(value, [way])[0] for value in values)]
        for way in conditions[0].outcomes
    ]
    counts = ", ".join(f"{len(one.steps):,} with the goal in the {one.name}" for one in conditions)
    lengths = np.concatenate([condition.steps for condition in conditions])
    title = f"walks to a goal view: {counts}, the shortest way {lengths.mean():.1f} moves"
    gains = {one.name: one.gains() for one in conditions}
    said = [f"success, {name}, above {_in_words(own)}" for name, own in gains.items()]
    for one in conditions:
        costs = ", ".join(f"{way} {cost:g}" for way, cost in one.step_costs().items())
        said.append(f"cost of a step, {one.name}: {costs}")
    details: dict[str, Any] = {
        "maps": maps,
        "conditions": {
            one.name: {
                "walks": len(one.steps),
                "by_distance": one.by_distance(),
                "step_costs": one.step_costs(),
                "gains": gains[one.name],
            }
            for one in conditions
        },
    }
    arrays: dict[str, NDArray[Any]] = {}
    for condition in conditions if store.has_images else ():
        arrays |= condition.strips(store)
    notes = [*said, *notes, *notes_of(values[:1])]
    return Finding(values, [Grid.of(title, ("way to walk", *heads), rows, NOTES)], plain(details), arrays, notes=notes)


def _in_words(gains: Mapping[str, Mapping[str, Any]]) -> str:
    """The difference to each baseline, and its interval where there is one."""
    texts = []
    for way, gain in gains.items():
        low, high = gain["interval"]
        texts.append(f"{way}: {gain['difference']:+.1f}" + (f" [{low:+.1f}, {high:+.1f}]" if np.isfinite(low) else ""))
    return "; ".join(texts)


def _title(way: str, maps: str) -> str:
    titles = {RUN: f"this run, {maps}", PIXELS: f"{PIXELS}, fitted maps", UNTRAINED: f"{UNTRAINED}, fitted maps"}
    return titles.get(way, way)
