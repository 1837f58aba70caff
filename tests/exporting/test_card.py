"""The model card says what was measured of the weights, and what was not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments import measure_run
from egoequiv.exporting import export_run
from egoequiv.store import FrameStore
from exporting.exports import make_run


@pytest.fixture(autouse=True)
def _no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The card does not depend on the graphs, which take seconds to write."""
    monkeypatch.setattr("egoequiv.exporting.export._write_graph", lambda folder, graph, config: None)


@pytest.fixture(scope="module")
def run(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was measured, with one more measurement of other weights."""
    run = make_run("patterns", small_store, tmp_path_factory.mktemp("card"))
    measure_run(run, ["motions"], TaskOptions(motions=("up",)))
    (found,) = measure_run(run, ["slowness"])
    other = found.model_copy(update={"subject": found.subject.model_copy(update={"task": "stale", "weights": "0"})})
    (run / "measurements" / "stale.json").write_text(other.model_dump_json())
    (run / "measurements" / "damaged.json").write_text("{")
    return run


def test_numbers_come_with_intervals_and_baselines(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    head, _, text = card.removeprefix("---\n").partition("---\n")
    assert "library_name: egoequiv\npipeline_tag: image-feature-extraction\n" in head
    (value,) = [one for one in measure_run(run, ["slowness"])[0].values if not one.metric.is_detail][:1]
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {value.metric.title} |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == value.text().replace("*", "\\*")
    assert cells[2] == (value.metric.interval(value.interval) or "-")
    assert all(name in cells[3] for name in value.all_baselines())
    assert "stale" not in text
    assert "Motions (motions ['up'])" in text.replace("\\", "")
    assert "Equivariance (`egoequiv evaluate RUN --task equivariance`)" in text
    assert "Slowness (`" not in text
    for name in ("up", "down", "left", "right"):
        assert f"| {name} | " in text
    described = json.loads((tmp_path / "out" / "config.json").read_text())
    assert [f"| {k} | {one['name']} |" in text for k, one in enumerate(described["motions"])] == [True] * 4
    assert "one seed" in text


def test_without_measurements_it_says_so(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "out", "best")  # other weights
    card = (tmp_path / "out" / "README.md").read_text()
    same = (run / "best.safetensors").read_bytes() == (run / "last.safetensors").read_bytes()
    assert ("Nothing was measured of these weights" in card) != same


def test_places_that_training_frames_show_too_are_said(run: Path, tmp_path: Path) -> None:
    result = json.loads((run / "result.json").read_text())
    assert result["revisited_validation_frames"] == 0
    assert result["near_copy_validation_frames"] is None  # on a grid
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    known = {"revisited_validation_frames": 12, "near_copy_validation_frames": 7}
    (copy / "result.json").write_text(json.dumps(result | known))
    export_run(copy, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "12 validation frames are at a place that training frames show at another time" in card
    assert f"warning: 7 of {result['validation_frames']} validation frames look nearly the same as a training" in card
    export_run(run, tmp_path / "plain")
    assert "look nearly the same" not in (tmp_path / "plain" / "README.md").read_text()
