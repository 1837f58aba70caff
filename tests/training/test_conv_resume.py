"""Runs with convolutions: normalisation, exact resume in both precisions, and weights on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from drives import drive_source
from egoequiv.errors import ConfigError
from egoequiv.evaluation import embed
from egoequiv.models import EgoNet, load_model
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, train
from egoequiv.training.network import build_net, pixel_statistics
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.streams import prepare_data
from helpers import grid_source

FILES = ("last.safetensors", "best.safetensors", "metrics.jsonl", "model.json", "result.json", "patterns.json")
SHORT = {"encoder": "kitti", "method": "equiv+drlim", "per_class": 3, "batch_size": 8, "threads": 1}
SHORT |= {"iterations": 16, "log_every": 4, "checkpoint_every": 4, "validate_every": 8, "neighbour_pairs": 200}
SHORT |= {"motion_pairs": 200, "learning_rate": 0.01, "split": "paper"}


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingest(drive_source(4), tmp_path_factory.mktemp("drives") / "store", workers=1).path


def interrupt_at(iteration: int) -> Any:
    def interrupt(metrics: dict[str, float]) -> None:
        if metrics["iteration"] == iteration:
            raise KeyboardInterrupt

    return interrupt


@pytest.mark.slow
@pytest.mark.parametrize(
    ("precision", "optimizer", "stops"),
    [("float32", "sgd", (4, 12)), ("bfloat16", "sgd", (8,)), ("float32", "adam", (8,))],
)
def test_a_stopped_run_goes_on_to_the_same_bytes(
    drives: Path, tmp_path: Path, precision: str, optimizer: str, stops: tuple[int, ...]
) -> None:
    settings = {**SHORT, "precision": precision, "optimizer": optimizer}
    whole = train(drives, tmp_path / "whole", **settings)
    for stop in stops:
        out = tmp_path / f"cut-{stop}"
        with pytest.raises(KeyboardInterrupt):
            train(drives, out, on_metrics=interrupt_at(stop), **settings)
        assert RunFolder(out).result is None
        train(drives, out, resume=True, **settings)
        for name in FILES:
            assert (out / name).read_bytes() == (whole.path / name).read_bytes(), f"{stop}: {name}"


SMALL_VIT = {"width": 16, "depth": 2, "feature_dim": 16}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "shape", "precision"),
    [
        ("residual", {"width": 8, "feature_dim": 16}, "float32"),
        ("residual", {"width": 8, "feature_dim": 16, "own_stages": 2}, "bfloat16"),
        ("vit", SMALL_VIT, "bfloat16"),
    ],
)
def test_newer_encoders_go_on_to_the_same_bytes(
    drives: Path, tmp_path: Path, encoder: str, shape: dict[str, int], precision: str
) -> None:
    settings = {**SHORT, "encoder": encoder, "encoder_settings": shape, "precision": precision, "iterations": 12}
    settings |= {"optimizer": "adamw", "weight_decay": 0.05, "decay": "one-cycle", "learning_rate": 5e-3}
    whole = train(drives, tmp_path / "whole", **settings)
    out = tmp_path / "cut"
    with pytest.raises(KeyboardInterrupt):
        train(drives, out, on_metrics=interrupt_at(8), **settings)
    assert RunFolder(out).result is None
    train(drives, out, resume=True, **settings)
    for name in FILES:
        assert (out / name).read_bytes() == (whole.path / name).read_bytes(), name
    first, *_, last = RunFolder(out).metrics()
    assert last["classification"] < first["classification"]


def test_the_precision_makes_a_difference(drives: Path, tmp_path: Path) -> None:
    exact, rough = (train(drives, tmp_path / p, precision=p, **SHORT).path for p in ("float32", "bfloat16"))
    assert (exact / "last.safetensors").read_bytes() != (rough / "last.safetensors").read_bytes()
    a, b = (load_model(path).requires_grad_(False) for path in (exact, rough))
    for x, y in zip(a.encoder.parameters(), b.encoder.parameters(), strict=True):
        assert float((x - y).norm()) < 0.2 * float(x.norm())
    assert np.corrcoef(embed(exact, drives).ravel(), embed(rough, drives).ravel())[0, 1] > 0.99


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_weights_and_momentum_are_saved_whole_and_row_by_row(drives: Path, tmp_path: Path, precision: str) -> None:
    run = train(drives, tmp_path / "run", precision=precision, **SHORT)
    with safe_open(run.path / "last.safetensors", framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert "model.encoder.conv2.weight" in tensors
    assert "optimizer.momentum_buffer:encoder.conv2.weight" in tensors
    for name, tensor in tensors.items():
        assert tensor.is_contiguous(), name
        if name != "rng.torch":
            assert tensor.dtype == torch.float32, name
    weight = load_model(run.path).encoder.conv2.weight  # type: ignore[union-attr]
    assert torch.equal(weight, tensors["model.encoder.conv2.weight"])


def test_training_lowers_the_loss_and_learns_its_labels(drives: Path, tmp_path: Path) -> None:
    settings = {**SHORT, "method": "clsnet", "iterations": 120, "learning_rate": 0.02}
    run = train(drives, tmp_path / "run", **settings)
    first, *_, last = RunFolder(run.path).metrics()
    assert last["classification"] < 0.5 * first["classification"]


def first_net(store: FrameStore, encoder: str) -> EgoNet:
    config = make_config({"data": str(store.path), "encoder": encoder, "method": "clsnet", "per_class": 3})
    return build_net(config, prepare_data(config))


@pytest.mark.parametrize("color", [False, True])
def test_convolutions_get_pixels_of_variance_one(tmp_path: Path, color: bool) -> None:
    store = ingest(grid_source(color=color), tmp_path / "store", color=color, workers=1)
    net = first_net(store, "kitti")
    train_frames = prepare_data(make_config({"data": str(store.path), "method": "clsnet", "per_class": 3})).split.train
    pixels = (np.asarray(store.images[np.sort(train_frames)], float) - net.input_mean.numpy()) / net.input_std.numpy()
    np.testing.assert_allclose(pixels.mean(axis=(0, 1, 2)), 0, atol=1e-4)
    np.testing.assert_allclose(pixels.std(axis=(0, 1, 2)), 1, atol=1e-4)
    whole = first_net(store, "norb")
    scale = np.sqrt(np.prod(store.image_shape))
    np.testing.assert_allclose(whole.input_std.numpy(), net.input_std.numpy() * scale, rtol=1e-6)
    np.testing.assert_allclose(whole.input_mean.numpy(), net.input_mean.numpy())


def test_the_scale_by_hand(small_store: FrameStore) -> None:
    frames = np.array([3, 50, 100])
    pixels = np.asarray(small_store.images[frames], float)
    mean, std = pixel_statistics(small_store, frames, unit_length=False)
    assert mean == pytest.approx([pixels.mean()])
    assert std == pytest.approx([pixels.std()])
    assert pixel_statistics(small_store, frames)[1] == pytest.approx([pixels.std() * 12])


def test_images_too_small_for_the_convolutions_are_told_before_anything_is_written(tmp_path: Path) -> None:
    store = ingest(grid_source(), tmp_path / "store", size=(8, 24), workers=1)
    with pytest.raises(ConfigError, match="12 pixels a side"):
        train(store.path, tmp_path / "run", encoder="kitti", method="clsnet", per_class=3)
    assert not (tmp_path / "run").exists()
