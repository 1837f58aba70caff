"""Tasks over the repetitions of methods."""

from __future__ import annotations

from pathlib import Path

import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments import measure, measure_run
from egoequiv.experiments.task_tables import task_tables
from egoequiv.store import FrameStore
from egoequiv.training import train

FEW = {"encoder": "norb", "per_class": 3, "split": "by-recording", "split_seed": 1}
SHORT = {"iterations": 20, "log_every": 20, "checkpoint_every": 20, "validate_every": 20}


@pytest.fixture(scope="module")
def runs(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for method in ("random", "clsnet"):
        for seed in range(3):
            train(small_store.path, folder / f"{method}-{seed}", method=method, seed=seed, **FEW, **SHORT)
    return folder


def test_rows_are_means_over_repetitions_and_are_measured_once(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = TaskOptions(neighbours=5)
    seen: list[tuple[str, int, int]] = []
    found = task_tables(runs, ["next-view", "slowness"], options=options, on_progress=lambda *stage: seen.append(stage))
    assert set(found.tables) == {Path("next-view-neighbours-5"), Path("slowness-neighbours-5")}
    table = found.tables[Path("next-view-neighbours-5")]
    single = [measure_run(runs / f"random-{seed}", ["next-view"], options)[0].value("two_views") for seed in range(3)]
    row = table.row("random")
    assert row.entries["two_views"].result.values == tuple(one.value for one in single if one is not None)
    assert row.runs == tuple(f"random-{seed}" for seed in range(3))
    assert {(one.a, one.b, one.metric) for one in table.comparisons} == {("random", "clsnet", table.columns[0])}
    assert (table.task, table.about["neighbours"]) == ("next-view", 5)
    assert "neighbours" not in found.tables[Path("slowness-neighbours-5")].about
    assert seen[-1][1:] == (6, 6)
    for floor, ceiling in zip(
        row.entries["random_move"].result.values, row.entries["best_move"].result.values, strict=True
    ):
        assert floor <= ceiling
    monkeypatch.setattr(measure, "open_task_data", lambda *_: pytest.fail("what is kept is not measured again"))
    again = task_tables(runs, ["next-view", "slowness"], options=options)
    assert again.tables[Path("next-view-neighbours-5")].model_dump_json() == table.model_dump_json()


def test_some_methods_only(runs: Path) -> None:
    found = task_tables(runs, ["slowness"], methods=["clsnet"])
    (table,) = found.tables.values()
    assert [row.name for row in table.rows] == ["clsnet"]
    assert list(found.tables) == [Path("slowness-clsnet")]
    with pytest.raises(ConfigError, match="has no method 'equiv' with runs; choose from"):
        task_tables(runs, ["slowness"], methods=["equiv"])


def test_what_cannot_be_measured_is_reported_and_leaves_the_rest(runs: Path) -> None:
    found = task_tables(runs, ["readout", "slowness"], options=TaskOptions(hold_out="colour"))
    assert [table.task for table in found.tables.values()] == ["slowness"]
    assert len(found.problems) == 6
    assert "colour" in found.problems[0]
    with pytest.raises(ConfigError, match="dance"):
        task_tables(runs, ["slowness", "dance"])
