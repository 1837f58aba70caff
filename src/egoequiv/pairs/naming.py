"""Names of motions, in words that a person would use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from egoequiv.pose import MotionSpace

Array = NDArray[np.float64]

NEARLY = 0.75  # share of the first component from which a second one is named too
NO_MOTION = "still"
STILL = 0.1  # in spreads: a motion with no larger component is called still
APART = 0.5  # in spreads: the least component that is named because it tells two motions apart


def name_motions(space: MotionSpace, motions: Array, spread: Array, taken: Sequence[str] = ()) -> tuple[str, ...]:
    """Each motion in plain words, named after its largest component in spreads: "left turn 16°"; (G, M).

    A second component that is nearly as large is named too; where there is none, one that tells the motion apart from
    another in the same direction, as turns are told apart where a car always drives; and more if two motions would have
    the same name, or one of those that are `taken`. A motion that hardly moves is "still".
    """
    names = list(taken)
    for motion in motions:
        size = np.abs(motion / spread)
        if size.max() < STILL and NO_MOTION not in names:
            names.append(NO_MOTION)
            continue
        said = {k: space.axes[k].in_words(float(motion[k])) for k in np.argsort(-size, kind="stable").tolist()}
        order = [k for k, word in said.items() if word] or list(said)  # some components are not named
        is_mixed = len(order) > 1 and size[order[1]] >= NEARLY * size[order[0]]
        told = None if is_mixed else _told_apart(motion / spread, motions / spread, order)
        if told is not None:
            order.remove(told)
            order.insert(1, told)
        words = [said[k] or NO_MOTION for k in order]
        name = words[0]
        for place, (k, more) in enumerate(zip(order[1:], words[1:], strict=True)):
            is_named = place == 0 and (is_mixed or k == told)
            if name not in names and not is_named:
                break
            name += f" and {more}"
        numbered = (f"{name} ({number})" for number in count(len(names) + 1))
        names.append(next(one for one in chain([name], numbered) if one not in names))
    return tuple(names[len(taken) :])


def _told_apart(motion: Array, motions: Array, order: Sequence[int]) -> int | None:
    """The component by which a motion differs most from others whose largest one is the same; (M,), (G, M), in spreads.

    `order` are the components that have a word, the largest first. None where that one tells them apart, or the other
    is too small to be named.
    """
    own, others = motion[order], motions[:, order]
    is_alike = (np.abs(others).argmax(axis=1) == 0) & (np.sign(others[:, 0]) == np.sign(own[0]))
    gaps = np.abs(others[is_alike] - own)
    gaps = gaps[(gaps.argmax(axis=1) != 0) & gaps.any(axis=1)]  # of a motion from itself there is none
    if not len(gaps):
        return None
    most = 1 + int(gaps[:, 1:].max(axis=0).argmax())
    return order[most] if np.abs(own[most]) >= APART else None
