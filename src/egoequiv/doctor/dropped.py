"""Frames that are missing: gaps of the time stamps, and pictures that jump where the stamps do not."""

from __future__ import annotations

import numpy as np

from egoequiv.doctor.finding import Finding
from egoequiv.doctor.order import better_orders
from egoequiv.doctor.repeated import isolated_copies
from egoequiv.doctor.watched import Array, Watched, around
from egoequiv.plurals import plural

GAP_STEPS = 1.5  # usual steps: a longer one is a gap
MISSING = 0.02  # the share of frames from which on missing ones are a fault
SIDES = 2  # steps on each side that a jump is compared with
STRIPS = 4  # upright parts of the picture, most of which must jump
JUMP = 0.25  # a jump changes the picture exp(0.25) = 1.28 times as much as the steps around it
JUMPS = 0.025  # the share of steps from which on jumps are a fault
LEAST_JUMPS = 4  # three, and no hesitation, happen by chance in one of eight sound recordings with so many
LEAST_JUDGED, JUDGED_SHARE = 20, 0.25  # steps with enough change; where there are fewer, the camera mostly stands
LEAST_CHANGE = 1.0  # gray levels: steps that change less are not judged
SOFTENING = 0.5  # gray levels


def dropped(watched: Watched) -> Finding:
    """Whether frames are missing.

    Two scores, of which the larger counts: the share of frames that are missing in gaps of the stamps, divided by 2 %;
    and the share of steps in which pictures jump, less those in which they change as much too little (both are as
    frequent if nothing is missing), divided by 2.5 % (or by four steps, if that is more).
    """
    if len(watched) < 2 * SIDES + 2:
        return Finding("dropped", watched.name, np.nan, "too few pictures")
    by_time, by_pictures = _gaps(watched), _jumps(watched)
    if not by_time.can_tell or (by_pictures.can_tell and by_pictures.score > by_time.score):
        return by_pictures
    return by_time


def _gaps(watched: Watched) -> Finding:
    check, name = "dropped", watched.name
    if watched.times_s is None or not watched.step_s > 0:
        return Finding(check, name, np.nan, "the frames have no times")
    steps = watched.stamp_steps
    gaps = np.flatnonzero(steps > GAP_STEPS)
    missing = int((np.round(steps[gaps]) - 1).clip(1).sum())
    share = missing / (len(watched) + missing)
    if not len(gaps):
        return Finding(check, name, 0.0, "no gap in the time stamps, and no jump of the pictures")
    worst = int(gaps[np.argmax(steps[gaps])])
    return Finding(
        check,
        name,
        share / MISSING,
        f"about {plural(missing, 'frame')} ({share:.1%}) {'is' if missing == 1 else 'are'} missing in "
        f"{plural(len(gaps), 'gap')} of the time stamps; the longest is "
        f"{steps[worst] * watched.step_s:.2f} s after {watched.at(worst)}",
        fix="record without loss, or cut the recording at the gaps (a tub: --read "
        f"pause_s={np.ceil(100 * GAP_STEPS * watched.step_s) / 100:.2f})",
        moments=watched.moments([(int(gap), int(gap) + 1) for gap in gaps], "a gap in the stamps", steps[gaps]),
        values=(("missing", missing), ("share", share), ("longest_s", float(steps[worst] * watched.step_s))),
    )


def _jumps(watched: Watched) -> Finding:
    check, name = "dropped", watched.name
    ratio = jump_ratio(watched)
    judged = int((~np.isnan(ratio)).sum())
    if watched.steps_are_large:
        return Finding(check, name, np.nan, "neighbouring pictures are too far apart to see a jump")
    if judged < max(LEAST_JUDGED, len(ratio) * JUDGED_SHARE):
        return Finding(check, name, np.nan, "too few steps in which pictures change to see a jump")
    up, down = np.flatnonzero(ratio > JUMP), int((ratio < -JUMP).sum())
    excess = max(len(up) - down, 0)
    score = excess / max(JUMPS * judged, LEAST_JUMPS)
    if not len(up):
        return Finding(check, name, 0.0, "no gap in the time stamps, and no jump of the pictures")
    evenly = "" if watched.speed is None else " while the log moves evenly"
    return Finding(
        check,
        name,
        score,
        f"pictures jump in {len(up):,} of {judged:,} steps and hesitate in {down:,}{evenly}; the "
        f"first jump is after {watched.at(int(up[0]))}",
        fix="frames were lost: match pictures and stamps again from the camera's own frame numbers",
        moments=watched.moments([(int(step), int(step) + 1) for step in up], "the picture jumps", ratio[up]),
        values=(("jumps", len(up)), ("hesitations", down), ("share", excess / judged)),
    )


def jump_ratio(watched: Watched) -> Array:
    """Log of the change in each step over that of the steps around it, less what the log's own jump explains; (N - 1,).

    It is that of the second smallest of four upright strips, because something close that passes changes few strips,
    and a jump of the camera all of them. NaN where pictures hardly change, come twice, or are out of order.
    """
    unsure = isolated_copies(watched)
    for place in better_orders(watched):
        unsure[place.first - 1 : place.last + 1] = True
    ratios = np.sort([_over_sides(np.where(unsure, np.nan, strip)) for strip in watched.strip_changes(STRIPS)], axis=0)
    low, high = ratios[1], ratios[-2]
    ratio = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    if watched.speed is not None and watched.usual_speed > 0:
        soft = 0.1 * watched.usual_speed
        logged = np.log((watched.speed + soft) / (around(watched.speed, SIDES) + soft))
        logged = np.where(np.isnan(logged), 0.0, logged)
        ratio = np.sign(ratio) * np.maximum(np.abs(ratio) - np.maximum(np.sign(ratio) * logged, 0.0), 0.0)
    change = np.where(unsure, np.nan, watched.change)
    ratio[~(np.fmax(change, around(change, SIDES)) > LEAST_CHANGE) | np.isnan(ratios).any(axis=0)] = np.nan
    if watched.times_s is not None and watched.step_s > 0:
        ratio[np.abs(watched.stamp_steps - 1) > GAP_STEPS - 1] = np.nan
    ratio[[*range(SIDES), *range(-SIDES, 0)]] = np.nan  # at the ends, steps of one side alone are known
    return ratio


def _over_sides(change: Array) -> Array:
    """Log of each change over the median of those around it; (N,)."""
    sides = around(change, SIDES)
    ratio = np.log((change + SOFTENING) / (sides + SOFTENING))
    usual = np.where(
        np.abs(ratio) > JUMP, np.nan, change
    )  # again without jumps, which make steps beside them look small
    sides = np.where(np.isnan(around(usual, SIDES)), sides, around(usual, SIDES))
    again: Array = np.log((change + SOFTENING) / (sides + SOFTENING))
    return again
