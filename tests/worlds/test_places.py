"""The places world: what it declares, and what its pictures must show."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image as PillowImage

from egoequiv.errors import ConfigError
from egoequiv.pose import NoMotion
from egoequiv.sources.recording import Image, Recording, Source
from egoequiv.store.writer import fit_image
from egoequiv_worlds.place import COMPOSITIONS
from egoequiv_worlds.places import PLACES, places

pytestmark = pytest.mark.slow  # the renderer is compiled first, which takes long


def small(**changes: Any) -> Source:
    settings: dict[str, Any] = {"images_per_class": 4, "width": 80, "height": 40}
    return places(**(settings | changes))


def recording(source: Source, name: str) -> Recording:
    return next(r for r in source.recordings if r.name == name)


@cache
def gray(place: str) -> Image:
    """The first pictures of a class, (N, 32, 32)."""
    own = recording(places(images_per_class=16), f"train/{place}")
    return np.stack([fit_image(own.image(k), 32, 32, 1)[:, :, 0] for k in range(len(own))])


def test_the_defaults_are_the_size_of_driving_pictures() -> None:
    source = places()
    assert source.name == "places"
    assert isinstance(source.space, NoMotion)
    assert len(PLACES) >= 15
    assert source.frame_count == 100 * len(PLACES)
    assert recording(source, "train/coast").image(0).shape == (94, 310)


def test_one_recording_a_class_and_part() -> None:
    source = small(images_per_class=5)
    names = [r.name for r in source.recordings]
    assert names == [f"train/{p}" for p in PLACES] + [f"test/{p}" for p in PLACES]
    for found in source.recordings:
        part, place = found.name.split("/")
        assert found.attributes == {"part": part}
        assert len(found) == (3 if part == "train" else 2)
        assert found.labels == (place,) * len(found)
        assert found.poses.shape == (len(found), 0)
        assert found.times_s is None


def test_settings_are_the_arguments_and_make_the_same_source_again() -> None:
    source = small(seed=3, color=True)
    assert source.settings == {"seed": 3, "images_per_class": 4, "width": 80, "height": 40, "color": True}
    again = places(**source.settings)
    assert again.recordings[5].image(1).tobytes() == source.recordings[5].image(1).tobytes()


@pytest.mark.parametrize("place", PLACES)
def test_the_same_seed_gives_the_same_bytes(place: str) -> None:
    name = f"test/{place}"
    first, again, other = (recording(small(seed=seed), name).image(1) for seed in (0, 0, 1))
    assert first.dtype == np.uint8
    assert first.shape == (40, 80)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_picture_does_not_depend_on_how_many_there_are() -> None:
    few, many = small(images_per_class=4), small(images_per_class=10)
    assert np.array_equal(recording(few, "train/field").image(1), recording(many, "train/field").image(1))


def test_training_and_test_pictures_differ() -> None:
    source = small()
    for place in PLACES[::4]:
        train, test = (recording(source, f"{part}/{place}") for part in ("train", "test"))
        seen = [own.image(k).tobytes() for own in (train, test) for k in range(2)]
        assert len(set(seen)) == 4


def test_recordings_survive_pickling() -> None:
    own = recording(small(), "train/office")
    copy = pickle.loads(pickle.dumps(own))
    assert np.array_equal(copy.image(1), own.image(1))


def draw(own: Recording) -> Image:
    return own.image(0)


def test_another_process_draws_the_same_picture() -> None:
    own = recording(small(), "train/suburb")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert np.array_equal(pool.apply(draw, (own,)), own.image(0))


@pytest.mark.parametrize("place", ["coast", "store", "night_city"])
def test_gray_is_the_luminance_of_the_colour(place: str) -> None:
    coloured, plain = (recording(small(color=color), f"train/{place}").image(0) for color in (True, False))
    assert coloured.shape == (40, 80, 3)
    assert np.array_equal(np.asarray(PillowImage.fromarray(coloured).convert("L")), plain)
    assert (coloured.max(axis=2) - coloured.min(axis=2)).max() > 8


@pytest.mark.parametrize("place", PLACES)
def test_pictures_show_something_and_differ(place: str) -> None:
    pictures = gray(place).astype(float)
    assert pictures.std(axis=(1, 2)).min() > 6
    for k in range(len(pictures)):
        others = np.delete(pictures, k, axis=0)
        assert np.abs(others - pictures[k]).mean(axis=(1, 2)).min() > 6


def test_classes_are_neither_one_shade_each_nor_alike() -> None:
    """The nearest of 4 labelled pictures a class, in pixels, is right more often than chance and mostly wrong."""
    labelled = np.concatenate([gray(place)[:4].reshape(4, -1) for place in PLACES]).astype(float)
    asked = np.concatenate([gray(place)[4:].reshape(4, -1) for place in PLACES]).astype(float)
    owner = np.repeat(np.arange(len(PLACES)), 4)
    distances = ((asked[:, None] - labelled[None]) ** 2).sum(axis=-1)
    right = float((owner[distances.argmin(axis=1)] == owner).mean())
    assert 1.5 / len(PLACES) < right < 0.6


def test_night_is_darker_than_snow() -> None:
    assert gray("night_city").mean() < gray("snowfield").mean() - 30


def test_rooms_and_landscapes_have_their_light_where_it_belongs() -> None:
    assert gray("field")[:, :8].mean() > gray("field")[:, 20:].mean() + 10  # the sky
    assert gray("corridor").mean() > gray("forest").mean()


@pytest.mark.parametrize(("width", "height"), [(16, 16), (33, 64), (310, 94)])
@pytest.mark.parametrize("place", ["mountain", "kitchen", "tall_building"])
def test_any_shape_of_picture(place: str, width: int, height: int) -> None:
    picture = recording(small(width=width, height=height), f"train/{place}").image(0)
    assert picture.shape == (height, width)
    assert len(np.unique(picture)) > 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": -1}, "places: seed must be a whole number of at least 0, found -1"),
        ({"seed": 1.5}, "places: seed must be a whole number of at least 0, found 1.5"),
        ({"images_per_class": 1}, "places: images_per_class must be a whole number of at least 2, found 1"),
        ({"images_per_class": True}, "places: images_per_class must be a whole number of at least 2, found True"),
        ({"width": 15}, "places: width must be a whole number from 16 to 2048, found 15"),
        ({"height": 5000}, "places: height must be a whole number from 16 to 2048, found 5000"),
        ({"color": "yes"}, "places: color must be true or false, found 'yes'"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as problem:
        places(**settings)
    assert str(problem.value) == message


def test_there_is_no_picture_beyond_the_last() -> None:
    own = recording(small(), "test/coast")
    with pytest.raises(IndexError, match="test/coast has 2 pictures, so there is no picture 2"):
        own.image(2)


def test_names_are_in_order_and_fit_folders() -> None:
    assert list(COMPOSITIONS) == sorted(COMPOSITIONS)
    assert all(name.replace("_", "").isalpha() for name in COMPOSITIONS)


def test_importing_the_world_does_not_import_numba() -> None:
    check = "import egoequiv_worlds.places, sys; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
