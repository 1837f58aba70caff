"""Solids in the z-buffer and in the light: where they are seen, what hides what, and where shadows fall."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv_worlds.render import Array, Singles
from egoequiv_worlds.render.drawing import draw, near_to_far, visible
from egoequiv_worlds.render.noise import textures
from egoequiv_worlds.render.pictures import draw_light, sun_map
from egoequiv_worlds.render.raster import NOTHING, UNSEEN
from egoequiv_worlds.render.scene import Light, Sky, View, from_light, look
from egoequiv_worlds.render.solids import COS, FACES, SEED, SIN, Paint, Solids, Spot, X, Y, placed, plain

pytestmark = pytest.mark.slow  # the renderer is compiled first, which takes long

AHEAD = look((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 100.0, 80, 40)  # along x, from a height of 1
GRAY = plain((0.5, 0.5, 0.5), 0.0)
SKY = Sky((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))


def spot() -> Spot:
    return Spot(Solids(), 0.0, 0.0)


def seen(view: View, rows: Array) -> tuple[NDArray[np.int64], Singles]:
    """The number of the solid that each pixel sees, or -1, and how near it is."""
    nearness = np.full((view.height, view.width), NOTHING, np.float32)
    codes = np.full(nearness.shape, UNSEEN, np.int32)
    draw(view, rows, near_to_far(view, rows), textures().fine, nearness, codes)
    return np.where(codes < 0, -1, codes // FACES), nearness


@pytest.mark.parametrize("kind", ["box", "ball", "round"])
def test_a_solid_is_seen_where_it_is(kind: str) -> None:
    here = spot()
    getattr(here, kind)(10.0, 1.0, 0.0, (2.0, 2.0, 2.0), GRAY)
    found, nearness = seen(AHEAD, here.solids.array())
    rows, columns = np.nonzero(found == 0)
    assert (rows.min(), rows.max()) == pytest.approx((9, 30), abs=2)  # from 1 m above to 1 m below the eye, 9 m away
    assert columns.min() == pytest.approx(40 - 100 * 2 / 9.5, abs=2.5)  # its left side is 2 m to the left
    assert columns.max() == pytest.approx(39, abs=2)
    assert 1 / nearness[20, 30] == pytest.approx(9.0, abs=0.3)


def test_what_is_nearer_hides_what_is_behind() -> None:
    here = spot()
    here.box(20.0, 0.0, 0.0, (1.0, 4.0, 3.0), GRAY)
    here.ball(10.0, 0.0, 0.5, (1.0, 1.0, 1.0), GRAY)
    here.round(30.0, 0.0, 0.0, (1.0, 1.0, 2.0), GRAY)
    found, _ = seen(AHEAD, here.solids.array())
    assert found[20, 40] == 1
    assert found[20, 32] == 0
    assert not (found == 2).any()


def test_a_solid_beside_the_camera_is_cut_where_the_camera_is() -> None:
    here = spot()
    here.box(0.0, 2.0, 0.0, (40.0, 1.0, 2.0), GRAY)
    found, _ = seen(AHEAD, here.solids.array())
    assert (found[20, :32] == 0).all()  # to its far end, 20 m away
    assert (found[:, 41:] == -1).all()


def test_only_what_no_pixel_sees_is_left_out() -> None:
    generator, here = np.random.default_rng(3), spot()
    for _ in range(200):
        x, y, z = generator.uniform((-40.0, -40.0, 0.0), (60.0, 40.0, 3.0))
        size, yaw_rad = tuple(generator.uniform(0.5, 3.0, 3)), generator.uniform(0.0, 6.0)
        here.at(x, y, yaw_rad, z).box(0.0, 0.0, 0.0, size, GRAY)
    rows = here.solids.array()
    chosen = visible(AHEAD, rows, 100.0)
    assert 5 < len(chosen) < 150
    assert np.array_equal(seen(AHEAD, rows)[1], seen(AHEAD, rows[chosen])[1])


def test_rows_are_moved_and_turned_together() -> None:
    here = spot()
    here.box(1.0, 0.0, 0.0, (1.0, 2.0, 3.0), GRAY)
    moved = placed(here.solids.array(), 5.0, 6.0, np.pi / 2)[0]
    assert moved[[X, Y, COS, SIN]] == pytest.approx([5.0, 7.0, 0.0, 1.0])
    other = Spot(Solids(), 5.0, 6.0, np.pi / 2)
    other.put(here.solids.array())
    assert other.solids.array()[0, :SEED] == pytest.approx(moved[:SEED])


def light_of(here: Spot, view: View, sun: tuple[float, float, float]) -> Singles:
    light = Light(sun, (1.0, 1.0, 1.0), (0.2, 0.2, 0.2), (0.2, 0.2, 0.2))
    rows = here.solids.array()
    return draw_light(view, rows, SKY, light, sun_map(rows, from_light(sun, (10.0, 0.0, 0.0), 8.0, 256), light))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_shadow_of_the_sun_falls_to_the_other_side(side: float) -> None:
    here = spot()
    here.box(0.0, 0.0, -1.0, (400.0, 400.0, 1.0), GRAY, casts=False)
    here.box(10.0, 0.0, 0.0, (1.0, 1.0, 2.0), GRAY)
    above = look((10.0, 0.0, 15.0), (0.0, np.pi / 2, 0.0), 100.0, 80, 80)  # straight down, x up in the picture
    light = light_of(here, above, (0.0, 0.6 * side, 0.8))
    in_shadow, in_sun = (20 + round(side * k * 4.0) for k in (1.0, -2.0))
    assert light[20, in_shadow, 0] < 0.5 * light[20, in_sun, 0]


@pytest.mark.parametrize("paint", [GRAY, plain((0.2, 0.4, 0.6), 0.0).glowing(1.0)])
def test_a_surface_gives_back_its_share_of_the_light(paint: Paint) -> None:
    here = spot()
    here.box(10.0, 0.0, -20.0, (1.0, 60.0, 60.0), paint)
    light = light_of(here, AHEAD, (-1.0, 0.0, 1e-3))
    falling = 1.0 + 0.2 + paint.glow  # the sun shines at it, and the sky and the ground are 0.2 bright
    assert light[10, 20] == pytest.approx(np.array(paint.color) * falling, rel=0.02)
