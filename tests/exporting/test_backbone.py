"""A backbone in a user's own training loop."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import egoequiv
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import embed
from egoequiv.exporting import Backbone, open_model
from egoequiv.store import FrameStore

Run = tuple[Path, Path]


def images_of(store: FrameStore) -> torch.Tensor:
    return torch.from_numpy(np.array(store.images[::20]))


@pytest.mark.parametrize("part", ["all", "invariant", "equivariant"])
@pytest.mark.parametrize("place", [0, 1])
def test_features_are_those_of_the_run(place: int, part: str, generators: Run, small_store: FrameStore) -> None:
    backbone = egoequiv.load_backbone(generators[place], part=part)
    images = images_of(small_store)
    expected = embed(generators[0], images.numpy(), part=part)
    np.testing.assert_allclose(backbone.features(images), expected, atol=1e-5)
    as_loaders_have_them = images.permute(0, 3, 1, 2).float() / 255
    kept = as_loaders_have_them.clone()
    np.testing.assert_allclose(backbone(as_loaders_have_them), expected, atol=1e-5)
    assert torch.equal(as_loaders_have_them, kept)
    assert backbone.feature_dim == expected.shape[1]


def test_frozen_nothing_is_trained_and_nothing_changes(generators: Run, small_store: FrameStore) -> None:
    backbone = egoequiv.load_backbone(generators[1])
    model = nn.Sequential(backbone, nn.Linear(backbone.feature_dim, 3)).train()
    assert not any(parameter.requires_grad for parameter in backbone.parameters())
    assert not any(module.training for module in backbone.modules())
    model(images_of(small_store)).sum().backward()
    assert model[1].weight.grad is not None


def test_trained_further_it_learns_and_is_saved(generators: Run, small_store: FrameStore, tmp_path: Path) -> None:
    backbone = egoequiv.load_backbone(generators[0], frozen=False)
    images, classes = images_of(small_store), torch.arange(8) % 3
    model = nn.Sequential(backbone, nn.Linear(backbone.feature_dim, 3)).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, 1e-3)
    losses = []
    for _ in range(15):
        loss = nn.functional.cross_entropy(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        assert all(parameter.grad is not None for parameter in trained)  # none is idle, as DDP demands
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.9 * losses[0]
    before = embed(generators[0], images.numpy())
    backbone.eval()
    after = backbone.features(images).detach().numpy()
    assert np.abs(after - before).max() > 1e-3
    backbone.save_pretrained(tmp_path / "saved")
    assert {path.name for path in (tmp_path / "saved").iterdir()} == {"config.json", "model.safetensors"}
    again = Backbone.from_pretrained(tmp_path / "saved")
    np.testing.assert_allclose(again.features(images), after, atol=1e-6)
    opened = open_model(tmp_path / "saved")  # without ONNX files, by torch
    np.testing.assert_allclose(opened.embed(images.numpy()), after, atol=1e-6)
    assert list(opened.motions) == list(open_model(generators[0]).motions)
    with pytest.raises(DataError, match="exists already"):
        backbone.save_pretrained(tmp_path / "saved")


@pytest.mark.parametrize(
    ("images", "words"),
    [
        (torch.zeros(2, 12, 12, 1), "expected float images"),
        (torch.full((2, 1, 12, 12), 200.0), "values of 0 to 1, found 200 to 200"),
        (torch.full((2, 1, 12, 12), -2.0), "do not normalise them"),
        (torch.full((2, 1, 12, 12), torch.nan), "values of 0 to 1"),
        (torch.zeros(2, 9, 12, 1, dtype=torch.uint8), "takes uint8 images"),
        (torch.zeros(2, 12, 12, 1, dtype=torch.int64), "takes uint8 images"),
    ],
)
def test_images_that_would_give_wrong_features_are_refused(images: torch.Tensor, words: str, generators: Run) -> None:
    with pytest.raises(DataError, match=words):
        egoequiv.load_backbone(generators[1]).features(images)


def test_it_needs_no_store(generators: Run, small_store: FrameStore, tmp_path: Path) -> None:
    shutil.copytree(generators[0], tmp_path / "run")
    config = (tmp_path / "run" / "config.json").read_text()
    (tmp_path / "run" / "config.json").write_text(config.replace(str(small_store.path), str(tmp_path / "gone")))
    images = images_of(small_store)
    backbone = egoequiv.load_backbone(tmp_path / "run")
    np.testing.assert_allclose(backbone.features(images), embed(generators[0], images.numpy()), atol=1e-6)
    whole = egoequiv.load_backbone(generators[0])
    assert backbone.config.trained_on == whole.config.trained_on
    assert backbone.config.trained_on["fingerprint"]  # an audit knows the training frames by it
    backbone.save_pretrained(tmp_path / "saved")
    model = open_model(tmp_path / "saved")
    assert model.space == small_store.space
    z, motion = model.embed(images.numpy())[:, model.mapped], np.array([1.0, 0.0])
    np.testing.assert_allclose(model.after(z, motion), open_model(generators[0]).after(z, motion), atol=1e-6)


def test_a_damaged_motion_space_is_said(generators: Run, tmp_path: Path) -> None:
    shutil.copytree(generators[0], tmp_path / "run")
    begun = json.loads((tmp_path / "run" / "data.json").read_text())
    (tmp_path / "run" / "data.json").write_text(json.dumps(begun | {"space": {"kind": "flat"}}))
    with pytest.raises(DataError, match=r"data\.json: motion space of kind 'flat' is not known"):
        egoequiv.load_backbone(tmp_path / "run")


def test_a_run_of_an_early_version_finds_its_motions_in_its_store(generators: Run, tmp_path: Path) -> None:
    shutil.copytree(generators[0], tmp_path / "run")
    begun = json.loads((tmp_path / "run" / "data.json").read_text())
    (tmp_path / "run" / "data.json").write_text(json.dumps({"fingerprint": begun["fingerprint"]}))
    early, now = (open_model(path) for path in (tmp_path / "run", generators[0]))
    assert (early.space, list(early.motions)) == (now.space, list(now.motions))


def test_what_is_not_there_is_said(generators: Run, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither a run"):
        egoequiv.load_backbone(tmp_path)
    with pytest.raises(ConfigError, match="no part 'sideways'"):
        egoequiv.load_backbone(generators[1], part="sideways")


def test_features_of_an_early_run_need_no_store(generators: Run, small_store: FrameStore, tmp_path: Path) -> None:
    shutil.copytree(generators[0], tmp_path / "run")
    for name, old, new in (
        ("config.json", str(small_store.path), str(tmp_path / "gone")),
        ("data.json", '"space"', '"unknown"'),
    ):
        path = tmp_path / "run" / name
        path.write_text(path.read_text().replace(old, new))
    images = images_of(small_store)
    found = egoequiv.load_backbone(tmp_path / "run").features(images)
    np.testing.assert_allclose(found, embed(generators[0], images.numpy()), atol=1e-6)


def test_a_motion_space_of_another_size_is_refused(generators: Run, tmp_path: Path) -> None:
    shutil.copytree(generators[0], tmp_path / "run")
    begun = json.loads((tmp_path / "run" / "data.json").read_text())
    del begun["space"]["axes"][1:]
    (tmp_path / "run" / "data.json").write_text(json.dumps(begun))
    with pytest.raises(DataError, match=r"motions of 2 numbers, and its motion space has 1: data\.json is damaged"):
        egoequiv.load_backbone(tmp_path / "run")
