"""Features of a model, checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from auditing.toys import WRONG, Changing, TinyNet, posed_store
from egoequiv.auditing import load_audited
from egoequiv.errors import ConfigError
from egoequiv.models.foreign.cells import cells_of
from egoequiv.models.foreign.layers import OUTPUT
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.preprocessing import Preprocessing
from helpers import data_error

STORE = posed_store(2)


def test_features_are_those_of_the_model() -> None:
    net = TinyNet()
    model = load_audited(net, STORE, declared={"mean": (0.5,), "std": (0.25,)})
    prepared = (torch.from_numpy(STORE.images[:7].copy()).permute(0, 3, 1, 2) / 255 - 0.5) / 0.25
    np.testing.assert_allclose(model.features(STORE.images[:7]), net(prepared).detach().numpy(), atol=1e-6)
    maps = net.body(prepared).detach().numpy()
    np.testing.assert_allclose(model.features(STORE.images[:7], "body"), maps.mean(axis=(2, 3)), atol=1e-6)
    np.testing.assert_allclose(model.features(STORE.images[:7], "body", "flatten"), maps.reshape(7, -1), atol=1e-6)


@pytest.mark.parametrize("fault", WRONG)
def test_what_goes_wrong_is_one_line(fault: str) -> None:
    call, words = WRONG[fault]
    with data_error("model", *words):
        load_audited(call, STORE, name="strange").features(STORE.images[:4])


def test_three_channels_wanted_and_one_shown() -> None:
    with data_error("takes images of 3 channels and was shown 1", "declare channels=3"):
        load_audited(TinyNet(channels=3), STORE).features(STORE.images[:4])
    declared = load_audited(TinyNet(channels=3), STORE, declared={"channels": 3})
    assert declared.features(STORE.images[:4]).shape == (4, 5)


def test_a_model_that_takes_so_many_images_at_a_time() -> None:
    seen: list[int] = []

    def forward(images: Tensor, _layers: Sequence[str]) -> dict[str, Any]:
        seen.append(len(images))
        return {OUTPUT: images.flatten(1)}

    model = AuditedModel("four", "test", Preprocessing(), forward, batch=4)
    features = model.features(STORE.images[:10])
    assert seen == [4, 4, 4]
    np.testing.assert_allclose(features, STORE.images[:10].reshape(10, -1) / 255, rtol=1e-6)


def test_the_number_of_features_is_the_same_for_all_images() -> None:
    changing = Changing(1)
    model = AuditedModel("changing", "test", Preprocessing(), lambda images, _: {OUTPUT: changing(images)}, batch=4)
    with data_error("model changing", "4 features for some images and 1 for others"):
        model.features(STORE.images[:8])


def test_no_other_pooling() -> None:
    with pytest.raises(ConfigError, match="pooling 'max' is not known; choose mean or flatten"):
        load_audited("pixels", STORE).features(STORE.images[:2], pooling="max")  # type: ignore[arg-type]


def test_what_a_model_prints_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    load_audited("auditing.toys:talking", STORE).features(STORE.images[:2])
    printed = capsys.readouterr()
    assert (printed.out, printed.err.split()) == ("", ["built", "called"])


def test_cells_of_a_grid_keep_where_things_are() -> None:
    net = TinyNet()
    model = load_audited(net, STORE, grid=(2, 3))
    prepared = torch.from_numpy(STORE.images[:7].copy()).permute(0, 3, 1, 2) / 255
    maps = net.body(prepared).detach()
    found = model.features(STORE.images[:7], "body")
    expected = cells_of(maps, (2, 3)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found.reshape(7, maps.shape[1], 6).mean(2), maps.mean((2, 3)), atol=1e-6)
    np.testing.assert_allclose(model.features(STORE.images[:7]), net(prepared).detach().numpy(), atol=1e-6)  # a vector
    assert model.kind.endswith("grid 2x3")
    assert model.notes == ("TinyNet: maps and tokens are averaged to 2x3 cells",)


def test_tokens_are_laid_out_before_they_are_cells() -> None:
    def tokens(images: Tensor) -> Tensor:  # of patches of 4 x 4, with a class token before them
        patches = images.unfold(2, 4, 4).unfold(3, 4, 4).flatten(4).mean(4)  # (B, 1, 3, 3)
        return torch.cat([torch.zeros(len(images), 1, 1), patches.flatten(2).mT], dim=1)

    patched = replace(load_audited(tokens, STORE), patch=4).in_cells((1, 3))
    columns = (STORE.images[:5, :, :, 0] / 255).reshape(5, 12, 3, 4).mean((1, 3))
    np.testing.assert_allclose(patched.features(STORE.images[:5]), columns, atol=1e-6)


def test_tokens_that_are_no_picture_are_one_line() -> None:
    model = load_audited(lambda images: torch.zeros(len(images), 70, 2), STORE, name="odd", grid=(1, 3))
    with data_error("model odd", "70 tokens are not the patches of a picture of 12 x 12"):
        model.features(STORE.images[:2])


def test_a_vector_has_no_cells() -> None:
    images = STORE.images[:3]
    plain, cells = (load_audited("pixels", STORE, grid=grid).features(images) for grid in (None, (2, 3)))
    np.testing.assert_array_equal(cells, plain)
