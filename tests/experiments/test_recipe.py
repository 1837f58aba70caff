"""Recipes: the runs of each row, the settings they get, and what becomes of them in a row."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.experiments.options import Effort, Grid
from egoequiv.experiments.published import Published
from egoequiv.experiments.recipe import Recipe, chosen_keys, make_rows
from egoequiv.experiments.stores import PIXELS, experiment_store, pixel_row
from egoequiv.experiments.table import Row
from egoequiv.pairs import make_split
from egoequiv.store import FrameStore
from egoequiv.training.run_folder import RunFolder
from helpers import grid_source

KEYS = [("random", True), ("clsnet", True), ("drlim", True), ("drlim", False)]
CHOSEN = {
    ("random", True): {},
    ("clsnet", True): {"learning_rate": 0.02},
    ("drlim", True): {"learning_rate": 0.02, "weight": {"slowness": 0.5}},
    ("drlim", False): {"learning_rate": 0.03},
}
SMALL = Grid(learning_rates=(0.01, 1e9), weights=(0.1, 1.0), rate_seeds=1, seeds=1)


def rows_of(recipe: Recipe, effort: Effort) -> list[Row]:
    return [row for _, row in make_rows(recipe, effort)]


@pytest.fixture
def effort(tmp_path: Path) -> Effort:
    return Effort(
        out=tmp_path / "out",
        repeats=2,
        iterations=4,
        search_iterations=2,
        size=8,
        select=False,
        select_stop=False,
        grid=SMALL,
        engine=LocalEngine(1),
    )


def recipe_for(store: FrameStore, **changes: object) -> Recipe:
    base = {"data": str(store.path), "per_class": 3, "neighbour_pairs": 200}
    recipe = Recipe("grid", base, KEYS, CHOSEN, {("drlim", True): {"top1": Published(36.6, 0.4)}})
    return replace(recipe, **changes)  # type: ignore[arg-type]


def test_rows_are_those_asked_for_with_all_repetitions(small_store: FrameStore, effort: Effort) -> None:
    told: list[tuple[str, int, int]] = []
    rows = rows_of(recipe_for(small_store), replace(effort, on_progress=lambda *stage: told.append(stage)))
    assert [(row.method, row.uses_labels) for row in rows] == KEYS
    for row in rows:
        assert ("top1" in row.entries) == row.uses_labels
        assert len(row.entries["rho_up"].result.values) == 2
        assert row.diverged == 0
        assert row.settings == CHOSEN[row.method, row.uses_labels]
    assert [row.published for row in rows] == [{}, {}, {"top1": Published(36.6, 0.4)}, {}]
    assert told[-1] == ("measuring, grid", 8, 8)
    assert ("training, grid", 32, 32) in told
    folder = effort.out / "runs-preset-grid-4"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        f"{method}-{'labels' if labels else 'no-labels'}-{n}" for method, labels in KEYS for n in range(2)
    )
    for n in range(2):
        config = RunFolder(folder / f"drlim-labels-{n}").config()
        assert (config.seed, config.pair_seed, config.iterations, config.threads) == (n, 0, 4, 1)
        assert (config.learning_rate, config.weight, config.holdout_fraction) == (0.02, {"slowness": 0.5}, 0.0)
        assert not RunFolder(folder / f"drlim-no-labels-{n}").config().use_labels


def test_finished_runs_are_read_not_repeated(
    small_store: FrameStore, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_for(small_store, keys=[("drlim", True)])
    first = rows_of(recipe, effort)
    files = {path: path.stat().st_mtime_ns for path in effort.out.rglob("*.safetensors")}
    assert len(files) == 4

    def nobody_trains(*_: object) -> None:
        raise AssertionError("a finished run was trained again")

    monkeypatch.setattr("egoequiv.training.loop.SingleRun.finish", nobody_trains)
    monkeypatch.setattr("egoequiv.experiments.measure.open_task_data", nobody_trains)
    again = rows_of(recipe, effort)
    assert [row.entries["top1"].result.values for row in again] == [row.entries["top1"].result.values for row in first]
    assert {path: path.stat().st_mtime_ns for path in effort.out.rglob("*.safetensors")} == files


def test_more_repetitions_add_to_those_there_are(small_store: FrameStore, effort: Effort) -> None:
    recipe = recipe_for(small_store, keys=[("clsnet", True)])
    (few,) = rows_of(recipe, effort)
    (more,) = rows_of(recipe, replace(effort, repeats=3))
    assert more.entries["top1"].result.values[:2] == few.entries["top1"].result.values
    assert len(more.entries["top1"].result.values) == 3


def test_a_run_that_diverges_is_counted_and_left_out(small_store: FrameStore, effort: Effort) -> None:
    chosen = {("clsnet", True): {"learning_rate": 1e30}}
    (row,) = rows_of(recipe_for(small_store, keys=[("clsnet", True)], chosen=chosen), replace(effort, iterations=20))
    assert row.diverged == 2
    assert row.entries == {}


def test_what_is_not_defined_is_not_a_number(small_store: FrameStore, effort: Effort) -> None:
    (row,) = rows_of(recipe_for(small_store, keys=[("clsnet", True)]), effort)
    assert all(isnan(value) for value in row.entries["rho_up"].result.values)  # too few pairs


def test_extra_settings_are_of_their_row_alone(small_store: FrameStore, effort: Effort) -> None:
    def extra(key: tuple[str, bool], iterations: int) -> dict[str, object]:
        return {"batch_size": iterations} if key[0] == "drlim" else {}

    rows = rows_of(recipe_for(small_store, extra=extra, keys=KEYS[1:3]), effort)
    folder = effort.out / "runs-preset-grid-4"
    assert RunFolder(folder / "drlim-labels-0").config().batch_size == 4
    assert RunFolder(folder / "clsnet-labels-0").config().batch_size == 16
    assert [row.settings.get("batch_size") for row in rows] == [None, 4]


def test_settings_not_chosen_before_are_asked_for(small_store: FrameStore, effort: Effort) -> None:
    with pytest.raises(ConfigError, match="no settings were chosen before for 'drlim': search with --select"):
        rows_of(recipe_for(small_store, chosen={key: {} for key in KEYS[:2]}), effort)
    assert not effort.out.exists()


def test_a_search_sees_only_the_training_part(small_store: FrameStore, effort: Effort) -> None:
    (row,) = rows_of(recipe_for(small_store, keys=[("drlim", True)]), replace(effort, select=True, repeats=1))
    searched = [path for path in (effort.out / "search-grid-2").iterdir() if path.is_dir()]
    assert len(searched) == 2 + 2  # rates on labels alone, then weights
    for path in searched:
        config = RunFolder(path).config()
        assert (config.holdout_fraction, config.iterations) == (0.25, 2)
    assert row.settings["learning_rate"] == 0.01  # the other diverges
    assert set(row.settings["weight"]) == {"slowness"}
    config = RunFolder(effort.out / "runs-grid-4" / "drlim-labels-0").config()
    assert (config.holdout_fraction, config.iterations) == (0.0, 4)
    assert config.weight == row.settings["weight"]


def test_a_shared_search_is_done_once_with_its_own_settings(small_store: FrameStore, effort: Effort) -> None:
    few = recipe_for(small_store, keys=[("drlim", True)])
    few = replace(few, search_name="shared", search_base={"per_class": 3})
    many = replace(few, name="many", base=dict(few.base) | {"per_class": 6})
    search = replace(effort, select=True, repeats=1)
    (first,), (second,) = rows_of(few, search), rows_of(many, search)
    assert first.settings == second.settings
    (folder,) = effort.out.glob("search-*")
    assert {RunFolder(path).config().per_class for path in folder.iterdir() if path.is_dir()} == {3}
    assert RunFolder(effort.out / "runs-many-4" / "drlim-labels-0").config().per_class == 6


def test_only_some_methods() -> None:
    assert chosen_keys(KEYS, None) == KEYS
    assert chosen_keys(KEYS, ("drlim", "random")) == [("random", True), ("drlim", True), ("drlim", False)]
    with pytest.raises(ConfigError, match="'magic' is not known"):
        chosen_keys(KEYS, ("magic",))
    with pytest.raises(ConfigError, match="'equiv' is not in this table; choose from random, clsnet, drlim"):
        chosen_keys(KEYS, ("drlim", "equiv"))


def test_repeats_must_be_at_least_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="repeats must be at least 1, found 0"):
        Effort(out=tmp_path, repeats=0)


def test_the_store_of_an_experiment_is_made_once(effort: Effort) -> None:
    first = experiment_store(effort, "grid", {"data": None}, grid_source())
    written = (first.path / "frames.npy").stat().st_mtime_ns
    second = experiment_store(effort, "grid", {"data": None}, grid_source())
    assert (second.path / "frames.npy").stat().st_mtime_ns == written
    assert first.image_shape == second.image_shape == (8, 8, 1)
    with pytest.raises(DataError, match="made from other data than is there now: choose another -o"):
        experiment_store(effort, "grid", {"data": "elsewhere"}, grid_source())


def test_names_with_a_dot_are_different_stores(effort: Effort) -> None:
    for seconds in ("7.5", "7.25"):
        experiment_store(effort, f"drive-{seconds}s", {"seconds": seconds}, grid_source())
        experiment_store(effort, f"drive-{seconds}s", {"seconds": seconds}, grid_source())
    assert len(list((effort.out / "stores").glob("*.json"))) == 2


def test_nearest_pixels_use_the_labels_of_the_networks(small_store: FrameStore) -> None:
    split = make_split(small_store)
    _, row = pixel_row(small_store, split, 4, 3)
    assert (row.method, row.uses_labels) == (PIXELS, True)
    assert len(row.entries["top1"].result.values) == 3
    assert all(0 < value <= 100 for value in row.entries["top1"].result.values)
    assert pixel_row(small_store, split, 4, 2)[1].entries["top1"].result.values == row.entries["top1"].result.values[:2]
