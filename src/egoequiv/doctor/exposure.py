"""Pictures that show nothing: not decoded, black, white, or of a brightness that jumps."""

from __future__ import annotations

import numpy as np

from egoequiv.doctor.finding import Finding
from egoequiv.doctor.watched import Watched, around, runs_of
from egoequiv.plurals import plural

CLIPPED = 0.6  # the share of black or white pixels from which on a picture is bad
FLAT = 2.0  # gray levels: a thumbnail that varies less shows nothing
JUMP = 25.0  # gray levels of mean brightness in one step
JUMP_RATIO = 4.0  # and so many times the steps around it
SAME_VIEW = 0.8  # the correlation of thumbnails from which on they show the same view
NIGHT = 20.0  # gray levels: a recording whose pictures are mostly darker is dark as a whole
BAD = 0.01  # the share of bad pictures, or of steps that jump, from which on it is a fault


def broken(watched: Watched) -> Finding:
    """Whether pictures cannot be decoded. The score is 0 if all can; otherwise 1 + 100 times their share."""
    bad = np.flatnonzero(watched.glances.broken)
    if not len(bad):
        return Finding("broken", watched.name, 0.0, f"all {len(watched):,} pictures can be decoded")
    share = len(bad) / len(watched)
    return Finding(
        "broken",
        watched.name,
        1 + 100 * share,
        f"{len(bad):,} of {len(watched):,} pictures ({share:.1%}) cannot be decoded; the first is "
        f"{watched.at(int(bad[0]))}",
        fix="copy the files again from the recorder; frames that cannot be decoded are left out",
        moments=watched.moments(runs_of(watched.glances.broken), "cannot be decoded"),
        values=(("frames", len(bad)), ("share", share)),
    )


def exposure(watched: Watched) -> Finding:
    """Whether pictures are black, white, flat, or of a brightness that jumps, or the recording is dark.

    The score is the largest of: the share of bad pictures, divided by 1 %; the share of steps in which the brightness
    jumps, divided by 1 % (at least two of them for a score of 1); and 20 divided by the median brightness, less than 1
    from 20 gray levels on.
    """
    check, name, seen = "exposure", watched.name, watched.glances
    good = ~seen.broken
    if not good.any():
        return Finding(check, name, np.nan, "no picture can be decoded")
    flat = seen.flat.std(axis=1) < FLAT
    black, white = good & (seen.dark > CLIPPED), good & (seen.bright > CLIPPED)
    bad = black | white | (good & flat)
    jumps = _jumps(watched)
    night = NIGHT / max(float(np.nanmedian(seen.brightness)), 0.1)
    scores = {
        "bad": bad.sum() / good.sum() / BAD,
        "jumps": len(jumps) / max(BAD * len(watched), 2.0),
        "night": night if night >= 1 else 0.0,
    }
    worst = max(scores, key=lambda kind: scores[kind])
    brightness = f"the median brightness is {np.nanmedian(seen.brightness):.0f} of 255"
    if scores[worst] == 0:
        return Finding(check, name, 0.0, f"no black, white or flat picture, no jump of brightness; {brightness}")
    parts = []
    if bad.any():
        parts.append(
            f"{bad.sum():,} of {len(watched):,} pictures show nothing ({black.sum():,} black, {white.sum():,} white, "
            f"{(bad & ~black & ~white).sum():,} flat), the first is {watched.at(int(np.flatnonzero(bad)[0]))}"
        )
    if len(jumps):
        parts.append(f"the brightness jumps {plural(len(jumps), 'time')}, first after {watched.at(int(jumps[0]))}")
    runs = runs_of(bad) + [(int(step), int(step) + 1) for step in jumps]
    return Finding(
        check,
        name,
        float(scores[worst]),
        "; ".join([*parts, brightness]),
        fix=_FIXES[worst],
        moments=watched.moments(runs or [(0, len(watched) - 1)], "bad exposure"),
        values=(("bad", float(bad.sum())), ("jumps", len(jumps)), ("brightness", float(np.nanmedian(seen.brightness)))),
    )


_FIXES = {
    "bad": "leave the frames out, and check the lens cap, the shutter and the gain",
    "jumps": "fix the exposure of the camera, or let it change slowly",
    "night": "record with more light, a longer exposure or more gain",
}


def _jumps(watched: Watched) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The steps in which the mean brightness jumps, not around them, and not because the view is another."""
    if len(watched) < 2:
        return np.zeros(0, np.int64)
    step = np.abs(np.diff(watched.glances.brightness))
    sides = np.nan_to_num(around(step, 2))
    steps = np.flatnonzero((step > JUMP) & (step > JUMP_RATIO * sides))
    small = watched.glances.flat
    same = [np.corrcoef(small[k], small[k + 1])[0, 1] > SAME_VIEW for k in steps if small[k : k + 2].std(axis=1).all()]
    return steps[np.array(same, bool)] if len(same) == len(steps) else steps
