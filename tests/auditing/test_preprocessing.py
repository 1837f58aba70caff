"""What is done to images before a model sees them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from egoequiv.errors import ConfigError
from egoequiv.models.foreign.preprocessing import Preprocessing


def test_values_by_hand() -> None:
    images = np.array([[[[0], [51]], [[204], [255]]]], np.uint8)  # one image of 2 x 2
    seen = Preprocessing(mean=(0.2,), std=(0.4,))(images)
    assert seen.shape == (1, 1, 2, 2)
    torch.testing.assert_close(seen[0, 0], torch.tensor([[-0.5, 0.0], [1.5, 2.0]]))


def test_unit_length_by_hand() -> None:
    images = np.array([[[[0], [51]], [[204], [255]]]], np.uint8)
    seen = Preprocessing(mean=(0.2,), std=(0.4,), unit_length=True)(images)  # four values: half of the above
    torch.testing.assert_close(seen[0, 0], torch.tensor([[-0.25, 0.0], [0.75, 1.0]]))


def test_one_channel_is_repeated_and_normalised_by_channel() -> None:
    seen = Preprocessing(channels=3, mean=(0.0, 0.5, 1.0), std=(1.0, 0.5, 2.0))(np.full((1, 1, 1, 1), 255, np.uint8))
    assert seen.flatten().tolist() == pytest.approx([1.0, 1.0, 0.0])


def test_colours_become_their_luminance() -> None:
    seen = Preprocessing(channels=1)(np.array([[[[255, 0, 51]]]], np.uint8))
    assert seen.item() == pytest.approx(0.299 + 0.114 / 5)


def test_resizing_against_pillow() -> None:
    images = np.random.default_rng(0).integers(0, 256, (1, 24, 18, 1)).astype(np.uint8)
    seen = Preprocessing(size=(8, 9))(images)[0, 0].numpy() * 255
    by_pillow = np.asarray(Image.fromarray(images[0, ..., 0]).resize((9, 8), Image.Resampling.BILINEAR), float)
    np.testing.assert_allclose(seen, by_pillow, atol=1.01)  # Pillow rounds twice


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 255))
def test_a_flat_image_stays_flat(height: int, width: int, value: int) -> None:
    seen = Preprocessing(size=(height, width), channels=3)(np.full((2, 5, 7, 1), value, np.uint8))
    assert seen.shape == (2, 3, height, width)
    torch.testing.assert_close(seen, torch.full_like(seen, value / 255))


def test_it_is_told_in_words() -> None:
    wanted = Preprocessing((224, 200), 3, (0.485, 0.456, 0.406), (0.5,))
    assert wanted.in_words((96, 96, 1)) == "224 x 200 x 3, mean 0.485 0.456 0.406, std 0.5"
    assert Preprocessing().in_words((96, 90, 1)) == "96 x 90 x 1, mean 0, std 1"
    scaled = Preprocessing(unit_length=True).in_words((9, 9, 1))
    assert scaled == "9 x 9 x 1, mean 0, std 1, images scaled to length about 1"


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": (0, 5)},
        {"size": (5, 10_000)},
        {"channels": 0},
        {"std": (0.0,)},
        {"mean": (float("nan"),)},
        {"mean": ()},
        {"mean": (0.1, 0.2)},
        {"channels": 3, "mean": (0.1, 0.2), "std": (1.0, 1.0)},
        {"mean": (0.1, 0.2, 0.3), "std": (1.0, 1.0)},
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(ConfigError) as caught:
        Preprocessing(**wrong).shape((4, 4, 3))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
