"""Place contrast: frames of one place are found among all others."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses import PlaceContrast, StreamBatch
from egoequiv.losses.place_contrast import place_contrast
from losses.nets import net_with, parted_net


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_by_hand() -> None:
    # Frames 0 and 1 are of one place; 2 is of another one; 3 is too near to 0 and 1 to be either, and far from 2.
    z = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    place = torch.tensor([[0.0], [0.5], [9.0], [1.8]])
    # The cosines of 0 and 1 with each other are 1, with 2 they are 0: -log(e / (e + 1)) each. 2 and 3 have no partner.
    expected = math.log(1 + math.exp(-1))
    assert float(place_contrast(z, place, 1.0)) == pytest.approx(expected)


@given(st.integers(2, 9), st.integers(0, 999), st.floats(0.1, 2))
def test_against_numpy(count: int, seed: int, temperature: float) -> None:
    z, place = drawn(seed, count, 4), 1.5 * drawn(seed + 1000, count, 2)
    unit = z.numpy() / np.linalg.norm(z.numpy(), axis=1, keepdims=True)
    losses = []
    for a in range(count):
        apart = {b: math.dist(place[a].tolist(), place[b].tolist()) for b in range(count) if b != a}
        powers = {b: math.exp(unit[a] @ unit[b] / temperature) for b in apart}
        same = [b for b in apart if apart[b] < 1]
        among = sum(powers[b] for b in apart if apart[b] < 1 or apart[b] >= 2)
        if same:
            losses.append(np.mean([-math.log(powers[b] / among) for b in same]))
    found = place_contrast(z, place, temperature)
    assert float(found) == pytest.approx(np.mean(losses) if losses else 0.0, abs=1e-9)


@given(st.integers(2, 6), st.integers(0, 999))
def test_the_order_and_the_map_do_not_matter(count: int, seed: int) -> None:
    z, place = drawn(seed, count, 8), drawn(seed + 1000, count, 2)
    loss = place_contrast(z, place, 0.1)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    turned = torch.tensor([[0.6, -0.8], [0.8, 0.6]], dtype=torch.float64)
    torch.testing.assert_close(place_contrast(z[order], place[order], 0.1), loss)
    torch.testing.assert_close(place_contrast(3 * z, place @ turned + 7, 0.1), loss)


def test_features_of_places_are_the_best() -> None:
    place = torch.arange(8.0).div(2, rounding_mode="floor")[:, None] * 5
    of_place = torch.nn.functional.one_hot(torch.arange(8) // 2).double()
    assert place_contrast(of_place, place, 0.05) < 1e-6 < place_contrast(drawn(0, 8, 4), place, 0.05)


def test_places_that_are_seen_once_are_no_loss_and_no_nan() -> None:
    z = drawn(0, 3, 4).requires_grad_()
    loss = place_contrast(z, torch.tensor([[0.0], [5.0], [9.0]], dtype=torch.float64), 0.1)
    loss.backward()
    assert float(loss.detach()) == 0
    assert torch.isfinite(z.grad).all()  # type: ignore[arg-type]


def test_the_term_looks_at_each_part() -> None:
    net, z = parted_net(2, 3), drawn(0, 8, 5)
    place = torch.arange(4.0, dtype=torch.float64).repeat(2)[:, None] * 5
    batch = StreamBatch(z[:4], z[4:], torch.arange(4), place=place)
    first, second = (place_contrast(part, place, 0.1) for part in (z[:, :2], z[:, 2:]))
    torch.testing.assert_close(PlaceContrast().loss(net, batch), (first + second) / 2)
    torch.testing.assert_close(PlaceContrast(part="equivariant").loss(net, batch), second)


def test_without_places_it_is_refused() -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="place contrast needs pairs of one place"):
        PlaceContrast().loss(net_with(), batch)
