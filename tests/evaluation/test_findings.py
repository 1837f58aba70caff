"""What findings are made of."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from egoequiv.blocks import Grid
from egoequiv.evaluation.findings import cell, measured, notes_of, some_of, thumbnails
from egoequiv.evaluation.metric import Metric
from egoequiv.store import FrameStore

RHO = Metric(name="rho_up", title="rho up", better="lower", baselines={"copy": 1.0})


def test_fewer_than_five_recordings_give_no_interval_and_say_so() -> None:
    few = measured(RHO, 0.5, groups=4, kind="toy", baselines={"constant": 0.4})
    assert (few.note, few.is_marked) == ("what is measured comes from 4 toys, and an interval needs 5", True)
    assert measured(RHO, 0.5, (0.4, 0.6), groups=5).note == ""
    why = measured(RHO, nan, groups=4, note="too few pairs")
    assert why.note == "too few pairs"
    assert notes_of([few, few, why]) == [few.note]
    up, right = (measured(Metric(name=k, title=k, motion=k), 0.5, groups=4, kind="toy") for k in ("up", "right"))
    assert notes_of([measured(RHO, 0.5, groups=5), up, right]) == [f"pairs of up, right: {few.note}"]
    assert notes_of([few, up, right]) == [few.note]


def test_cells_by_hand() -> None:
    assert cell(measured(RHO, 0.5, (0.4, 0.6), groups=5)).line == "0.500 [0.400, 0.600]"
    assert cell(measured(RHO, 1.25, groups=5)).line == "1.250*"
    table = Grid.of("title", ("a", "b", "c"), [("x", 1234, cell(measured(RHO, nan, groups=5)))])
    assert [one.text for one in table.rows[0]] == ["x", "1,234", "not defined"]
    assert some_of(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert some_of(["a"]) == "a"


def test_thumbnails_of_rows_of_any_shape(small_store: FrameStore) -> None:
    shown = thumbnails(small_store, np.array([[3, -1], [5, 7]]))
    assert shown.shape == (2, 2, 12, 12, 1)
    np.testing.assert_array_equal(shown[1, 0], small_store.images[5])
    assert not shown[0, 1].any()
    wide = replace(small_store, images=np.zeros((144, 100, 400, 3), np.uint8))
    assert thumbnails(wide, np.array([0])).shape == (1, 33, 133, 3)
