"""Maps of any motion: exponentials of generators, and matrices made by a network."""

from __future__ import annotations

from math import inf

import pytest
import torch
from torch import Tensor

from egoequiv.models.motion_maps import MOST_REACH, BlockMaps, GeneratorMaps, MotionMaps, NetworkMaps

DIM, MOTION = 6, 3


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=seeded(seed))


def generators(size: float = 0.5) -> GeneratorMaps:
    """Maps whose generators are far from zero, in double precision."""
    maps = GeneratorMaps(MOTION, DIM).double().requires_grad_(False)
    maps.weight.copy_(size * drawn(MOTION, DIM, DIM, seed=7))
    return maps


def test_a_generator_of_two_features_is_a_turn() -> None:
    maps = GeneratorMaps(1, 2).requires_grad_(False)
    maps.weight[0, 1, 0] = 1.0  # A = [[0, -1], [1, 0]]: exp(y A) turns by y
    maps.set_scale([2.0])  # and a motion of 2 is one unit
    turned = maps(torch.tensor([1.0, 0.0]), torch.tensor([torch.pi]))
    torch.testing.assert_close(turned, torch.tensor([0.0, 1.0]), atol=1e-6, rtol=0)
    back = maps.back(turned, torch.tensor([torch.pi]))
    torch.testing.assert_close(back, torch.tensor([1.0, 0.0]), atol=1e-6, rtol=0)


@pytest.mark.parametrize("size", [0.01, 1.0, 5.0, 1000.0])
def test_against_matrix_exp(size: float) -> None:
    maps, z, motion = generators(), drawn(5, DIM), size * drawn(5, MOTION, seed=2)
    matrix = torch.matrix_exp(torch.einsum("bk,kij->bij", motion, maps.generators()))
    torch.testing.assert_close(maps(z, motion), (matrix @ z.unsqueeze(-1)).squeeze(-1), atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("size", [0.3, 4.0, 60.0])
def test_maps_keep_lengths_compose_and_invert(size: float) -> None:
    maps, z, motion = generators(), drawn(8, DIM), size * drawn(8, MOTION, seed=2)
    once = maps(z, motion)
    torch.testing.assert_close(once.norm(dim=-1), z.norm(dim=-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(maps.back(once, motion), z, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(maps(maps(z, 0.25 * motion), 0.75 * motion), once, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(maps(z, torch.zeros_like(motion)), z)


@pytest.mark.parametrize("size", [0.1, 3.0, 200.0])
def test_blocks_against_matrix_exp(size: float) -> None:
    """Two blocks of 24 features: what is in one never reaches the other."""
    maps = BlockMaps(MOTION, 48).double().requires_grad_(False)
    maps.weight.copy_(0.2 * drawn(MOTION, 2, 24, 24, seed=7))
    generators, z, motion = maps.generators(), drawn(4, 5, 48), size * drawn(4, 5, MOTION, seed=2)
    assert not generators[:, :24, 24:].any()
    assert not generators[:, 24:, :24].any()
    matrix = torch.matrix_exp(torch.einsum("...k,kij->...ij", motion, generators))
    torch.testing.assert_close(maps(z, motion), (matrix @ z.unsqueeze(-1)).squeeze(-1), atol=2e-6, rtol=1e-5)
    z[..., 24:] = 0
    assert not maps(z, motion)[..., 24:].any()


@pytest.mark.parametrize(("features", "size"), [(192, 32), (48, 24), (5, 5), (193, 193), (62, 31)])
def test_blocks_are_as_large_as_divides_the_features(features: int, size: int) -> None:
    assert BlockMaps(1, features).weight.shape == (1, features // size, size, size)


def test_long_motions_take_the_matrix_and_agree_with_short_ones() -> None:
    maps, z = generators(), drawn(DIM)
    motion = 80.0 * drawn(MOTION, seed=2)
    assert float(maps._reach(maps.generators(), motion).max()) > MOST_REACH
    assert float(maps._reach(maps.generators(), motion / 20).max()) <= MOST_REACH
    stepped = z
    for _ in range(20):
        stepped = maps(stepped, motion / 20)
    torch.testing.assert_close(maps(z, motion), stepped, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("build", [GeneratorMaps, BlockMaps, NetworkMaps])
@pytest.mark.parametrize("size", [1.0, 200.0])
def test_many_motions_of_many_features_at_once(build: type[MotionMaps], size: float) -> None:
    maps = build(MOTION, DIM).double().requires_grad_(False)
    maps.reset(seeded())
    z, motion = drawn(4, 1, DIM), size * drawn(5, MOTION, seed=2)
    found = maps(z, motion)
    assert found.shape == (4, 5, DIM)
    for b in range(4):
        for g in range(5):
            torch.testing.assert_close(found[b, g], maps(z[b, 0], motion[g]), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("build", [GeneratorMaps, BlockMaps, NetworkMaps])
def test_a_component_of_infinite_scale_changes_nothing(build: type[MotionMaps]) -> None:
    maps = build(2, DIM).requires_grad_(False)
    maps.reset(seeded())
    maps.set_scale([2.0, inf])
    z = drawn(3, DIM).float()
    a, b = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1e6])
    assert torch.equal(maps(z, a), maps(z, b))
    assert not torch.equal(maps(z, a), maps(z, 2 * a))
    torch.testing.assert_close(maps.state_dict()["scale"], torch.tensor([2.0, inf]))  # kept with the weights


@pytest.mark.parametrize("build", [GeneratorMaps, BlockMaps, NetworkMaps])
def test_maps_begin_near_the_identity_and_all_their_weights_learn(build: type[MotionMaps]) -> None:
    maps, again = build(MOTION, 32), build(MOTION, 32)
    maps.reset(seeded(3))
    again.reset(seeded(3))
    z, motion = drawn(10, 32).float(), drawn(10, MOTION, seed=2).float()
    moved = maps(z, motion)
    assert torch.equal(moved, again(z, motion))
    assert 0 < float((moved.detach() - z).norm()) < 0.5 * float(z.norm())
    moved.square().sum().backward()
    if build is GeneratorMaps:  # lengths do not change, so neither can the generators
        assert maps.weight.grad.abs().max() < 1e-3  # type: ignore[union-attr, operator]
        maps.zero_grad()
        maps(z, motion)[:, 0].sum().backward()
    for name, parameter in maps.named_parameters():
        assert parameter.grad is not None, name
        assert float(parameter.grad.abs().max()) > 0, name


def test_a_network_that_adds_nothing_is_the_identity() -> None:
    maps = NetworkMaps(2, 3).requires_grad_(False)
    maps.matrix.weight.zero_()
    maps.matrix.bias.copy_(torch.tensor([0.0, 1, 0, 0, 0, 0, 0, 0, 2]))
    # M = I + [[0, 1, 0], [0, 0, 0], [0, 0, 2]] for every motion.
    found = maps(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([5.0, -5.0]))
    assert found.tolist() == [3.0, 2.0, 9.0]


@pytest.mark.parametrize("bad", [float("nan"), inf, 1e30])
def test_weights_that_diverged_give_an_answer_for_training_to_look_at(bad: float) -> None:
    maps = GeneratorMaps(1, 4).requires_grad_(False)
    maps.weight.copy_(drawn(1, 4, 4))
    maps.weight[0, 0, 1] = bad
    assert maps(torch.ones(2, 4), torch.ones(2, 1)).shape == (2, 4)


def test_motions_of_no_components_change_nothing() -> None:
    z = drawn(2, DIM).float()
    assert torch.equal(GeneratorMaps(0, DIM)(z, torch.zeros(2, 0)), z)
