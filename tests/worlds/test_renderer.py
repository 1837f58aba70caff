"""Toys and their pictures: closed surfaces, the right way up, seen and lit from the right side."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv_worlds.render import Array
from egoequiv_worlds.render.mesh import Mesh, Part, box, corner_normals, cylinder, ellipsoid, extrusion, tube
from egoequiv_worlds.render.raster import project, rasterise
from egoequiv_worlds.render.scene import orbit
from egoequiv_worlds.render.studio import Lighting, Surface, draw_surface, lamps_around, surface
from egoequiv_worlds.toys import CATEGORIES, Toy, built, parts

TOYS = [Toy(category, instance, seed) for category in CATEGORIES for instance in range(5) for seed in (0, 1)]
STRAIGHT = np.zeros(2)


def columns_and_rows(point: Array, elevation_deg: float, azimuth_deg: float) -> Array:
    camera = orbit(np.zeros(3), elevation_deg, azimuth_deg, 100, STRAIGHT)
    seen: Array = project(point[None], camera)[0]
    return seen


def coverage(toy: Surface, elevation_deg: float, azimuth_deg: float) -> tuple[float, float]:
    """The share of the picture a toy covers, and the longer side of its frame."""
    camera = orbit(toy.centre, elevation_deg, azimuth_deg, 96, STRAIGHT)
    seen = project(toy.vertices, camera)
    on_toy = rasterise(seen, toy.triangles, 96)[1] >= 0
    sides = [np.ptp(np.flatnonzero(on_toy.any(axis=axis))) + 1 for axis in (0, 1)]
    return float(on_toy.mean()), max(sides) / 96


def is_closed(mesh: Mesh) -> bool:
    """Whether each edge is walked once in each direction."""
    edges = np.concatenate([mesh.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    there, back = (set(map(tuple, e.tolist())) for e in (edges, edges[:, ::-1]))
    return len(there) == len(edges) and there == back


@pytest.mark.parametrize("toy", TOYS, ids=str)
def test_every_part_is_closed_and_right_side_out(toy: Toy) -> None:
    for part in parts(toy):
        assert is_closed(part.mesh)
        assert part.mesh.volume() > 0
        assert 0 < part.albedo < 1


@pytest.mark.parametrize("toy", TOYS[::2], ids=str)
def test_a_toy_stands_on_the_ground_and_fills_the_picture(toy: Toy) -> None:
    solid = built(toy)
    assert solid.vertices[:, 2].min() == 0
    assert np.linalg.norm(solid.vertices - solid.centre, axis=1).max() == pytest.approx(1.0)
    assert 1_000 < len(solid.triangles) < 4_000
    shares, sides = zip(*(coverage(solid, e, a) for e in (30, 50, 70) for a in (0, 60, 120)), strict=True)
    assert 0.05 < np.mean(shares) < 0.4
    assert 0.5 < np.mean(sides) < 0.85
    assert max(sides) < 0.95


def test_volumes_of_solids() -> None:
    assert box((1, 2, 3), (1, 2, 3), 1e-6).volume() == pytest.approx(6.0, rel=1e-4)
    assert ellipsoid((0, 0, 0), (1, 2, 3), 80).volume() == pytest.approx(4 / 3 * np.pi * 6, rel=0.01)
    assert cylinder((0, 0, 0), "y", 2.0, 0.5, 80).volume() == pytest.approx(np.pi * 0.5, rel=0.05)
    dented = extrusion([(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)], 1.0, 1e-6)
    assert dented.volume() == pytest.approx(5.0, rel=1e-4)
    assert dented.mirrored().volume() == pytest.approx(5.0, rel=1e-4)
    straight = tube([(0, 0, 0), (10, 0, 0)], [0.5, 0.5], 60)
    assert straight.volume() == pytest.approx(np.pi * 0.25 * 10 + np.pi / 6, rel=0.02)


def test_normals_of_a_ball_point_outwards() -> None:
    ball = ellipsoid((0, 0, 0), (1, 1, 1), 40)
    assert np.allclose(corner_normals(ball), ball.vertices[ball.triangles], atol=0.05)


def test_right_moves_the_camera_right_and_up_raises_it() -> None:
    front = np.array([1.0, 0.0, 0.0])  # the side that faces the camera at azimuth 0
    before, after = columns_and_rows(front, 30, 0), columns_and_rows(front, 30, 20)
    assert before[0] == pytest.approx(50)
    assert after[0] < before[0] - 5
    top = np.array([0.0, 0.0, 1.0])
    assert columns_and_rows(top, 30, 0)[1] < columns_and_rows(top, 70, 0)[1] < 50


def test_the_nearer_of_two_triangles_is_seen() -> None:
    corners = [(0.0, 0.0), (0.0, 10.0), (10.0, 0.0)]  # counter-clockwise to the eye, as rows run down
    seen = np.array([(x, y, near) for near in (1.0, 2.0) for x, y in corners])
    nearness, faces = rasterise(seen, np.array([[3, 4, 5], [0, 1, 2]], np.int32), 10)
    assert faces[2, 2] == 0
    assert nearness[2, 2] == 2.0
    assert faces[9, 9] == -1
    away = rasterise(seen, np.array([[3, 5, 4]], np.int32), 10)[1]
    assert (away == -1).all()


def test_the_shadow_falls_away_from_the_light() -> None:
    post = surface([Part(cylinder((0, 0, 0.5), "z", 1.0, 0.12), 0.4)])
    pictures = {}
    for side, azimuth_deg in (("left", -90.0), ("right", 90.0)):
        light = Lighting(azimuth_deg, 45.0, 0.9, 0.0, 60.0, 0.0, 0.3)
        pictures[side] = draw_surface(post, light, np.array([50.0, 120.0]), 64, STRAIGHT, 1.0)
    lit_from_left, lit_from_right = pictures["left"], pictures["right"]
    assert lit_from_left[:, 42:].mean() < lit_from_left[:, :22].mean() - 5
    assert lit_from_right[:, :22].mean() < lit_from_right[:, 42:].mean() - 5
    assert lit_from_left[:, 28:36].mean() > 0


def axes(azimuth_deg: float) -> Array:
    """Right, up and forward of the camera, as rows."""
    view = orbit(np.zeros(3), 40.0, azimuth_deg, 64, STRAIGHT)
    return np.array([view.right, view.up, view.forward])


def test_the_lamps_stay_with_the_camera_when_the_table_turns() -> None:
    light = Lighting(30.0, 45.0, 0.9, 0.0, 60.0, 0.1, 0.3)
    for azimuth_deg in (0.0, 100.0):
        turned, before = (lamps_around(light, angle, np.zeros(3)).key_view.forward for angle in (azimuth_deg, 0.0))
        assert axes(azimuth_deg) @ turned == pytest.approx(axes(0.0) @ before)
