"""Pictures that do not change: a camera that froze while the log moves, and frames that come twice."""

from __future__ import annotations

import numpy as np

from egoequiv.doctor.finding import Finding
from egoequiv.doctor.watched import ALMOST_EQUAL, MOVING, Mask, Run, Watched, runs_of
from egoequiv.plurals import plural

FROZEN_S, FROZEN_STEPS = 0.3, 3  # how long pictures must not change; also without times
MOVING_CHANGE = 4.0  # still levels: from then on a step changes the picture
CLEAR_STEPS = 10  # steps that change the picture clearly, of which a recording needs so many, or half
DUPLICATES = 0.02  # the share of frames from which on duplicates are a fault


def frozen(watched: Watched) -> Finding:
    """Whether pictures stop while the log says that the camera moves.

    The score is the length of the longest such run of steps, divided by 0.3 s (and by three steps).
    """
    check, name = "frozen", watched.name
    least = watched.steps_in(FROZEN_S, FROZEN_STEPS)
    runs = runs_of(watched.still)
    if not len(watched.still):
        return Finding(check, name, np.nan, "fewer than two pictures")
    if not any(last - first + 1 >= least for first, last in runs):
        return Finding(check, name, 0.0, f"no run of {least + 1} pictures or more without change")
    if watched.speed is None or not np.isfinite(watched.usual_speed):
        return Finding(check, name, np.nan, "pictures stand still at times, and the log does not say if the camera did")
    if not _seen_to_move(watched):
        return Finding(check, name, np.nan, "the pictures never change clearly: the camera may have stood still")
    stopped = [(first, last + 1) for first, last in runs_of(watched.still & watched.moving)]  # as frames
    longest = max((last - first for first, last in stopped), default=0)
    bad = [run for run in stopped if run[1] - run[0] >= least]
    if not bad:
        return Finding(check, name, min(longest / least, 0.99), "pictures stand still only where the log does")
    worst = max(bad, key=lambda run: run[1] - run[0])
    frames = sum(last - first for first, last in bad)
    return Finding(
        check,
        name,
        longest / least,
        f"{plural(frames, 'frame repeats the one before it', 'frames repeat the one before them')} while the log "
        f"moves, {_times(len(bad))}; the longest from {watched.at(worst[0])} to {watched.at(worst[1])}",
        fix="leave the frames out: no picture was taken there",
        moments=watched.moments(bad, "the picture does not change while the log moves"),
        values=(("frames", frames), ("longest_s", watched.seconds(worst))),
    )


def duplicates(watched: Watched) -> Finding:
    """Whether single pictures come twice, or a few times, while those around them change.

    The score is the share of such frames, divided by 2 %.
    """
    check, name = "duplicates", watched.name
    clear = int((watched.change > MOVING_CHANGE * watched.still_level).sum())
    if len(watched) < 4 or clear < min(CLEAR_STEPS, len(watched) / 2):
        return Finding(check, name, np.nan, "the pictures change too little to tell a duplicate")
    least = watched.steps_in(FROZEN_S, FROZEN_STEPS)
    found = [run for run in runs_of(watched.still) if run[1] - run[0] + 1 < least and _isolated(watched, run)]
    copies = sum(last - first + 1 for first, last in found)
    exact = int(_equal(watched)[[step for first, last in found for step in range(first, last + 1)]].sum())
    score = copies / len(watched) / DUPLICATES
    if not copies:
        return Finding(check, name, 0.0, "no picture comes twice while those around it change")
    return Finding(
        check,
        name,
        score,
        f"{copies:,} of {len(watched):,} frames ({copies / len(watched):.1%}) repeat the picture before them while "
        f"those around change, {exact:,} of them exactly; the first is {watched.at(found[0][0] + 1)}",
        fix="leave the repeated frames out, or record at the rate at which the camera gives new pictures",
        moments=watched.moments([(first, last + 1) for first, last in found], "the same picture again"),
        values=(("frames", copies), ("share", copies / len(watched)), ("exact", exact)),
    )


def isolated_copies(watched: Watched) -> Mask:
    """The steps to a duplicate, and those next to them (N - 1,)."""
    near = np.zeros(len(watched.still) + 2, bool)
    for shift in (0, 1, 2):
        near[shift : shift + len(watched.still)] |= watched.still
    return near[1:-1]


def _isolated(watched: Watched, run: Run) -> bool:
    """Whether pictures change on both sides of a run of steps, and the log does not say that the camera stopped."""
    first, last = run
    if first == 0 or last + 1 >= len(watched.change):
        return False
    sides = watched.change[[first - 1, last + 1]]
    exact = _equal(watched)[first : last + 1].all()  # no camera gives the same picture twice, however little it moves
    if not (sides > (2 * ALMOST_EQUAL if exact else MOVING_CHANGE * watched.still_level)).all():
        return False
    if watched.speed is None:
        return True
    inside, outside = watched.speed[first : last + 1].max(), watched.speed[[first - 1, last + 1]].min()
    return not inside < MOVING * outside


def _equal(watched: Watched) -> Mask:
    equal: Mask = watched.glances.digests[1:] == watched.glances.digests[:-1]
    return equal


def _seen_to_move(watched: Watched) -> bool:
    """Whether stillness means anything: pictures change clearly elsewhere, or are equal to the last bit here."""
    changes = watched.usual_change > MOVING_CHANGE * watched.still_level
    return bool(changes or _equal(watched)[watched.still].mean() > 0.5)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
