"""Classification of imagined views."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from egoequiv.errors import ConfigError
from egoequiv.losses import Classification, ImaginedViews, StreamBatch, imagined_views
from losses.nets import net_with

TURN = torch.tensor([[0.0, -1.0], [1.0, 0.0]])  # a quarter turn
DOUBLE = 2 * torch.eye(2)


def test_views_by_hand() -> None:
    maps = net_with(maps=torch.stack([TURN, DOUBLE])).maps
    views = imagined_views(maps, torch.tensor([[1.0, 0.0]]), steps=2)
    expected = [[0, 1], [2, 0], [-1, 0], [0, 2], [0, 2], [4, 0]]  # T, D, then TT, DT, TD, DD
    assert views[:, 0].tolist() == [pytest.approx(view) for view in expected]


def test_loss_by_hand() -> None:
    net = net_with(head=torch.eye(2), maps=torch.stack([TURN]))
    batch = StreamBatch(torch.tensor([[math.log(3.0), 0.0]]), torch.empty(0), torch.tensor([0]))
    # One step gives the scores (0, ln 3), so class 0 has the probability 1/4; two steps (-ln 3, 0), 1/4 again.
    assert float(ImaginedViews(steps=1).loss(net, batch)) == pytest.approx(math.log(4))
    assert float(ImaginedViews(steps=2).loss(net, batch)) == pytest.approx(math.log(4))


@given(st.integers(0, 1000), st.integers(1, 3))
def test_against_loops(seed: int, steps: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    net = net_with(head=torch.randn(3, 4, generator=generator), maps=torch.randn(2, 4, 4, generator=generator))
    z, target = torch.randn(5, 4, generator=generator), torch.randint(3, (5,), generator=generator)
    losses, frontier = [], [z]
    for _ in range(steps):
        frontier = [view @ net.maps.weight[g].T for view in frontier for g in range(2)]
        losses += [functional.cross_entropy(net.head(view), target) for view in frontier]
    expected = float(torch.stack(losses).mean())
    assert float(ImaginedViews(steps=steps).loss(net, StreamBatch(z, z, target))) == pytest.approx(expected, rel=1e-4)


@given(st.integers(0, 1000))
def test_identity_maps_imagine_what_is_seen(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    net = net_with(head=torch.randn(3, 4, generator=generator), maps=torch.eye(4).expand(2, 4, 4).clone())
    batch = StreamBatch(torch.randn(5, 4, generator=generator), torch.empty(0), torch.tensor([0, 1, 2, 0, 1]))
    seen, imagined = Classification().loss(net, batch), ImaginedViews().loss(net, batch)
    assert float(imagined) == pytest.approx(float(seen), rel=1e-5)


def test_maps_and_head_are_needed() -> None:
    batch = StreamBatch(torch.ones(1, 2), torch.ones(1, 2), torch.tensor([0]))
    for net in (net_with(head=torch.eye(2)), net_with(maps=torch.eye(2)[None])):
        with pytest.raises(ConfigError, match="head and equivariance maps"):
            ImaginedViews().loss(net, batch)
