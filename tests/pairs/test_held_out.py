"""Splits that name the values they validate on."""

from __future__ import annotations

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs import make_split, split_frames
from egoequiv.pairs.held_out import HeldOut
from egoequiv.store import FrameStore
from egoequiv.training import make_config
from egoequiv.training.data import split_of


def test_frames_with_the_named_values_are_the_validation_part(small_store: FrameStore) -> None:
    values = np.unique(small_store.attribute("shape"))
    split = make_split(small_store, f"by-shape:{values[0]},{values[2]}")
    is_held = np.isin(small_store.attribute("shape"), [values[0], values[2]])
    assert split.validation.tolist() == np.flatnonzero(is_held).tolist()
    assert split.train.tolist() == np.flatnonzero(~is_held).tolist()


def test_no_seed_moves_a_named_split(small_store: FrameStore) -> None:
    one, other = (make_split(small_store, "by-take:1", seed=seed, train_fraction=0.1 + 0.2 * seed) for seed in (0, 3))
    assert one.validation.tolist() == other.validation.tolist()
    assert one.train.tolist() == other.train.tolist()


def test_with_two_attributes_validation_frames_have_both_and_training_frames_lack_the_first(
    small_store: FrameStore,
) -> None:
    shape, take = small_store.attribute("shape"), small_store.attribute("take")
    own, kept = shape[0], take[-1]
    split = make_split(small_store, f"by-shape:{own}+take:{kept}")
    assert split.validation.tolist() == [k for k in range(len(small_store)) if shape[k] == own and take[k] == kept]
    assert split.train.tolist() == [k for k in range(len(small_store)) if shape[k] != own]
    assert len(split.train) + len(split.validation) < len(small_store)


def test_a_recording_is_named_as_an_attribute_is(small_store: FrameStore) -> None:
    name = small_store.recording_names[3]
    split = make_split(small_store, f"by-recording:{name}")
    assert set(small_store.recording[split.validation].tolist()) == {3}
    assert 3 not in small_store.recording[split.train]


def test_a_holdout_of_the_training_part_is_cut_by_the_same_attribute(small_store: FrameStore) -> None:
    shape = small_store.attribute("shape")
    kind = f"by-shape:{shape[0]}"
    train = make_split(small_store, kind).train
    again = split_frames(small_store, train, kind, seed=0, train_fraction=0.5)
    assert shape[0] not in shape[np.concatenate([again.train, again.validation])]
    assert not set(shape[again.train]) & set(shape[again.validation])
    config = make_config({"data": str(small_store.path), "split": kind, "holdout_fraction": 0.5})
    assert shape[0] not in shape[split_of(small_store, config).validation]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("by-shape:teapot", "has no shape 'teapot'; it has "),
        ("by-colour:red", "has no attribute 'colour'"),
        ("by-shape:", "expected by-ATTRIBUTE:VALUE,VALUE"),
        ("by-:4", "expected by-ATTRIBUTE:VALUE,VALUE"),
        ("by-shape:a+take", "expected by-ATTRIBUTE:VALUE,VALUE"),
        ("by-recording:nowhere", "has no recording 'nowhere'"),
    ],
)
def test_a_wrong_name_is_one_line(small_store: FrameStore, kind: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        make_split(small_store, kind)
    assert "\n" not in str(caught.value)


def test_a_part_without_frames_is_refused(small_store: FrameStore) -> None:
    values = ",".join(np.unique(small_store.attribute("take")).tolist())
    with pytest.raises(DataError, match="leaves no training frames"):
        make_split(small_store, f"by-take:{values}")


def test_other_kinds_name_no_values() -> None:
    assert [HeldOut.parse(kind) for kind in ("auto", "paper", "by-time", "by-toy")] == [None] * 4
