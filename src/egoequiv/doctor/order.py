"""Pictures in the wrong order: another order of a few of them makes their path, or that of the camera, shorter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from egoequiv.doctor.finding import Finding
from egoequiv.doctor.watched import Array, Watched
from egoequiv.plurals import plural

LONGEST = 8  # frames that are put in another order
GAIN = 0.2  # the share of the path around them by which another order must be shorter
LEVELS = 2.0  # and by how many still levels
PLACES = 0.0025  # the share of frames, counted in places with another order, from which on it is a fault


@dataclass(frozen=True)
class Place:
    """Frames that would better be in another order."""

    first: int
    last: int
    gain: float  # the share of the path from `first - 1` to `last + 1` that is saved: of thumbnails, or of the camera
    words: str


def order(watched: Watched) -> Finding:
    """Whether some pictures are in the wrong order.

    Two neighbours swapped, up to eight frames reversed, and a short run moved by a few frames are tried at each place.
    The score is the number of places where that makes the path of the thumbnails at least 20 % shorter, or where the
    camera goes to and fro (`exchanged_frames`), divided by 0.25 % of the frames (or by 1, if that is more).
    """
    check, name = "order", watched.name
    places = better_orders(watched)
    if not places and (len(watched) < 6 or watched.usual_change < 2 * watched.still_level):
        return Finding(check, name, np.nan, "too few pictures, or they change too little, to see their order")
    if not places and watched.steps_are_large:
        return Finding(check, name, np.nan, "neighbouring pictures are too far apart to see their order")
    if not places:
        return Finding(check, name, 0.0, "no other order of neighbouring pictures is clearly shorter")
    best = max(places, key=lambda place: place.gain)
    return Finding(
        check,
        name,
        len(places) / max(PLACES * len(watched), 1.0),
        f"pictures are out of order in {plural(len(places), 'place')}; the first is {watched.at(places[0].first)}, the "
        f"clearest {watched.at(best.first)} to {watched.at(best.last)}: {best.words} makes the path {best.gain:.0%} "
        "shorter",
        fix="sort the pictures by the camera's own stamps or frame numbers (as text, 10 comes before 9)",
        moments=watched.moments(
            [(place.first, place.last) for place in places], "out of order", [place.gain for place in places]
        ),
        values=(("places", len(places)), ("gain", best.gain)),
    )


def better_orders(watched: Watched) -> list[Place]:
    """The places where another order is clearly shorter, the best of those that overlap, in order."""
    rows, saved = (np.empty(0, np.int64), np.empty(0)) if watched.exchanged is None else watched.exchanged
    found = [Place(int(k), int(k) + 1, float(gain), "swapping them") for k, gain in zip(rows, saved, strict=True)]
    if _shows_order(watched):
        found += _shorter_orders(watched)
    taken = np.zeros(len(watched), bool)
    kept = []
    for place in sorted(found, key=lambda place: (-place.gain, place.last - place.first)):
        if not taken[place.first : place.last + 1].any():
            kept.append(place)
            taken[max(place.first - 1, 0) : place.last + 2] = True
    return sorted(kept, key=lambda place: place.first)


def _shows_order(watched: Watched) -> bool:
    """Whether thumbnails change enough, and not too much, so that their path says something."""
    changes = len(watched) >= 6 and watched.usual_change >= 2 * watched.still_level
    return changes and not watched.steps_are_large


def _shorter_orders(watched: Watched) -> list[Place]:
    """All places where another order makes the path of the thumbnails clearly shorter; some overlap."""
    apart = [np.zeros(len(watched)), *(watched.distance(lag) for lag in range(1, LONGEST + 2))]
    found: list[Place] = []
    for size in range(2, min(LONGEST, len(watched) - 2) + 1):  # with a frame before and one after
        words = "swapping them" if size == 2 else "reversing them"
        found += _where(watched, size, _edges(apart, size, [0]), _edges(apart, size, None), apart, words)
        for cut in range(1, size) if size > 2 else ():
            found += _where(
                watched, size, _edges(apart, size, [0, cut]), _moved(apart, size, cut), apart, "moving one part"
            )
    return found


def _edges(apart: list[Array], size: int, cuts: list[int] | None) -> Array:
    """The steps into and out of each run of `size` frames, and at cuts inside; reversed if `cuts` is None.

    Entry k is for the run that starts at frame k + 1; (N - size - 1,).
    """
    n = len(apart[0]) - size - 1
    if cuts is None:  # (before, last) and (first, after)
        return apart[size][:n] + apart[size][1 : n + 1]
    ends = apart[1][:n] + apart[1][size : size + n]
    for cut in cuts:
        ends = ends + (apart[1][cut : cut + n] if cut else 0.0)
    return ends


def _moved(apart: list[Array], size: int, cut: int) -> Array:
    """The same three steps if the first `cut` frames of each run come after the rest."""
    n = len(apart[0]) - size - 1
    into, back, out = apart[cut + 1][:n], apart[size - 1][1 : n + 1], apart[size - cut + 1][cut : cut + n]
    return into + back + out


def _where(watched: Watched, size: int, now: Array, other: Array, apart: list[Array], words: str) -> list[Place]:
    if len(now) < 1:
        return []
    inner = np.concatenate([[0.0], np.cumsum(np.nan_to_num(apart[1]))])
    n = len(now)
    whole = inner[size + 1 : size + 1 + n] - inner[:n]  # the path from the frame before to the frame after
    gain = (now - other) / np.maximum(whole, 1e-9)
    clear = (gain > GAIN) & (now - other > LEVELS * watched.still_level)
    return [Place(int(k) + 1, int(k) + size, float(gain[k]), words) for k in np.flatnonzero(clear)]
