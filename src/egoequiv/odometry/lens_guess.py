"""The lens of each recording: as given, as the log says, or as its pictures suggest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import BrokenFrameError
from egoequiv.odometry.features import Features, match
from egoequiv.odometry.kept import keep_arrays, kept_arrays, recording_digest
from egoequiv.odometry.steps import features_of, key_frames
from egoequiv.odometry.two_view import FEWEST, NOISE_PX, Solved, gric, rays, refined, rotation_alone, scene_with_depth
from egoequiv.pose.camera import Lens
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.recording import Decoded, Recording, Source

Array = NDArray[np.float64]

USUAL_DEG = 60.0  # the field of view where pictures do not tell it
_VIEWS_DEG = np.arange(35.0, 131.0, 5.0)
_PLACES = 32  # of all recordings together, where pairs of frames are compared
_AHEAD = (1, 2, 4, 8)  # key frames; of these the first that has moved enough
_ENOUGH, _LEAST = 0.08, 0.01  # median shift, in widths of the picture
_FEWEST_PAIRS = 4
_UNSURE_DEG = 15.0  # a guess with a larger error is no better than the usual one
_DRAWS = 200  # of pairs, for the error


@dataclass(frozen=True)
class _Pair:
    """Points that two pictures share."""

    first: Array  # (M, 2) pixels
    second: Array
    size: tuple[int, int]


def lenses_of(source: Source, given: Lens | float | None = None, cache: Path | None = None) -> list[Lens]:
    """The lens of every recording.

    Args:
        source: with pictures in order.
        given: a lens or a horizontal field of view in degrees, for all recordings; it is believed.
        cache: the folder where a guess is kept; None: nowhere.

    Returns:
        Lenses whose `origin` says in words where each comes from: the setting, a file of the log, or "guessed: field of
        view 78 ± 3°". Recordings without a lens whose pictures have one size are taken for those of one camera.

    Example:
        >>> lenses_of(open_source("video", "drive.mp4"), 78.0)  # doctest: +SKIP

    """
    if isinstance(given, Lens):
        return [given] * len(source.recordings)
    lenses: list[Lens | None] = []
    sizes: dict[tuple[int, int], list[int]] = {}
    for number, recording in enumerate(source.recordings):
        own = None if given is not None else getattr(recording, "lens", None)
        lenses.append(own)
        if own is None:
            sizes.setdefault(_size(recording), []).append(number)
    for size, numbers in sizes.items():
        if given is None:
            lens = _kept_guess(source, [source.recordings[number] for number in numbers], size, cache)
        else:
            lens = Lens.of_view(given, size, f"given: field of view {given:g}°")
        for number in numbers:
            lenses[number] = lens
    return [lens for lens in lenses if lens is not None]


def _kept_guess(source: Source, recordings: Sequence[Recording], size: tuple[int, int], cache: Path | None) -> Lens:
    """A guess, read from the cache if it was made there from the same pictures."""
    digests = [recording_digest(source, recording) for recording in recordings]
    if cache is None or None in digests:
        return guess_lens(recordings, size)
    file = cache / f"lens-{sha256(repr((digests, size)).encode()).hexdigest()[:32]}.npz"
    kept = kept_arrays(file)
    if kept is not None and {"view_deg", "origin"} <= set(kept):
        return Lens.of_view(float(kept["view_deg"]), size, str(kept["origin"]))
    lens = guess_lens(recordings, size)
    keep_arrays(file, {"view_deg": np.array(round(lens.view_deg, 6)), "origin": np.array(lens.origin)})
    return lens


def guess_lens(recordings: Sequence[Recording], size: tuple[int, int]) -> Lens:
    """The field of view with which the points of moving pictures agree best; 60° if they do not tell."""
    pairs = list(_moving_pairs(recordings))
    usual = Lens.of_view(USUAL_DEG, size)
    if len(pairs) < _FEWEST_PAIRS:
        why = f"only {len(pairs)} pairs of pictures move enough to tell"
        return replace(
            usual, origin=f"guessed: field of view {USUAL_DEG:g}°, the usual one, because {why}; give it with --fov"
        )
    cost = np.array([_costs(pair) for pair in pairs])  # (P, V)
    best = _lowest(cost.sum(axis=0))
    rng = np.random.default_rng(0)
    drawn = [_lowest(cost[rng.integers(0, len(cost), len(cost))].sum(axis=0)) for _ in range(_DRAWS)]
    error = 1.4826 * float(np.median(np.abs(np.array(drawn) - best)))
    if not error < _UNSURE_DEG or not _VIEWS_DEG[0] < best < _VIEWS_DEG[-1]:
        why = "the pictures fit many fields of view equally well"
        return replace(
            usual, origin=f"guessed: field of view {USUAL_DEG:g}°, the usual one, because {why}; give it with --fov"
        )
    return Lens.of_view(round(best, 1), size, f"guessed: field of view {best:.0f} ± {max(error, 1.0):.0f}°")


def _size(recording: Recording) -> tuple[int, int]:
    """Height and width of the first picture that can be decoded."""
    for image in islice(decoded_frames(recording, range(len(recording))), 100):
        if not isinstance(image, BrokenFrameError):
            height, width = np.asarray(image).shape[:2]
            return int(height), int(width)
    return 480, 640  # no picture can be decoded, so none is compared


def _moving_pairs(recordings: Sequence[Recording]) -> Iterator[_Pair]:
    """Pairs of frames spread over all recordings, each begun where decoding can begin."""
    lengths = np.array([len(recording) for recording in recordings])
    ends = np.cumsum(lengths)
    for place in (np.arange(_PLACES) + 0.5) / _PLACES * ends[-1]:
        number = int(np.searchsorted(ends, place, side="right"))
        recording = recordings[number]
        starts = np.asarray(recording.starts())
        wanted = int(place - (ends[number] - lengths[number]))
        begin = int(starts[max(int(np.searchsorted(starts, wanted, side="right")) - 1, 0)])
        pair = _first_moving(recording, begin)
        if pair is not None:
            yield pair


def _first_moving(recording: Recording, begin: int) -> _Pair | None:
    """The frame at `begin` and a later one that has moved enough; None if none has."""
    keys = key_frames(recording)
    every = int(keys[1] - keys[0]) if len(keys) > 1 else 1
    wanted = {begin + every * ahead for ahead in _AHEAD}
    stop = min(begin + every * _AHEAD[-1] + 1, len(recording))
    best: tuple[float, _Pair] | None = None
    first: Features | None = None
    for frame, image in zip(range(begin, stop), decoded_frames(recording, range(begin, stop)), strict=True):
        if frame == begin:
            first = features_of(image)
        elif frame in wanted:
            found = _compared(first, image)
            if found is not None and found[0] > (_LEAST if best is None else best[0]):
                best = found
            if best is not None and best[0] > _ENOUGH:
                break
    return None if best is None else best[1]


def _compared(first: Features | None, image: Decoded) -> tuple[float, _Pair] | None:
    """How far points have moved, in widths of the picture, and the points."""
    second = features_of(image)
    if first is None or second is None or first.size != second.size:
        return None
    one, other = match(first, second)
    if len(one) < 3 * FEWEST:
        return None
    a, b = first.points[one].astype(np.float64), second.points[other].astype(np.float64)
    return float(np.median(np.linalg.norm(b - a, axis=1))) / first.size[1], _Pair(a, b, first.size)


def _costs(pair: _Pair) -> Array:
    """How badly each field of view explains two pictures, by a rotation alone or a scene with depth; (V,).

    Each solution begins at that of the field of view beside it; once from below and once from above, because one of the
    two may end in a poor one.
    """
    costs = np.full(len(_VIEWS_DEG), np.inf)
    for order in (range(len(_VIEWS_DEG)), range(len(_VIEWS_DEG) - 1, -1, -1)):
        last: Solved | None = None
        for view in order:
            cost, last = _cost(pair, float(_VIEWS_DEG[view]), last)
            costs[view] = min(costs[view], cost)
    return costs


def _cost(pair: _Pair, view_deg: float, last: Solved | None) -> tuple[float, Solved | None]:
    """The cost of one field of view, and its solution, from which that of the next is found."""
    lens = Lens.of_view(view_deg, pair.size)
    noise = NOISE_PX / (lens.focal_x * pair.size[1])
    a, b = rays(pair.first, lens, pair.size), rays(pair.second, lens, pair.size)
    turn, _ = rotation_alone(a, b, noise)
    turned = a @ turn.T
    off = np.linalg.norm(turned[:, :2] / np.maximum(turned[:, 2:], 1e-3) - b[:, :2], axis=1)
    turn_cost = gric(off / noise, dimension=2, free=3)
    solved = None if last is None else refined(last.rotation, last.translation, a, b, noise)
    solved = solved or scene_with_depth(a, b, noise, turn)
    if solved is None:
        return turn_cost, None
    # A point behind the camera explains nothing, as in `scene_with_depth`.
    residual = np.where(solved.behind, np.inf, solved.residual / noise)
    return min(turn_cost, gric(residual, dimension=3, free=5)), solved


def _lowest(cost: Array) -> float:
    """The field of view of the lowest cost, between the grid's by a parabola."""
    low = int(np.argmin(cost))
    if not 0 < low < len(cost) - 1:
        return float(_VIEWS_DEG[low])
    left, here, right = cost[low - 1 : low + 2]
    bend = left - 2 * here + right
    shift = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return float(_VIEWS_DEG[low] + shift * (_VIEWS_DEG[1] - _VIEWS_DEG[0]))
