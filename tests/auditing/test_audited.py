"""Features of a model, checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from auditing.toys import WRONG, Changing, TinyNet, posed_store
from egoequiv.auditing import load_audited
from egoequiv.errors import ConfigError
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
