"""Graphs of maps: right for large motions, against an exponential in double precision and against the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from egoequiv.exporting.graphs import LARGEST_ANGLE, EncoderGraph, GeneratorGraph, NetworkGraph, PatternGraph
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.motion_maps import GeneratorMaps, NetworkMaps

SIDE = 6


def generator_maps(size: float = 1.0) -> GeneratorMaps:
    maps = GeneratorMaps(3, SIDE)
    torch.nn.init.normal_(maps.weight, std=size, generator=torch.Generator().manual_seed(0))
    maps.set_scale([2.0, 0.5, float("inf")])  # the third component never varied
    return maps


@pytest.mark.parametrize("size", [0.0, 0.01, 1.0, 30.0, 300.0])
def test_the_exponential_is_right_for_motions_of_any_size(size: float) -> None:
    maps = generator_maps()
    motion = torch.from_numpy(np.random.default_rng(0).normal(size=(9, 3)) * size).float()
    found = GeneratorGraph(maps)(motion).numpy()
    assert found.shape == (9, SIDE + 1, SIDE)
    generators = maps.generators().detach().double().numpy()
    for one, own in zip(motion.double().numpy(), found, strict=True):
        exponent = one[0] / 2.0 * generators[0] + one[1] / 0.5 * generators[1]
        np.testing.assert_allclose(own[:-1], expm(exponent).T, atol=1e-8)
        np.testing.assert_array_equal(own[-1], 0)


def test_a_quarter_turn_worked_out_by_hand() -> None:
    maps = GeneratorMaps(1, 2)
    with torch.no_grad():
        maps.weight[0, 0, 1] = -1.0  # A = [[0, -1], [1, 0]], which turns by an angle
    affine = GeneratorGraph(maps)(torch.tensor([[torch.pi / 2]]))[0]
    np.testing.assert_allclose(np.array([1.0, 0.0]) @ affine[:-1].numpy(), [0.0, 1.0], atol=1e-7)


def test_beyond_the_largest_angle_nothing_wrong_is_given() -> None:
    maps = generator_maps()
    norm = float(torch.linalg.matrix_norm(maps.generators()[0].detach().double(), 2))
    largest = 2.0 * LARGEST_ANGLE / norm
    found = GeneratorGraph(maps)(torch.tensor([[0.99 * largest, 0, 0], [1.01 * largest, 0, 0]]))
    assert torch.isfinite(found[0]).all()
    product = found[0, :-1] @ found[0, :-1].T
    np.testing.assert_allclose(product, np.eye(SIDE), atol=1e-5)  # still a rotation
    assert torch.isnan(found[1, :-1]).all()


def test_a_network_of_maps_and_the_graph_agree() -> None:
    maps = NetworkMaps(2, SIDE)
    maps.reset(torch.Generator().manual_seed(0))
    features, motion = torch.randn(5, SIDE), torch.randn(5, 2)
    affine = NetworkGraph(maps)(motion)
    moved = (features.double()[:, None] @ affine[:, :-1])[:, 0] + affine[:, -1]
    np.testing.assert_allclose(moved.detach(), maps(features, motion).detach(), atol=1e-6)


def test_patterns_are_chosen_by_number() -> None:
    maps = np.random.default_rng(0).normal(size=(3, SIDE + 1, SIDE))
    found = PatternGraph(maps)(torch.tensor([2, 0]))
    np.testing.assert_array_equal(found, maps[[2, 0]])


@pytest.mark.parametrize("normalisation", ["dataset", "image"])
@pytest.mark.parametrize("parts", [{}, {"invariant": 40, "equivariant": 60}])
def test_the_graph_of_the_encoder_gives_the_features_of_the_network(normalisation: str, parts: dict[str, int]) -> None:
    spec = NetSpec("norb", (9, 7, 3), ("up",), ("a", "b"), parts=parts, normalisation=normalisation)  # type: ignore[arg-type]
    net = EgoNet(spec)
    initialise(net, torch.Generator().manual_seed(0))
    net.set_normalisation([100.0, 90.0, 80.0], [40.0, 50.0, 60.0])
    images = torch.randint(0, 256, (4, 9, 7, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    graph = EncoderGraph(net.eval())
    torch.testing.assert_close(graph(images), net(images))
    assert not any("maps" in name or "head" in name for name in graph.state_dict())  # nothing that it does not need
