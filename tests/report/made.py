"""Small tables, measurements and audits made by hand, and experiments that look like those of `collect`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.auditing.table import AuditRow, AuditTable, MotionAudit, MotionPairCounts
from egoequiv.blocks import Grid
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.measurement import Subject as MeasuredSubject
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments.collect import Exhibit, Experiment
from egoequiv.experiments.published import Published
from egoequiv.experiments.record import CommandRecord
from egoequiv.experiments.run_groups import RunGroup
from egoequiv.experiments.table import Entry, Row, Table, compare_rows

TOP1 = Metric(name="top1", title="top-1 %", digits=2, is_percent=True, family="top")
ATOMIC = Metric(
    name="rho_atomic",
    title="rho atomic",
    better="lower",
    within=(0.0, None),
    family="rho",
    baselines={"copy": 1.0},
)
UP = ATOMIC.model_copy(update={"name": "rho_up", "title": "rho up", "motion": "up"})
RIGHT = ATOMIC.model_copy(update={"name": "rho_right turn", "title": "rho right turn", "motion": "right turn"})
RATIO = Metric(name="ratio_up", title="ratio up", better="lower", motion="up", is_detail=True)
EXCLUDED = Metric(name="excluded_pairs", title="pairs left out", digits=1, better="neither", is_detail=True)
SEEDS = ((0, 0), (1, 0), (2, 0))


def row(
    name: str, values: Mapping[str, Sequence[float]], published: Mapping[str, float] | None = None, **more: Any
) -> Row:
    """A row of plain values; its name says whether it has labels."""
    entries = {key: Entry(result=Result(tuple(each))) for key, each in values.items()}
    method = name.removesuffix(" (no labels)")
    seeds = SEEDS[: max((len(each) for each in values.values()), default=0)]
    paper = {key: Published(value) for key, value in (published or {}).items()}
    return Row(
        name=name, method=method, uses_labels=method == name, entries=entries, published=paper, seeds=seeds, **more
    )


def table(metrics: Sequence[Metric], *rows: Row, **more: Any) -> Table:
    """A table with paired tests of every column."""
    columns = tuple(metric.name for metric in metrics if not metric.is_detail)
    tests = [test for name in columns for test in compare_rows(rows, name)]
    return Table(title="Toys", metrics=list(metrics), columns=columns, rows=list(rows), comparisons=tests, **more)


def full_table() -> Table:
    """Three rows with everything that a table may hold."""
    cells = {
        "clsnet": ((24.0, 25.0, 26.0), (0.93, 0.92, 0.95), (0.99, 0.98, 1.0), (0.8, 0.9, 0.85)),
        "equiv": ((38.0, 39.5, 38.2), (0.61, 0.62, 0.6), (0.5, 0.52, 0.51), (0.7, 0.71, 0.72)),
        "equiv (no labels)": (None, (0.03, 0.04, 0.05), (0.02, 0.03, 0.025), (nan, nan, nan)),
    }
    rows = []
    for name, (top, atomic, up, right) in cells.items():
        values = {
            "rho_atomic": atomic,
            "rho_up": up,
            "rho_right turn": right,
            "ratio_up": up,
            "excluded_pairs": (2.0, 3.0, 4.0),
        }
        made = row(name, {**({"top1": top} if top else {}), **values}, settings={"learning_rate": 0.01})
        entries = dict(made.entries)
        if top:
            entries["top1"] = entries["top1"].model_copy(
                update={"baselines": {"chance": 4.0, "nearest pixels": 24.9 + len(name)}}
            )
        entries["rho_up"] = entries["rho_up"].model_copy(
            update={"interval": (up[0] - 0.05, up[0] + 0.05), "baselines": {"constant": 0.71, "untrained": 0.9}}
        )
        if name.endswith("labels)"):
            entries["rho_right turn"] = Entry(result=Result((nan,) * 3), note="7 pairs are too few, 60 are needed")
        paper = {"top1": Published(25.11, 0.72) if name == "clsnet" else Published(38.48, 0.89)} if top else {}
        rows.append(made.model_copy(update={"entries": entries, "published": paper}))
    about = {"split": "paper", "validation_frames": 648, "leaked_validation_frames": 640, "repeats": 3}
    metrics = (TOP1, ATOMIC, UP, RIGHT, RATIO, EXCLUDED)
    return table(metrics, *rows, about=about, published_on="small NORB")


def measurement(task: str, values: Sequence[Value] = (), run: str = "equiv-0", **more: Any) -> Measurement:
    """What a task measured of one run."""
    arrays = more.pop("arrays", {})
    subject = MeasuredSubject(task=task, weights="w", data="d", frames="f", code="1")
    made = Measurement(
        subject=subject,
        run=run,
        store="toys",
        checkpoint="last",
        split="paper",
        frames=10,
        recordings=5,
        values=list(values),
        **more,
    )
    return made.with_arrays(arrays)


def images(*shape: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Gradients, each of another direction; (*shape, 8, 12, 1)."""
    count = int(np.prod(shape))
    across, down = np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 8))
    turns = np.linspace(0, 1, count)[:, None, None]
    made = 255 * (turns * across + (1 - turns) * down)
    return made.astype(np.uint8).reshape(*shape, 8, 12, 1)


def chains(times: float = 1.0) -> dict[str, Any]:
    """The details of a measurement of composition."""

    def step(count: int) -> dict[str, Any]:
        own = {"rho": 0.3 * times * (1 + 0.2 * count), "interval": [0.2, 0.4 + 0.1 * count]}
        composed = {"rho": 0.3 * times * (1 + 0.2 * count**1.5), "interval": [0.25, 0.5 + 0.1 * count]}
        return {"steps": count, "composed": composed if count > 1 else own, "fitted": own}

    return {"chains": {name: [step(count) for count in range(1, 6)] for name in ("up", "right", "up, right in turn")}}


def composition(name: str, times: float = 1.0) -> Measurement:
    metric = Metric(
        name="rho_chain", title="rho of 5 steps, product", better="lower", family="rho", baselines={"copy": 1.0}
    )
    detail = Metric(name="rho_own", title="rho of 5 steps, own map", better="lower", family="rho", is_detail=True)
    values = [Value(metric=metric, value=0.66 * times), Value(metric=detail, value=0.6 * times)]
    grids = [Grid.of("chains of steps", ("chain", "rho"), [("up", "0.3")], ("a note",))]
    return measurement("composition", values, name, details=chains(times), tables=grids)


def next_view(views: int = 2, walks: int = 5, interval: bool = True) -> Measurement:
    """Accuracies by hand, and a gallery in which the first walk is wrong in the end, and the last ends early."""
    accuracy = [
        {
            "views": count,
            "chosen": {
                "mean": 40.0 + 3 * count,
                "interval": [35.0 + 3 * count, 45.0 + 3 * count] if interval else None,
            },
            "random": {"mean": 42.0 + count, "interval": None},
            "best": {"mean": 39.0 + 4 * count, "interval": None},
            "first_view_alone": {"mean": 40.0, "interval": None},
        }
        for count in range(1, views + 1)
    ]
    guess = np.zeros((walks, views), np.int64)
    guess[0, -1], guess[-1, 1:] = 1, -1
    arrays = {
        "gallery_images": images(walks, views),
        "gallery_class": np.zeros(walks, np.int64),
        "gallery_guess": guess,
        "gallery_moves": np.ones((walks, views - 1), np.int64),
        "gallery_bits": np.full((walks, views - 1), 1.25),
    }
    details = {"moves": ["up", "right"], "classes": ["car", "truck"], "starting_views": 1234, "accuracy_pct": accuracy}
    two = Metric(name="two_views", title="two views %", digits=2, is_percent=True)
    return measurement("next-view", [Value(metric=two, value=46.0)], details=details, arrays=arrays)


def retrieval(queries: int = 5) -> Measurement:
    """Queries whose nearest pair by pixels is of another motion."""
    right = np.ones((queries, 3), np.uint8)
    right[:, 2] = 0
    arrows = np.tile([[0.0, 1.0], [1.0, 0.0], [-0.7, 0.7]], (queries, 1, 1))
    details = {
        "gallery_spaces": ["features", "pixels"],
        "gallery_words": [["up 10°", "up 10°", "up 10°, left 20°"]] * queries,
    }
    arrays = {"gallery_images": images(queries, 3, 2), "gallery_arrows": arrows, "gallery_right": right}
    metric = Metric(name="precision", title="precision@1, features")
    return measurement("retrieval", [Value(metric=metric, value=0.5)], details=details, arrays=arrays)


def declared_motions() -> Measurement:
    details = {
        "pairs": {"up": 300, "right": 500, "up+left": 100},
        "learned": ["up", "right"],
        "mined": None,
        "axes": ["elevation (deg)", "azimuth (deg)"],
    }
    grids = [Grid.of("motions between training frames", ("motion", "pairs"), [("up", "300"), ("right", "500")])]
    arrays = {"motions": np.array([[10.0, 0.0], [0.0, 60.0], [10.0, -60.0]])}
    return measurement("motions", details=details, arrays=arrays, tables=grids)


def audit_table() -> AuditTable:
    found = {
        "good": (("up", 0.25, (0.2, 0.3), 0.24, "PCA 16", 0, 0.75), ("right", 0.5, (0.4, 0.6), 0.5, "PCA 4", 2)),
        "bad": (("up", 7.0, (5.0, 9.0), 6.5, "ridge 1", 1), ("right", nan, (nan, nan), nan, "none", 9)),
        "odd": (("up", 1.0, (nan, nan), 1.0, "ridge 1", 0), ("right", 0.9, (0.8, 1.1), 1.0, "ridge 1", 0, 0.85)),
    }
    seen = "4 x 4 x 1, mean 0, std 1"
    rows = tuple(
        AuditRow(name, "test", "output", 12, seen, tuple(MotionAudit(*one) for one in each))
        for name, each in found.items()
    )
    pairs = (MotionPairCounts("up", 100, 50, 51, 7, "groups"), MotionPairCounts("right", 20, 10, 11, 1, "pairs"))
    return AuditTable("some | store", 99, "recording", "mean", pairs, rows, ("right is short",))


@dataclass(frozen=True)
class MadeSubject:
    """A row with runs, as `collect` gives it, without any file."""

    name: str
    kept: Mapping[str, Measurement] = field(default_factory=dict)
    metrics: Sequence[Sequence[Mapping[str, float]]] = ()
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> RunGroup:
        place = {"data": "toys", "labels": None, "split": "paper", "holdout_fraction": 0.0}
        settings = {"method": self.name, "use_labels": True, "learning_rate": 0.1 * len(self.name), **place}
        return RunGroup(settings, tuple(Path(f"{self.name}-{seed}") for seed in range(3)), SEEDS)

    @property
    def run(self) -> Path:
        return self.group.runs[0]

    def measurement(self, task: str) -> Measurement | None:
        return self.kept.get(task)

    def other_measurements(self) -> list[Measurement]:
        return [one for task, one in self.kept.items() if ":" in task]


CURVE = [
    {"iteration": 10 * k, "equivariance": 1 / k, "drlim": 2 / k, "loss": 3 / k, "validation_loss": 4 / k}
    | ({"validation_top1": 0.05 * k, "auroc": 0.7, "validation_auroc": 0.6} if k % 5 == 0 else {})
    for k in range(1, 21)
]


def experiment(exhibits: Sequence[Exhibit], command: CommandRecord | None = None) -> Experiment:
    return Experiment(Path("toys"), command, tuple(exhibits))


def made_experiment() -> Experiment:
    """A table with two subjects, a task over all repetitions, and the command that made them."""
    own = Metric(name="score", title="my score", better="higher", baselines={"chance": 0.5})
    mine = measurement("mine.py:my-task", [Value(metric=own, value=0.4)])
    kept = {
        "clsnet": {
            "composition": composition("clsnet", 2.0),
            "retrieval": measurement("retrieval", problem="no poses"),
        },
        "equiv": {
            "composition": composition("equiv"),
            "next-view": next_view(),
            "retrieval": retrieval(),
            "motions": declared_motions(),
            "mine.py:my-task": mine,
        },
    }
    subjects: Any = tuple(MadeSubject(name, own, [CURVE, CURVE]) for name, own in kept.items())
    over_all = row("equiv", {"AUROC": (0.5, 0.6, 0.7)}, {"AUROC": 0.1})
    metric = Metric(name="AUROC", title="AUROC, validation frames", digits=4)
    tasks = table([metric], over_all, task="slowness", about={"task": "slowness", "seed": 0})
    command = CommandRecord(command="egoequiv reproduce norb -o 'a folder'", earlier=["egoequiv reproduce norb"])
    exhibits = [
        Exhibit("table", "Toys: a small table", full_table(), subjects),
        Exhibit("slowness", "Task slowness", tasks, ()),
    ]
    return experiment(exhibits, command)
