"""The whole network: normalisation, specification and initial weights."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from egoequiv.errors import ConfigError, DataError
from egoequiv.models import EgoNet, NetSpec, initialise, load_model
from egoequiv.models.checkpoint import save_spec, save_tensors
from egoequiv.models.network import MapInit

SPEC = NetSpec("norb", (4, 5, 2), ("up", "right"), ("a", "b", "c"))
PARTED = replace(SPEC, parts={"invariant": 60, "equivariant": 40})


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
    one = (1, 1, 1)
    others = NetSpec("norb", one), NetSpec("norb", one, encoder_settings={"hidden_units": 3}), PARTED
    for spec in (SPEC, *others):
        assert NetSpec.from_description(json.loads(json.dumps(spec.describe()))) == spec


@pytest.mark.parametrize(
    "changes",
    [
        {"image_shape": [4, 5]},
        {"image_shape": 4},
        {"image_shape": ["a", "b", "c"]},
        {"patterns": None},
        {"encoder_settings": [3]},
        {"parts": 3},
        {"parts": {"invariant": 3}},
        {"parts": [["invariant", "many"]]},
        {"parts": [["all", 100]]},
        {"layers": {"a.b": [3, 4]}},
        {"layers": {"": [3, 4]}},
        {"layers": {"keys": [3, 4]}},
        {"layers": {"variance": [3, -1]}},
        {"layers": {"variance": [3, 10**12]}},
        {"layers": {"variance": [3, 10**40]}},
    ],
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


CONV = NetSpec("kitti", (17, 20, 3), ("left", "right", "straight"), ("a", "b"))


def conv_weights(net: EgoNet) -> list[torch.Tensor]:
    return [value for value in net.parameters() if value.dim() == 4]


def some_images(count: int = 6) -> torch.Tensor:
    return torch.randint(0, 256, (count, 17, 20, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def test_initial_convolutions_are_uniform_with_variance_one_over_inputs() -> None:
    net = made(CONV, maps="xavier").requires_grad_(False)
    assert [weight[0].numel() for weight in conv_weights(net)] == [3 * 25, 32 * 25, 32 * 25]
    for weight in conv_weights(net):
        bound = sqrt(3 / weight[0].numel())
        assert 0.95 * bound < weight.abs().max() <= bound
        assert float(weight.var()) == pytest.approx(1 / weight[0].numel(), rel=0.1)
    assert not net.encoder.conv1.bias.any()  # type: ignore[union-attr]


def test_the_channels_of_convolutions_come_last_in_memory_and_stay_there(tmp_path: Path) -> None:
    net = made(CONV)
    for weight in conv_weights(net):
        assert weight.is_contiguous(memory_format=torch.channels_last)
    save_spec(tmp_path, CONV)
    save_tensors(tmp_path / "last.safetensors", {f"model.{k}": v for k, v in net.state_dict().items()}, {})
    again = load_model(tmp_path)
    for weight, loaded in zip(conv_weights(net), conv_weights(again), strict=True):
        assert loaded.stride() == weight.stride()
        assert torch.equal(loaded, weight)
    assert torch.equal(again(some_images()), net(some_images()))


def test_the_layout_in_memory_does_not_change_what_is_drawn() -> None:
    a, b = made(CONV, seed=3), EgoNet(CONV)
    initialise(b, torch.Generator().manual_seed(3))
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def test_half_precision_is_near_and_gives_whole_features() -> None:
    net = made(CONV).requires_grad_(False)
    net.set_normalisation([127.0] * 3, [74.0] * 3)
    exact = net(some_images())
    net.precision = "bfloat16"
    rough = net(some_images())
    assert rough.dtype == exact.dtype == torch.float32
    assert not torch.equal(rough, exact)
    assert float((rough - exact).norm() / exact.norm()) < 0.02
    assert all(parameter.dtype == torch.float32 for parameter in net.parameters())


def test_half_precision_gives_whole_gradients_near_the_exact_ones() -> None:
    gradients = []
    for precision in ("float32", "bfloat16"):
        net = made(CONV)
        net.set_normalisation([127.0] * 3, [74.0] * 3)
        net.precision = precision  # type: ignore[assignment]
        net(some_images()).square().mean().backward()  # type: ignore[no-untyped-call]
        gradients.append([parameter.grad for parameter in net.encoder.parameters()])
    for exact, rough in zip(*gradients, strict=True):
        assert exact is not None
        assert rough is not None
        assert rough.dtype == torch.float32
        assert float((rough - exact).norm() / exact.norm()) < 0.1


def test_an_older_specification_has_no_settings_of_the_encoder() -> None:
    description = SPEC.describe()
    del description["encoder_settings"]
    assert NetSpec.from_description(description) == SPEC


def test_an_older_specification_has_no_parts() -> None:
    description = SPEC.describe()
    del description["parts"]
    assert NetSpec.from_description(description) == SPEC


def test_the_order_of_parts_survives_json_with_sorted_keys() -> None:
    again = NetSpec.from_description(json.loads(json.dumps(PARTED.describe(), sort_keys=True)))
    assert list(again.parts.items()) == [("invariant", 60), ("equivariant", 40)]


def test_parts_follow_each_other_and_cover_all_features() -> None:
    net = made(PARTED)
    features = torch.arange(100)
    assert features[net.part("invariant")].tolist() == list(range(60))
    assert features[net.part("equivariant")].tolist() == list(range(60, 100))
    assert features[net.part("all")].tolist() == features[made().part("all")].tolist() == list(range(100))


def test_maps_act_on_the_equivariant_part_and_the_head_on_all_features() -> None:
    net = made(PARTED)
    assert net.maps is not None
    assert net.head is not None
    assert net.maps.weight.shape == (2, 40, 40)
    assert net.head.weight.shape == (3, 100)
    z = torch.randn(4, 100)
    torch.testing.assert_close(net.maps(z[:, net.part(net.mapped_part)]), z[:, None, 60:].expand(4, 2, 40))
    other = made(replace(SPEC, parts={"first": 30, "second": 70}))
    assert other.maps is not None
    assert other.maps.weight.shape == (2, 100, 100)
    assert (net.mapped_part, other.mapped_part, made().mapped_part) == ("equivariant", "all", "all")


def test_parts_that_do_not_fit_the_encoder_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"norb gives 100 features, but their parts are invariant 60 \+ equivariant 41"
    ):
        EgoNet(replace(SPEC, parts={"invariant": 60, "equivariant": 41}))
    with pytest.raises(ConfigError, match="a name other than 'all' and a size: 'all', 100"):
        replace(SPEC, parts={"all": 100})


def test_an_unknown_part_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no part 'other': its parts are all, invariant, equivariant"):
        made(PARTED).part("other")
    with pytest.raises(ConfigError, match="no part 'equivariant': it has no parts, only all"):
        made().part("equivariant")


def test_a_network_with_parts_is_saved_and_loaded(tmp_path: Path) -> None:
    net = made(PARTED, maps="xavier")
    save_spec(tmp_path, PARTED)
    save_tensors(tmp_path / "last.safetensors", {f"model.{k}": v for k, v in net.state_dict().items()}, {})
    again = load_model(tmp_path)
    assert again.spec == PARTED
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))


class Begun(nn.Module):
    """An encoder that begins as it likes."""

    def __init__(self, image_shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.drawn = nn.Parameter(torch.randn(3))
        self.chosen = nn.Linear(4 * 5 * 2, 3)
        nn.init.constant_(self.chosen.weight, 0.5)

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.chosen(images.flatten(1)) + self.drawn
        return features


def test_an_encoder_of_a_user_keeps_its_own_weights_and_the_generator_decides_them() -> None:
    spec = NetSpec("models.test_network:Begun", (4, 5, 2), ("up",), ("a", "b"))
    torch.manual_seed(1)
    a = made(spec, seed=5)
    state = torch.get_rng_state()
    b, c = made(spec, seed=5), made(spec, seed=6)
    for (name, x), y in zip(a.state_dict().items(), b.state_dict().values(), strict=True):
        assert torch.equal(x, y), name
    assert not torch.equal(a.encoder.drawn, c.encoder.drawn)  # type: ignore[arg-type, union-attr]
    assert (a.encoder.chosen.weight == 0.5).all()  # type: ignore[union-attr]
    assert a.head is not None
    assert not a.head.bias.any()
    with torch.random.fork_rng():
        torch.set_rng_state(state)
        initialise(a, torch.Generator().manual_seed(7))
        assert torch.equal(torch.get_rng_state(), state)  # the numbers of others are not used up


class Strided(nn.Module):
    """A convolution of 1 x 1 with a stride, as the shortcuts of ResNets are."""

    def __init__(self, image_shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.conv = nn.Conv2d(image_shape[2], 8, 1, stride=2, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        self.strides = images.stride()
        features: Tensor = self.conv(images).square().mean(dim=(2, 3))
        return features


@pytest.mark.parametrize("channels", [1, 3])
def test_an_encoder_of_a_user_gets_images_colour_by_colour(channels: int) -> None:
    net = made(NetSpec("models.test_network:Strided", (32, 32, channels)))
    net.set_normalisation([127.0] * channels, [74.0] * channels)
    shape = (16, 32, 32, channels)
    images = torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    features = net(images)
    assert net.encoder.strides == (channels * 1024, 1024, 32, 1)  # type: ignore[union-attr]
    features.sum().backward()
    weight = net.encoder.conv.weight  # type: ignore[union-attr]
    pixels = ((images[:, ::2, ::2].double() - 127) / 74).flatten(0, 2)  # (16 * 16 * 16, C)
    by_hand = 2 * (pixels @ weight.detach()[:, :, 0, 0].double().T).T @ pixels / 256  # type: ignore[index]
    torch.testing.assert_close(weight.grad[:, :, 0, 0].double(), by_hand, rtol=1e-4, atol=1e-4)  # type: ignore[index]


def test_each_part_of_the_features_has_length_one() -> None:
    net = made(PARTED)
    images = torch.randint(0, 256, (3, 4, 5, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    features = net(images).detach()
    for part in ("invariant", "equivariant"):
        torch.testing.assert_close(features[:, net.part(part)].norm(dim=1), torch.ones(3))
    plain = made()(images).detach()
    assert not torch.allclose(plain.norm(dim=1), torch.ones(3))
    torch.testing.assert_close(features[:, :60] * plain[:, :60].norm(dim=1, keepdim=True), plain[:, :60])


@pytest.mark.parametrize("encoder", ["norb", "residual"])
def test_each_image_may_be_normalised_by_itself(encoder: str) -> None:
    shape = (14, 16, 3)
    net = made(NetSpec(encoder, shape, normalisation="image"))
    images = torch.randint(40, 80, (3, *shape), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    pixels = net.normalised(images)
    flat = pixels.flatten(1)
    torch.testing.assert_close(flat.mean(1), torch.zeros(3), atol=1e-5, rtol=0)
    if encoder == "norb":  # an image has length 1
        torch.testing.assert_close(flat.norm(dim=1), torch.ones(3))
    else:
        torch.testing.assert_close(flat.std(dim=1, correction=0), torch.ones(3))
    brighter = (2 * images.int() + 10).to(torch.uint8)
    torch.testing.assert_close(net.normalised(brighter), pixels, atol=1e-4, rtol=1e-4)


def test_flat_images_are_not_scaled_up_to_their_noise() -> None:
    net = made(NetSpec("residual", (12, 12, 1), normalisation="image"))
    flat = torch.full((2, 12, 12, 1), 100, dtype=torch.uint8)
    flat[1, 0, 0] = 101
    pixels = net.normalised(flat)
    assert float(pixels[0].abs().max()) == 0
    assert float(pixels[1].abs().max()) == pytest.approx(
        (1 - 1 / 144) / 2, rel=1e-4
    )  # two gray levels are the smallest scale
    assert net(flat).isfinite().all()


@pytest.mark.parametrize("encoder", ["norb", "residual"])
@pytest.mark.parametrize("normalisation", ["image", "dataset"])
def test_changes_see_pixels_of_variance_one_for_every_encoder(encoder: str, normalisation: str) -> None:
    shape = (12, 14, 1)
    net = made(NetSpec(encoder, shape, normalisation=normalisation))  # type: ignore[arg-type]
    images = torch.randint(0, 256, (4, *shape), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    length = sqrt(12 * 14) if encoder == "norb" else 1.0
    net.set_normalisation([float(images.float().mean())], [float(images.float().std()) * length])
    seen: list[Tensor] = []

    def note(pixels: Tensor) -> Tensor:
        seen.append(pixels.clone())
        return pixels

    torch.testing.assert_close(net(images, note), net(images))
    assert float(seen[0].std()) == pytest.approx(1, abs=0.05)
    assert not torch.allclose(net(images, lambda pixels: pixels + 1), net(images))
