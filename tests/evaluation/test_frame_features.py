"""Features looked up by store row."""

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.frame_features import FrameFeatures, fold_groups, groups_of
from egoequiv.store import FrameStore
from evaluation.grid_features import grid_store
from helpers import bare_store, data_error


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


def test_folds_of_few_recordings_are_blocks_of_their_time() -> None:
    two = bare_store(np.zeros((60, 2)), [0] * 30 + [1] * 30, [*range(30), *range(30)])
    groups = fold_groups(two, np.arange(60))
    assert (np.diff(groups) >= 0).all()
    assert np.bincount(groups).tolist() == [6] * 10


def test_folds_are_recordings_where_they_are_five_or_have_no_times() -> None:
    many = bare_store(np.zeros((10, 2)), [0, 1, 2, 3, 4] * 2, range(10))
    assert np.array_equal(fold_groups(many, np.arange(10)), many.recording)
    assert len(np.unique(fold_groups(many, np.flatnonzero(many.recording < 2)))) > 2
    photographs = bare_store(np.zeros((4, 2)), [0, 0, 1, 1])
    assert np.array_equal(fold_groups(photographs, np.arange(4)), photographs.recording)
    assert len(fold_groups(many, np.empty(0, np.int64))) == 0
