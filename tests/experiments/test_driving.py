"""The driving tables, on a tiny folder of KITTI raw and tiny class folders."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import pytest

from drives import PLACES, write_kitti, write_scenes
from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.metric import Metric
from egoequiv.experiments import ReproduceOptions, Scale, Table, driving
from egoequiv.experiments.driving import (
    CHOSEN,
    METHODS,
    QUICK,
    SPLITS,
    WHOLE,
    WHOLE_SCENES,
    reproduce_kitti,
    reproduce_scenes,
    reproduce_sun,
)
from egoequiv.experiments.options import Grid
from egoequiv.experiments.stores import PIXELS
from egoequiv.pairs import make_split
from egoequiv.store import FrameStore
from egoequiv.training.run_folder import RunFolder
from tables import RHO_UP, TOP1, entry, table_of
from tables import row as row_of

pytestmark = pytest.mark.slow

LEGS = ((0.6, 5.0, 0.0), (0.6, 4.0, 16.0), (0.6, 14.0, 0.0), (0.6, 5.0, -15.0))  # 24 frames
THREE = ("random", "clsnet", "equiv+drlim")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two drives in each of four places, 192 frames in all."""
    return write_kitti(tmp_path_factory.mktemp("kitti") / "raw", drives=8, legs=LEGS)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve classes in parts: 5 pictures to train with, 3 to test."""
    return write_scenes(tmp_path_factory.mktemp("scenes") / "tree")


@pytest.fixture(scope="module")
def options(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> ReproduceOptions:
    out = tmp_path_factory.mktemp("kitti-table")
    scale = Scale(repeats=3, iterations=3, search_iterations=2, size=16, select=False)
    return ReproduceOptions(out, data=raw, methods=THREE, scale=scale, engine=LocalEngine(1))


@pytest.fixture(scope="module")
def kitti_tables(options: ReproduceOptions) -> list[Table]:
    return list(reproduce_kitti(options).values())


@pytest.fixture(scope="module")
def scene_tables(options: ReproduceOptions, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    out = tmp_path_factory.mktemp("scenes-table")
    asked = replace(options, out=out, scenes=tree, per_class=(2, 4), methods=("clsnet", "equiv"), repeats=3)
    return list(reproduce_scenes(asked).values())


def test_there_is_a_table_for_each_split_and_one_of_their_difference(
    kitti_tables: list[Table], options: ReproduceOptions
) -> None:
    assert len(kitti_tables) == 3
    store = FrameStore.open(options.out / "stores" / "kitti-16")
    assert (len(store), store.image_shape, store.class_names) == (192, (16, 16, 1), PLACES)
    for kind, table in zip(SPLITS, kitti_tables, strict=False):
        assert table.title == f"KITTI: recognition of places, split {kind}"
        assert [row.method for row in table.rows] == [PIXELS, *THREE]
        assert table.columns[:2] == ("top1", "top1_class_mean")
        assert all(
            table.metric(name).family in ("rho", "ratio") for name in table.columns[2:]
        )  # those with enough pairs
        rho = [name for name in table.row("clsnet").entries if table.metric(name).family == "rho"]
        assert len(rho) == 1 + 3  # all, and each pattern
        assert all(len(row.entries["top1"].result.values) == 3 for row in table.rows)
        assert all(0 <= value <= 100 for row in table.rows for value in row.entries["top1"].result.values)
        split = make_split(store, kind)
        assert table.about["split"] == kind
        assert table.about["validation_frames"] == len(split.validation)
        assert sum(table.about["validation_frames_a_class"].values()) == len(split.validation)
        assert set(table.about["validation_frames_a_class"]) == set(PLACES)
        assert min(table.about["validation_frames_a_class"].values()) > 0
        assert table.about["labelled_images_a_class"] == 4
        assert table.about["video"] == "raw"
        assert table.about["labelled"] == "the video"
    assert kitti_tables[0].about["leaked_validation_frames"] > 50
    assert kitti_tables[1].about["leaked_validation_frames"] == 0


def test_published_numbers_stand_beside_their_methods(kitti_tables: list[Table]) -> None:
    table = kitti_tables[0]
    published = {row.method: {name: value.mean for name, value in row.published.items()} for row in table.rows}
    assert published == {
        PIXELS: {},
        "random": {"top1": 25.00},
        "clsnet": {"top1": 41.81},
        "equiv+drlim": {"top1": 50.84},
    }
    assert "split at random" in table.published_on
    assert not kitti_tables[2].published_on
    assert all(not row.published for row in kitti_tables[2].rows)


def test_the_effect_of_a_random_split_is_the_difference(kitti_tables: list[Table]) -> None:
    paper, whole, effect = kitti_tables
    assert effect.columns == ("top1, paper", "top1, by-recording", "difference")
    assert [row.method for row in effect.rows] == [PIXELS, *THREE]
    for row in effect.rows:
        mine, theirs = (table.row(row.method).entries["top1"].result.values for table in (paper, whole))
        assert row.entries["top1, paper"].result.values == mine
        assert row.entries["top1, by-recording"].result.values == theirs
        expected = [a - b for a, b in zip(mine, theirs, strict=True)]
        assert list(row.entries["difference"].result.values) == pytest.approx(expected)
    assert effect.about["leaked_validation_frames, by-recording"] == 0
    assert effect.about["leaked_validation_frames, paper"] == paper.about["leaked_validation_frames"]


def test_methods_are_compared_on_the_same_repetitions(kitti_tables: list[Table]) -> None:
    tests = [(c.a, c.b) for c in kitti_tables[0].comparisons if c.metric == "top1"]
    assert len(tests) == 4 * 3 // 2
    assert ("equiv+drlim", "clsnet") in tests


def test_only_what_is_defined_for_some_method_has_a_column() -> None:
    defined, not_defined = entry(1.0, 2.0, 3.0), entry(nan, 1.0, nan)
    atomic, right, ratio = (
        Metric(name="rho_atomic", title="rho atomic", better="lower", family="rho"),
        RHO_UP.model_copy(update={"name": "rho_right", "motion": "right"}),
        Metric(name="ratio_up", title="ratio up", family="ratio", is_detail=True),
    )
    metrics = [TOP1, atomic, RHO_UP, right, ratio]
    rho = {"rho_up": defined, "rho_right": not_defined, "ratio_up": defined}
    rows = [
        row_of(PIXELS, {"top1": defined}),
        row_of("clsnet", {"top1": defined, "rho_atomic": defined, **rho}),
        row_of("equiv", {"top1": not_defined, "rho_atomic": not_defined, **rho}),
    ]
    table = driving._table("a title", [(metrics, one) for one in rows], {}, "")
    assert table.columns == ("top1", "rho_atomic", "rho_up")


def test_tables_can_be_written_as_json(kitti_tables: list[Table]) -> None:
    for table in kitti_tables:
        assert "NaN" not in table.model_dump_json()


def test_settings_chosen_before_are_used(kitti_tables: list[Table], options: ReproduceOptions) -> None:
    assert not list(options.out.glob("search-*"))
    for kind in SPLITS:
        for method in THREE:
            for n in range(3):
                run = RunFolder(options.out / f"runs-preset-kitti-{kind}-16-3" / f"{method}-labels-{n}")
                config = run.config()
                chosen = CHOSEN[method, True]
                assert config.learning_rate == chosen.get("learning_rate", 0.01)
                assert config.weight == chosen.get("weight", {})
                assert (config.split, config.holdout_split, config.holdout_fraction) == (kind, "paper", 0.0)
                assert (config.encoder, config.per_class, config.batch_size) == ("kitti", 4, 16)
                assert (config.motion_pairs, config.neighbour_pairs) == (47_984, 98_460)
                assert (config.seed, config.pair_seed) == (n, 0)
        assert kitti_tables[0].about["settings_selected"] is False


def test_a_second_call_reuses_all_runs(
    kitti_tables: list[Table], options: ReproduceOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise AssertionError("something was done again")

    monkeypatch.setattr("egoequiv.training.loop.SingleRun.finish", nobody)
    monkeypatch.setattr("egoequiv.experiments.measure.open_task_data", nobody)
    monkeypatch.setattr("egoequiv.experiments.stores.ingest", nobody)
    again = list(reproduce_kitti(options).values())
    assert [table.model_dump_json() for table in again] == [table.model_dump_json() for table in kitti_tables]
    (one,) = reproduce_kitti(replace(options, splits=("paper",), methods=("clsnet",))).values()
    assert one.row("clsnet").entries["top1"] == kitti_tables[0].row("clsnet").entries["top1"]


def test_other_data_in_the_same_folder_are_refused(options: ReproduceOptions, kitti_tables: list[Table]) -> None:
    assert options.data is not None
    with pytest.raises(DataError, match="made from other data"):
        reproduce_kitti(replace(options, data=options.data.parent))


def test_a_search_stays_within_the_training_part(
    options: ReproduceOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "GRID", Grid(learning_rates=(0.01, 0.001), weights=(1.0,), rate_seeds=1, seeds=1))
    searched = replace(options, out=tmp_path, select=True, methods=("equiv",), repeats=1, splits=("by-recording",))
    (table,) = reproduce_kitti(searched).values()
    (folder,) = tmp_path.glob("search-*")
    assert folder.name == "search-kitti-by-recording-16-2"
    runs = [path for path in folder.iterdir() if path.is_dir()]
    assert len(runs) == 2 + 1
    for path in runs:
        config = RunFolder(path).config()
        assert (config.split, config.holdout_split, config.holdout_fraction) == ("by-recording", "paper", 0.25)
        assert config.iterations == 2
    store = FrameStore.open(tmp_path / "stores" / "kitti-16")
    outer = make_split(store, "by-recording")
    result = RunFolder(runs[0]).result
    assert result is not None
    assert result["train_frames"] + result["validation_frames"] == len(outer.train)
    assert table.row("equiv").settings["weight"] == {"equivariance": 1.0}
    run = RunFolder(tmp_path / "runs-kitti-by-recording-16-3" / "equiv-labels-0").config()
    assert run.holdout_fraction == 0.0
    assert run.learning_rate == table.row("equiv").settings["learning_rate"]
    assert not (tmp_path / "runs-preset-kitti-by-recording-16-3").exists()


def test_scenes_have_a_table_for_each_number_of_labels(scene_tables: list[Table], tree: Path) -> None:
    for few, table in zip((2, 4), scene_tables, strict=True):
        assert table.title == f"KITTI to scenes: {few} labelled images a class"
        assert [row.method for row in table.rows] == [PIXELS, "clsnet", "equiv"]
        assert table.columns[:3] == ("top1", "top1_class_mean", "top10")
        assert all(name.startswith("rho_") for name in table.columns[3:])  # of motions with pairs enough
        assert all(not row.published for row in table.rows)
        assert table.published_on == ""
        assert table.about["split"] == "given"
        assert table.about["classes"] == 12
        assert table.about["validation_frames"] == 12 * 3
        assert set(table.about["validation_frames_a_class"].values()) == {3}
        assert table.about["labelled_images_a_class"] == few
        assert table.about["labelled"] == tree.name
        assert table.about["leaked_validation_frames"] == 0
        assert "top10" not in table.row(PIXELS).entries
        assert all(not isnan(value) for value in table.row("equiv").entries["top10"].result.values)


def test_numbers_of_the_paper_stand_beside_sun_alone(
    options: ReproduceOptions, raw: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "SUN", {2: driving.SUN[6], 4: driving.SUN[20]})
    monkeypatch.setattr(driving, "SUN_CLASSES", 12)  # the paper's numbers are for as many classes as SUN397 has
    sun = replace(options, out=tmp_path, scenes=tree, per_class=(2, 4), methods=("clsnet", "drlim"), repeats=1)
    six, twenty = reproduce_sun(replace(sun, iterations=2)).values()
    assert six.published_on == twenty.published_on == "SUN397"
    assert {row.method: {k: v.mean for k, v in row.published.items()} for row in six.rows} == {
        PIXELS: {"top1": 0.61},
        "clsnet": {"top1": 0.70, "top10": 6.10},
        "drlim": {"top1": 1.02, "top10": 6.78},
    }
    assert {row.method: {k: v.mean for k, v in row.published.items()} for row in twenty.rows} == {
        PIXELS: {},
        "clsnet": {"top1": 1.66},
        "drlim": {},
    }
    runs = list(tmp_path.glob("runs-preset-scenes-*/clsnet-labels-0"))
    assert sorted(path.parent.name for path in runs) == ["runs-preset-scenes-2-16-2", "runs-preset-scenes-4-16-2"]
    for path in runs:
        config = RunFolder(path).config()
        assert config.labels == str(tmp_path / "stores" / "scenes-16")
        assert config.data == str(tmp_path / "stores" / "kitti-16")
        assert (config.label_split, config.split) == ("given", "paper")


def test_scenes_share_the_search_with_the_fewest_labels(
    options: ReproduceOptions, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "GRID", Grid(learning_rates=(0.01,), weights=(1.0,), rate_seeds=1, seeds=1))
    searched = replace(options, out=tmp_path, scenes=tree, per_class=(2, 4), methods=("drlim",), repeats=1, select=True)
    few, many = reproduce_scenes(searched).values()
    (folder,) = tmp_path.glob("search-*")
    assert folder.name == "search-scenes-2-16-2"
    configs = [RunFolder(path).config() for path in folder.iterdir() if path.is_dir()]
    assert len(configs) == 2
    assert {config.per_class for config in configs} == {2}
    assert {config.holdout_fraction for config in configs} == {0.25}
    assert few.row("drlim").settings == many.row("drlim").settings


def test_scenes_without_parts_are_split_at_random(options: ReproduceOptions, tmp_path: Path) -> None:
    tree = write_scenes(tmp_path / "tree", classes=4, train=4, test=2, parts=False)
    plain = replace(options, out=tmp_path / "out", scenes=tree, per_class=(1,), methods=("random",), repeats=1)
    (table,) = reproduce_scenes(plain).values()
    assert table.about["split"] == "paper"
    assert table.about["validation_frames"] == 24 - round(0.67 * 24)


def test_kitti_needs_scenes_of_its_own(options: ReproduceOptions) -> None:
    with pytest.raises(ConfigError, match="give their folder with --scenes"):
        reproduce_scenes(options)
    with pytest.raises(ConfigError, match="give their folder with --sun"):
        reproduce_sun(options)


def test_methods_outside_the_table_are_named(options: ReproduceOptions, kitti_tables: list[Table]) -> None:
    with pytest.raises(ConfigError, match=r"'equiv\+views' is not in this table"):
        reproduce_kitti(replace(options, methods=("equiv+views",)))


def test_there_are_settings_for_every_row() -> None:
    assert set(CHOSEN) == {(method, True) for method in METHODS}


def test_options_for_scenes_and_in_a_hurry(tmp_path: Path) -> None:
    plain = ReproduceOptions(tmp_path)
    assert (WHOLE.batch_size, WHOLE_SCENES.batch_size) == (16, 128)
    assert plain.effort(WHOLE_SCENES, QUICK).iterations * 4 == plain.effort(WHOLE, QUICK).iterations
    quick = replace(plain, quick=True, repeats=7).effort(WHOLE, QUICK)
    assert (quick.repeats, quick.iterations, quick.select) == (7, 100, False)


def test_drives_added_later_are_noticed_and_losses_are_told(options: ReproduceOptions, tmp_path: Path) -> None:
    root = write_kitti(tmp_path / "raw", drives=4, legs=LEGS)
    (root / "2011_09_26" / "2011_09_26_drive_9001_sync" / "oxts" / "data" / "0000000007.txt").write_text("49.0 8.4")
    own = replace(options, out=tmp_path / "out", data=root, methods=("random",), repeats=1, splits=("paper",))
    left_out = reproduce_kitti(own)["table-paper"].about["left_out"]
    assert any("1 of 24 packets left out" in note for note in left_out)
    write_kitti(tmp_path / "more", drives=5, legs=LEGS)
    last = "2011_09_26/2011_09_26_drive_9004_sync"
    (tmp_path / "more" / last).rename(root / last)
    with pytest.raises(DataError, match="other data than is there now: choose another -o"):
        reproduce_kitti(own)


def test_repetitions_that_diverged_are_not_subtracted_crosswise() -> None:
    def table(diverged: int) -> Table:
        own = row_of("equiv", {"top1": entry(50.0, 60.0)}, diverged=diverged)
        return table_of([own], [TOP1], about={"leaked_validation_frames": 0})

    assert len(driving._split_effect({"paper": table(0), "by-recording": table(0)}).rows) == 1
    assert driving._split_effect({"paper": table(1), "by-recording": table(1)}).rows == []
