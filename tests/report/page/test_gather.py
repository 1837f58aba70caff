"""What a folder holds: tables and the runs behind their rows, in one folder, in several, or one run."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.run_groups import group_runs
from egoequiv.report.page.gather import gather, runs_of_row
from egoequiv.report.tables import save_table


def test_rows_find_their_runs(finished: Path) -> None:
    (experiment,) = gather(finished)
    (exhibit,) = experiment.exhibits
    assert exhibit.table is not None
    assert exhibit.title == "Toys: a small table"
    assert [(subject.name, subject.group.seeds) for subject in exhibit.subjects] == [
        ("random", (0, 1, 2)),
        ("equiv", (0, 1, 2)),
    ]
    assert exhibit.subjects[1].run.name == "equiv-labels-0"
    assert exhibit.subjects[1].result["patterns"] == ["up", "right"]
    assert experiment.command is not None
    assert experiment.command["command"].startswith("egoequiv reproduce norb")


def test_a_row_of_other_values_or_settings_has_no_runs(finished: Path) -> None:
    (experiment,) = gather(finished)
    table = experiment.exhibits[0].table
    assert table is not None
    groups = group_runs(sorted((finished / "runs-12").iterdir()))
    row = table.row("equiv")
    assert runs_of_row(row, {}, groups) is not None
    assert runs_of_row(replace(row, settings={"learning_rate": 0.3}), {}, groups) is None
    assert runs_of_row(replace(row, metrics={"top1": Result((99.0, 99.0, 99.0))}), {}, groups) is None
    assert runs_of_row(replace(row, metrics={"a summary": Result((1.0,))}, settings={}), {}, groups) is None


def test_several_folders_are_several_experiments(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "all" / "norb")
    table = Table("Places: of a car", ("top1",), [Row("clsnet", True, {"top1": Result((1.0,))})])
    save_table(table, tmp_path / "all" / "kitti", "table-paper")
    save_table(table, tmp_path / "all" / "kitti", "table-20")
    save_table(table, tmp_path / "all" / "kitti", "table-6")
    kitti, norb = gather(tmp_path / "all")
    assert [exhibit.name for exhibit in kitti.exhibits] == ["table-paper", "table-6", "table-20"]
    assert not kitti.exhibits[0].subjects
    assert kitti.command is None
    assert norb.title == "Toys"


def test_one_run_is_a_table_of_one_row(finished: Path) -> None:
    (experiment,) = gather(finished / "runs-12" / "equiv-labels-1")
    (exhibit,) = experiment.exhibits
    assert exhibit.table is not None
    assert [row.name for row in exhibit.table.rows] == ["equiv"]
    assert "rho_up" in exhibit.table.columns
    assert exhibit.table.about["leaked_validation_frames"] > 0


def test_runs_without_a_table_are_grouped(finished: Path) -> None:
    (experiment,) = gather(finished / "runs-12")
    table = experiment.exhibits[0].table
    assert table is not None
    assert [(row.name, len(row.metrics["top1"].values)) for row in table.rows] == [("equiv", 3), ("random", 3)]
    assert {test.metric for test in table.comparisons} >= {"top1", "rho_atomic"}


@pytest.mark.parametrize(("name", "words"), [("nowhere", "is not a folder"), (".", "holds no table and no run")])
def test_what_is_no_experiment_is_said_in_one_line(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        gather(tmp_path / name)


def test_a_damaged_table_is_said_to_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text('{"title": ')
    with pytest.raises(DataError, match=r"table.json is damaged"):
        gather(tmp_path)
    (tmp_path / "table.json").write_text(json.dumps({"title": "a", "columns": [], "rows": [1]}))
    with pytest.raises(DataError, match="holds no table"):
        gather(tmp_path)


def test_runs_on_other_frames_are_apart(finished: Path, tmp_path: Path) -> None:
    runs = finished / "runs-12"
    changes = {
        "a": {},
        "b": {"learning_rate": 0.3},
        "wide-0": {"batch_size": 32},
        "wide-1": {"batch_size": 32, "seed": 1},
    }
    changes |= {"c": {"data": "/stores/toys"}, "d": {"data": "/stores/toys", "split": "by-recording"}}
    for name, settings in changes.items():
        shutil.copytree(runs / "equiv-labels-0", tmp_path / "mix" / name)
        config = tmp_path / "mix" / name / "config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | settings))
    (experiment,) = gather(tmp_path / "mix")
    assert experiment.title == "The runs in mix"
    assert [(exhibit.title, exhibit.part) for exhibit in experiment.exhibits] == [
        ("The runs in mix: on turntable, split paper", "-turntable-split-paper"),
        ("The runs in mix: on toys, split paper", "-toys-split-paper"),
        ("The runs in mix: on toys, split by-recording", "-toys-split-by-recording"),
    ]
    names = [[subject.name for subject in exhibit.subjects] for exhibit in experiment.exhibits]
    assert names == [["a", "b", "wide"], ["equiv"], ["equiv"]]
    kept = [subject.tasks for exhibit in experiment.exhibits for subject in exhibit.subjects]
    assert len(set(kept)) == 5


def test_folders_of_other_programs_are_no_runs(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "run")
    (tmp_path / "vit").mkdir()
    (tmp_path / "vit" / "config.json").write_text('{"architectures": ["ViTModel"], "hidden_size": 12}')
    (experiment,) = gather(tmp_path)
    assert [subject.run.name for subject in experiment.exhibits[0].subjects] == ["run"]
    with pytest.raises(DataError, match=r"vit/config.json is not the config of a run"):
        group_runs([tmp_path / "vit"])
    with pytest.raises(DataError, match="holds no table and no run"):
        gather(tmp_path / "vit")
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"colour": 3}))
    with pytest.raises(ConfigError, match=r"run/config.json: setting 'colour' is not known"):
        gather(tmp_path)


def test_runs_of_an_experiment_below_are_shown_once(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "runs-12", tmp_path / "some")
    save_table(
        Table("Task slowness", ("a",), [Row("equiv", True, {"a": Result((1.0,))})]), tmp_path / "some", "slowness"
    )
    (experiment,) = gather(tmp_path)
    assert experiment.path == tmp_path / "some"
