"""Pictures of the embedded drive as files on disk, as many as wanted."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from benchmarks.workbench import Workbench
from egoequiv.catalog import open_source

DISTINCT = 24  # pictures that are drawn; the other files are further names of them


def picture_files(bench: Workbench, ending: str, size: tuple[int, int], count: int) -> list[Path]:
    """Files in two class folders, PNG in gray or JPEG in colour, in the order in which they are ingested."""
    drawn = _drawn(bench, ending, size)
    folder = bench.new_folder()
    for part in range(2):
        (folder / f"class-{part}").mkdir()
    files = []
    for number in range(count):
        path = folder / f"class-{number % 2}" / f"{number:06d}.{ending}"
        os.link(drawn[number % DISTINCT], path)
        files.append(path)
    return sorted(files)


def _drawn(bench: Workbench, ending: str, size: tuple[int, int]) -> list[Path]:
    """The pictures themselves, drawn once."""
    width, height = size
    folder = bench.folder / f"pictures-{ending}-{width}x{height}"
    files = [folder / f"{number}.{ending}" for number in range(DISTINCT)]
    if not folder.exists():
        folder.mkdir()
        source = open_source("drive", drives_per_area=1, seconds=10, width=width, height=height, color=ending == "jpg")
        for number, path in enumerate(files):
            recording = source.recordings[number % len(source.recordings)]
            Image.fromarray(recording.image(7 * number % len(recording))).save(path, quality=90)
    return files
