"""Neighbouring pictures that are exchanged: the camera seems to go back for one step, while the log goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.evidence import Comparison

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

_ALONG = 0.5  # cosine: pictures go the way of the log if it is above this, and back if it is below the negative
_SLOW = 0.2  # of the usual way: slower steps have no direction to speak of


def exchanged_frames(comparison: Comparison) -> tuple[Rows, Array]:
    """The frames whose picture is exchanged with the next one, by the steps of the camera around them.

    If pictures b and c of a, b, c, d are exchanged, the step from a to c is as long as two, the one from c to b goes
    back, and the one from b to d is again as long as two. The directions of all three must say so, against the log, and
    both ratios of lengths must be nearer to that than to the log. So a camera that stands, or one that turns on the
    spot, says nothing.

    Args:
        comparison: of a recording whose steps are of one frame; others say nothing.

    Returns:
        The first frame of each exchanged pair (K,), and the share of the way from a to d that the right order saves.

    """
    steps = comparison.steps
    if len(steps) < 3 or (steps.second - steps.first != 1).any():
        return np.empty(0, np.int64), np.empty(0)
    moved = comparison.logged()[1]
    way = np.linalg.norm(moved, axis=1)
    usual = float(np.median(way[way > 0])) if (way > 0).any() else np.inf  # NaN is not above 0
    along = (steps.direction * moved).sum(axis=1) / np.where(way > _SLOW * usual, way, np.nan)
    goes_on, goes_back = along > _ALONG, along < -_ALONG
    log_goes_on = (moved[:-1] * moved[1:]).sum(axis=1) > 0  # or it is the log that jumps, not the pictures
    before, own, after = way[:-2], way[1:-1], way[2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(steps.length_ratio)
        is_short = _nearer(ratio[1:-1], np.log(own / (before + own)), np.log(own / before))
        is_long = _nearer(ratio[2:], np.log((own + after) / own), np.log(after / own))
    is_swap = goes_on[:-2] & goes_back[1:-1] & goes_on[2:] & log_goes_on[:-1] & log_goes_on[1:]
    found = np.flatnonzero(is_swap & is_short & is_long)
    return steps.first[found + 1], 2 * own[found] / (before[found] + 3 * own[found] + after[found])


def _nearer(seen: Array, this: Array, than: Array) -> NDArray[np.bool_]:
    """Where values are nearer to these than to those; never where one is not known."""
    return np.asarray(np.abs(seen - this) < np.abs(seen - than))
