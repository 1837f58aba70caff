"""Methods beyond the paper, on small embedded worlds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from egoequiv.catalog import open_source
from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.experiments import Scale, Table
from egoequiv.experiments.beyond.candidates import CANDIDATES, Candidate, choose_candidates
from egoequiv.experiments.beyond.experiment import BeyondOptions, plan_beyond
from egoequiv.experiments.beyond.worlds import WORLDS, choose_worlds, new_light, new_toys
from egoequiv.report.figures.trade_off import trade_off
from egoequiv.store import ingest
from helpers import draw_small_worlds, walk_less

NOTHING = dict.fromkeys(["norb", "kitti", "scenes", "tub", "seven-scenes"])
SMALL = Scale(size=16, repeats=2, lightings=3, drives_per_area=2, seconds=4.0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[BeyondOptions, dict[str, Table]]:
    options = BeyondOptions(
        tmp_path_factory.mktemp("beyond"),
        NOTHING,
        settings=["turntable"],
        methods=["pixels", "recording+motion", "clsnet-residual"],
        iterations=4,
        scale=SMALL,
        engine=LocalEngine(1),
    )
    with pytest.MonkeyPatch.context() as patched:
        draw_small_worlds(patched)
        walk_less(patched)
        (tables,) = plan_beyond(options).tables()
    return options, tables


@pytest.mark.slow
def test_each_setting_has_three_tables(made: tuple[BeyondOptions, dict[str, Table]]) -> None:
    _, tables = made
    assert list(tables) == ["turntable-recognition", "turntable-equivariance", "turntable-use"]
    recognition, equivariance, use = tables.values()
    ours = recognition.row("recording+motion")
    assert len(ours.entries["probe_6"].result.values) == 2
    assert "probe_6 (invariant)" in ours.entries
    pixels = recognition.row("pixels")  # has no parts: both columns are of all features
    assert pixels.entries["probe_6 (invariant)"].result == pixels.entries["probe_6"].result
    assert ours.entries["probe_6 (invariant)"].result != ours.entries["probe_6"].result
    assert "joint" in recognition.row("clsnet-residual").entries
    assert "joint" not in ours.entries
    assert {"rho_atomic", "rho_composite", "rho_up", "rho_right"} <= set(equivariance.columns)
    assert {"r2_motion", "r2_azimuth_deg", "next_view", "plan", "weights", "seconds"} <= set(use.columns)
    assert "r2_motion, linear" in use.row("pixels").entries
    problems = recognition.about["left_out"]
    prediction = [problem for problem in problems if "prediction: " in problem]  # there are too few views for it
    assert all(any(row.name in problem for problem in prediction) for row in recognition.rows)
    assert use.row("pixels").mean("weights") == 0
    assert use.row("pixels").mean("seconds") == 0
    assert use.row("recording+motion").mean("weights") > 10_000
    assert ours.uses_labels is False
    assert recognition.about["leaked_validation_frames"] == 0
    assert recognition.about["split"] == "by-lighting:2"


@pytest.mark.slow
def test_finished_runs_and_measurements_are_kept(
    made: tuple[BeyondOptions, dict[str, Table]], monkeypatch: pytest.MonkeyPatch
) -> None:
    options, tables = made
    runs = {path: path.stat().st_mtime_ns for path in options.out.glob("runs-*/*/last.safetensors")}
    assert len(runs) == 6
    draw_small_worlds(monkeypatch)
    (again,) = plan_beyond(options).tables()
    assert {name: table.model_dump_json() for name, table in again.items()} == {  # not a number is not equal to itself
        name: table.model_dump_json() for name, table in tables.items()
    }
    assert {path: path.stat().st_mtime_ns for path in runs} == runs


@pytest.mark.slow
def test_only_some_tasks_are_measured(
    made: tuple[BeyondOptions, dict[str, Table]], monkeypatch: pytest.MonkeyPatch
) -> None:
    options, tables = made
    draw_small_worlds(monkeypatch)
    (some,) = plan_beyond(replace(options, methods=["recording+motion"], tasks=["probe", "readout"])).tables()
    assert list(some) == ["turntable-recognition", "turntable-use"]
    row, whole = (each["turntable-use"].row("recording+motion") for each in (some, tables))
    assert set(row.entries) == set(whole.entries) - {"next_view", "mrr", "hit5", "plan", "plan_other"}
    assert row.entries["r2_motion"] == whole.entries["r2_motion"]


@pytest.mark.slow
def test_the_figure_has_a_point_for_each_row(made: tuple[BeyondOptions, dict[str, Table]]) -> None:
    _, tables = made
    figure = trade_off("Turntable", list(tables.values()))
    assert figure is not None
    names = {text.get_text() for text in figure.axes[0].texts}
    assert names == {"recording+motion", "clsnet-residual"}  # rho of 256 pixels is not defined for so few pairs
    assert trade_off("Turntable", [tables["turntable-use"]]) is None


def test_every_row_of_the_table_is_a_valid_run(tmp_path: Path) -> None:
    from egoequiv.training import make_config

    for candidate in CANDIDATES.values():
        for world in WORLDS.values():
            if candidate.lacks() is None:
                settings = {"data": str(tmp_path), "method": candidate.method, **candidate.settings_in(world)}
                assert make_config(settings).method == candidate.method


def test_without_classes_methods_learn_without_labels_or_not_at_all() -> None:
    tub, toys = WORLDS["tub"], WORLDS["norb-light"]
    assert CANDIDATES["equiv"].labels_in(toys) == "few"
    assert CANDIDATES["equiv"].labels_in(tub) == "no"
    assert CANDIDATES["clsnet"].labels_in(tub) is None
    assert CANDIDATES["supervised"].labels_in(toys) == "all"
    assert "weight" in CANDIDATES["equiv"].settings_in(toys)
    assert "weight" not in CANDIDATES["equiv"].settings_in(tub)


def test_methods_that_are_not_there_are_left_out_with_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CANDIDATES, "nowhere", Candidate("nowhere", "nowhere"))
    monkeypatch.setitem(CANDIDATES, "no-encoder", Candidate("no-encoder", "random", {"encoder": "no-such"}))
    chosen, notes = choose_candidates(["pixels", "nowhere", "no-encoder"], quick=False)
    assert [one.name for one in chosen] == ["pixels"]
    assert [note.partition(":")[0] for note in notes] == [
        "method nowhere is left out",
        "method no-encoder is left out",
    ]
    with pytest.raises(ConfigError, match="no method is left"):
        choose_candidates(["nowhere"], quick=False)


def test_settings_without_data_are_left_out_with_a_line(tmp_path: Path) -> None:
    chosen, notes = choose_worlds(None, NOTHING, quick=False)
    assert [world.name for world in chosen] == ["turntable", "drive"]
    assert "setting kitti-scenes is left out: give its data with --kitti PATH and --scenes PATH" in notes
    chosen, notes = choose_worlds(None, {**NOTHING, "tub": tmp_path}, quick=True)
    assert [world.name for world in chosen] == ["tub", "turntable", "drive"]
    assert not notes
    with pytest.raises(ConfigError, match="no setting is left: setting tub is left out"):
        choose_worlds(["tub"], NOTHING, quick=False)
    with pytest.raises(DataError, match=r"--tub .* does not exist"):
        choose_worlds(["tub"], {**NOTHING, "tub": tmp_path / "gone"}, quick=False)


@pytest.mark.parametrize("names", [{"settings": ["moon"]}, {"methods": ["moon"]}, {"tasks": ["moon"]}])
def test_an_unknown_name_is_one_line(tmp_path: Path, names: dict[str, list[str]]) -> None:
    with pytest.raises(ConfigError, match="'moon'") as caught:
        plan_beyond(replace(BeyondOptions(tmp_path, NOTHING), **names))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_toys_and_lightings_are_held_out_by_name(tmp_path: Path) -> None:
    settings = {"toys_per_category": 2, "elevations": 2, "azimuths": 3, "size": 8, "lightings": 6}
    store = ingest(open_source("turntable", **settings), tmp_path / "toys", size=(8, 8))
    assert [new_light(store, repetition) for repetition in (0, 1)] == ["by-lighting:4,5"] * 2
    assert [new_toys(store, repetition) for repetition in range(3)] == [
        "by-instance:0+lighting:4,5",
        "by-instance:1+lighting:4,5",
        "by-instance:0+lighting:4,5",
    ]


def test_the_names_of_rows_can_be_given_with_commas() -> None:
    assert not [name for name in CANDIDATES if "," in name or " " in name]
