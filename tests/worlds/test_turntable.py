"""The turntable world: what it declares, and what its pictures must show."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.pose import GridSpace
from egoequiv.sources.recording import Image, Source
from egoequiv_worlds import turntable
from egoequiv_worlds.toys import CATEGORIES, Toy, parts
from egoequiv_worlds.toys import __file__ as toys_file

TOYS = Path(toys_file).parent


def small(**changes: Any) -> Source:
    settings: dict[str, Any] = {"toys_per_category": 1, "elevations": 3, "azimuths": 6, "lightings": 2, "size": 32}
    return turntable(**(settings | changes))


def images(source: Source, recording: int = 0) -> Image:
    found = source.recordings[recording]
    return np.stack([found.image(k) for k in range(len(found))])


def first_image(source: Source) -> bytes:
    return source.recordings[0].image(3).tobytes()


def distance(a: Image, b: Image) -> float:
    return float(np.abs(a.astype(float) - b.astype(float)).mean())


def test_the_defaults_are_those_of_small_norb() -> None:
    source = turntable()
    assert source.frame_count == 24_300
    assert len(source.recordings) == 150
    poses = source.recordings[0].poses
    assert sorted(set(poses[:, 0])) == [30, 35, 40, 45, 50, 55, 60, 65, 70]
    assert list(poses[:18, 1]) == list(range(0, 360, 20))
    assert source.space.pose_names == ("elevation_deg", "azimuth_deg")
    assert source.recordings[0].image(0).shape == (96, 96)


def test_a_recording_is_one_toy_under_one_lighting() -> None:
    source = small(categories=["animal", "car"], toys_per_category=2, lightings=3)
    assert [r.name for r in source.recordings][:4] == [
        "animal-0/light-0",
        "animal-0/light-1",
        "animal-0/light-2",
        "animal-1/light-0",
    ]
    last = source.recordings[-1]
    assert last.attributes == {"category": "car", "instance": "1", "toy": "car-1", "lighting": "2"}
    assert last.labels is not None
    assert set(last.labels) == {"car-1"}
    assert len(last.labels) == len(last) == 18
    assert last.times_s is None
    assert last.image(0).dtype == np.uint8


def test_settings_are_the_arguments_and_make_the_same_source_again() -> None:
    source = small(seed=4, categories=("truck",))
    assert source.settings == {
        "seed": 4,
        "categories": ["truck"],
        "toys_per_category": 1,
        "elevations": 3,
        "azimuths": 6,
        "lightings": 2,
        "size": 32,
    }
    assert first_image(turntable(**source.settings)) == first_image(source)


def test_frames_run_through_azimuths_within_elevations() -> None:
    poses = small().recordings[0].poses
    expected = [(elevation, azimuth) for elevation in (30, 50, 70) for azimuth in (0, 60, 120, 180, 240, 300)]
    assert np.allclose(poses, expected)


@pytest.mark.parametrize(("elevations", "azimuths", "size"), [(2, 3, 8), (5, 7, 33), (4, 24, 48)])
def test_any_grid(elevations: int, azimuths: int, size: int) -> None:
    source = small(categories=["figure"], elevations=elevations, azimuths=azimuths, size=size)
    assert images(source).shape == (elevations * azimuths, size, size)
    assert isinstance(source.space, GridSpace)
    assert source.space.grid_axes[0].step == pytest.approx(40 / (elevations - 1))
    assert source.space.grid_axes[1].step == pytest.approx(360 / azimuths)


def test_the_last_azimuth_is_one_step_left_of_the_first() -> None:
    source = small(categories=["car"], elevations=2, azimuths=18)
    poses = source.recordings[0].poses
    assert np.allclose(source.space.difference(poses[17], poses[0]), source.space.named_motions()["right"])
    turn = images(source)[:18]
    steps = [distance(turn[k], turn[(k + 1) % 18]) for k in range(18)]
    assert steps[17] < 1.5 * max(steps[:17])


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert images(small(categories=["figure"])).tobytes() == images(small(categories=["figure"])).tobytes()


def test_another_process_draws_the_same_bytes() -> None:
    source = small(categories=["animal"])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(first_image, (source,)) == first_image(source)


def test_a_toy_does_not_depend_on_which_others_are_asked_for() -> None:
    alone = small(categories=["truck"], lightings=1)
    among = small(toys_per_category=2, lightings=2)
    same = next(r for r in among.recordings if r.name == "truck-0/light-0")
    assert np.array_equal(alone.recordings[0].image(7), same.image(7))


@pytest.mark.parametrize("category", list(CATEGORIES))
def test_another_seed_makes_other_toys(category: str) -> None:
    one, other = (small(categories=[category], seed=seed).recordings[0].image(0) for seed in (0, 1))
    assert distance(one, other) > 2.5  # the noise alone would differ by 1.7


def test_a_category_is_a_file_with_a_number_of_its_own() -> None:
    files = {file.stem.removeprefix("toy_") for file in TOYS.glob("toy_*.py")}
    assert set(CATEGORIES) == files
    assert [category.number for category in CATEGORIES.values()] == list(range(len(files)))


def test_a_new_file_is_a_new_category_and_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    shutil.copytree(TOYS.parent, tmp_path / "egoequiv_worlds", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "egoequiv_worlds" / "toys" / "toy_ball.py").write_text(
        "from egoequiv_worlds.render.mesh import ellipsoid\n"
        "from egoequiv_worlds.toys import Category\n"
        f"CATEGORY = Category({len(CATEGORIES)}, (lambda toy: toy.base(ellipsoid((0, 0, 1), (1, 1, 1))),))\n"
    )
    program = (
        "from egoequiv_worlds.toys import CATEGORIES, Toy, parts\n"
        "print(*CATEGORIES, len(parts(Toy('ball', 0, 0))), parts(Toy('car', 0, 0))[0].albedo)"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    out = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    ).stdout
    assert out.split() == [*CATEGORIES, "ball", "1", str(parts(Toy("car", 0, 0))[0].albedo)]


def test_another_lighting_makes_another_picture() -> None:
    source = small(categories=["aeroplane"], lightings=8)
    views = [recording.image(4) for recording in source.recordings]
    apart = [distance(views[i], views[j]) for i in range(8) for j in range(i)]
    assert min(apart) > 3.0


@pytest.mark.parametrize("category", list(CATEGORIES))
def test_near_views_are_more_alike_than_far_ones(category: str) -> None:
    turn = images(small(categories=[category], elevations=2, azimuths=36))[:36]
    near = np.mean([distance(turn[k], turn[(k + 1) % 36]) for k in range(36)])
    far = np.mean([distance(turn[k], turn[(k + apart) % 36]) for k in range(36) for apart in range(6, 31)])
    assert near < 0.85 * far


@pytest.mark.parametrize("change", [{"elevations": 1}, {"azimuths": 2}, {"lightings": 0}, {"toys_per_category": 0}])
def test_numbers_that_are_too_small(change: dict[str, int]) -> None:
    (name,) = change
    with pytest.raises(ConfigError, match=rf"{name} must be a whole number of at least \d, found {change[name]}"):
        small(**change)


@pytest.mark.parametrize("change", [{"size": 95.5}, {"seed": -1}, {"seed": True}, {"size": "96"}])
def test_numbers_that_are_none(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be a whole number"):
        small(**change)


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (["cat"], "no category 'cat'; choose from animal, figure"),
        ([], "must be a list of names"),
        ("car", "must be a list of names"),
        (["car", "car"], "has a name twice"),
    ],
)
def test_categories_that_cannot_be(categories: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        small(categories=categories)


def test_a_recording_survives_pickling_and_is_small() -> None:
    recording = turntable().recordings[11]
    packed = pickle.dumps(recording)
    assert len(packed) < 10_000
    again = pickle.loads(packed)
    assert (again.name, again.attributes) == (recording.name, recording.attributes)
    assert np.array_equal(again.poses, recording.poses)
    assert np.array_equal(again.image(100), recording.image(100))


def test_instances_past_the_last_design_are_toys_of_their_own() -> None:
    source = small(categories=["car"], toys_per_category=6, lightings=1)
    assert distance(source.recordings[0].image(0), source.recordings[5].image(0)) > 2.5


def test_importing_the_worlds_does_not_import_numba() -> None:
    program = "import sys, egoequiv_worlds as w; w.turntable(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_toy_is_named_by_category_and_instance() -> None:
    assert Toy("figure", 3, seed=0).name == "figure-3"
