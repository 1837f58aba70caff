"""What is kept of each picture, against numbers worked out by hand."""

import pickle

import numpy as np
import pytest
from PIL import Image

from doctor.conftest import Kept, look
from egoequiv.doctor.glance import glance


def test_numbers_of_a_picture() -> None:
    picture = np.full((8, 16), 100, np.uint8)
    picture[:, :4] = 0  # a quarter black
    picture[:, 12:14] = 255  # an eighth white
    seen = glance(picture)
    assert seen.brightness == pytest.approx((0 * 4 + 100 * 10 + 255 * 2) / 16)
    assert (seen.dark, seen.bright) == (0.25, 0.125)
    assert seen.thumbnail.shape == (8, 16)  # small pictures stay as they are


def test_sharpness_is_the_variance_of_the_laplacian() -> None:
    picture = np.zeros((5, 5), np.uint8)
    picture[2, 2] = 10
    laplacian = np.array([[0, 10, 0], [10, -40, 10], [0, 10, 0]])
    assert glance(picture).sharpness == pytest.approx(laplacian.var())
    assert glance(np.zeros((2, 5), np.uint8)).sharpness == 0.0


def test_a_thumbnail_is_the_mean_of_blocks() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (64, 128), dtype=np.uint8)
    blocks = picture.reshape(16, 4, 32, 4).mean(axis=(1, 3))
    assert np.abs(glance(picture).thumbnail - blocks).max() <= 1.0  # Pillow rounds after rows and after columns


def test_equal_pixels_have_equal_digests() -> None:
    colour = np.random.default_rng(1).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    other = colour.copy()
    other[0, 0, 0] ^= 1
    assert glance(colour).digest == glance(Image.fromarray(colour)).digest != glance(other).digest
    flat = np.zeros((6, 4), np.uint8)
    assert glance(flat).digest != glance(flat.T.copy()).digest  # the same bytes, another shape


def test_a_broken_frame_has_no_numbers_and_pictures_may_differ_in_size() -> None:
    recording = Kept("r", np.full((4, 40, 80), 7, np.uint8), np.zeros((4, 0)), None, broken=(2,))
    seen = pickle.loads(pickle.dumps(look(recording)))
    assert seen.broken.tolist() == [False, False, True, False]
    assert seen.thumbnails.shape == (4, 16, 32)
    assert np.isnan(seen.brightness).tolist() == seen.broken.tolist()
    assert np.nanmax(seen.dark) == 1.0
    assert len(seen) == 4


def test_nothing_to_see() -> None:
    assert look(Kept("r", np.zeros((3, 4, 4), np.uint8), np.zeros((3, 0)), None, broken=(0, 1, 2))).broken.all()
