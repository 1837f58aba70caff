"""Features looked up by store row."""

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.store import FrameStore
from evaluation.grid_features import grid_store
from helpers import data_error


def test_features_are_found_by_store_row_in_any_order() -> None:
    store = grid_store()
    frames = np.array([7, 2, 140])
    features = FrameFeatures(store, frames, np.array([[70.0], [20.0], [1400.0]]))
    assert features.of(np.array([2, 140, 7, 2])).ravel().tolist() == [20.0, 1400.0, 70.0, 20.0]
    assert features.places(np.array([[140, 7]])).tolist() == [[2, 0]]
    with pytest.raises(ValueError, match="frame 3 has no features"):
        features.of(np.array([2, 3]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused_with_their_frame(value: float) -> None:
    z = np.ones((3, 2))
    z[1, 1] = value
    with data_error("bare-store", "frame 9", "not finite", "train it again"):
        FrameFeatures(grid_store(), np.array([4, 9, 5]), z)


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match="3 frames need features"):
        FrameFeatures(grid_store(), np.arange(3), np.ones((2, 4)))


def test_groups_are_recordings_labels_or_attributes(small_store: FrameStore) -> None:
    assert groups_of(small_store, "recording").tolist() == np.repeat(np.arange(6), 24).tolist()
    assert len(np.unique(groups_of(small_store, "shape"))) == len(np.unique(groups_of(small_store, "label"))) == 3
    with pytest.raises(ConfigError, match="no attribute 'colour'"):
        groups_of(small_store, "colour")
