"""Make what the golden test compares: `python -m tests.golden.make data` the folder, `... expected` its numbers.

The folder was made once and is not made again: new runs would have other numbers. `expected` is run by hand, when a
number changes on purpose; look at the difference before you commit it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.golden.folder import COPIED_STORE, DATA, EXPECTED, REPRODUCE, REPRODUCED, STORE_STAMP, copy_folder, pack
from tests.golden.running import run

GRID = ("toys_per_category=2", "elevations=5", "azimuths=8", "lightings=3")
DRIVE = ("drives_per_area=4", "seconds=6", "width=64", "height=64")


def make_data(work: Path) -> None:
    """Render the two stores, train the runs, and pack them into `DATA`."""
    from egoequiv.files import write_json

    _ingest("turntable", work / "grid", GRID)
    _ingest("drive", work / "drive", DRIVE)
    for seed in range(3):
        _train(work / "grid", work / "runs" / f"equiv-{seed}", "--method", "equiv", "--seed", seed)
        _train(work / "grid", work / "runs" / f"drlim-{seed}", "--method", "drlim", "--seed", seed)
    _train(work / "grid", work / "runs" / "equiv-no-labels-0", "--method", "equiv", "--no-labels")
    pairs = ("--set", "motion_pairs=2000", "--set", "neighbour_pairs=2000", "--set", "split=by-recording")
    _train(work / "drive", work / "drive-run", "--method", "equiv", *pairs)
    shutil.copytree(work / "grid", work / COPIED_STORE)
    write_json(work / STORE_STAMP, {"data": None, "part": "auto", "recordings": 50, "frames": 8_100})
    run(*REPRODUCE, "-o", work / REPRODUCED)
    pack(work, DATA)


def _ingest(world: str, out: Path, settings: tuple[str, ...]) -> None:
    run("ingest", world, "-o", out, "--size", 12, "--workers", 1, *(word for s in settings for word in ("--set", s)))


def _train(store: Path, out: Path, *options: object) -> None:
    run("train", store, "-o", out, "--iterations", 400, "--set", "threads=1", *options)


def make_expected(work: Path) -> None:
    """Measure a copy of the folder and write its numbers."""
    from tests.golden.collect import collect_all

    numbers = {name: _rounded(value) for name, value in collect_all(copy_folder(work)).items()}
    lines = ",\n".join(
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value)}" for name, value in numbers.items()
    )
    EXPECTED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"{len(numbers)} numbers in {EXPECTED}")


def _rounded(value: Any) -> Any:
    """Six significant digits; a number that is shown in a text stays as it is shown."""
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return value if isinstance(value, str) else float(f"{value:.6g}")


if __name__ == "__main__":
    if sys.argv[1:] not in (["data"], ["expected"]):
        sys.exit("usage: python -m tests.golden.make data|expected")
    with tempfile.TemporaryDirectory() as temporary:
        {"data": make_data, "expected": make_expected}[sys.argv[1]](Path(temporary).resolve() / "golden")
