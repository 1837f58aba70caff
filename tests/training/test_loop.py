"""Training runs: what they learn, save and refuse."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from egoequiv.errors import ConfigError, DataError, DivergedError
from egoequiv.evaluation import embed
from egoequiv.files import locked
from egoequiv.method_names import list_methods
from egoequiv.models import load_model
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from egoequiv.training.network import pixel_statistics
from egoequiv.training.run_folder import RunFolder
from helpers import GRID, grid_source

FEW = {"iterations": 200, "per_class": 3, "log_every": 50, "validate_every": 100, "checkpoint_every": 50}
FEW |= {"split": "paper", "encoder": "norb", "batch_size": 16}


@pytest.mark.slow
@pytest.mark.parametrize("method", list_methods())
@pytest.mark.parametrize("use_labels", [True, False])
def test_every_method_trains_with_and_without_labels(
    method: str, use_labels: bool, small_store: FrameStore, tmp_path: Path
) -> None:
    if method == "place+motion+coming":  # learns what comes next; these frames have no times
        with pytest.raises(DataError, match="no frame has another 1 s after it"):
            train(small_store.path, tmp_path / "run", method=method, use_labels=use_labels, **FEW)
        return
    if method in ("clsnet", "supervised") and not use_labels:
        with pytest.raises(ConfigError, match="labels only"):
            train(small_store.path, tmp_path / "run", method=method, use_labels=False)
        return
    fewer = FEW | {"iterations": 100, "log_every": 25, "validate_every": 50}
    run = train(small_store.path, tmp_path / "run", method=method, use_labels=use_labels, **fewer)
    features = embed(run.path, small_store)
    assert features.shape == (len(small_store), 100)
    assert np.isfinite(features).all()
    assert (run.model().head is None) == (not use_labels)
    lines = RunFolder(run.path).metrics()
    if method != "random":
        assert [line["iteration"] for line in lines] == [25, 50, 75, 100]
        assert lines[-1]["loss"] < lines[0]["loss"]
        assert "validation_loss" in lines[1]
        assert "validation_loss" not in lines[0]


def test_the_network_learns_its_labelled_images(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="clsnet", **{**FEW, "iterations": 1500})
    first, *_, last = RunFolder(run.path).metrics()
    assert last["classification"] < 0.2 * first["classification"]
    assert last["validation_top1"] > 1.5 / len(small_store.class_names)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(small_store: FrameStore, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(small_store.path, tmp_path / name, method="equiv+drlim", seed=seed, **FEW)
    a, b, c = ((tmp_path / name / "last.safetensors").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_an_interrupted_run_resumes_to_the_same_bytes(
    small_store: FrameStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"method": "equiv+drlim", "optimizer": "adam", "learning_rate": 0.001, **FEW}
    whole = train(small_store.path, tmp_path / "whole", **settings)

    def interrupt(metrics: dict[str, float]) -> None:
        if metrics["iteration"] == 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(small_store.path, tmp_path / "cut", on_metrics=interrupt, **settings)
    assert RunFolder(tmp_path / "cut").result is None
    assert "goes on" not in capsys.readouterr().err
    resumed = train(small_store.path, tmp_path / "cut", resume=True, **settings)
    assert "goes on at iteration 150 of 200" in capsys.readouterr().err
    for name in ("last.safetensors", "best.safetensors", "metrics.jsonl", "model.json", "result.json"):
        assert (whole.path / name).read_bytes() == (resumed.path / name).read_bytes(), name


def test_metrics_after_the_checkpoint_are_dropped_on_resume(small_store: FrameStore, tmp_path: Path) -> None:
    settings = {"method": "drlim", **FEW, "checkpoint_every": 100}

    def interrupt(metrics: dict[str, float]) -> None:
        if metrics["iteration"] == 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(small_store.path, tmp_path / "run", on_metrics=interrupt, **settings)
    with open(tmp_path / "run" / "metrics.jsonl", "a") as file:
        file.write('{"iteration": 200, "lo')  # a line cut short by a kill
    run = train(small_store.path, tmp_path / "run", resume=True, **settings)
    assert [line["iteration"] for line in RunFolder(run.path).metrics()] == [50, 100, 150, 200]


def test_a_run_is_not_begun_twice(small_store: FrameStore, tmp_path: Path) -> None:
    train(small_store.path, tmp_path / "run", method="clsnet", **FEW)
    with pytest.raises(DataError, match="--resume"):
        train(small_store.path, tmp_path / "run", method="clsnet", **FEW)
    with pytest.raises(ConfigError, match=r"began with seed=0, now seed=1"):
        train(small_store.path, tmp_path / "run", method="clsnet", resume=True, seed=1, **FEW)
    weights = (tmp_path / "run" / "last.safetensors").read_bytes()
    train(small_store.path, tmp_path / "run", method="clsnet", resume=True, **FEW)
    assert (tmp_path / "run" / "last.safetensors").read_bytes() == weights


def test_other_peoples_folders_are_left_alone(small_store: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("...")
    with pytest.raises(DataError, match="not empty"):
        train(small_store.path, tmp_path / "thesis", method="clsnet", **FEW)
    (tmp_path / "file").write_text("...")
    with pytest.raises(DataError, match="is a file"):
        train(small_store.path, tmp_path / "file", method="clsnet", **FEW)


def test_divergence_names_iteration_and_remedy(small_store: FrameStore, tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match=r"at iteration \d+: lower learning_rate \(now 1e\+09\)") as caught:
        train(small_store.path, tmp_path / "run", method="equiv", learning_rate=1e9, **FEW)
    assert 1 <= caught.value.iteration <= 50
    assert not (tmp_path / "run" / "last.safetensors").exists()
    assert not (tmp_path / "run" / "result.json").exists()


def test_labels_may_come_from_another_store(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="equiv", labels=str(small_store.path), **FEW)
    assert run.result["training_rows"]["labelled"] == 3 * len(small_store.class_names)


def test_the_best_checkpoint_is_the_one_with_the_best_score(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="clsnet", **FEW)
    scores = {m["iteration"]: m["validation_top1"] for m in RunFolder(run.path).metrics() if "validation_top1" in m}
    assert run.result["best_score"] == max(scores.values())
    best = load_model(run.path, "best").state_dict()
    assert all(torch.isfinite(value).all() for value in best.values())


def test_normalisation_uses_training_frames_only(small_store: FrameStore) -> None:
    frames = np.arange(0, len(small_store), 2)
    (mean,), (scale,) = pixel_statistics(small_store, frames)
    pixels = small_store.images[frames].astype(float)
    assert mean == pytest.approx(pixels.mean())
    assert scale == pytest.approx(pixels.std() * np.sqrt(pixels[0].size))


def test_metrics_are_json_lines(small_store: FrameStore, tmp_path: Path) -> None:
    train(small_store.path, tmp_path / "run", method="equiv", **FEW)
    for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines():
        assert {"iteration", "loss", "classification", "equivariance"} <= set(json.loads(line))


def test_weights_spoilt_by_the_last_step_count_as_diverged(small_store: FrameStore, tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match="validation loss is not finite at iteration 1"):
        train(small_store.path, tmp_path / "run", method="equiv", learning_rate=1e38, **{**FEW, "iterations": 1})
    assert not (tmp_path / "run" / "result.json").exists()


def test_two_processes_do_not_share_a_run(small_store: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run", "the run"), pytest.raises(DataError, match="another process is at work"):
        train(small_store.path, tmp_path / "run", method="clsnet", resume=True, **FEW)


def test_a_run_remembers_its_store_by_full_path(
    small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_store.path.parent)
    run = train(small_store.path.name, tmp_path / "run", method="clsnet", **FEW)
    monkeypatch.chdir(tmp_path)
    assert Path(RunFolder(run.path).config().data) == small_store.path.resolve()


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("config.json", "[]", "config.json is damaged"),
        ("config.json", '{"data": 3', "config.json is damaged"),
        ("result.json", "[]", "result.json is damaged"),
        ("metrics.jsonl", "nonsense\n", "metrics.jsonl is damaged"),
        ("last.safetensors", "nonsense", "last.safetensors is damaged"),
    ],
)
def test_damaged_runs_are_named(file: str, content: str, words: str, small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="clsnet", **FEW)
    if file != "result.json":
        (run.path / "result.json").unlink()
    (run.path / file).write_text(content)
    with pytest.raises(DataError, match=words):
        train(small_store.path, tmp_path / "run", method="clsnet", resume=True, **FEW)


def test_best_is_no_checkpoint_to_go_on_from(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="clsnet", **FEW)
    (run.path / "result.json").unlink()
    (run.path / "best.safetensors").rename(run.path / "last.safetensors")
    with pytest.raises(DataError, match="not a checkpoint to go on from"):
        train(small_store.path, tmp_path / "run", method="clsnet", resume=True, **FEW)


def test_a_store_that_has_changed_is_noticed(tmp_path: Path) -> None:
    settings = {"method": "drlim", "use_labels": False, **FEW}
    store = ingest(grid_source(), tmp_path / "store", workers=1)
    run = train(store.path, tmp_path / "run", **settings)
    (run.path / "result.json").unlink()
    ingest(Source("other", GRID, grid_source().recordings[1:]), tmp_path / "store", workers=1, overwrite=True)
    with pytest.raises(DataError, match="has changed since"):
        train(store.path, tmp_path / "run", resume=True, **settings)
