"""Leakage that neither time nor place shows: validation frames that look nearly the same as a training frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.pairs.candidates import Indices, recordings_of
from egoequiv.pairs.leakage import leaked_frames
from egoequiv.pairs.splits import Split
from egoequiv.store import FrameStore
from egoequiv.store.shrinking import shrink

Array = NDArray[np.float64]
Pictures = NDArray[np.float32]  # (N, P), each of length 1, so that products are cosines; or 0 where it shows nothing

SIDE = 16  # pixels of a small picture, at most
FLAT = 2.0  # gray levels: a small picture with a lower standard deviation shows nothing
MOST_FRAMES = 3_000  # validation frames that are compared with all training frames
MOST_STEPS = 500  # of a recording that are looked at
AT_ONCE = 500  # frames
STEP_S = 0.1
STILL = 0.1  # of the 90th percentile of steps: while the camera stands still, nothing can be learned from its steps
# Chosen so that nothing is counted in other recordings of KITTI, nor in 7-Scenes a second apart, where each training
# frame is more than three steps away; of seven laps of a race car, nine of ten frames are counted.
SLACK = 1.25  # of a usual step
FURTHEST = 0.1  # cosine distance of a near copy, whatever a step changes; and of neighbouring frames of a video


def count_near_copies(store: FrameStore, split: Split, max_gap_s: float = 1.0) -> int | None:
    """How many validation frames, beside those that `count_leaked` counts, look like a training frame.

    A route that is driven twice shows nearly the same pictures again. Pictures are compared as small gray ones by their
    cosine, after their mean is subtracted. A validation frame has a near copy if the nearest training frame is at most
    about as far as frames that are a usual step of its recording apart: 0.1 s, or one frame of a slower video.

    Args:
        store: The frames. On a grid and in most photographs, a step changes so much that it says nothing.
        split: Which frames are trained on and which are measured.
        max_gap_s: Frames within this time leak already, and are not counted again.

    Returns:
        The number, estimated from `MOST_FRAMES` where there are more; None where no recording is a video with motion.

    """
    if store.space.named_motions() or not store.has_images:
        return None
    asked = split.validation[~leaked_frames(store, split, max_gap_s)]
    if not len(asked):
        return 0
    some = _evenly(asked, MOST_FRAMES)
    limit = _limits(store, some)[store.recording[some]]
    if np.isnan(limit).all():
        return None
    near = _nearest(store, some, split.train) <= limit
    return round(float(near.mean()) * len(asked))


def near_copies_in_words(count: int, frames: int) -> str:
    """How many of the validation frames look like a training frame, as a line of a report."""
    about = "about " if count and frames > MOST_FRAMES else ""
    verb = "looks" if (count, about) == (1, "") else "look"
    return (
        f"{about}{count:,} of {frames:,} validation frames {verb} nearly the same as a training frame of another time "
        "or recording (by pixels, as similar as neighbouring frames)"
    )


def _evenly(rows: Indices, most: int) -> Indices:
    """At most so many of them, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _limits(store: FrameStore, frames: Indices) -> Array:
    """How far a near copy may be, for each recording (R,) that has some of the frames; NaN where that is not known."""
    found = np.full(len(store.recording_names), np.nan)
    for rows in recordings_of(store, np.flatnonzero(np.isin(store.recording, store.recording[frames]))):
        found[store.recording[rows[0]]] = _limit(store, rows)
    return found


def _limit(store: FrameStore, rows: Indices) -> float:
    """How far a near copy of a frame of one recording may be; NaN if it is no video, or its camera never moves."""
    times_s = store.frame * STEP_S if store.times_s is None else store.times_s
    rows = rows[np.argsort(times_s[rows], kind="stable")]
    gaps = np.diff(times_s[rows])
    gap_s = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else np.inf
    if not _distance_apart(store, rows, 1) <= FURTHEST:
        return np.nan
    usual = _distance_apart(store, rows, max(round(STEP_S / gap_s), 1))
    return min(SLACK * usual, FURTHEST)


def _distance_apart(store: FrameStore, rows: Indices, step: int) -> float:
    """The median cosine distance of frames a step apart, rows in order, where the camera moves; NaN without any."""
    if len(rows) <= step:
        return np.nan
    first = _evenly(np.arange(len(rows) - step), MOST_STEPS)
    one, other = (small_pictures(store, rows[places]) for places in (first, first + step))
    distance: Array = 1.0 - (one * other).sum(axis=1, dtype=np.float64)
    distance = distance[one.any(axis=1) & other.any(axis=1)]
    moving = distance[distance > STILL * np.percentile(distance, 90)] if len(distance) else distance
    return float(np.median(moving)) if len(moving) else np.nan


def _nearest(store: FrameStore, frames: Indices, others: Indices) -> Array:
    """The cosine distance of each frame to the nearest of the others, (N,), (M,) -> (N,)."""
    own = small_pictures(store, frames)
    best = np.full(len(frames), -np.inf)
    for rows in np.split(others, range(AT_ONCE, len(others), AT_ONCE)):
        if len(rows):
            best = np.maximum(best, (own @ small_pictures(store, rows).T).max(axis=1, initial=-np.inf))
    return 1.0 - best


def small_pictures(store: FrameStore, rows: Indices) -> Pictures:
    """Small gray pictures without their mean, (N, P), of length 1."""
    blocks = np.split(rows, range(AT_ONCE, len(rows), AT_ONCE))
    small = np.concatenate([shrink(store.images[block], SIDE, SIDE) for block in blocks])
    found: Pictures = small.mean(axis=3, dtype=np.float32).reshape(len(rows), -1)
    found -= found.mean(axis=1, keepdims=True)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    shows = length > FLAT * np.sqrt(found.shape[1])
    return np.where(shows, found / np.maximum(length, 1e-6), 0.0).astype(np.float32)
