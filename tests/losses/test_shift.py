"""Changes of place: shifted and resized images."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import ndimage

from egoequiv.errors import ConfigError
from egoequiv.losses.shift import ShiftJitter
from egoequiv.training.config import make_config
from egoequiv.training.light import light_at
from egoequiv.training.objective import Batch


def drawn(most: float, generator: torch.Generator) -> float:
    return float((torch.rand(1, generator=generator) * 2 - 1) * most)


def test_images_are_shifted_as_drawn() -> None:
    """A picture that is a ramp from left to right becomes the same ramp, shifted; away from the edges."""
    ramp = torch.arange(40.0).view(1, 1, 40, 1).expand(1, 20, 40, 1)
    moved = ShiftJitter(across=0.2, down=0, zoom=0)(ramp, torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(3)
    drawn(0, generator)
    by = drawn(0.2, generator) * 40
    assert abs(by) > 0.5
    np.testing.assert_allclose(moved[0, 5, 10:30, 0] - ramp[0, 5, 10:30, 0], by, atol=1e-4)


def test_images_against_another_library() -> None:
    image = np.random.default_rng(0).normal(size=(24, 32)).astype(np.float32)
    moved = ShiftJitter()(torch.from_numpy(image)[None, ..., None], torch.Generator().manual_seed(1))
    generator = torch.Generator().manual_seed(1)
    size = np.exp(drawn(np.log(1.1), generator))
    across, down = drawn(0.3, generator), drawn(0.15, generator)
    # Pixel k is at (2 k + 1) / n - 1 among coordinates from -1 to 1.
    centre = (np.array(image.shape) - 1) / 2
    offset = centre - size * centre + np.array([down, across]) * np.array(image.shape) / 2
    expected = ndimage.affine_transform(image, np.array([size, size]), offset, order=1, mode="reflect")
    np.testing.assert_allclose(moved[0, ..., 0].numpy(), expected, atol=1e-3)


def test_flat_images_stay_as_they_are_and_draws_repeat() -> None:
    flat = torch.full((3, 12, 16, 3), 0.7)
    assert torch.allclose(ShiftJitter()(flat, torch.Generator().manual_seed(0)), flat)
    images = torch.randn(4, 12, 16, 1)
    one, other = (ShiftJitter()(images, torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(one, other)
    assert one.shape == images.shape
    assert not torch.allclose(one, images)


def test_a_run_shifts_before_it_changes_the_light() -> None:
    images = torch.randn(4, 12, 16, 1)
    settings = {"data": "store", "method": "recording", "iterations": 10}
    changed = {}
    for augment in ("light", "light+shift"):
        change = light_at(make_config({**settings, "augment": augment}), 3)
        assert change is not None
        changed[augment] = change(images)
    assert not torch.allclose(changed["light"], changed["light+shift"])
    again = light_at(make_config({**settings, "augment": "light+shift"}), 3)
    assert again is not None
    assert torch.equal(again(images), changed["light+shift"])


def test_methods_that_learn_from_motion_refuse_it() -> None:
    with pytest.raises(ConfigError, match="learns from motion, which shifted pictures do not show"):
        make_config({"data": "store", "method": "recording+motion", "iterations": 10, "augment": "light+shift"})


def test_one_image_of_two_is_mirrored() -> None:
    images = torch.randn(64, 4, 6, 1)
    changed = ShiftJitter(across=0, down=0, zoom=0, mirror=True)(images, torch.Generator().manual_seed(0))
    mirrored = torch.isclose(changed, images.flip(2), atol=1e-5).flatten(1).all(1)
    kept = torch.isclose(changed, images, atol=1e-5).flatten(1).all(1)
    assert torch.equal(mirrored, ~kept)
    assert 16 < int(mirrored.sum()) < 48


def test_labelled_images_alone_are_moved_and_draws_repeat() -> None:
    images = torch.randn(8, 12, 16, 1)
    settings = {"data": "store", "method": "recording+motion", "augment": "none", "augment_labelled": "shift+mirror"}
    config = make_config(settings)
    one, other = (light_at(config, 3, labelled=slice(2, 5)) for _ in range(2))
    assert one is not None
    assert other is not None
    changed = one(images)
    assert torch.equal(changed, other(images))
    assert torch.equal(changed[:2], images[:2])
    assert torch.equal(changed[5:], images[5:])
    assert all(not torch.allclose(changed[k], images[k]) for k in range(2, 5))
    assert light_at(config, 3) is None  # a batch without labels
    lit = light_at(make_config({**settings, "augment": "light"}), 3, labelled=slice(2, 5))
    assert lit is not None
    assert not torch.allclose(lit(images)[0], images[0])
    with pytest.raises(ConfigError, match="learns from no labelled images"):
        make_config({**settings, "use_labels": False})


def test_where_the_labelled_images_of_a_batch_are() -> None:
    images, five, three = torch.zeros(13, 4, 4, 1), torch.zeros(5, dtype=torch.long), torch.zeros(3, dtype=torch.long)
    assert Batch(images, {"labelled": three, "clip": five}, {}).labelled == slice(0, 3)
    assert Batch(images, {"clip": five, "labelled": three}, {}).labelled == slice(10, 13)
    assert Batch(images, {"clip": five}, {}).labelled is None
