"""Torch, ONNX and torch.export agree to 1e-5, for several methods, batch sizes and large motions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray

from egoequiv.evaluation import embed
from egoequiv.evaluation.run_model import open_run_model
from egoequiv.exporting import export_run, open_model
from egoequiv.exporting.opening import OnnxModel
from egoequiv.models.motion_model import MotionModel
from egoequiv.store import FrameStore
from exporting.exports import make_run

CLOSE = 1e-5
Run = tuple[Path, Path]


def images_of(store: FrameStore, count: int) -> NDArray[np.uint8]:
    return np.array(store.images[np.linspace(0, len(store) - 1, count).astype(int)])


def program(path: Path) -> torch.nn.Module:
    return torch.export.load(path).module()


def test_stages_of_their_own_are_exported(small_store: FrameStore, tmp_path: Path) -> None:
    halves = {"encoder_settings": {"own_stages": 2, "width": 8, "feature_dim": 16}}
    run = make_run("generators", small_store, tmp_path, **halves)
    export_run(run, tmp_path / "export")
    images = images_of(small_store, 3)
    np.testing.assert_allclose(open_model(tmp_path / "export", "onnx").embed(images), embed(run, images), atol=CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 7])
def test_all_files_give_the_features_of_the_run(exported: Run, small_store: FrameStore, count: int) -> None:
    run, folder = exported
    images = images_of(small_store, count)
    expected = embed(run, images)
    session = onnxruntime.InferenceSession(folder / "encoder.onnx")
    np.testing.assert_allclose(session.run(["features"], {"images": images})[0], expected, atol=CLOSE)
    by_program = program(folder / "encoder.pt2")(torch.from_numpy(images)).detach()
    np.testing.assert_allclose(by_program, expected, atol=CLOSE)
    for engine in ("onnx", "torch"):
        np.testing.assert_allclose(open_model(folder, engine).embed(images), expected, atol=CLOSE)  # type: ignore[arg-type]


@pytest.mark.slow
def test_engines_describe_one_model(exported: Run) -> None:
    run, folder = exported
    models: list[MotionModel] = [open_run_model(run), open_model(folder, "onnx"), open_model(folder, "torch")]
    for name in ("image_shape", "parts", "mapped", "space", "takes_any", "feature_dim"):
        assert len({str(getattr(model, name)) for model in models}) == 1, name
    assert len({json.dumps({k: v.tolist() for k, v in model.motions.items()}) for model in models}) == 1
    assert isinstance(models[1], OnnxModel)


@pytest.mark.slow
def test_named_motions_agree(exported: Run, small_store: FrameStore) -> None:
    run, folder = exported
    model, images = open_run_model(run), images_of(small_store, 7)
    before = model.embed(images)[:, model.mapped]
    assert bool(model.motions) == (folder / "moved.onnx").exists() == (folder / "maps.pt2").exists()
    for name in model.motions:
        expected = model.after(before, name)
        for engine in ("onnx", "torch"):
            np.testing.assert_allclose(open_model(folder, engine).after(before, name), expected, atol=CLOSE)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_any_motion_agrees_also_a_large_one(generators: Run, small_store: FrameStore, count: int, size: float) -> None:
    run, folder = generators
    model, images = open_run_model(run), images_of(small_store, count)
    motion = (np.random.default_rng(0).normal(size=(count, 2)) * [10, 60] * size).astype(np.float32)
    features = model.embed(images)
    expected = model.after(features[:, model.mapped], motion)
    if size > 1:  # the motion does something
        assert np.abs(expected - features[:, model.mapped]).max() > 0.01
    given = {"images": images, "motion": motion}
    after, before = onnxruntime.InferenceSession(folder / "moved.onnx").run(["after", "features"], given)
    np.testing.assert_allclose(after, expected, atol=CLOSE)
    np.testing.assert_allclose(before, features, atol=CLOSE)
    after, before = program(folder / "moved.pt2")(torch.from_numpy(images), torch.from_numpy(motion))
    np.testing.assert_allclose(after.detach(), expected, atol=CLOSE)
    np.testing.assert_allclose(before.detach(), features, atol=CLOSE)
    by_onnx = open_model(folder, "onnx").after(features[:, model.mapped], motion.astype(np.float64))
    np.testing.assert_allclose(by_onnx, expected, atol=CLOSE)


def test_a_pattern_is_chosen_by_its_number(patterns: Run, small_store: FrameStore) -> None:
    run, folder = patterns
    model, images = open_run_model(run), images_of(small_store, 4)
    before = model.embed(images)
    named = [one["name"] for one in json.loads((folder / "config.json").read_text())["motions"]]
    assert named == list(model.motions)
    assert len(named) >= 4
    numbers = np.array([3, 0, 2, 1])
    expected = np.concatenate([model.after(before[k : k + 1], named[numbers[k]]) for k in range(4)])
    given = {"images": images, "motion": numbers}
    after = onnxruntime.InferenceSession(folder / "moved.onnx").run(["after"], given)[0]
    np.testing.assert_allclose(after, expected, atol=CLOSE)
    after = program(folder / "moved.pt2")(torch.from_numpy(images), torch.from_numpy(numbers))[0].detach()
    np.testing.assert_allclose(after, expected, atol=CLOSE)


def test_files_do_not_say_where_they_were_made(patterns: Run) -> None:
    for path in patterns[1].iterdir():
        data = path.read_bytes()
        assert str(Path(__file__).parents[2]).encode() not in data, path
        assert str(patterns[0].parent).encode() not in data, path
