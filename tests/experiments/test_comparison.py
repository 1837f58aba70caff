"""Runs side by side: repetitions are grouped, tested seed by seed, and refused where frames differ."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.evaluation.comparison import BOOTSTRAP
from egoequiv.experiments import comparison, measure_run
from egoequiv.experiments.comparison import compare_runs, right_answers
from egoequiv.experiments.run_groups import differing_settings, group_runs
from egoequiv.pose import NoMotion
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from helpers import GRID, grid_recording, grid_source

SHORT = {
    "iterations": 20,
    "log_every": 20,
    "checkpoint_every": 20,
    "validate_every": 20,
    "per_class": 2,
    "learning_rate": 0.1,
    "split": "paper",
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
    values = {method: [measure_run(run)["metrics"]["top1"] for run in own] for method, own in runs.items()}
    assert [metrics["top1"].values for metrics in compared.metrics] == [tuple(own) for own in values.values()]
    (top1,) = (one for one in compared.tests if one.metric == "top1")
    assert top1.test.difference == pytest.approx(np.mean(values["equiv"]) - np.mean(values["random"]))
    assert top1.test.p_value == pytest.approx(stats.ttest_rel(values["equiv"], values["random"]).pvalue)
    assert not compared.answers
    assert compared.describe()["groups"][1]["seeds"] == [0, 1, 2]


def test_single_runs_are_compared_frame_by_frame(runs: dict[str, list[Path]], small_store: FrameStore) -> None:
    compared = compare_runs([runs["random"][0], runs["equiv"][1]])
    assert not compared.tests
    (only,) = compared.answers
    (rho,) = compared.untested
    assert (rho.a, rho.b, rho.figures) == (1, 0, "rho")
    assert rho.reason.endswith("tell of top-1 only")
    top1 = [metrics["top1"].mean for metrics in compared.metrics]
    assert 100 * only.compared.difference == pytest.approx(top1[1] - top1[0])
    assert only.compared.test == BOOTSTRAP
    right, recording = right_answers(runs["equiv"][1])
    assert 100 * right.mean() == pytest.approx(top1[1])
    assert only.compared.recordings == len(np.unique(recording)) == len(small_store.recording_names)


def test_other_frames_are_refused_in_one_line(
    runs: dict[str, list[Path]], small_store: FrameStore, tmp_path: Path
) -> None:
    train(small_store.path, tmp_path / "split", method="random", train_fraction=0.5, **SHORT)
    with pytest.raises(ConfigError, match=r"different frames \(train_fraction=0.67 against 0.5\)"):
        compare_runs([runs["random"][0], tmp_path / "split"])
    other = ingest(
        Source("grid", GRID, [grid_recording(kind, 0) for kind in range(3)], {}), tmp_path / "other", workers=1
    )
    train(other.path, tmp_path / "store", method="random", **SHORT)
    with pytest.raises(ConfigError, match="different stores"):
        compare_runs([runs["random"][0], tmp_path / "store"])
    train(small_store.path, tmp_path / "plain", method="drlim", use_labels=False, **SHORT)
    for labels in (small_store.path, other.path):
        settings = {"labels": str(labels), "split": "paper", **SHORT}
        train(small_store.path, tmp_path / labels.name / "run", method="equiv", **settings)
    places = [tmp_path / "plain", *(tmp_path / labels.name / "run" for labels in (small_store.path, other.path))]
    with pytest.raises(ConfigError, match="store of labelled images"):  # though the first has no labels
        compare_runs(places)
    on_third = compare_runs([runs["random"][0], tmp_path / "store"], str(small_store.path))
    assert all("rho_atomic" in metrics for metrics in on_third.metrics)
    assert not on_third.answers


def test_one_run_by_two_paths_is_no_repetition(runs: dict[str, list[Path]]) -> None:
    first = runs["random"][0]
    compared = compare_runs(
        [first, first.parent / "." / first.name, first.parent / ".." / first.parent.name / first.name]
    )
    assert [group.runs for group in compared.groups] == [(first,)]


def test_a_store_on_which_nothing_can_be_measured_is_refused(runs: dict[str, list[Path]], tmp_path: Path) -> None:
    source = Source("pictures", NoMotion(), grid_source().recordings, {}, GRID.pose_names)
    pictures = ingest(source, tmp_path / "bare", workers=1)
    with pytest.raises(EgoEquivError, match="bare"):
        compare_runs([runs["random"][0], runs["equiv"][0]], str(pictures.path))


def test_why_nothing_was_tested(runs: dict[str, list[Path]], small_store: FrameStore, tmp_path: Path) -> None:
    train(small_store.path, tmp_path / "apart", method="drlim", use_labels=False, **SHORT)
    compared = compare_runs([*runs["random"], *runs["equiv"], tmp_path / "apart"])
    assert {(one.a, one.b) for one in compared.tests} == {(1, 0)}
    assert [(one.a, one.b) for one in compared.untested] == [(2, 0), (2, 1)]
    reason = compared.untested[0].reason
    assert reason.startswith("a test over seeds takes 3 in common, and they have 1; answers to single frames")
    assert compared.describe()["untested"][1] == {"a": 2, "b": 1, "figures": "all", "reason": reason}
    (on_store,) = compare_runs([runs["random"][0], runs["equiv"][0]], str(small_store.path)).untested
    assert on_store.reason.endswith("are not compared on another store")


def test_why_a_figure_is_not_defined(runs: dict[str, list[Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"motion": "up", "rho": None, "pairs_fitted": 0, "pairs_scored": 9, "pairs_needed": 40}
    asleep = {"motion": "right", "rho": None, "pairs_fitted": 9, "pairs_scored": 9}
    awake = asleep | {"rho": 0.5}

    def measured(run: Path) -> dict[str, object]:
        right = asleep if run == runs["random"][1] else awake
        return {"metrics": {"rho_up": None, "rho_right": right["rho"]}, "motions": [few, right]}

    monkeypatch.setattr(comparison, "measure_run", measured)
    compared = compare_runs([*runs["random"], *runs["equiv"]])
    words = "9 pairs are too few to fit and measure a map, 40 are needed"
    assert compared.undefined == [
        {"up": words, "right": "in 1 of 3 runs all pairs have the same features: the network collapsed"},
        {"up": words},
    ]
    assert compared.untested[0].reason == "no figure is defined for both in all of the 3 seeds that they have in common"
    assert compared.describe()["groups"][1]["undefined"] == {"up": words}
