"""Two plain checks of whether pictures follow the motion, to compare the doctor with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.logged import LoggedMotion
from egoequiv.experiments.faults.seen import Seen

Array = NDArray[np.float64]

_FEWEST = 5  # steps


def rival_scores(seen: Seen, motion: LoggedMotion) -> dict[str, float]:
    """The scores of both checks, 0 (agree) to 2 (opposite); NaN: they cannot tell."""
    return {"pixel difference": pixel_difference(seen, motion), "mean flow": mean_flow_score(seen, motion)}


def pixel_difference(seen: Seen, motion: LoggedMotion) -> float:
    """One less the correlation over time of how much pictures change and how fast the log moves.

    The speed is the length of the way plus the turn, each divided by its 90 % quantile.
    """
    turned, moved = _motion_of_steps(seen, motion)
    speed = np.zeros(len(seen.steps))
    for part in (turned, moved):
        size = np.linalg.norm(np.nan_to_num(part), axis=1)
        usual = float(np.quantile(size, 0.9)) if len(size) else 0.0
        speed += size / usual if usual > 0 else 0.0
    return one_less_correlation(seen.change, speed)


def mean_flow_score(seen: Seen, motion: LoggedMotion) -> float:
    """One less the correlation over time of the mean optical flow and the turn of the log.

    A turn to the left moves pictures to the right, one downwards moves them up. Both directions are taken together;
    what the log does not have is left out.
    """
    turned, _ = _motion_of_steps(seen, motion)
    return one_less_correlation(
        np.concatenate([seen.flow[:, 0], -seen.flow[:, 1]]), np.concatenate([turned[:, 2], turned[:, 1]])
    )


def one_less_correlation(a: Array, b: Array) -> float:
    """One less Pearson's correlation of the values that are known of both; NaN if there are few, or none differ."""
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if len(a) < _FEWEST or np.ptp(a) <= 0 or np.ptp(b) <= 0:
        return float("nan")
    return 1.0 - float(np.corrcoef(a, b)[0, 1])


def _motion_of_steps(seen: Seen, motion: LoggedMotion) -> tuple[Array, Array]:
    """Turn in degrees and way of the log in each step, (S, 3) both."""
    first, second = seen.steps.first, seen.steps.second
    return motion.turned_deg[second] - motion.turned_deg[first], motion.moved[second] - motion.moved[first]
