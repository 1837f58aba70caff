"""What the residual encoder and the vision transformer have in common: weights by a seed, gradients, single images."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

from egoequiv.models import EgoNet, NetSpec, initialise

NAMES = ("residual", "vit")
SHAPES = [(12, 12, 1), (32, 32, 1), (17, 29, 3), (96, 96, 1)]
Shape = tuple[int, int, int]


def made(name: str, shape: Shape, seed: int = 0) -> EgoNet:
    net = EgoNet(NetSpec(name, shape))
    initialise(net, torch.Generator().manual_seed(seed))
    net.set_normalisation([127.0] * shape[2], [74.0] * shape[2])
    return net


def some_images(shape: Shape, count: int = 5) -> Tensor:
    return torch.randint(0, 256, (count, *shape), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def gradients(net: EgoNet, images: Tensor) -> dict[str, Tensor]:
    net(images).square().mean().backward()  # type: ignore[no-untyped-call]
    found = {name: parameter.grad for name, parameter in net.encoder.named_parameters()}
    assert all(gradient is not None for gradient in found.values())
    return {name: gradient for name, gradient in found.items() if gradient is not None}


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_alone_decides_every_weight(name: str) -> None:
    torch.manual_seed(1)
    a = made(name, (32, 32, 1), seed=5)
    torch.manual_seed(2)
    b, c = made(name, (32, 32, 1), seed=5), made(name, (32, 32, 1), seed=6)
    for (key, x), y, z in zip(
        a.encoder.named_parameters(), b.encoder.parameters(), c.encoder.parameters(), strict=True
    ):
        assert torch.equal(x, y), key
        if x.dim() > 1:
            assert not torch.equal(x, z), key
        else:  # norms begin with scale 1 and shift 0, layers with bias 0
            assert x.unique().tolist() == [1.0 if "norm" in key and key.endswith("weight") else 0.0], key


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_reach_every_weight_and_are_exact(name: str, shape: Shape) -> None:
    net, images = made(name, shape), some_images(shape)
    exact = copy.deepcopy(net).double()
    for parameter in exact.parameters():
        parameter.data = parameter.data.contiguous()
    pixels = exact.normalised(images).double().permute(0, 3, 1, 2).contiguous()
    exact.encoder(pixels).square().mean().backward()  # type: ignore[no-untyped-call]
    expected = dict(exact.encoder.named_parameters())
    for key, gradient in gradients(net, images).items():
        assert gradient.any(), key
        wanted = expected[key].grad
        assert wanted is not None
        assert float((gradient - wanted).norm()) < 1e-3 * float(wanted.norm()), key


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_layout_in_memory_does_not_change_features(name: str, shape: Shape) -> None:
    net = made(name, shape).requires_grad_(False)
    plain = copy.deepcopy(net.encoder)
    for parameter in plain.parameters():
        parameter.data = parameter.data.contiguous()
    pixels = net.normalised(some_images(shape)).permute(0, 3, 1, 2)
    torch.testing.assert_close(net.encoder(pixels), plain(pixels.contiguous()), rtol=1e-4, atol=1e-4)
    weights = [weight for weight in net.encoder.parameters() if weight.dim() == 4]
    assert weights
    assert all(weight.is_contiguous(memory_format=torch.channels_last) for weight in weights)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("training", [False, True])
def test_features_of_an_image_do_not_depend_on_the_others(name: str, training: bool) -> None:
    net = made(name, (32, 32, 1)).requires_grad_(False).train(training)
    images = some_images((32, 32, 1), 6)
    alone = torch.cat([net(images[k : k + 1]) for k in range(6)])
    torch.testing.assert_close(net(images), alone, rtol=1e-4, atol=1e-4)
    assert not list(net.encoder.state_dict().keys() - dict(net.encoder.named_parameters()).keys())


@pytest.mark.parametrize("name", NAMES)
def test_features_begin_with_a_sensible_size_and_differ(name: str) -> None:
    z = made(name, (32, 32, 1)).requires_grad_(False)(some_images((32, 32, 1), 8))
    assert 0.1 < float(z.square().mean().sqrt()) < 10
    assert float((z - z.mean(dim=0)).norm() / z.norm()) > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_half_precision_is_near_and_gives_whole_gradients(name: str) -> None:
    net, images = made(name, (32, 32, 1)), some_images((32, 32, 1), 8)
    exact, of_exact = net(images).detach(), gradients(net, images)
    net.zero_grad()
    net.precision = "bfloat16"
    rough, of_rough = net(images).detach(), gradients(net, images)
    assert rough.dtype == torch.float32
    assert not torch.equal(rough, exact)
    assert float((rough - exact).norm() / exact.norm()) < 0.05
    for key, gradient in of_rough.items():
        assert gradient.dtype == torch.float32
        assert float((gradient - of_exact[key]).norm() / of_exact[key].norm()) < 0.2, key
