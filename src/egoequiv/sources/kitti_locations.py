"""The location class of each KITTI raw drive, as the data set's pages sort them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from egoequiv.errors import DataError

LOCATIONS_FILE = "locations.csv"
_BELOW = re.compile(r"\d{4}_\d{2}_\d{2}(?:_drive_\d{4}_(?:sync|extract))?")  # a folder without locations.csv
_NAME = re.compile(r"(\d{4}_\d{2}_\d{2}_drive_\d{4})(?:_sync|_extract)?")

_DRIVES: dict[str, dict[str, tuple[int, ...]]] = {
    "campus": {
        "2011_09_28": (16, 21, 34, 35, 37, 38, 39, 43, 45, 47),
    },
    "city": {
        "2011_09_26": (1, 2, 5, 9, 11, 13, 14, 17, 18, 48, 51, 56, 57, 59, 60, 84, 91, 93, 95, 96, 104, 106, 113, 117),
        "2011_09_28": (1, 2),
        "2011_09_29": (26, 71),
    },
    "residential": {
        "2011_09_26": (19, 20, 22, 23, 35, 36, 39, 46, 61, 64, 79, 86, 87),
        "2011_09_30": (18, 20, 27, 28, 33, 34),
        "2011_10_03": (27, 34),
    },
    "road": {
        "2011_09_26": (15, 27, 28, 29, 32, 52, 70, 101),
        "2011_09_29": (4,),
        "2011_09_30": (16,),
        "2011_10_03": (42, 47),
    },
}

# Such as {"2011_09_26_drive_0001": "city"}; drives of people and of calibration targets have no location.
LOCATIONS: dict[str, str] = {
    f"{date}_drive_{number:04d}": location
    for location, dates in _DRIVES.items()
    for date, numbers in dates.items()
    for number in numbers
}


def read_locations(path: Path, given: Path | None) -> dict[str, str]:
    """Locations of drives from a CSV with the header `drive,location`: the given one, or the one beside the drives."""
    folder = (path if path.is_dir() else path.parent).resolve()
    while _BELOW.fullmatch(folder.name):  # one date or one drive was given
        folder = folder.parent
    file = given or folder / LOCATIONS_FILE
    if given is None and not file.is_file():
        return {}
    known = {}
    try:
        reader = csv.DictReader(file.read_text("utf-8-sig").splitlines())
        for values in reader:
            drive, location = (values.get("drive") or "").strip(), (values.get("location") or "").strip()
            match = _NAME.fullmatch(drive)
            if match is None or not location:
                raise DataError(
                    f"{file}, row {reader.line_num}: expected drive,location such as 2011_09_26_drive_0001,city, "
                    f"found {', '.join(map(str, values.values()))!r}"
                )
            known[match[1]] = location
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{file} cannot be read: {problem}") from problem
    return known
