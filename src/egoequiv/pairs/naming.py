"""Names of motions, in words that a person would use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import MotionSpace

Array = NDArray[np.float64]

SHARE = 0.4  # of the largest component: a component of this size is named too
LARGE = 0.75  # in spreads: a component of this size is named beside any other
LARGE_DEG = 10.0  # and so is a turn of this size: in most lenses the picture moves by a sixth of its width
NO_MOTION = "still"
STILL = 0.1  # in spreads: a motion with no larger component is called still
AND = " and "
_PART = re.compile(r"(?P<words>.+?)\s+(?P<amount>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>\S*)")


def name_motions(space: MotionSpace, motions: Array, spread: Array, taken: Sequence[str] = ()) -> tuple[str, ...]:
    """Each motion in plain words, the largest component in spreads first: "left turn 16° and forward 4.7 m"; (G, M).

    Each component that is a considerable part of the motion is named: one of at least 0.4 of the largest component, or
    of 0.75 of a spread, or a turn of 10° or more. Smaller ones are named only where two motions would have the same
    name, or one of those that are `taken`. A motion that hardly moves is "still".
    """
    names = list(taken)
    is_turn = np.array([axis.unit == "deg" for axis in space.axes], bool)
    for motion in motions:
        size = np.abs(motion / spread)
        if size.max() < STILL and NO_MOTION not in names:
            names.append(NO_MOTION)
            continue
        least = min(SHARE * size.max(), LARGE)
        considerable = (size > 0) & ((size >= least) | (is_turn & (np.abs(motion) >= LARGE_DEG)))
        said = {k: space.axes[k].in_words(float(motion[k])) for k in np.argsort(-size, kind="stable").tolist()}
        order = [k for k, word in said.items() if word] or list(said)  # some components are not named
        order.sort(key=lambda k: not considerable[k])
        words = [said[k] or NO_MOTION for k in order]
        fewest = max(int(considerable[order].sum()), 1)
        longer = (AND.join(words[:length]) for length in range(fewest, len(words) + 1))
        numbered = (f"{AND.join(words)} ({number})" for number in count(len(names) + 1))
        names.append(next(name for name in chain(longer, numbered) if name not in names))
    return tuple(names[len(taken) :])


def motion_in_words(space: MotionSpace, name: str) -> Array | None:
    """The motion (M,) that a name describes, such as "forward 2 m and left turn 17°"; None where it describes none.

    "17 deg" and a plus sign for "and" are understood too. The inverse of `name_motions`, but for rounding and for
    components that are too small to be named, which are 0.
    """
    ways = {word: (k, sign) for k, axis in enumerate(space.axes) for word, sign in ((axis.plus, 1), (axis.minus, -1))}
    motion = np.zeros(len(space.axes))
    for part in re.split(r"\s+and\s+|\s*\+\s*", name.strip()):
        found = _PART.fullmatch(part)
        words, amount, unit = (found["words"], found["amount"], found["unit"]) if found else (part, "1", "")
        if words not in ways:
            return None
        k, sign = ways[words]
        is_said = found is not None or space.axes[k].in_words(sign) == part  # directions have no number
        if not is_said or unit.replace("°", "deg") not in ("", space.axes[k].unit):
            return None
        motion[k] += sign * float(amount)
    return motion
