"""The lenses of recordings, in the description of a store: frames are squeezed to fit, so their fractions stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import readable
from egoequiv.files import is_finite_number
from egoequiv.pose.camera import Lens
from egoequiv.sources import Recording

LENSES = "lenses"  # in the description of a store: the fields of each lens that is known, by the recording's name
_NUMBERS = ("focal_x", "focal_y", "center_x", "center_y")


def described_lenses(recordings: Iterable[Recording]) -> dict[str, dict[str, Any]]:
    """The lenses that are known, as JSON has them."""
    return {
        readable(one.name): {**asdict(one.lens), "distortion": list(one.lens.distortion)}
        for one in recordings
        if one.lens is not None
    }


def check_lenses(meta: Mapping[str, Any], where: str) -> None:
    """Refuse a description with damaged lenses; one that was written before there were any has none."""
    found = meta.get(LENSES, {})
    if not isinstance(found, dict):
        raise DataError(f"{where}: expected lenses by recording under {LENSES!r}; ingest the data again")
    for name in found:
        lens_in(meta, name, where)


def lens_in(meta: Mapping[str, Any], recording: str, where: str) -> Lens | None:
    """The lens of a recording in a description; None where it has none."""
    found = meta.get(LENSES, {})
    if recording not in found:
        return None
    fields = found[recording] if isinstance(found[recording], dict) else {}
    where = f"{where}, lens of {recording[:60]!r}"
    numbers: list[Any] = [fields.get(key) for key in _NUMBERS]
    distortion, origin = fields.get("distortion"), fields.get("origin")
    if isinstance(distortion, list):
        numbers += distortion
    if not isinstance(distortion, list) or not isinstance(origin, str) or not all(map(is_finite_number, numbers)):
        raise DataError(f"{where}: expected numbers for {', '.join(_NUMBERS)} and distortion; ingest the data again")
    focal_x, focal_y, center_x, center_y, *rest = (float(value) for value in numbers)
    try:
        return Lens(focal_x, focal_y, center_x, center_y, tuple(rest), origin)
    except ConfigError as problem:
        raise DataError(f"{where}: {problem}; ingest the data again") from problem
