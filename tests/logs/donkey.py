"""Donkeycar tubs, written by the tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from logs.motion import save_picture

START_MS = 1_603_101_605_780


def record(index: int, time_ms: int, angle: float = 0.0, throttle: float = 0.5, **more: Any) -> dict[str, Any]:
    return {
        "_index": index,
        "_timestamp_ms": time_ms,
        "cam/image_array": f"{index}_cam_image_array_.jpg",
        "user/angle": angle,
        "user/mode": "user",
        "user/throttle": throttle,
        **more,
    }


def drive(count: int, first: int = 0, start_ms: int = START_MS, **more: Any) -> list[dict[str, Any]]:
    """Records at 20 Hz with steering that swings from side to side."""
    return [
        record(first + k, start_ms + 50 * k, float(np.sin(k / 8)), float(0.5 + 0.2 * np.cos(k / 15)), **more)
        for k in range(count)
    ]


def write(
    folder: Path, records: Sequence[dict[str, Any]], *, deleted: Sequence[int] = (), per_catalog: int = 40
) -> None:
    """A tub of version 2."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for start in range(0, len(records), per_catalog):
        paths.append(f"catalog_{start // per_catalog}.catalog")
        lines = [json.dumps(one) for one in records[start : start + per_catalog]]
        (folder / paths[-1]).write_text("\n".join(lines) + "\n")
    for one in records:
        save_picture(folder / "images" / one["cam/image_array"], one["_index"] % 256)
    last = {"paths": paths, "current_index": len(records), "max_len": 1000, "deleted_indexes": list(deleted)}
    manifest = [
        ["cam/image_array", "user/angle", "user/throttle", "user/mode"],
        ["image_array", "float", "float", "str"],
    ]
    rows = [*manifest, {}, {"created_at": START_MS / 1000}, last]
    (folder / "manifest.json").write_text("\n".join(json.dumps(row) for row in rows) + "\n")


def prepare(folder: Path) -> None:
    """A tub `tub` with two drives and some deleted records."""
    write(folder / "tub", [*drive(60), *drive(60, 60, START_MS + 60_000)], deleted=range(5))
