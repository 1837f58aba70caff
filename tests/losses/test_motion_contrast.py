"""Motion contrast: the prediction of a map finds the right image of a batch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses import MotionContrast, RelativeError, StreamBatch, motion_contrast
from egoequiv.models.motion_maps import GeneratorMaps
from losses.nets import net_with, parted_net, turning_net


def drawn(seed: int, count: int, dim: int = 3) -> Tensor:
    return torch.randn(count, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_by_hand() -> None:
    # One pair: the prediction has the cosine 1 with x_i and 0 with x_j. Temperature 0.5.
    z_i, z_j = torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 0.0]])
    found = motion_contrast(torch.tensor([[0.0, 5.0]]), z_i, z_j, 0.5)
    assert float(found) == pytest.approx(math.log(1 + math.exp(-2)))
    # A map that changes nothing chooses x_j itself.
    assert float(motion_contrast(z_j, z_i, z_j, 0.5)) == pytest.approx(math.log(1 + math.exp(2)))


@given(st.integers(1, 6), st.integers(0, 999), st.floats(0.1, 2))
def test_against_numpy(batch: int, seed: int, temperature: float) -> None:
    predicted, z_i, z_j = (drawn(3 * seed + k, batch) for k in range(3))
    unit = [a.numpy() / np.linalg.norm(a.numpy(), axis=1, keepdims=True) for a in (predicted, z_i, z_j)]
    losses = []
    for b in range(batch):
        powers = [math.exp(unit[0][b] @ other / temperature) for other in (*unit[1], *unit[2])]
        losses.append(-math.log(powers[b] / sum(powers)))
    assert float(motion_contrast(predicted, z_i, z_j, temperature)) == pytest.approx(np.mean(losses))


@given(st.integers(2, 6), st.integers(0, 999))
def test_the_true_map_is_better_than_no_map_and_than_the_maps_of_other_pairs(batch: int, seed: int) -> None:
    z_i, z_j = drawn(seed, batch, 8), drawn(seed + 1000, batch, 8)
    right = motion_contrast(z_i, z_i, z_j, 0.1)
    assert right < motion_contrast(z_j, z_i, z_j, 0.1)
    assert right < motion_contrast(z_i.roll(1, 0), z_i, z_j, 0.1)


def test_the_map_goes_back_from_the_second_image() -> None:
    net = turning_net()
    angles = torch.tensor([0.3, 1.0, -2.0])
    starts = torch.tensor([0.1, 2.0, 4.0])
    z_i, z_j = (torch.stack([a.cos(), a.sin()], dim=1) for a in (starts, starts + angles))
    batch = StreamBatch(z_i, z_j, torch.zeros(3, dtype=torch.int64), angles.unsqueeze(1))
    perfect = float(motion_contrast(z_i, z_i, z_j, 0.1))
    assert float(MotionContrast().loss(net, batch)) == pytest.approx(perfect, abs=1e-4)
    forth = StreamBatch(z_i, z_j, batch.target, -angles.unsqueeze(1))
    assert float(MotionContrast().loss(net, forth)) > perfect + 1


def test_the_term_looks_at_its_part() -> None:
    net = parted_net(2, 3, motion_maps="generators", motion_dim=2)  # all maps are the identity
    z = drawn(0, 8, 5).float()
    batch = StreamBatch(z[:4], z[4:], torch.arange(4), torch.randn(4, 2))
    found = MotionContrast().loss(net, batch)
    torch.testing.assert_close(found, motion_contrast(z[4:, 2:], z[:4, 2:], z[4:, 2:], 0.1))


def test_the_terms_of_a_batch_compute_the_maps_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net, terms = turning_net(), (MotionContrast(), RelativeError())
    features = [drawn(seed, 3, 2).float() for seed in range(3)]

    def batch() -> StreamBatch:
        return StreamBatch(features[0], features[1], torch.zeros(3, dtype=torch.int64), features[2][:, :1])

    alone = [float(term.loss(net, batch())) for term in terms]
    calls: list[Tensor] = []
    made = GeneratorMaps.forward
    monkeypatch.setattr(GeneratorMaps, "forward", lambda self, z, y: calls.append(z) or made(self, z, y))
    together = batch()
    assert [float(term.loss(net, together)) for term in terms] == alone
    assert len(calls) == 1


@pytest.mark.parametrize("net", [net_with(), turning_net()])
def test_without_maps_or_motions_it_is_refused(net: object) -> None:
    batch = StreamBatch(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(ConfigError, match="maps of motions"):
        MotionContrast().loss(net, batch)  # type: ignore[arg-type]
