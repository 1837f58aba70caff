"""Recording contrast: frames of one clip among all frames of a batch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from egoequiv.losses import RecordingContrast, StreamBatch, clip_contrast
from losses.nets import parted_net

clips = st.lists(st.sampled_from([0, 1, 3, 4, 8]), min_size=1, max_size=5)


def drawn(seed: int, count: int, dim: int = 3) -> Tensor:
    return torch.randn(count, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_by_hand() -> None:
    # The last two frames are equal. Cosines of the first: 0, -1, -1; of the second: 0, 0, 0; of the others: -1, 0, 1.
    z = torch.tensor([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    first = math.log(1 + 2 * math.exp(-1))
    second = math.log(3)
    others = math.log(math.e + 1 + math.exp(-1)) - 1
    loss = clip_contrast(z, torch.tensor([0, 0, 5, 5]), 1.0)
    assert float(loss) == pytest.approx((first + second + 2 * others) / 4)
    # The numbers of neighbouring clips differ by one: then the only frame that each sees is its positive.
    assert float(clip_contrast(z, torch.tensor([4, 4, 5, 5]), 1.0)) == pytest.approx(0, abs=1e-12)


@given(clips, st.integers(0, 999), st.floats(0.1, 2))
def test_against_numpy(clip: list[int], seed: int, temperature: float) -> None:
    z, doubled = drawn(seed, 2 * len(clip)), np.array(clip * 2)
    units = z.numpy() / np.linalg.norm(z.numpy(), axis=1, keepdims=True)
    losses = []
    for a in range(len(doubled)):
        others = [b for b in range(len(doubled)) if b != a]
        positives = [b for b in others if doubled[b] == doubled[a]]
        seen = [b for b in others if abs(doubled[b] - doubled[a]) != 1]
        whole = sum(math.exp(units[a] @ units[b] / temperature) for b in seen)
        losses.append(np.mean([math.log(whole) - units[a] @ units[b] / temperature for b in positives]))
    found = clip_contrast(z, torch.from_numpy(doubled), temperature)
    assert float(found) == pytest.approx(np.mean(losses), abs=1e-9)


@given(clips, st.integers(0, 999), st.floats(0.1, 10))
def test_neither_lengths_nor_turns_nor_the_order_of_frames_matter(clip: list[int], seed: int, length: float) -> None:
    z, doubled = drawn(seed, 2 * len(clip)), torch.tensor(clip * 2)
    loss = clip_contrast(z, doubled, 0.3)
    turn = torch.linalg.qr(drawn(seed + 1, 3)).Q
    torch.testing.assert_close(clip_contrast(length * z @ turn, doubled, 0.3), loss)
    order = torch.randperm(len(z), generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(clip_contrast(z[order], doubled[order], 0.3), loss)


@given(clips, st.integers(0, 999))
def test_the_gradient_is_finite(clip: list[int], seed: int) -> None:
    z = drawn(seed, 2 * len(clip)).requires_grad_()
    clip_contrast(z, torch.tensor(clip * 2), 0.1).backward()
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_the_term_looks_at_its_part_of_both_images() -> None:
    net, z = parted_net(2, 3), drawn(0, 8, 5)
    clip = torch.tensor([0, 0, 3, 6])
    batch = StreamBatch(z[:4], z[4:], clip)
    for part, own in (("invariant", slice(0, 2)), ("equivariant", slice(2, 5)), ("all", slice(0, 5))):
        expected = clip_contrast(z[:, own], torch.cat([clip, clip]), 0.2)
        torch.testing.assert_close(RecordingContrast(temperature=0.2, part=part).loss(net, batch), expected)  # type: ignore[arg-type]
