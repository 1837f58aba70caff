"""rho of different motions is not put into one column: other centres, gaps and spaces are told apart."""

from pathlib import Path

import pytest

from drives import drive_source
from egoequiv.engines import LocalEngine
from egoequiv.experiments.collect import collect
from egoequiv.experiments.comparison import compare_runs
from egoequiv.experiments.measure import measure_run
from egoequiv.experiments.missing import measure_missing
from egoequiv.experiments.run_groups import group_runs
from egoequiv.experiments.runs_table import motions_apart
from egoequiv.report.measurement_blocks import comparison_blocks
from egoequiv.report.page import write_report
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train

FEW = {"per_class": 3, "iterations": 2, "log_every": 2, "validate_every": 2, "checkpoint_every": 2, "threads": 1}
LINE = "The rows are of different motions"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two runs on the same mined motions, one that learns none of them, and one with centres of its own."""
    folder = tmp_path_factory.mktemp("motions")
    store = ingest(drive_source(), folder / "store", workers=1)
    made = {
        "first": {"method": "equiv"},
        "same": {"method": "equiv", "weight": {"equivariance": 0.5}},
        "none": {"method": "random"},
        "other": {"method": "equiv", "max_gap_s": 0.3},
    }
    for name, settings in made.items():
        train(store.path, folder / "runs" / name, **FEW, **settings)
    return {name: folder / "runs" / name for name in made}


def apart_of(paths: list[Path]) -> list[list[str]]:
    measured = {path: measure_run(path, ("equivariance",)) for path in paths}
    apart = motions_apart({group.runs[0].name: group for group in group_runs(paths)}, measured)
    return [list(rows) for rows in apart.kinds.values()]


def test_runs_of_other_centres_are_told_apart(runs: dict[str, Path]) -> None:
    assert apart_of([runs["first"], runs["same"], runs["none"]]) == []
    assert apart_of([runs["none"], runs["other"], runs["same"]]) == [["none", "same"], ["other"]]


def test_their_rho_has_columns_of_its_own_and_a_line_says_so(runs: dict[str, Path]) -> None:
    compared = compare_runs([runs["first"], runs["none"], runs["other"]])
    columns = {
        name: [row.name for row in compared.table.rows if name in row.entries] for name in compared.table.columns
    }
    assert columns["top1"] == ["A", "B", "C"]
    assert columns["rho_atomic"] == ["A", "B"]
    assert columns["rho_atomic (motions of C)"] == ["C"]
    assert compared.table.metric("rho_atomic").title == "rho atomic (motions of A)"
    (line,) = (block.text for block in comparison_blocks(compared) if getattr(block, "text", "").startswith(LINE))
    assert "motions of C: max_gap_s 0.3" in line
    same = compare_runs([runs["first"], runs["same"]])
    assert not any("motions of" in name for name in same.table.columns)
    assert not any(getattr(block, "text", "").startswith(LINE) for block in comparison_blocks(same))


def test_a_run_without_patterns_mines_those_of_another_store(runs: dict[str, Path], tmp_path: Path) -> None:
    """A run that learned motions keeps its own there."""
    both = [runs["first"], runs["none"]]
    own = compare_runs(both, str(runs["first"].parents[1] / "store"))
    assert not any("motions of" in name for name in own.table.columns)
    ingest(drive_source(drives=4, legs=((9.0, 8.0, 0.0), (12.0, 5.0, 30.0))), tmp_path / "other", workers=1)
    compared = compare_runs(both, str(tmp_path / "other"))
    assert [next(iter(row.entries)) for row in compared.table.rows] == ["rho_atomic", "rho_atomic (motions of B)"]


def test_a_report_tells_them_apart_too(runs: dict[str, Path], tmp_path: Path) -> None:
    folder = runs["first"].parent
    found, problems = measure_missing(collect(folder), ["analogy"], LocalEngine(1))
    assert not problems
    page = write_report(folder, tmp_path / "report.md", found=found).read_text()
    results, _, tasks = page.partition("## Analogy")
    assert LINE in results
    assert "rho atomic (motions of other)" in results
    assert LINE in tasks
    (exhibit,) = collect(folder, found)[0].exhibits
    assert exhibit.table is not None
    assert "rho_atomic (motions of other)" in exhibit.table.columns


def test_steps_of_a_grid_are_the_same_whatever_would_be_mined(small_store: FrameStore, tmp_path: Path) -> None:
    for clusters in (4, 6):
        train(small_store.path, tmp_path / str(clusters), method="equiv", clusters=clusters, **FEW)
    assert apart_of([tmp_path / "4", tmp_path / "6"]) == []


def test_a_gap_in_seconds_decides_nothing_for_frames_without_times(tmp_path: Path) -> None:
    """Their motions are mined in the order of frames; the distance between the parts decides from which of them."""
    store = ingest(drive_source(drives=1, times_s=None), tmp_path / "store", workers=1)
    made: dict[str, dict[str, object]] = {
        "first": {"method": "equiv"},
        "gap": {"method": "equiv", "max_gap_s": 0.3},
        "none": {"method": "random", "max_gap_s": 0.5},
        "near": {"method": "random", "place_m": 1.0},
    }
    runs = {name: tmp_path / "runs" / name for name in made}
    for name, settings in made.items():
        train(store.path, runs[name], **FEW, use_labels=False, split="by-place", **settings)
    assert apart_of([runs["first"], runs["gap"], runs["none"]]) == []
    assert apart_of([runs["near"], runs["first"], runs["none"]]) == [["near"], ["first", "none"]]
    first, near = (exhibit for experiment in collect(tmp_path / "runs") for exhibit in experiment.exhibits)
    assert [len(first.subjects), len(near.subjects)] == [3, 1]  # they are measured on other frames too


def test_runs_without_motions_have_none_to_tell_apart(runs: dict[str, Path], tmp_path: Path) -> None:
    store = runs["first"].parents[1] / "store"
    for gap_s in (0.3, 1.0):
        train(store, tmp_path / str(gap_s), method="clsnet", space="none", max_gap_s=gap_s, **FEW)
    assert apart_of([tmp_path / "0.3", tmp_path / "1.0"]) == []
