"""Small valid inputs, made once: what the cases damage."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
from PIL import Image

from drives import drive_source, write_kitti, write_scenes
from fuzz.logs import LOGS, Log
from helpers import grid_source, write_norb
from kitti_files import zip_folder

LEGS = ((3.0, 8.0, 0.0), (2.0, 5.0, 25.0))  # seconds, speed, turn
QUICK = {"iterations": 4, "per_class": 2, "threads": 1, "log_every": 2, "checkpoint_every": 2, "validate_every": 4}
SETTINGS = [part for name, value in QUICK.items() for part in ("--set", f"{name}={value}")]


class Inputs:
    """Makes each input below one folder when it is first asked for."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __getitem__(self, name: str) -> Path:
        """The folder or file of an input."""
        path = self.home / name
        if not path.exists():
            self.home.mkdir(parents=True, exist_ok=True)
            MAKERS[name](self, path)
            shutil.copytree(path, self.home / "as made" / name)
        return path

    def as_made(self, name: str) -> Path:
        """A copy to damage: commands that read an input keep in it what they measured, which must not change a case."""
        return self.home / "as made" / self[name].name


def call(*arguments: object) -> None:
    """Run a command that has to work."""
    from egoequiv.cli.main import main

    said, before = StringIO(), sys.argv
    sys.argv = ["egoequiv", *map(str, arguments)]
    try:
        with redirect_stdout(said), redirect_stderr(said):
            main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{sys.argv}: {said.getvalue()}") from end
    finally:
        sys.argv = before


def _norb(packed: bool) -> Callable[[Inputs, Path], None]:
    def make(_: Inputs, path: Path) -> None:
        path.mkdir()
        write_norb(path, packed=packed)

    return make


def _odometry(_: Inputs, path: Path) -> None:
    sequence = path / "sequences" / "05"
    (sequence / "image_0").mkdir(parents=True)
    (path / "poses").mkdir()
    for k in range(4):
        Image.new("L", (8, 6), 20 * k).save(sequence / "image_0" / f"{k:06d}.png")
    (sequence / "calib.txt").write_text("P0: 700 0 300 0 0 700 100 0 0 0 1 0\n")
    (sequence / "times.txt").write_text("".join(f"{0.1 * k:e}\n" for k in range(4)))
    (path / "poses" / "05.txt").write_text("".join(f"1 0 0 0 0 1 0 0 0 0 1 {k}\n" for k in range(4)))


def _sun397(_: Inputs, path: Path) -> None:
    names = ["/a/abbey", "/a/airport", "/z/zoo"]
    for number, name in enumerate(names):
        folder = path / name.strip("/")
        folder.mkdir(parents=True)
        for k in range(3):
            picture = Image.fromarray(np.full((8, 8, 3), 40 * number + k, np.uint8))
            picture.save(folder / f"sun_{k}.jpg")
    (path / "ClassName.txt").write_text("".join(f"{name}\n" for name in names))
    for part, numbers in (("Training", (0, 1)), ("Testing", (2,))):
        rows = [f"{name}/sun_{k}.jpg\n" for name in names for k in numbers]
        (path / f"{part}_01.txt").write_text("".join(rows))


def _store(_: Inputs, path: Path) -> None:
    from egoequiv.store import ingest

    ingest(grid_source(), path, progress=False)


def _drive_store(_: Inputs, path: Path) -> None:
    from egoequiv.store import ingest

    ingest(drive_source(4, legs=LEGS, size=8), path, progress=False)


def _packed_store(inputs: Inputs, path: Path) -> None:
    path.mkdir()
    zip_folder(inputs["store"], path / "store.zip")


def _run(inputs: Inputs, path: Path) -> None:
    call("train", inputs["store"], "-o", path, "--method", "equiv", *SETTINGS)


def _drive_run(inputs: Inputs, path: Path) -> None:
    call("train", inputs["drive_store"], "-o", path, "--method", "equiv", "--no-labels", *SETTINGS)


def _export(inputs: Inputs, path: Path) -> None:
    call("export", inputs["run"], "-o", path)


def _runs(inputs: Inputs, path: Path) -> None:
    for method in ("clsnet", "equiv"):
        call("train", inputs["store"], "-o", path / method, "--method", method, *SETTINGS)
        call("evaluate", path / method)


def _measured(inputs: Inputs, path: Path) -> None:
    call("train", inputs["store"], "-o", path, "--method", "equiv", *SETTINGS)
    call("evaluate", path, "--task", "retrieval,prediction")
    call("report", path, "--no-evaluate")


def _experiment(_: Inputs, path: Path) -> None:
    call("demo", "-o", path, "--iterations", 4)


def _patterns(inputs: Inputs, path: Path) -> None:
    call("patterns", inputs["drive_store"], "-o", path, "--clusters", 3, "--keep", 2)
    for figure in path.glob("*.[!j]*"):
        figure.unlink()


def _log_store(log: Log) -> Callable[[Inputs, Path], None]:
    def make(inputs: Inputs, path: Path) -> None:
        from egoequiv.catalog import open_source
        from egoequiv.store import ingest

        ingest(open_source(log.source, inputs[f"log_{log.name}"] / log.file), path, progress=False)

    return make


MAKERS: dict[str, Callable[[Inputs, Path], None]] = {
    "norb": _norb(packed=False),
    "norb_gz": _norb(packed=True),
    "kitti": lambda _, path: (write_kitti(path, 2, [(0.6, 8.0, 0.0)], 8), None)[1],
    "kitti_zip": lambda inputs, path: (path.mkdir(), zip_folder(inputs["kitti"], path / "kitti.zip"), None)[2],
    "odometry": _odometry,
    "scenes": lambda _, path: (write_scenes(path, 3, 2, 1, size=8), None)[1],
    "sun397": _sun397,
    "store": _store,
    "drive_store": _drive_store,
    "packed_store": _packed_store,
    "run": _run,
    "drive_run": _drive_run,
    "export": _export,
    "runs": _runs,
    "measured": _measured,
    "experiment": _experiment,
    "patterns": _patterns,
    **{f"log_{log.name}": (lambda _, path, log=log: (log.write(path), None)[1]) for log in LOGS},
    **{f"{log.name}_store": _log_store(log) for log in LOGS},
}
