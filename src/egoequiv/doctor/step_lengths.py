"""Frames that were lost without a trace: steps of the pictures that are longer than the log says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.dropped import MISSING
from egoequiv.doctor.evidence import Comparison
from egoequiv.doctor.finding import Finding, Moment

Array = NDArray[np.float64]

_FEWEST = 20  # steps whose length is known beside both neighbours
_CLEAR = 4.0  # spreads of the lengths: what a lost frame adds must be more than this
_LEAST = 2  # one lost frame alone is no fault, nor is one row of them: a bump makes such a row too
_SLOW = 0.2  # of the usual way: slower steps have no length to speak of
_IN_A_ROW = 3  # lost frames, each between two that are there
_MOST_MOMENTS = 5


def step_lengths(comparison: Comparison) -> Finding:
    """Whether single steps of the pictures are longer than those around them, while the log moves evenly.

    Points that three pictures show tell how much longer one step is than the one before. A lost frame makes a step of k
    frames (k + 1) / k times as long, and the next one as much shorter; up to three such steps may follow each other.
    The score is the share of frames lost so, less the steps that are as much too short, divided by 2 % (or by two
    frames in two places, if that is more).
    """
    check, name = "step lengths", comparison.recording
    against_last, _ = ratios = _length_ratios(comparison)
    judged = np.isfinite(ratios).all(axis=0)
    if judged.sum() < _FEWEST:
        return Finding(check, name, np.nan, "too few steps whose length can be told from the pictures")
    frames = float(np.median(comparison.steps.second - comparison.steps.first))
    lost = float(np.log((frames + 1) / frames))
    spread = 1.4826 * float(np.median(np.abs(ratios[:, judged])))
    if _CLEAR * spread > lost:
        return Finding(check, name, np.nan, "the lengths of steps vary too much to see a lost frame")
    longer, shorter = _longer_and_shorter(against_last, lost / 2)
    count = max(len(longer) - shorter, 0)
    share = count / (frames * float(judged.sum()) + count)
    rows = int((np.diff(longer, prepend=-2) > 1).sum())  # of steps that follow each other
    score = min(share / MISSING, min(count, rows) / _LEAST)
    values = (("longer", float(len(longer))), ("shorter", float(shorter)), ("share", share), ("spread", spread))
    if score < 1:
        return Finding(check, name, score, "steps are about as long as the log says", values=values)
    worst = longer[np.argsort(-against_last[longer], kind="stable")][:_MOST_MOMENTS]
    steps = comparison.steps
    moments = tuple(Moment(int(steps.first[k]), int(steps.second[k]), "a step that is too long") for k in worst)
    text = (
        f"in {len(longer)} of {int(judged.sum())} steps the camera moves further than the log says, in {shorter} less "
        f"far; the first is after frame {int(steps.first[longer[0]])}"
    )
    fix = "frames were lost: match pictures and stamps again from the camera's own frame numbers"
    return Finding(check, name, score, text, fix, moments, values)


def _longer_and_shorter(against_last: Array, least: float) -> tuple[NDArray[np.int64], int]:
    """The steps that are longer than those on both sides by `least`, and how many are shorter by as much.

    One that is longer than the last begins a row of longer steps, and the next that is shorter than its last ends it;
    the reverse of shorter steps. Each begins or ends one row only: what is between two lost frames is not too short.
    """
    found: tuple[list[int], list[int]] = ([], [])
    step = 0
    while step < len(against_last):
        sign = np.sign(against_last[step]) if np.abs(against_last[step]) > least else 0.0
        after = step + 1
        if sign:
            row = against_last[after : after + _IN_A_ROW]
            edges = np.flatnonzero(~(np.abs(row) <= least))  # the end, or not told
            if len(edges) and sign * row[edges[0]] < -least:
                after = step + 1 + int(edges[0])
                found[0 if sign > 0 else 1].extend(range(step, after))
                after += 1
        step = after
    return np.array(found[0], np.int64), len(found[1])


def _length_ratios(comparison: Comparison) -> Array:
    """Log of the length of each step over that of the last and over that of the next, less the same of the log; (2, S).

    NaN: not told.
    """
    steps = comparison.steps
    ratios = np.full((2, len(steps)), np.nan)
    if len(steps) < 2:
        return ratios
    way = np.linalg.norm(comparison.logged()[1], axis=1)
    if not np.isfinite(way).any():
        way = np.ones(len(steps))  # nothing is known of the way: it is taken to be even
    way = np.where(way > _SLOW * np.nanmedian(way), way, np.nan)
    ratio = np.log(steps.length_ratio[1:]) - np.log(way[1:] / way[:-1])  # of each step to the one before
    forth = (steps.direction[1:] * steps.direction[:-1]).sum(axis=1) > 0  # pictures in the wrong order go to and fro
    ratio = np.where(forth, ratio, np.nan)
    ratios[0, 1:], ratios[1, :-1] = ratio, -ratio
    return ratios
