"""Runs that are not as a report would have them: trained anew, added, unfinished, damaged, or without their store."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from egoequiv.errors import DataError
from egoequiv.experiments import Table
from egoequiv.report.page import write_report
from egoequiv.report.page.blocks import Picture
from egoequiv.report.page.gather import gather
from egoequiv.report.page.headlines import Headline
from egoequiv.report.page.run_sections import _best_first, auroc_section
from egoequiv.report.page.tasks import find

pytestmark = pytest.mark.slow

EVALUATION, WEIGHTS = "evaluation-last.json", "last.safetensors"


@pytest.fixture
def runs(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished / "runs-12", tmp_path / "runs")


def table_of(runs: Path) -> Table:
    (experiment,) = gather(runs)
    table = experiment.exhibits[0].table
    assert table is not None
    return table


def metrics_of(run: Path) -> Any:
    return json.loads((run / EVALUATION).read_text())["metrics"]


def test_a_run_that_was_trained_on_is_measured_anew(runs: Path) -> None:
    first, second = runs / "equiv-labels-0", runs / "equiv-labels-1"
    (first / WEIGHTS).write_bytes((second / WEIGHTS).read_bytes())
    text = write_report(runs, evaluate=False).read_text()
    assert "Not measured, and so in no row: equiv-labels-0; to do so: <code>egoequiv report" in text
    assert table_of(runs).row("equiv").metrics["rho_up"].values == (
        metrics_of(second)["rho_up"],
        metrics_of(runs / "equiv-labels-2")["rho_up"],
    )
    assert not table_of(runs).comparisons  # two repetitions in common are too few
    write_report(runs, tasks=["slowness"])
    assert metrics_of(first)["rho_up"] == metrics_of(second)["rho_up"]


def test_runs_that_were_added_or_whose_evaluation_is_damaged_are_measured(runs: Path) -> None:
    before = {run.name: metrics_of(run) for run in runs.iterdir()}
    (runs / "equiv-labels-0" / EVALUATION).unlink()
    (runs / "equiv-labels-1" / EVALUATION).write_text('{"metrics": ')
    (runs / "random-labels-0" / EVALUATION).write_text("{}")
    (runs / "begun").mkdir()
    shutil.copy(runs / "equiv-labels-0" / "config.json", runs / "begun")
    text = write_report(runs, tasks=["slowness"]).read_text()
    assert {name: metrics_of(runs / name) for name in before} == before
    assert "Left out: begun, which has a config.json, but neither the data.json nor the model.json of a run." in text
    assert len(table_of(runs).row("equiv").metrics["top1"].values) == 3


def test_a_run_without_weights_is_left_out_and_listed(runs: Path) -> None:
    (runs / "equiv-labels-1" / WEIGHTS).unlink()
    text = write_report(runs, tasks=["slowness"]).read_text()
    assert "Could not be measured: equiv-labels-1: " in text
    row = table_of(runs).row("equiv")
    assert len(row.metrics["top1"].values) == 2
    assert row.metrics["top1"].mean > 0


def test_a_run_that_is_not_finished_is_marked_and_not_tested(runs: Path) -> None:
    assert {test.metric for test in table_of(runs).comparisons} >= {"top1", "rho_atomic"}
    (runs / "equiv-labels-2" / "result.json").unlink()
    table = table_of(runs)
    assert [(row.name, row.unfinished) for row in table.rows] == [("equiv", 1), ("random", 0)]
    assert not table.comparisons
    text = write_report(runs, evaluate=False).read_text()
    assert "1 not finished" in text
    assert "Not finished: equiv-labels-2 (iteration 20 of 20)." in text


def test_without_store_and_evaluations_there_is_still_a_page(runs: Path, finished: Path) -> None:
    for config in runs.glob("*/config.json"):
        config.write_text(config.read_text().replace(str(finished), "/nowhere"))
    (runs / "equiv-labels-0" / EVALUATION).unlink()
    text = write_report(runs, tasks=["slowness"]).read_text()
    assert "Could not be measured: equiv-labels-0: the store /nowhere/stores/turntable is no longer where" in text
    assert "(ln -s NEW OLD)" in text
    assert "to do so: <code>egoequiv report" not in text  # that was given just now
    for kept in runs.glob(f"*/{EVALUATION}"):
        kept.unlink()
    text = write_report(runs, tasks=["slowness"]).read_text()
    assert "The runs have not been measured; to do so: mend what could not be opened or measured" in text


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("command.json", "{}", "no command"),
        ("command.json", '{"command": "a", "versions": []}', "no versions"),
        ("equiv-labels-0/metrics.jsonl", "{}\n", "line 1 is damaged"),
        ("equiv-labels-0/metrics.jsonl", '{"iteration": 1, "loss": "low"}\n', "line 1 is damaged"),
        ("equiv-labels-0/result.json", '{"patterns": 3}', "is damaged"),
        (
            "table.json",
            '{"title": "a", "columns": [1], "rows": [], "comparisons": [], "about": {}}',
            "columns are names",
        ),
        ("table.json", '{"title": "a", "columns": [], "rows": [], "comparisons": [], "about": ["ab"]}', "about is an"),
        (
            "table.json",
            '{"title": "a", "columns": [], "rows": [], "comparisons": [], "about": {"validation_frames": "many"}}',
            "validation_frames is a number",
        ),
    ],
)
def test_what_has_another_shape_is_said_to_in_one_line(runs: Path, name: str, content: str, words: str) -> None:
    (runs / name).write_text(content)
    with pytest.raises(DataError, match=words) as caught:
        write_report(runs, evaluate=False)
    assert str(runs / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_findings_that_are_damaged_are_made_anew(finished: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "run")
    write_report(run, tasks=["slowness"])
    (subject,) = gather(run)[0].exhibits[0].subjects
    motions, slowness = subject.tasks / "motions.json", subject.tasks / "slowness.json"
    before = {path: path.read_text() for path in (motions, slowness)}
    described = json.loads(before[motions])
    del described["result"]["pairs"]
    motions.write_text(json.dumps(described))
    slowness.write_text(before[slowness][:50])
    assert find(subject, "motions") is None
    assert find(subject, "slowness") is None
    assert "have not been counted" in write_report(run, evaluate=False).read_text()
    write_report(run, tasks=["slowness"])
    assert {path: path.read_text() for path in before} == before
    for headline in ([], {"AUROC": "high"}):
        slowness.write_text(json.dumps({**json.loads(before[slowness]), "headline": headline}))
        assert find(subject, "slowness") is None


def test_the_best_row_is_the_best_of_those_that_have_the_same_number() -> None:
    numbers: dict[str, dict[str, float | None]] = {
        "short chains": {"rho of 2 steps": 0.1, "other": 1.0},
        "b": {"rho of 5 steps": 0.8},
        "a": {"rho of 5 steps": 0.6},
        "none": {"rho of 5 steps": None},
    }
    by, names = _best_first(numbers, Headline("", "", higher_is_better=False))
    assert by == "rho of 5 steps"
    assert names[:2] == ["a", "b"]
    assert _best_first({}, Headline("", "")) == ("", [])


def test_the_distance_of_the_auroc_is_told(runs: Path) -> None:
    def caption() -> str:
        (picture,) = auroc_section(gather(runs)[0].exhibits[0], "").blocks
        assert isinstance(picture, Picture)
        assert picture.alt.split(". ")[-1] == picture.caption.split(". ")[-1]
        return picture.caption

    assert caption().endswith("0.5 is chance. Near by the l2 distance of features.")
    for run in runs.glob("random*"):
        described = json.loads((run / "config.json").read_text())
        (run / "config.json").write_text(json.dumps({**described, "method": "temporal"}))
        (run / "metrics.jsonl").write_text('{"iteration": 20, "auroc": 0.6}\n')
    assert caption().endswith("the one that each row trains by, or l2: l1 for temporal; l2 for equiv.")


def test_a_file_that_cannot_be_written_is_told_of_before_the_work(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write .*page\.html"):
        write_report(runs, tmp_path / "file" / "page.html", tasks=["slowness"])
    with pytest.raises(DataError, match="is a folder"):
        write_report(runs, runs, form="html", tasks=["slowness"])
    assert not (runs / "tasks").exists()
    assert write_report(runs, tmp_path / "new" / "folder" / "page.html", evaluate=False).exists()
