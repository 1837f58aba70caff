"""Wrong axes, signs, quaternion order, inverted poses, mounts and mirrored pictures: which reading fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations, product
from shlex import quote
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.evidence import Comparison, explains, lower_bound, together
from egoequiv.doctor.finding import Finding
from egoequiv.doctor.logged import LoggedMotion, permuted
from egoequiv.doctor.offset import at_best_offset, own_fit, thinned
from egoequiv.pose.conventions import DIRECTIONS, axes_matrix

Array = NDArray[np.float64]

_GAIN = 0.15  # log-likelihood of a step that another reading must gain, its uncertainty aside
_MOST = 2.0  # what a single step may gain
_SIMPLE = 0.05  # a simpler reading is preferred to one that is better by less than this
_FEWEST = 10  # steps
_AGREES = 0.6  # log-likelihood of a step that turns, each limited to 2
_KEPT = 6  # motions at some offsets that are in memory at the same time
_FULLY, _SAME_TIME_S = 1.6, 0.1  # the same for a log whose clock is taken to be known, to so many seconds
MIRRORED = "the pictures are mirrored, left and right"
_NONE_BETTER = "no other reading of the poses fits the pictures better"
_AXES = ("roll", "pitch", "yaw")
_BACKWARDS, _UPSIDE_DOWN, _MIRROR = np.diag([-1.0, -1.0, 1.0]), np.diag([1.0, -1.0, -1.0]), np.diag([1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Reading:
    """One way in which the log may have to be read to agree with the pictures."""

    text: str  # what is wrong if this reading is right
    fix: str
    base: LoggedMotion  # as read, or with other quaternions, or inverted
    turn: Array = field(default_factory=lambda: np.eye(3))  # (3, 3) and then turned so
    move: Array = field(default_factory=lambda: np.eye(3))

    @property
    def motion(self) -> LoggedMotion:
        return self.base.in_axes(self.turn, self.move)


class _LoggedMotions:
    """The motions of readings at clock offsets. Most readings turn the same motion, and ask for the same offsets."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._kept: dict[tuple[int, bytes], tuple[LoggedMotion, tuple[Array, Array]]] = {}

    def at(self, base: LoggedMotion, offsets: Array) -> tuple[Array, Array]:
        """Rotations and translations (T, S, 3) of the log; the last ones are kept."""
        key = (id(base), offsets.tobytes())
        found = self._kept.pop(key, None) or (base, self._comparison.with_motion(base).logged(offsets))
        self._kept[key] = found
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return found[1]


def frame_of_reference(comparison: Comparison) -> tuple[Finding, LoggedMotion]:
    """Whether another reading of the poses explains the pictures clearly better than the one that was used.

    Each reading is taken at the clock offset that suits it best, because both may be wrong.

    Returns:
        What was found, and the motion in the reading that fits: as read, if no other is clearly better.

    """
    check, name, motion = "axes and signs", comparison.recording, comparison.motion
    if not motion.has_rotation:
        return Finding(check, name, np.nan, "the log has no rotation to compare with"), motion
    comparison = thinned(comparison)
    as_read, as_read_rotation, as_read_offset = own_fit(comparison)
    is_time_right = explains(comparison, as_read_rotation, _FULLY, without_turns=False)
    if np.isfinite(as_read).sum() < _FEWEST:
        return Finding(check, name, np.nan, "too few steps that can be compared"), motion
    gains = list(_gains(comparison, as_read, as_read_offset if is_time_right else None))
    if not (is_time_right or any(np.isfinite(one.bound) for one in gains)):
        return Finding(check, name, np.nan, "the camera moves too little to tell"), motion
    tried = [one for one in gains if np.isfinite(one.bound) and one.explains]
    largest = max((one.mean for one in tried), default=0.0)
    as_good = [one for one in tried if one.mean >= (1 - _SIMPLE) * largest > 0]
    if not as_good:
        return Finding(check, name, 0.0, _NONE_BETTER), motion
    bound, mean, reading = as_good[0].bound, as_good[0].mean, as_good[0].reading
    score = max(bound, 0.0) / _GAIN
    values = (("gain", mean), ("lower_bound", bound), ("explained", mean * float(np.isfinite(as_read).sum())))
    if score < 1:
        return Finding(check, name, score, _NONE_BETTER, values=values), motion
    others = "".join(f"; or {other.reading.text}" for other in as_good[1:3])  # a car that only turns left and right
    return Finding(check, name, score, f"{reading.text}{others}", reading.fix, values=values), reading.motion


class _Gain(NamedTuple):
    """How much better a reading is than the one that was used, for each step."""

    reading: Reading
    bound: float  # less its uncertainty
    mean: float
    explains: bool  # whether it explains the pictures, not only better than a wrong reading


def _gains(comparison: Comparison, as_read: Array, known_offset: float | None) -> Iterator[_Gain]:
    """All readings; if the clock offset is known, only those that are best at it."""
    motions = _LoggedMotions(comparison)
    for reading in readings(comparison.motion):  # simpler ones first
        whole, rotation, offset = _fit(comparison, reading, motions)
        if known_offset is not None and abs(offset - known_offset) > _SAME_TIME_S:
            continue  # what swings to and fro fits its mirror image half a period later
        gain = whole - as_read
        # A few seconds in which the gain is huge are no reason to doubt it, though they make it vary.
        whole_gain, limited = (lower_bound(one, comparison.block) for one in (gain, np.clip(gain, -_MOST, _MOST)))
        is_explained = explains(comparison, rotation, _AGREES)
        yield _Gain(reading, float(np.fmax(whole_gain, limited)), float(np.nanmean(gain)), is_explained)


def _fit(comparison: Comparison, reading: Reading, motions: _LoggedMotions) -> tuple[Array, Array, float]:
    """How well a reading explains the steps, as a whole and by rotation alone, and at which clock offset."""

    def fits(offsets: Array) -> tuple[Array, Array]:
        turned, moved = motions.at(reading.base, offsets)
        rotation = comparison.rotation_fit(permuted(turned, reading.turn))
        return together(rotation, comparison.direction_fit(permuted(moved, reading.move))), rotation

    return at_best_offset(comparison, fits)


def readings(motion: LoggedMotion) -> Iterator[Reading]:
    """Every other reading that is tried, as far as the log has what it needs; simpler ones first."""
    eye = np.eye(3)
    turns, ways = (*_AXES[:2], _AXES[2] if motion.is_scaled else motion.turn_name), (motion.speed_name, "left", "up")
    for k in (2, 1, 0):
        flip = np.diag([-1.0 if axis == k else 1.0 for axis in range(3)])
        text = f"the sign of {turns[k]} is wrong: the log turns the other way than the pictures"
        yield Reading(text, f"change the sign of {turns[k]} in the log", motion, flip, eye)
        text = f"the sign of {ways[k]} is wrong: the log moves the other way than the pictures"
        yield Reading(text, f"change the sign of {ways[k]} in the log", motion, eye, flip)
    # A rotation seen in a mirror turns the other way, but for the axis across the mirror.
    yield Reading(MIRRORED, "mirror the pictures", motion, -_MIRROR, _MIRROR)
    if motion.is_scaled:
        yield from _other_units(motion)
    if motion.poses is None:
        return
    yield Reading("all rotations have the wrong sign", "change the sign of the angles in the log", motion, -eye, eye)
    yield Reading("all positions have the wrong sign", "change the sign of the positions in the log", motion, eye, -eye)
    known = {"the camera looks backwards": _BACKWARDS, "the camera hangs upside down": _UPSIDE_DOWN}
    for text, matrix in known.items():
        yield Reading(text, _axes_fix(motion, matrix), motion, matrix, matrix)
    inverse = motion.inverted()
    if inverse is not None:
        text = "the poses are inverted: they give the world in the camera, not the camera in the world"
        yield Reading(text, "invert the poses", inverse)
    for order, read in motion.reordered().items():
        text = f"the quaternions are in another order: they are {order}"
        yield Reading(text, _order_fix(motion, order), read)
    for matrix in rotations_of_axes():
        if not any(np.array_equal(matrix, one) for one in (eye, *known.values())):
            words = axes_in_words(matrix)
            text = f"the axes of the camera are others: what was read as forward, left, up points {words}"
            yield Reading(text, _axes_fix(motion, matrix), motion, matrix, matrix)


def _order_fix(motion: LoggedMotion, order: str) -> str:
    """What to type if quaternions are in another order."""
    if "quaternion" not in motion.settings:
        return "reorder the quaternions"
    columns = str(motion.settings.get("rotation") or "")  # of a table, which reads them by their names otherwise
    chosen = f"--read {quote(f'rotation={columns}')} " if columns else ""
    return f"{chosen}--read quaternion={order}"


def _other_units(motion: LoggedMotion) -> Iterator[Reading]:
    degrees = float(np.rad2deg(1.0))
    for words, factor, unit in (("smaller", degrees, "radians"), ("larger", 1 / degrees, "degrees")):
        other_unit = "degrees" if unit == "radians" else "radians"
        text = f"turns in the log are {words} than in the pictures by a factor of 57: {unit} taken for {other_unit}"
        fix = "give the right unit of the angles"
        yield Reading(text, fix, motion, factor * np.eye(3))


def _axes_fix(motion: LoggedMotion, matrix: Array) -> str:
    """What to type if the axes of the store, as read, have to be turned by a matrix."""
    from scipy.spatial.transform import Rotation

    if "axes" in motion.settings:
        declared = str(motion.settings["axes"] or "ros")
        return f"--read axes={axes_in_words(matrix @ axes_matrix(declared)).replace(' ', '')}"
    x, y, z, w = Rotation.from_matrix(matrix.T).as_quat() + 0.0
    if "mount" in motion.settings and not motion.settings["mount"]:
        return f"--read mount='0 0 0 {x:.4g} {y:.4g} {z:.4g} {w:.4g}'"
    return f"turn the axes of the poses: forward, left, up are in truth {axes_in_words(matrix)}"


def rotations_of_axes() -> list[Array]:
    """The 24 rotations that bring axes onto axes."""
    found = []
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        matrix = np.zeros((3, 3))
        matrix[order, range(3)] = signs
        if np.linalg.det(matrix) > 0:
            found.append(matrix)
    return found


def axes_in_words(matrix: Array) -> str:
    """Where x, y and z, as read, point in truth: the columns of a matrix in words, such as "right, down, forward"."""
    names = {direction: name for name, direction in DIRECTIONS.items()}
    return ", ".join(names[(column[0] + 0.0, column[1] + 0.0, column[2] + 0.0)] for column in matrix.T)
