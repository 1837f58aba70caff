"""Rho of one motion, by a map that is fitted, chosen and measured on three different parts of its pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

import numpy as np

from egoequiv.auditing.fits import CANDIDATES, Fit, choose_map
from egoequiv.auditing.parts import PairParts
from egoequiv.auditing.table import MotionAudit
from egoequiv.evaluation.equivariance import SAME, Features, score_constant, score_mapped
from egoequiv.pairs.candidates import Indices


def measure_motion(
    features: Callable[[Indices], Features], parts: PairParts, candidates: Sequence[Fit] = CANDIDATES
) -> MotionAudit:
    """Rho of one motion from features of store rows, (N,) -> (N, D); by Eq. 9, as `egoequiv evaluate` has it."""
    fit, choose = ((features(part.j), features(part.i)) for part in (parts.fit, parts.choose))
    z_j, z_i = features(parts.measure.j), np.asarray(features(parts.measure.i), np.float64)
    moved = np.linalg.norm(z_i - z_j, axis=1)
    if not moved.mean() > SAME * np.linalg.norm(z_i, axis=1).mean():  # what moves is rounding of single precision
        return MotionAudit(parts.motion, nan, (nan, nan), nan, "none", len(moved))
    back = choose_map(fit, choose, candidates)
    score = score_mapped(back(z_j), z_i, z_j, parts.measure.group)
    constant = score_constant(fit[1], z_i, z_j, parts.measure.group)
    return MotionAudit(
        motion=parts.motion,
        rho=score.rho,
        interval=score.interval,
        ratio_of_means=score.ratio_of_means,
        fit=back.fit.in_words(),
        pairs_excluded=score.pairs_excluded,
        constant=constant.rho,
        ratio_interval=score.ratio_interval,
        ratio_constant=constant.ratio_of_means,
    )
