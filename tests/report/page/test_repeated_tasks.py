"""Tables of tasks over all repetitions: one heading, and nothing they hold is said to be missing."""

import json
import shutil
from pathlib import Path

import pytest

from egoequiv.evaluation import Result
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import Published
from egoequiv.report.page.blocks import Fold, Grid, Section, Text
from egoequiv.report.page.gather import gather
from egoequiv.report.page.headlines import HEADLINES
from egoequiv.report.page.repeated_tasks import OVER_ALL
from egoequiv.report.page.sections import build_report
from egoequiv.report.page.undefined import reasons_of
from egoequiv.report.tables import save_table

pytestmark = pytest.mark.slow

READ = "R2 of yaw_deg from z_i, z_j"


def save_task(task: str, folder: Path, column: str, name: str | None = None) -> None:
    row = Row("equiv", True, {column: Result((0.5, 0.6, 0.7))}, {column: Published(0.1)})
    save_table(Table(f"Task {task}", (column,), [row], about={"task": task, "seed": 0}), folder, name or task)


def headed(sections: list[Section], title: str) -> Section:
    (section,) = (section for section in sections if section.title == title)
    return section


def test_tables_of_tasks_stand_under_one_heading(finished: Path, tmp_path: Path) -> None:
    out = shutil.copytree(finished, tmp_path / "toys")
    save_task("slowness", out, "AUROC, validation frames")
    save_task("readout", out, READ)
    save_task("readout", out, READ, "readout-apart-label")
    report = build_report(out, gather(out))
    assert [section.title for section in report.sections][:3] == ["Toys: a small table", OVER_ALL, "How it was made"]
    below = list(headed(list(report.sections), OVER_ALL).sections)
    assert [section.title for section in below] == ["Read-out", "Read-out, kept apart by label", "Slowness"]
    (grid,) = (block for block in below[0].blocks if isinstance(block, Grid))
    assert grid.columns == ("method", READ)  # with its underscores
    folds = [block.summary for block in below[0].blocks if isinstance(block, Fold)]
    assert folds == ["Where it differs from the paper", "How it was measured"]
    assert list(report.facts) == ["Made by", "Leakage"]
    good_for = headed(list(report.sections[0].sections), "What the features are good for")
    (missing,) = (block.text for block in good_for.blocks if isinstance(block, Text))
    assert "Retrieval" in missing
    assert "Read-out" not in missing
    assert "Slowness" not in missing


def test_nothing_is_missing_where_every_task_has_a_table(finished: Path, tmp_path: Path) -> None:
    out = shutil.copytree(finished, tmp_path / "toys")
    for task in TASKS:
        save_task(task, out, "a number")
    sections = build_report(out, gather(out)).sections
    assert "What the features are good for" not in [section.title for section in sections[0].sections]
    assert len(headed(list(sections), OVER_ALL).sections) == len(TASKS) == len(HEADLINES)


def test_reasons_are_read_from_the_evaluations(finished: Path, tmp_path: Path) -> None:
    run = shutil.copytree(finished / "runs-12" / "equiv-labels-0", tmp_path / "run")
    kept = json.loads((run / "evaluation-last.json").read_text())
    kept["motions"][0] |= {"rho": None, "pairs_fitted": 0, "pairs_scored": 7, "pairs_needed": 60}
    (run / "evaluation-last.json").write_text(json.dumps(kept))
    ((exhibit,),) = (experiment.exhibits for experiment in gather(run))
    why = "7 pairs are too few to fit and measure a map, 60 are needed"
    assert reasons_of(exhibit) == {
        ("equiv", "rho_up"): why,
        ("equiv", "rho_atomic"): f"rho up, of which it is a mean, is not: {why}",
    }
