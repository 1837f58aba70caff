"""Stretches in which only the pictures move, or only the log does."""

from __future__ import annotations

import numpy as np

from egoequiv.doctor.finding import Finding
from egoequiv.doctor.watched import Array, Mask, Run, Watched, runs_of, smoothed
from egoequiv.plurals import plural

STRETCH_S, STRETCH_STEPS = 1.0, 8  # how long a stretch is at least; steps without times
FAULT_STRETCHES = 2.0  # so many such stretches together are a fault
STILL_CHANGE, MOVING_CHANGE = 0.15, 0.5  # of the usual change of pictures
STILL_SPEED = 0.03  # of the usual speed of the log
SPREAD = 0.5  # the share of the picture that changes if the camera moves; a passing car changes less


def still_pictures(watched: Watched) -> Finding:
    """Whether pictures stand still for a second or more while the log moves.

    The score is the time of all such stretches, divided by two seconds.
    """
    return _contradiction(
        watched,
        "still pictures",
        "pictures stand still while the log moves",
        "check that pictures and motion are of the same drive, and that their clocks agree",
    )


def still_log(watched: Watched) -> Finding:
    """Whether pictures move for a second or more while the log stands still.

    The score is the time of all such stretches, divided by two seconds.
    """
    return _contradiction(
        watched,
        "still log",
        "pictures move while the log stands still",
        "check that the poses are complete, and that the clocks agree",
    )


def _contradiction(watched: Watched, check: str, words: str, fix: str) -> Finding:
    name, width = watched.name, watched.steps_in(STRETCH_S, STRETCH_STEPS if np.isnan(watched.step_s) else 4)
    if watched.speed is None or not watched.usual_speed > 0:
        return Finding(check, name, np.nan, "the log does not say when the camera moves")
    if len(watched.change) < 2 * width:
        return Finding(check, name, np.nan, "the recording is too short")
    if watched.usual_change < 4 * watched.still_level:
        return Finding(check, name, np.nan, "the pictures change too little to tell motion from standing still")
    change = smoothed(watched.change, width)
    if check == "still pictures":
        moves = smoothed(watched.moving.astype(np.float64), width) > 0.5
        wrong = (change < STILL_CHANGE * watched.usual_change) & moves
    else:
        speed = smoothed(watched.speed, width)
        wrong = (change > MOVING_CHANGE * watched.usual_change) & (speed < STILL_SPEED * watched.usual_speed)
        wrong &= smoothed(spread(watched), width) > SPREAD
    runs = _stretches(wrong, width)
    if not runs:
        return Finding(check, name, 0.0, f"nowhere do {words} for {_long(watched, width)}")
    steps = sum(last - first for first, last in runs)
    worst = max(runs, key=lambda run: run[1] - run[0])
    return Finding(
        check,
        name,
        steps / (FAULT_STRETCHES * width),
        f"{words} for {_long(watched, steps)} in {plural(len(runs), 'stretch', 'stretches')}, the longest from "
        f"{watched.at(worst[0])} to "
        f"{watched.at(worst[1])}",
        fix=fix,
        moments=watched.moments(runs, words),
        values=(("steps", steps), ("stretches", len(runs))),
    )


def spread(watched: Watched) -> Array:
    """The share of the thumbnail that changes by more than the still level in each step (N - 1,)."""
    small = watched.glances.flat
    shares = np.empty(len(watched) - 1)
    for step in range(len(shares)):
        difference = np.abs(small[step + 1].astype(np.int16) - small[step])
        shares[step] = (difference > max(2 * watched.still_level, 1.0)).mean()
    return shares


def _stretches(wrong: Mask, width: int) -> list[Run]:
    """Windows of `width` steps that are wrong, as runs of frames; those that overlap are one."""
    steps = np.zeros(len(wrong) + width - 1, bool)
    for shift in range(width):
        steps[shift : shift + len(wrong)] |= wrong
    return [(first, last + 1) for first, last in runs_of(steps)]


def _long(watched: Watched, steps: int) -> str:
    return plural(steps, "step") if np.isnan(watched.step_s) else f"{steps * watched.step_s:.1f} s"
