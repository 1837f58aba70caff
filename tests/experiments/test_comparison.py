"""Runs side by side: repetitions are grouped, tested seed by seed, and refused where frames differ."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.experiments import measure_run
from egoequiv.experiments.comparison import compare_runs, letter, right_answers
from egoequiv.experiments.run_groups import differing_settings, group_runs
from egoequiv.pose import NoMotion
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from helpers import GRID, grid_recording, grid_source

SHORT = {
    "encoder": "norb",
    "split": "paper",
    "iterations": 20,
    "log_every": 20,
    "checkpoint_every": 20,
    "validate_every": 20,
    "per_class": 2,
    "learning_rate": 0.1,
}


@pytest.fixture(scope="module")
def runs(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    folder = tmp_path_factory.mktemp("runs")
    made: dict[str, list[Path]] = {}
    for method, settings in {"random": {}, "equiv": {"weight": {"equivariance": 0.5}}}.items():
        for seed in range(3):
            path = folder / f"{method}-{seed}"
            train(small_store.path, path, method=method, seed=seed, **settings, **SHORT)
            made.setdefault(method, []).append(path)
    return made


def top1_of(run: Path) -> float:
    value = measure_run(run)[0].value("top1")
    assert value is not None
    return value.value


def test_runs_of_other_seeds_are_repetitions(runs: dict[str, list[Path]]) -> None:
    mixed = [runs["equiv"][2], runs["random"][1], runs["equiv"][0], runs["random"][0]]
    equiv, random = group_runs(mixed)
    assert (equiv.name, equiv.seeds, equiv.runs) == ("equiv", (0, 2), (runs["equiv"][0], runs["equiv"][2]))
    assert random.seeds == (0, 1)
    assert differing_settings([equiv, random]) == {
        "method": ["equiv", "random"],
        "weight.equivariance": [0.5, None],
    }


def test_repetitions_are_tested_seed_by_seed(runs: dict[str, list[Path]]) -> None:
    compared = compare_runs([*runs["random"], *reversed(runs["equiv"])])
    values = {method: [top1_of(run) for run in own] for method, own in runs.items()}
    rows = compared.table.rows
    assert [row.entries["top1"].result.values for row in rows] == [tuple(own) for own in values.values()]
    (top1,) = (one for one in compared.table.comparisons if one.metric == "top1")
    assert (top1.a, top1.b) == ("B", "A")
    assert top1.difference == pytest.approx(np.mean(values["equiv"]) - np.mean(values["random"]))
    assert top1.p_value == pytest.approx(stats.ttest_rel(values["equiv"], values["random"]).pvalue)
    assert not compared.answers
    assert compared.seeds["B"] == [0, 1, 2]
    assert "NaN" not in compared.model_dump_json()


def test_single_runs_are_compared_frame_by_frame(runs: dict[str, list[Path]], small_store: FrameStore) -> None:
    compared = compare_runs([runs["random"][0], runs["equiv"][1]])
    assert not compared.table.comparisons
    (only,) = compared.answers
    (rho,) = compared.untested
    assert (rho.a, rho.b, rho.metrics) == ("B", "A", "rho")
    assert rho.reason.endswith("are about top-1 only")
    top1 = [row.mean("top1") for row in compared.table.rows]
    assert 100 * only.compared.difference == pytest.approx(top1[1] - top1[0])
    right, recording = right_answers(runs["equiv"][1])
    assert 100 * right.mean() == pytest.approx(top1[1])
    assert only.compared.recordings == len(np.unique(recording)) == len(small_store.recording_names)


def test_other_frames_are_refused_in_one_line(
    runs: dict[str, list[Path]], small_store: FrameStore, tmp_path: Path
) -> None:
    train(small_store.path, tmp_path / "split", method="random", train_fraction=0.5, **SHORT)
    with pytest.raises(ConfigError, match=r"different frames \(train_fraction=0.67 and 0.5\)"):
        compare_runs([runs["random"][0], tmp_path / "split"])
    other = ingest(
        Source("grid", GRID, [grid_recording(kind, 0) for kind in range(3)], {}), tmp_path / "other", workers=1
    )
    train(other.path, tmp_path / "store", method="random", **SHORT)
    with pytest.raises(ConfigError, match="different stores"):
        compare_runs([runs["random"][0], tmp_path / "store"])
    train(small_store.path, tmp_path / "plain", method="drlim", use_labels=False, **SHORT)
    for labels in (small_store.path, other.path):
        settings = {"labels": str(labels), **SHORT}
        train(small_store.path, tmp_path / labels.name / "run", method="equiv", **settings)
    places = [tmp_path / "plain", *(tmp_path / labels.name / "run" for labels in (small_store.path, other.path))]
    with pytest.raises(ConfigError, match="store of labelled images"):  # though the first has no labels
        compare_runs(places)
    on_third = compare_runs([runs["random"][0], tmp_path / "store"], str(small_store.path))
    assert all("rho_atomic" in row.entries for row in on_third.table.rows)
    assert not on_third.answers


def test_one_run_by_two_paths_is_no_repetition(runs: dict[str, list[Path]]) -> None:
    first = runs["random"][0]
    compared = compare_runs(
        [first, first.parent / "." / first.name, first.parent / ".." / first.parent.name / first.name]
    )
    assert compared.runs == {"A": [str(first)]}


def test_a_store_on_which_nothing_can_be_measured_is_refused(runs: dict[str, list[Path]], tmp_path: Path) -> None:
    source = Source("pictures", NoMotion(), grid_source().recordings, {}, GRID.pose_names)
    pictures = ingest(source, tmp_path / "bare", workers=1)
    with pytest.raises(EgoEquivError, match="bare"):
        compare_runs([runs["random"][0], runs["equiv"][0]], str(pictures.path))


def test_why_nothing_was_tested(runs: dict[str, list[Path]], small_store: FrameStore, tmp_path: Path) -> None:
    train(small_store.path, tmp_path / "alone", method="drlim", use_labels=False, **SHORT)
    compared = compare_runs([*runs["random"], *runs["equiv"], tmp_path / "alone"])
    assert {(one.a, one.b) for one in compared.table.comparisons} == {("B", "A")}
    assert [(one.a, one.b, one.metrics) for one in compared.untested] == [("C", "A", "all"), ("C", "B", "all")]
    reason = compared.untested[0].reason
    assert reason.startswith("a test over seeds needs 3 in common, and they have 1; answers to single frames")
    (on_store,) = compare_runs([runs["random"][0], runs["equiv"][0]], str(small_store.path)).untested
    assert on_store.reason.endswith("are not compared on another store")


def test_why_a_metric_is_not_defined(runs: dict[str, list[Path]]) -> None:
    compared = compare_runs([*runs["random"], *runs["equiv"]])
    cell = compared.table.row("A").entries["rho_up"]
    assert "too few to fit and measure a map" in cell.note


@pytest.mark.parametrize(("number", "name"), [(0, "A"), (25, "Z"), (26, "A1"), (53, "B2")])
def test_groups_have_letters(number: int, name: str) -> None:
    assert letter(number) == name
