"""What layers inside a model give, and feature vectors from it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from auditing.toys import TinyNet
from egoequiv.errors import ConfigError, DataError
from egoequiv.models.foreign.layers import (
    OUTPUT,
    Pooling,
    check_layer,
    first_tensor,
    module_names,
    pooled,
    run_with_layers,
    to_array,
)


def test_layers_are_what_the_modules_give() -> None:
    net = TinyNet().eval()
    images = torch.rand(3, 1, 12, 12)
    found = run_with_layers(net, net, images, (OUTPUT, "body", "body.0"))
    torch.testing.assert_close(found["body.0"], net.body[0](images))
    torch.testing.assert_close(found["body"], net.body(images))
    torch.testing.assert_close(found[OUTPUT], net(images))
    assert not net.body._forward_hooks  # the model is left as it was


def test_a_layer_that_is_not_used_is_told() -> None:
    net = TinyNet()
    with pytest.raises(DataError, match="'unused' was not run"):
        run_with_layers(net, net, torch.rand(1, 1, 12, 12), (OUTPUT, "unused"))


def test_unknown_layers_have_close_ones() -> None:
    names = module_names(TinyNet())
    assert names == ("body", "body.0", "body.1", "head", "unused")
    check_layer("head", names, "tiny")
    with pytest.raises(ConfigError, match=r"'bodi' is not known in tiny; did you mean body"):
        check_layer("bodi", names, "tiny")
    with pytest.raises(ConfigError, match="no layers that can be looked into"):
        check_layer("body", (), "pixels")


@pytest.mark.parametrize(
    ("shape", "pooling", "expected"),
    [
        ((2, 3), "mean", [[0, 1, 2], [3, 4, 5]]),
        ((2,), "mean", [[0], [1]]),
        ((2, 2, 3), "mean", [[1.5, 2.5, 3.5], [7.5, 8.5, 9.5]]),  # tokens: over the second axis
        ((2, 3, 1, 2), "mean", [[0.5, 2.5, 4.5], [6.5, 8.5, 10.5]]),  # maps: over height and width
        ((2, 3, 1, 2), "flatten", [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]),
    ],
)
def test_pooling_by_hand(shape: tuple[int, ...], pooling: Pooling, expected: list[list[float]]) -> None:
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    np.testing.assert_allclose(pooled(values, pooling), expected)


def test_what_counts_as_numbers() -> None:
    tensor = torch.ones(2, dtype=torch.bfloat16)
    assert first_tensor((tensor, "rest")) is tensor
    assert first_tensor({"hidden": tensor, "rest": 1}) is tensor
    array = to_array(tensor)
    assert array is not None
    assert array.dtype == np.float32
    assert to_array([1.0]) is None
    assert to_array(np.array(["a"])) is None
