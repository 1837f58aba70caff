"""A second opinion on the motion of a log: whether the features of a run move as the log says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.finding import Finding, Moment
from egoequiv.errors import DataError
from egoequiv.evaluation.beliefs import ERRORS, Beliefs, Reader, make_reader
from egoequiv.evaluation.features import OnProgress, embed
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.pairs.candidates import Indices
from egoequiv.sources.recording import Recording
from egoequiv.store import FrameStore
from egoequiv.training.open_run import OpenRun

CHECK = "surprise"
MOMENT_FRAMES, MOMENTS, NOTABLE = 10, 3, 1.5  # frames where there are no times; how many; times the usual surprise

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Surprise:
    """What the features say about one recording."""

    finding: Finding
    curve: Array | None = None  # of the pairs that begin at each frame, its median 1; NaN: no pairs


def read_surprise(reader: Reader, features: FrameFeatures, recording: Recording) -> Surprise:
    """Judge one recording of a store by its features; see `surprises`."""
    name, store = recording.name, features.store
    why = reader.why_not()
    if not why and name not in store.recording_names:
        why = "no picture of the recording can be read"
    if why:
        return Surprise(Finding(CHECK, name, nan, why))
    rows = np.flatnonzero(store.recording == store.recording_names.index(name))
    rows = rows[np.argsort(store.frame[rows], kind="stable")]
    beliefs = reader.beliefs(features, rows)
    if why := beliefs.too_few():
        return Surprise(Finding(CHECK, name, nan, why))
    places = np.arange(len(rows)) if len(rows) == len(recording) else store.frame[rows]  # some may be unreadable
    curve = np.full(len(recording), nan)
    curve[places] = _mean_by_frame(beliefs, rows)
    curve /= max(float(np.nanmedian(curve)), 1e-12)
    return Surprise(_judged(reader, beliefs, name, _moments(curve, recording.times_s)), curve)


def _judged(reader: Reader, beliefs: Beliefs, name: str, moments: tuple[Moment, ...]) -> Finding:
    found, usual = beliefs.agreement(), reader.reference.value
    share, chance = float(beliefs.hit.mean()), float(beliefs.chance.mean())
    expected, best = chance + usual * (1 - chance), float(np.median(beliefs.best_rho))
    reach = ERRORS * found.stderr
    text = (
        f"the features agree with the logged motion in {100 * share:.0f} % of {len(beliefs):,} pairs "
        f"({100 * chance:.0f} % by chance, {100 * expected:.0f} % expected of this run)"
    )
    score = max((usual - (found.value + reach)) / (usual - reader.limit), 0.0)
    if best > (max(reader.best_rho, 1.0) + reader.best_rho) / 2:
        score, text = nan, f"{text}; no map of the run predicts these features, so the pictures are new to it"
    elif isnan(score) or (score < 1 and found.value - reach <= 0):
        score, text = nan, f"{text}; this is too little to decide"
    values = (
        ("share", share),
        ("chance", chance),
        ("reference", expected),
        ("median_rho", float(np.median(beliefs.rho))),
    )
    return Finding(CHECK, name, score, text, moments=moments, values=values)


def _mean_by_frame(beliefs: Beliefs, rows: Indices) -> Array:
    """Mean surprise of the pairs that begin at each of the rows; NaN where none does."""
    order = np.argsort(rows)
    place = order[np.searchsorted(rows[order], beliefs.i)]
    count = np.bincount(place, minlength=len(rows))
    total = np.bincount(place, beliefs.surprise, minlength=len(rows))
    return np.where(count > 0, total / np.maximum(count, 1), nan)


def _moments(curve: Array, times_s: Array | None) -> tuple[Moment, ...]:
    """The seconds with the largest mean surprise, apart from each other, the worst first."""
    step_s = nan if times_s is None or len(times_s) < 2 else float(np.median(np.diff(times_s)))
    width = max(round(1 / step_s), 2) if step_s > 0 else MOMENT_FRAMES
    if len(curve) < width:
        return ()
    window = np.ones(width)
    count = np.convolve(np.isfinite(curve), window, "valid")
    mean = np.where(2 * count >= width, np.convolve(np.nan_to_num(curve), window, "valid") / np.maximum(count, 1), 0.0)
    moments: list[Moment] = []
    while len(moments) < MOMENTS and mean.max() >= NOTABLE:
        first = int(mean.argmax())
        text = f"the surprise of the features is {mean[first]:.1f} times the usual"
        moments.append(Moment(first, first + width - 1, text))
        mean[max(first - width, 0) : first + width + 1] = 0.0
    return tuple(moments)


def surprises(
    run: OpenRun, store: FrameStore, recordings: Sequence[Recording], on_progress: OnProgress | None = None
) -> list[Surprise]:
    """Ask the features of a run whether they believe the motions of a log.

    For each pair of frames whose logged motion is a pattern of the run, the maps of all patterns predict the features.
    If the motion is right, the map of the logged pattern is the best one more often than by chance.

    Args:
        run: with maps fitted here, on its own training frames.
        store: the frames of the log.
        recordings: those that the doctor examines; they have the names of the store.
        on_progress: gets what is done, how much of it, and how much there is.

    Returns:
        A finding for each recording, and its surprise over time.

    Example:
        >>> surprises(open_run("run"), FrameStore.open("log"), source.recordings)  # doctest: +SKIP

    """
    patterns, own = run.patterns, run.store
    why = "" if patterns is not None else "the run knows no motions"
    if patterns is not None:
        try:
            store = store.in_space(patterns.space)
        except DataError as problem:
            why = f"the log has not the motions of the run ({problem})"
    if why or patterns is None:
        return [Surprise(Finding(CHECK, one.name, nan, why)) for one in recordings]
    frames = np.concatenate([run.split.train, run.split.validation])
    features = FrameFeatures(own, frames, embed(run.net, own, frames, on_progress=on_progress))
    reader = make_reader(features, run.split, patterns, run.config.max_gap_s)
    rows = np.arange(len(store))
    of_log = FrameFeatures(store, rows, embed(run.net, store, fit=True, on_progress=on_progress))
    return [read_surprise(reader, of_log, one) for one in recordings]
