"""The whole network: normalisation, specification and initial weights."""

from __future__ import annotations

import json
from math import sqrt

import pytest
import torch

from egoequiv.errors import ConfigError, DataError
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.network import MapInit

SPEC = NetSpec("norb", (4, 5, 2), ("up", "right"), ("a", "b", "c"))


def made(spec: NetSpec = SPEC, seed: int = 0, maps: MapInit = "identity") -> EgoNet:
    net = EgoNet(spec)
    initialise(net, torch.Generator().manual_seed(seed), maps)
    return net


def test_images_are_normalised_channel_by_channel() -> None:
    net = made()
    images = torch.randint(0, 256, (3, 4, 5, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    net.set_normalisation([10.0, 200.0], [2.0, 50.0])
    by_hand = torch.empty(3, 2, 4, 5)
    by_hand[:, 0] = (images[..., 0].float() - 10) / 2
    by_hand[:, 1] = (images[..., 1].float() - 200) / 50
    torch.testing.assert_close(net(images), net.encoder(by_hand))


def test_without_normalisation_pixels_are_taken_as_they_are() -> None:
    net = made()
    images = torch.full((1, 4, 5, 2), 7, dtype=torch.uint8)
    torch.testing.assert_close(net(images), net.encoder(torch.full((1, 2, 4, 5), 7.0)))


def test_normalisation_is_saved_with_the_weights() -> None:
    net = made()
    net.set_normalisation([1.0, 2.0], [3.0, 4.0])
    state = net.state_dict()
    assert state["input_mean"].tolist() == [1.0, 2.0]
    assert state["input_std"].tolist() == [3.0, 4.0]


def test_maps_and_head_are_there_when_asked_for() -> None:
    net = EgoNet(SPEC)
    assert net.maps is not None
    assert net.maps.weight.shape == (2, 100, 100)
    assert net.head is not None
    assert net.head.weight.shape == (3, 100)
    bare = EgoNet(NetSpec("norb", (4, 5, 2)))
    assert bare.maps is None
    assert bare.head is None


def test_an_unknown_encoder_is_named_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="encoder 'resnet' is not known; choose one of norb"):
        EgoNet(NetSpec("resnet", (4, 5, 2)))


def test_a_specification_survives_json() -> None:
    for spec in (SPEC, NetSpec("norb", (1, 1, 1))):
        assert NetSpec.from_description(json.loads(json.dumps(spec.describe()))) == spec


@pytest.mark.parametrize(
    "changes",
    [{"image_shape": [4, 5]}, {"image_shape": 4}, {"image_shape": ["a", "b", "c"]}, {"patterns": None}],
)
def test_a_damaged_specification_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(DataError, match="description of a network is damaged"):
        NetSpec.from_description({**SPEC.describe(), **changes})


@pytest.mark.parametrize("key", ["encoder", "image_shape", "patterns", "class_names"])
def test_an_incomplete_specification_is_refused(key: str) -> None:
    description = SPEC.describe()
    del description[key]
    with pytest.raises(DataError, match=key):
        NetSpec.from_description(description)


def test_initial_weights_are_uniform_with_variance_one_over_inputs() -> None:
    spec = NetSpec("norb", (20, 20, 1), ("up", "right"), tuple("abcdefghij"))
    net = made(spec, maps="xavier").requires_grad_(False)
    assert net.maps is not None
    assert net.head is not None
    encoder = net.encoder
    layers = {400: encoder.hidden.weight, 20: encoder.features.weight}  # type: ignore[union-attr]
    for fan_in, weight in [*layers.items(), (100, net.maps.weight), (100, net.head.weight)]:
        bound = sqrt(3 / fan_in)
        assert weight.abs().max() <= bound
        assert weight.abs().max() > 0.95 * bound
        assert weight.mean().abs() < 0.1 * bound
        assert float(weight.var()) == pytest.approx(1 / fan_in, rel=0.15)


def test_maps_begin_as_the_identity_unless_drawn() -> None:
    net = made()
    assert net.maps is not None
    assert torch.equal(net.maps.weight, torch.eye(100).expand(2, 100, 100))
    z = torch.randn(4, 100)
    torch.testing.assert_close(net.maps(z), z[:, None].expand(4, 2, 100))


def test_initial_biases_are_zero() -> None:
    biases = {name: value for name, value in made().named_parameters() if name.endswith("bias")}
    assert len(biases) == 4
    for bias in biases.values():
        assert not bias.any()


def test_the_generator_alone_decides_the_weights() -> None:
    torch.manual_seed(1)
    a = made(seed=5).state_dict()
    torch.manual_seed(2)
    b, c = made(seed=5).state_dict(), made(seed=6).state_dict()
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["encoder.hidden.weight"], c["encoder.hidden.weight"])
