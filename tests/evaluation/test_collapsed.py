"""Numbers of collapsed features bear the mark, in every output; those of the other part do not."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path

import pytest

from egoequiv.auditing import audit
from egoequiv.evaluation.metric import MARK
from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.table import entries_of
from egoequiv.report.audit import results_of
from egoequiv.report.measurement_blocks import measurement_blocks
from egoequiv.store import FrameStore
from egoequiv.training import train
from egoequiv.training.run_folder import RunFolder

TINY = {"iterations": 2, "log_every": 2, "checkpoint_every": 2, "validate_every": 2, "batch_size": 8, "threads": 1}


@pytest.fixture(scope="module")
def run(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose equivariant part is said to have collapsed."""
    out = tmp_path_factory.mktemp("collapsed") / "run"
    train(
        small_store.path,
        out,
        method="recording+motion",
        encoder="residual",
        encoder_settings={"feature_dim": 8},
        use_labels=False,
        **TINY,
    )
    result = json.loads((out / "result.json").read_text())
    assert result["collapsed_parts"] == []
    (out / "result.json").write_text(json.dumps({**result, "collapsed": True, "collapsed_parts": ["equivariant"]}))
    return out


def test_the_run_says_which_part(run: Path) -> None:
    folder = RunFolder(run)
    assert folder.collapsed_parts == ("equivariant",)
    assert folder.collapsed_features == "equivariant features"


@pytest.mark.parametrize("task", ["equivariance", "maps", "retrieval"])
def test_every_number_of_a_collapsed_part_is_marked(run: Path, task: str) -> None:
    (found,) = measure_run(run, [task])
    assert found.problem is None
    judged = [value for value in found.values if value.metric.better != "neither" and isfinite(value.value)]
    assert judged
    assert all(value.is_marked for value in judged)
    cells = [cell for table in found.tables for row in table.rows for cell in row if cell.is_measured]
    assert cells
    assert all(cell.text.endswith(MARK) and not cell.text.endswith(2 * MARK) for cell in cells)
    assert "collapsed in training" in found.notes[0]
    assert any(f"{MARK} not better" in line for line in measurement_blocks(found)[-1].items)  # type: ignore[union-attr]
    metrics, entries = entries_of([[found]])
    assert all(entries[metric.name].is_collapsed for metric in metrics)


def test_the_other_part_is_not_marked_for_it(run: Path) -> None:
    options = TaskOptions(part="invariant")
    (found,) = measure_run(run, ["equivariance"], options)
    assert not any(value.is_collapsed for value in found.values)


def test_a_table_of_parts_marks_the_one_that_collapsed(run: Path) -> None:
    (found,) = measure_run(run, ["probe"])
    assert {value.name.partition("(")[2] for value in found.values if value.is_collapsed} == {"equivariant)"}
    assert {value.name.partition("(")[2] for value in found.values if not value.is_collapsed} == {"", "invariant)"}


@pytest.mark.parametrize(("part", "is_marked"), [("equivariant", True), ("all", False)])
def test_an_audit_marks_it_too(run: Path, small_store: FrameStore, part: str, is_marked: bool) -> None:
    from egoequiv.auditing import load_audited

    model = load_audited(str(run), small_store, name="mine", part=part)
    table = audit(model, small_store, frames="all", baselines=False, motions=["up", "right"])
    results = results_of(table)
    row = results.row("mine")
    assert row.entries["rho_up"].is_collapsed is is_marked
    assert not is_marked or results.is_marked(row, results.metric("rho_up"))
    assert any("collapsed in training" in note for note in table.notes) is is_marked
