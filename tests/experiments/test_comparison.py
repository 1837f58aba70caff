"""Runs side by side: repetitions are grouped, tested seed by seed, and refused where frames differ."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from egoequiv.errors import ConfigError
from egoequiv.evaluation.comparison import BOOTSTRAP
from egoequiv.experiments import measure_run
from egoequiv.experiments.comparison import compare_runs, right_answers
from egoequiv.experiments.run_groups import differing_settings, group_runs
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from helpers import GRID, grid_recording

SHORT = {
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
    on_third = compare_runs([runs["random"][0], tmp_path / "store"], str(small_store.path))
    assert all("rho_atomic" in metrics for metrics in on_third.metrics)
    assert not on_third.answers
