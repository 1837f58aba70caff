"""The next-view column over repetitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments.next_view import COLUMNS, next_view_table
from egoequiv.experiments.published import NORB
from egoequiv.experiments.task_data import open_task_data
from egoequiv.store import FrameStore
from egoequiv.training import train

FEW = {"per_class": 3, "split": "by-recording", "split_seed": 1, "iterations": 0}


def test_rows_are_means_over_repetitions(small_store: FrameStore, tmp_path: Path) -> None:
    runs = [train(small_store.path, tmp_path / str(k), method="random", seed=k, **FEW).path for k in range(3)]
    options = TaskOptions(neighbours=5)
    told: list[tuple[str, int, int]] = []
    table = next_view_table(
        {("random", True): runs, ("clsnet", True): runs[::-1]},
        options=options,
        on_stage=lambda *stage: told.append(stage),
    )
    single = [next_view(open_task_data(run), options).accuracy("chosen", 2) for run in runs]
    row = table.row("random")
    assert row.metrics["two_views"].values == tuple(single)
    assert row.metrics["two_views"].mean == pytest.approx(sum(single) / 3)
    assert set(row.metrics) == set(table.columns) == set(COLUMNS)
    assert row.published["two_views"].mean == 4.0
    assert [test.metric for test in table.comparisons] == ["two_views", "chosen_minus_random"]
    assert told[-1] == ("next view", 6, 6)
    for floor, ceiling in zip(row.metrics["random_move"].values, row.metrics["best_move"].values, strict=True):
        assert floor <= ceiling


def test_published_values() -> None:
    published = {method: (values["one_view"].mean, values["two_views"].mean) for (method, _), values in NORB.items()
                 if "one_view" in values}  # fmt: skip
    assert published == {
        "random": (4.0, 4.0),
        "temporal": (29.6, 31.9),
        "drlim": (14.89, 17.95),
        "equiv": (38.52, 43.86),
        "equiv+drlim": (38.46, 43.18),
    }
