"""Tasks over the repetitions of methods."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments import task_tables as module
from egoequiv.experiments.published import NORB
from egoequiv.experiments.task_data import open_task_data
from egoequiv.experiments.task_tables import KEPT, Repetitions, task_tables
from egoequiv.store import FrameStore
from egoequiv.training import train
from helpers import data_error

FEW = {"per_class": 3, "split": "by-recording", "split_seed": 1, "iterations": 0}


@pytest.fixture(scope="module")
def runs(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    folder = tmp_path_factory.mktemp("runs")
    return tuple(train(small_store.path, folder / str(k), method="random", seed=k, **FEW).path for k in range(3))


def test_rows_are_means_over_repetitions_and_are_measured_once(
    runs: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = [
        Repetitions("random", True, runs, (0, 1, 2), NORB["random", True]),
        Repetitions("clsnet", True, runs[::-1], (2, 1, 0), NORB["clsnet", True]),
    ]
    options = TaskOptions(neighbours=5)
    told: list[tuple[str, int, int]] = []
    found = task_tables(
        methods,
        ["next-view", "slowness"],
        options=options,
        published_on="small NORB",
        on_progress=lambda *stage: told.append(stage),
    )
    table = found.tables["next-view"]
    single = [next_view(open_task_data(run), options).accuracy("chosen", 2) for run in runs]
    row = table.row("random")
    assert row.metrics["two_views"].values == tuple(single)
    assert table.row("clsnet").metrics["two_views"].values == tuple(single[::-1])
    assert set(row.metrics) == set(table.columns)
    assert (row.published["two_views"].mean, table.published_on) == (4.0, "small NORB")
    assert found.tables["slowness"].published_on == ""
    (test,) = table.comparisons  # the same runs under two names, seed by seed
    assert (test.metric, test.difference, test.p_value) == ("two_views", 0.0, 1.0)
    assert told[-1][1:] == (12, 12)
    for floor, ceiling in zip(row.metrics["random_move"].values, row.metrics["best_move"].values, strict=True):
        assert floor <= ceiling

    monkeypatch.setattr(module, "open_task_data", lambda run: pytest.fail("what is kept is not measured again"))
    again = task_tables(methods, ["next-view", "slowness"], options=options, published_on="small NORB")
    assert again.tables["next-view"].describe() == table.describe()


def test_methods_are_tested_over_the_seeds_that_both_have(
    runs: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {run: {"a": value} for run, value in zip(runs, (1.0, 5.0, 9.0), strict=True)}
    monkeypatch.setattr(module, "headline_of", lambda run, *_: told[run])
    first = Repetitions("x", True, runs, (0, 1, 2))
    shifted = Repetitions("y", True, runs, (1, 2, 3))
    turned = Repetitions("z", True, runs, (2, 0, 1))
    assert task_tables([first, shifted], ["slowness"]).tables["slowness"].comparisons == []  # two seeds in common
    (test,) = task_tables([first, turned], ["slowness"]).tables["slowness"].comparisons
    assert (test.a, test.b, test.difference) == ("z", "x", 0.0)
    assert test.stderr == pytest.approx(np.std([4.0, 4.0, -8.0], ddof=1) / 3**0.5)
    unpaired = task_tables([first, turned], ["slowness"], same_frames=False).tables["slowness"]
    assert unpaired.comparisons == []


def test_rows_may_lack_figures_that_others_have(runs: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    told = {runs[0]: {"a": 1.0, "b": 2.0}, runs[1]: {"b": 3.0}, runs[2]: {"c": 4.0}}
    monkeypatch.setattr(module, "headline_of", lambda run, *_: told[run])
    methods = [Repetitions(name, True, runs[: k + 1], tuple(range(k + 1))) for k, name in enumerate("xyz")]
    table = task_tables(methods, ["slowness"]).tables["slowness"]
    assert [(row.method, set(row.metrics)) for row in table.rows] == [("x", {"a", "b"}), ("y", {"b"})]
    assert table.columns == ("a", "b")
    assert table.about["repetitions"] == 2


def test_what_cannot_be_measured_is_told_and_leaves_the_rest(runs: tuple[Path, ...]) -> None:
    found = task_tables(
        [Repetitions("random", True, runs, (0, 1, 2))], ["readout", "slowness"], options=TaskOptions(apart="colour")
    )
    assert set(found.tables) == {"slowness"}
    assert len(found.problems) == 3
    assert "colour" in found.problems[0]
    with pytest.raises(ConfigError, match="dance"):
        task_tables([Repetitions("random", True, runs, (0, 1, 2))], ["slowness", "dance"])


def test_figures_of_other_weights_are_measured_anew_and_damage_is_told(
    runs: tuple[Path, ...], small_store: FrameStore, tmp_path: Path
) -> None:
    run = train(small_store.path, tmp_path / "run", method="random", seed=7, **FEW).path
    alone = [Repetitions("random", True, (run,), (7,))]
    first = task_tables(alone, ["slowness"]).tables["slowness"].rows[0].metrics
    (run / "last.safetensors").write_bytes((runs[0] / "last.safetensors").read_bytes())
    second = task_tables(alone, ["slowness"]).tables["slowness"].rows[0].metrics
    assert first != second
    kept = json.loads((run / KEPT).read_text())
    kept["tasks"] = {"slowness, recording apart": 3}
    (run / KEPT).write_text(json.dumps(kept))
    (problem,) = task_tables(alone, ["slowness"]).problems
    assert KEPT in problem
    assert "delete it" in problem
    with data_error(KEPT):
        module.headline_of(run, "slowness", TaskOptions(), lambda: pytest.fail("not to be opened"))


def test_published_values_of_the_next_view() -> None:
    published = {
        method: (values["one_view"].mean, values["two_views"].mean)
        for (method, _), values in NORB.items()
        if "one_view" in values
    }
    assert published == {
        "random": (4.0, 4.0),
        "temporal": (29.6, 31.9),
        "drlim": (14.89, 17.95),
        "equiv": (38.52, 43.86),
        "equiv+drlim": (38.46, 43.18),
    }
