"""Changes of light, drawn for each image."""

from __future__ import annotations

from math import log, pi

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from egoequiv.losses import LightJitter

NOTHING = LightJitter(gain=(1.0, 1.0), offset=0.0, slope=0.0, field=0.0, noise=0.0)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pixels(count: int = 400, side: int = 9, channels: int = 1) -> Tensor:
    return torch.randn(count, side, side, channels, generator=seeded(1))


def only(**amount: object) -> LightJitter:
    settings: dict[str, object] = {"gain": (1.0, 1.0), "offset": 0.0, "slope": 0.0, "field": 0.0, "noise": 0.0}
    return LightJitter(**(settings | amount))  # type: ignore[arg-type]


def test_amounts_of_zero_change_nothing_and_the_images_given_stay_as_they_are() -> None:
    images = pixels(3)
    torch.testing.assert_close(NOTHING(images, seeded()), images)
    before = images.clone()
    assert not torch.allclose(LightJitter()(images, seeded()), images)
    assert torch.equal(images, before)


@pytest.mark.parametrize("shape", [(4, 12, 12, 1), (2, 7, 20, 3), (1, 1, 5, 2)])
def test_the_same_generator_gives_the_same_images_and_another_does_not(shape: tuple[int, ...]) -> None:
    images = torch.randn(shape, generator=seeded(1))
    a, b, c = (LightJitter()(images, seeded(seed)) for seed in (5, 5, 6))
    assert a.shape == images.shape
    assert a.isfinite().all()
    assert torch.equal(a, b)
    assert not torch.allclose(a, c)


def test_each_image_has_changes_of_its_own() -> None:
    same = pixels(1).expand(50, -1, -1, -1)
    changed = LightJitter()(same, seeded())
    assert len({round(float(one.mean()), 4) for one in changed}) > 40


def test_the_gain_is_between_its_limits_and_as_often_below_one_as_it_says() -> None:
    images = torch.ones(4_000, 2, 2, 1)
    gain = only(gain=(0.5, 1.6))(images, seeded())[:, 0, 0, 0]
    assert 0.5 <= float(gain.min()) < 0.52
    assert 1.55 < float(gain.max()) <= 1.6
    # Its logarithm is even between the limits, so that halving is as likely as doubling would be.
    assert float((gain < 1).float().mean()) == pytest.approx(log(2) / (log(2) + log(1.6)), abs=0.03)


def test_the_offset_and_the_noise_have_the_size_they_say() -> None:
    images = torch.zeros(2_000, 3, 3, 1)
    offset = only(offset=0.4)(images, seeded())
    assert float(offset.std((1, 2, 3)).max()) == 0  # the same for all pixels of an image
    assert 0.38 < float(offset.abs().max()) <= 0.4
    assert float(offset.mean()) == pytest.approx(0, abs=0.02)
    noise = only(noise=0.05)(images, seeded())
    assert float(noise.std()) == pytest.approx(0.05, rel=0.02)
    assert float(noise.mean()) == pytest.approx(0, abs=0.002)


def test_the_slope_is_linear_and_zero_in_the_centre_of_the_image() -> None:
    light = only(slope=2.0)(torch.zeros(500, 5, 5, 1), seeded())[..., 0]
    assert float(light[:, 2, 2].abs().max()) < 1e-6
    torch.testing.assert_close(light[:, :, 4] - light[:, :, 2], light[:, :, 2] - light[:, :, 0], atol=1e-5, rtol=0)
    torch.testing.assert_close(light, -light.flip(1, 2), atol=1e-5, rtol=0)
    steepest = torch.hypot(light[:, 2, 4], light[:, 4, 2])  # towards the sides, in any direction
    assert 1.9 < float(steepest.max()) <= 2.0001
    assert float((light[:, 2, 4] > 0).float().mean()) == pytest.approx(0.5, abs=0.1)


def test_the_field_multiplies_smoothly_and_keeps_the_sign() -> None:
    field = only(field=0.5)(torch.ones(800, 13, 13, 1), seeded())[..., 0].log()
    assert float(field[:, 0, 0].std()) == pytest.approx(0.5, rel=0.1)  # a knot is in the corner
    assert float(field.mean()) == pytest.approx(0, abs=0.03)
    steps = field.diff(dim=2).abs().mean()
    assert float(steps) < 0.5 * float(field.std())


def test_colours_of_a_pixel_get_the_same_light() -> None:
    gray = pixels(6)
    changed = only(gain=(0.5, 1.6), offset=0.5, slope=1.0, field=0.5)(gray.expand(-1, -1, -1, 3), seeded())
    torch.testing.assert_close(changed, changed[..., :1].expand(-1, -1, -1, 3))


@pytest.mark.parametrize(("height", "width"), [(9, 9), (7, 20)])
def test_the_field_is_that_of_a_cubic_interpolation(height: int, width: int) -> None:
    images = torch.ones(3, height, width, 1)
    generator = seeded(4)
    for _ in range(4):  # what is drawn before the knots
        torch.rand(3, 1, 1, generator=generator)
    knots = torch.randn(3, 1, 4, 4, generator=generator) * 0.5
    expected = functional.interpolate(knots, (height, width), mode="bicubic", align_corners=True)[:, 0].exp()
    torch.testing.assert_close(only(field=0.5)(images, seeded(4))[..., 0], expected)


def test_shade_is_added_and_as_large_as_it_says() -> None:
    images = torch.zeros(4_000, 6, 6, 1)
    added = only(shade=2.0, knots=6)(images, seeded())[..., 0]  # as many knots as pixels: each is a pixel
    assert float(added.std()) == pytest.approx(2.0, rel=0.02)
    at_corners = added[:, 0, 0], added[:, 5, 5]
    assert abs(float((at_corners[0] * at_corners[1]).mean())) < 0.2


def test_a_curve_takes_pixels_of_one_brightness_to_one_brightness_by_hand() -> None:
    images = torch.tensor([0.0, 1.0, 0.0, -2.0]).view(1, 2, 2, 1)
    changed = only(curve=0.5)(images, seeded(3)).flatten()
    assert changed[0] == changed[2]
    again = seeded(3)
    between = [torch.rand(1, 1, 1, generator=again) for _ in range(4)]  # gain, offset, angle and slope
    torch.randn(1, 1, 4, 4, generator=again)  # the field
    assert len(between) == 4
    expected = images.flatten().clone()
    for wave in (1.0, 2.0, 3.5):
        height = 0.5 * torch.randn(1, generator=again)
        phase = 2 * pi * torch.rand(1, generator=again)
        expected += height * (wave * images.flatten() + phase).sin()
    torch.testing.assert_close(changed, expected)
