"""What a folder holds: tables find their runs, and runs without a table are put side by side."""

import json
import shutil
from pathlib import Path

import pytest

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.measurement import FOLDER
from egoequiv.experiments import measure_run
from egoequiv.experiments.collect import collect
from egoequiv.experiments.missing import measure_missing, missing_work
from egoequiv.experiments.run_groups import group_runs
from egoequiv.experiments.table import Table
from tables import TOP1, entry, row, table_of

WEIGHTS = "last.safetensors"


@pytest.fixture
def runs(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished / "runs-12", tmp_path / "runs")


def table_of_folder(folder: Path) -> Table:
    table = collect(folder)[0].exhibits[0].table
    assert table is not None
    return table


def test_rows_name_their_runs(finished: Path) -> None:
    (experiment,) = collect(finished)
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
    assert experiment.command.command.startswith("egoequiv reproduce norb")


def test_a_row_whose_runs_are_gone_has_no_subject(finished: Path, tmp_path: Path) -> None:
    out = shutil.copytree(finished, tmp_path / "out")
    for run in (out / "runs-12").glob("equiv*"):
        shutil.rmtree(run)
    assert [subject.name for subject in collect(out)[0].exhibits[0].subjects] == ["random"]


def test_several_folders_are_several_experiments(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "all" / "norb")
    table = table_of([row("clsnet", {"top1": entry(1.0)})], [TOP1], title="Places: of a car")
    for name in ("table-paper", "table-20", "table-6"):
        (tmp_path / "all" / "kitti").mkdir(exist_ok=True)
        table.save(tmp_path / "all" / "kitti" / f"{name}.json")
    kitti, norb = collect(tmp_path / "all")
    assert [exhibit.name for exhibit in kitti.exhibits] == ["table-paper", "table-6", "table-20"]
    assert not kitti.exhibits[0].subjects
    assert kitti.command is None
    assert norb.title == "Toys"


def test_one_run_is_a_table_of_one_row(finished: Path) -> None:
    table = table_of_folder(finished / "runs-12" / "equiv-labels-1")
    assert [row.name for row in table.rows] == ["equiv"]
    assert "rho_up" in table.columns
    assert table.about["leaked_validation_frames"] > 0


def test_runs_without_a_table_are_grouped(finished: Path) -> None:
    table = table_of_folder(finished / "runs-12")
    assert [(row.name, len(row.entries["top1"].result.values)) for row in table.rows] == [("equiv", 3), ("random", 3)]
    assert {test.metric for test in table.comparisons} >= {"top1", "rho_atomic"}


@pytest.mark.parametrize(("name", "words"), [("nowhere", "does not exist"), (".", "holds no table and no run")])
def test_what_is_no_experiment_is_one_line(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        collect(tmp_path / name)


def test_a_damaged_table_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text('{"title": ')
    with pytest.raises(DataError, match=r"table.json is damaged"):
        collect(tmp_path)
    (tmp_path / "table.json").write_text(json.dumps({"title": "a", "columns": [], "rows": [1]}))
    with pytest.raises(DataError, match=r"table.json is not a table"):
        collect(tmp_path)


def test_runs_on_other_frames_are_separate(finished: Path, tmp_path: Path) -> None:
    changes = {
        "a": {},
        "b": {"learning_rate": 0.3},
        "wide-0": {"batch_size": 32},
        "wide-1": {"batch_size": 32, "seed": 1},
    }
    changes |= {"c": {"data": "/stores/toys"}, "d": {"data": "/stores/toys", "split": "by-recording"}}
    for name, settings in changes.items():
        shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "mix" / name)
        config = tmp_path / "mix" / name / "config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | settings))
    (experiment,) = collect(tmp_path / "mix")
    assert experiment.title == "The runs in mix"
    assert [(exhibit.title, exhibit.part) for exhibit in experiment.exhibits] == [
        ("The runs in mix: on turntable, split paper", "-turntable-split-paper"),
        ("The runs in mix: on toys, split paper", "-toys-split-paper"),
        ("The runs in mix: on toys, split by-recording", "-toys-split-by-recording"),
    ]
    names = [[subject.name for subject in exhibit.subjects] for exhibit in experiment.exhibits]
    assert names == [["a", "b", "wide"], ["equiv"], ["equiv"]]


def test_folders_of_other_programs_are_no_runs(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "run")
    (tmp_path / "vit").mkdir()
    (tmp_path / "vit" / "config.json").write_text('{"architectures": ["ViTModel"], "hidden_size": 12}')
    (experiment,) = collect(tmp_path)
    assert [subject.run.name for subject in experiment.exhibits[0].subjects] == ["run"]
    assert "Left out: vit, which has a config.json" in experiment.left_out[0]
    with pytest.raises(DataError, match=r"vit/config.json is not the config of a run"):
        group_runs([tmp_path / "vit"])
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"colour": 3}))
    with pytest.raises(ConfigError, match=r"run/config.json: setting 'colour' is not known"):
        collect(tmp_path)


def test_runs_of_an_experiment_below_are_shown_once(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "runs-12", tmp_path / "some")
    table = table_of([row("equiv", {"top1": entry(1.0)})], [TOP1], title="Task slowness", task="slowness")
    table.save(tmp_path / "some" / "slowness.json")
    (experiment,) = collect(tmp_path)
    assert experiment.path == tmp_path / "some"
    assert [one.name for one in experiment.task_exhibits] == ["slowness"]


def test_a_run_that_was_trained_on_is_in_no_row_until_it_is_measured(runs: Path) -> None:
    first, second = runs / "equiv-labels-0", runs / "equiv-labels-1"
    (first / WEIGHTS).write_bytes((second / WEIGHTS).read_bytes())
    exhibit = collect(runs)[0].exhibits[0]
    assert "Not measured, and so in no row: equiv-labels-0." in exhibit.notes
    assert len(table_of_folder(runs).row("equiv").entries["rho_up"].result.values) == 2
    found, problems = measure_missing(collect(runs), ["slowness"], LocalEngine(1))
    assert problems == []
    assert (first, "equivariance") in found
    values = table_of_folder(runs).row("equiv").entries["rho_up"].result.values
    assert values[0] == values[1]


def test_what_is_missing_is_measured_once(runs: Path) -> None:
    shutil.rmtree(runs / "equiv-labels-0" / FOLDER)
    work = {one.run.name: one.tasks for one in missing_work(collect(runs), ["slowness"])}
    assert work == {
        "equiv-labels-0": ("recognition", "equivariance", "slowness", "motions"),
        "random-labels-0": ("slowness",),
    }
    measure_missing(collect(runs), ["slowness"], LocalEngine(1))
    assert missing_work(collect(runs), ["slowness"]) == []


def test_a_run_without_weights_is_left_out_and_reported(runs: Path) -> None:
    (runs / "equiv-labels-1" / WEIGHTS).unlink()
    _, problems = measure_missing(collect(runs), ["slowness"], LocalEngine(1))
    assert problems[0].startswith("Could not be measured: equiv-labels-1: ")
    assert len(table_of_folder(runs).row("equiv").entries["top1"].result.values) == 2


def test_a_run_that_is_not_finished_is_in_no_test(runs: Path) -> None:
    assert {test.metric for test in table_of_folder(runs).comparisons} >= {"top1", "rho_atomic"}
    (runs / "equiv-labels-2" / "result.json").unlink()
    table = table_of_folder(runs)
    assert [(row.name, len(row.unfinished)) for row in table.rows] == [("equiv", 1), ("random", 0)]
    assert not table.comparisons
    assert "Not finished: equiv-labels-2 (iteration 20 of 20)." in collect(runs)[0].exhibits[0].notes[0]


def test_a_copy_of_a_run_is_no_repetition(runs: Path) -> None:
    before = table_of_folder(runs).row("equiv").entries["top1"].result
    shutil.copytree(runs / "equiv-labels-1", runs / "again")
    (runs / "equiv-labels-1" / "result.json").unlink()  # then the finished one counts
    (experiment,) = collect(runs)
    assert experiment.left_out == ("Left out: equiv-labels-1, which has the settings and the seed of again.",)
    assert table_of_folder(runs).row("equiv").entries["top1"].result == before


def test_a_run_whose_features_collapsed_is_named(runs: Path) -> None:
    result = json.loads((runs / "equiv-labels-2" / "result.json").read_text())
    changed = {**result, "collapsed": True, "collapsed_parts": ["all"]}
    (runs / "equiv-labels-2" / "result.json").write_text(json.dumps(changed))
    (note,) = collect(runs)[0].exhibits[0].notes
    words = "Collapsed in training, so that features hardly differ between images"
    assert note == f"{words}: equiv-labels-2 (all features)."


def test_measurements_outlive_the_store(runs: Path, finished: Path, tmp_path: Path) -> None:
    store = shutil.copytree(finished / "stores", tmp_path / "stores")
    for config in runs.glob("*/config.json"):
        config.write_text(config.read_text().replace(str(finished / "stores"), str(store)))
        measure_run(config.parent)
    store.rename(tmp_path / "moved")
    assert len(table_of_folder(runs).row("equiv").entries["top1"].result.values) == 3
    shutil.rmtree(runs / "equiv-labels-0" / FOLDER)
    _, problems = measure_missing(collect(runs), ["slowness"], LocalEngine(1))
    assert any("is no longer where it was in training" in problem for problem in problems)
    assert any("(ln -s NEW OLD)" in problem for problem in problems)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("command.json", "{}"),
        ("equiv-labels-0/metrics.jsonl", "{}\n"),
        ("equiv-labels-0/metrics.jsonl", '{"iteration": 1, "loss": "low"}\n'),
        ("equiv-labels-0/result.json", '{"patterns": 3}'),
    ],
)
def test_a_damaged_file_is_one_line(runs: Path, name: str, content: str) -> None:
    (runs / name).write_text(content)
    with pytest.raises(DataError, match="is damaged") as caught:
        read_everything(runs)
    assert str(runs / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def read_everything(folder: Path) -> None:
    for experiment in collect(folder):
        for subject in (subject for exhibit in experiment.exhibits for subject in exhibit.subjects):
            assert subject.metrics is not None
            assert subject.result is not None
