"""The evaluations that are kept in the folders of runs, read with care: they may be damaged, or of earlier weights."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError
from egoequiv.files import is_number, read_json
from egoequiv.models.checkpoint import RUN_KIND, Which

COUNTED = ("pairs_fitted", "pairs_scored")  # of a motion: they say why it has no rho


def read_evaluation(run: Path, which: Which = "last") -> dict[str, Any] | None:
    """The evaluation in the folder of a run, whatever weights it is of; None where there is none that is whole.

    It is only kept to save time, so one that is damaged is not told of: it is measured anew.
    """
    try:
        kept = read_json(run / f"evaluation-{which}.json", RUN_KIND)
    except DataError:
        return None
    return kept if _is_whole(kept) else None


def kept_evaluation(run: Path, which: Which = "last") -> dict[str, Any] | None:
    """The evaluation in the folder of a run, if it is whole and still of the weights there."""
    kept = read_evaluation(run, which)
    weights = run / f"{which}.safetensors"
    if kept is None or not weights.exists():
        return None
    digest = sha256(weights.read_bytes()).hexdigest()
    return kept if kept.get("measured_of", {}).get("weights") == digest else None


def _is_whole(kept: dict[str, Any]) -> bool:
    metrics, motions = kept.get("metrics"), kept.get("motions")
    return (
        isinstance(kept.get("measured_of", {}), dict)  # those of earlier versions do not say
        and isinstance(metrics, dict)
        and all(_is_number_or_none(value) for value in metrics.values())
        and isinstance(motions, list)
        and all(_is_motion(motion) for motion in motions)
    )


def _is_motion(motion: Any) -> bool:
    return (
        isinstance(motion, dict)
        and isinstance(motion.get("motion"), str)
        and "rho" in motion
        and _is_number_or_none(motion["rho"])
        and all(isinstance(motion.get(key), int) for key in COUNTED)
        and _is_number_or_none(motion.get("pairs_needed"))
    )


def _is_number_or_none(value: Any) -> bool:
    return value is None or is_number(value)
