"""Ways to damage a log that its reader can know of: the poses of what is left must be right, or something is said."""

from __future__ import annotations

import io
import json
import pickle
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.logs import Log, drive_bag
from fuzz.mutations import LARGE, Trap

ODD_CELLS = ("nan", "inf", "-inf", "", "x", "1e400", "--")


def reorder(rng: Random, lines: list[str]) -> list[str]:
    """Rows in another order."""
    head = _head(lines)
    rows = lines[head:]
    if rng.random() < 0.5:
        rng.shuffle(rows)
    else:
        at = rng.randrange(max(len(rows) - 1, 1))
        rows[at : at + 2] = rows[at : at + 2][::-1]
    return lines[:head] + rows


def repeat(rng: Random, lines: list[str]) -> list[str]:
    """Some rows twice."""
    head = _head(lines)
    at = rng.randrange(head, len(lines))
    return lines[: at + 3] + lines[at:]


def lose_rows(rng: Random, lines: list[str]) -> list[str]:
    head = _head(lines)
    at = rng.randrange(head, len(lines))
    return lines[:at] + lines[at + rng.choice([1, 2, 5, len(lines)]) :]


def no_rows(rng: Random, lines: list[str]) -> list[str]:
    """Zero frames, or zero poses."""
    return lines[: _head(lines)]


def odd_cell(rng: Random, lines: list[str]) -> list[str]:
    """A cell that is not a number."""
    head = _head(lines)
    row = rng.randrange(head, len(lines))
    mark = "," if "," in lines[row] else " "
    cells = lines[row].split(mark)
    cells[rng.randrange(len(cells))] = rng.choice(ODD_CELLS)
    lines[row] = mark.join(cells)
    return lines


def cut_row(rng: Random, lines: list[str]) -> list[str]:
    """The file ends in the middle of a row, behind one of its cells."""
    row = rng.randrange(_head(lines), len(lines))
    mark = "," if "," in lines[row] else " "
    cells = lines[row].split(mark)
    return [*lines[:row], mark.join(cells[: rng.randrange(1, len(cells))])]


def swap_columns(rng: Random, lines: list[str]) -> list[str]:
    """The first column, a time or a name, in another place: with its header, if the columns have names."""
    mark = "," if "," in lines[-1] else " "
    rows = [line.split(mark) for line in lines]
    width = len(rows[-1])
    if width < 3:
        return lines
    other = rng.randrange(1, width)
    named = not lines[0].lstrip().startswith("#")
    for number, cells in enumerate(rows):
        if len(cells) == width and (named or number >= _head(lines)):
            cells[0], cells[other] = cells[other], cells[0]
    return [mark.join(cells) for cells in rows]


def milliseconds(rng: Random, lines: list[str]) -> list[str]:
    """Stamps of an unusual unit: a thousandth, or thousand times, of what they were."""
    head = _head(lines)
    names = [name.strip() for name in lines[0].split(",")]
    place = next((names.index(name) for name in ("time", "t", "timestamp") if name in names), 0)
    mark = "," if "," in lines[head] else " "
    for row in range(head, len(lines)):
        cells = lines[row].split(mark)
        try:
            value = float(cells[place])
        except ValueError:
            return lines
        cells[place] = str(round(value * 1000)) if value < 1e12 else f"{value / 1e9:.9f}"
        lines[row] = mark.join(cells)
    return lines


def _head(lines: list[str]) -> int:
    """How many lines at the start are a header."""
    count = sum(line.startswith("#") for line in lines[:5])
    return count or int(any(word in lines[0] for word in ("file", "time", "t,")) and not lines[0][:1].isdigit())


LINES: tuple[Callable[[Random, list[str]], list[str]], ...] = (
    reorder, reorder, repeat, lose_rows, no_rows, odd_cell, odd_cell, odd_cell, cut_row, swap_columns, milliseconds,
)  # fmt: skip


def damage_table(rng: Random, log: Log, root: Path, mark: Path) -> str:
    """Damage a table with poses or times in a way that its reader can know of; say how."""
    ordered = {path for glob in log.ordered for path in root.glob(glob)}
    path = rng.choice(sorted({path for glob in log.tables for path in root.glob(glob)} | ordered))
    if path.stat().st_size > LARGE:  # it was made so before
        return "nothing"
    if path.name.startswith("drive") and log.source == "ros":
        return _bag(rng, log, path)
    if path.suffix == ".parquet":
        return _parquet(rng, path)
    if path.suffix == ".json":
        return _scene(rng, path) if log.source == "transforms" else _scan(rng, path)
    if rng.random() < 0.15:
        return _encoding(rng, path)
    way = rng.choice((odd_cell, cut_row, no_rows) if path in ordered else LINES)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(way(rng, lines)) + ("" if way is cut_row else "\n"), encoding="utf-8")
    return f"{way.__name__} {path.name}"


def _encoding(rng: Random, path: Path) -> str:
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
    path.write_bytes(path.read_text().encode(encoding))
    return f"encoding:{encoding} {path.name}"


def _parquet(rng: Random, path: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    count = table.num_rows
    way = rng.choice(["reorder", "lose", "none", "nan", "repeat", "swap", "text", "null"])
    order = list(range(count))
    numbers = [one.name for one in table.schema if pa.types.is_floating(one.type) or pa.types.is_list(one.type)]
    name = rng.choice(numbers)
    if way == "reorder":
        rng.shuffle(order)
    elif way == "lose":
        del order[rng.randrange(count)]
    elif way == "none":
        order = []
    elif way == "repeat":
        order += order[:3]
    table = table.take(order)
    place = table.column_names.index(name)
    if way in ("nan", "null"):
        values: list[Any] = table[name].to_pylist()
        row = rng.randrange(count)
        odd = rng.choice([float("nan"), float("inf")]) if way == "nan" else None
        values[row] = [odd, *values[row][1:]] if isinstance(values[row], list) and way == "nan" else odd
        table = table.set_column(place, name, pa.array(values, table[name].type))
    elif way == "text":
        table = table.set_column(place, name, pa.array([f"x{value}" for value in table[name].to_pylist()]))
    elif way == "swap":
        names = table.column_names
        table = table.select(rng.sample(names, len(names)))
    pq.write_table(table, path)
    return f"parquet:{way} {path.name}"


def _scene(rng: Random, path: Path) -> str:
    content = json.loads(path.read_text())
    frames = content["frames"]
    way = rng.choice(["reorder", "lose", "none", "nan", "repeat", "mirror", "scale", "short", "zero"])
    frame = rng.choice(frames)
    matrix = np.array(frame["transform_matrix"])
    if way == "reorder":
        rng.shuffle(frames)
    elif way == "lose":
        frames.remove(frame)
    elif way == "none":
        content["frames"] = []
    elif way == "repeat":
        frames.append(frame)
    else:
        odd = matrix.copy()
        odd[0, 0] = np.nan
        changed = {"nan": odd, "mirror": matrix @ np.diag([-1.0, 1, 1, 1]), "scale": matrix * 3.0, "zero": 0 * matrix}
        frame["transform_matrix"] = matrix[:2].tolist() if way == "short" else changed[way].tolist()
    path.write_text(json.dumps(content))
    return f"scene:{way} {path.name}"


def _scan(rng: Random, path: Path) -> str:
    """The metadata of Record3D, with other poses or times."""
    content = json.loads(path.read_text())
    poses, stamps = content["poses"], content["frameTimestamps"]
    way = rng.choice(["lose", "none", "nan", "zero", "short", "back", "repeat", "text", "unit"])
    at = rng.randrange(len(poses))
    if way == "lose":
        del poses[at:], stamps[at:]
    elif way == "none":
        content["poses"] = []
    elif way == "back":
        stamps[max(at, 1)] -= 100.0  # the first one may be as early as it likes
    elif way == "repeat":
        stamps[at] = stamps[at - 1] if at else stamps[1]
    elif way == "unit":
        content["frameTimestamps"] = [1000 * stamp for stamp in stamps]
    else:
        changed = {"nan": [float("nan")] * 7, "zero": [0.0] * 7, "short": poses[at][:5], "text": "x"}
        poses[at] = changed[way]
    path.write_text(json.dumps(content))
    return f"scan:{way} {path.name}"


def _bag(rng: Random, log: Log, path: Path) -> str:
    """The bag again, with other messages."""
    bag = drive_bag(log.name.removeprefix("ros-"))
    way = rng.choice(["no poses", "no camera", "one frame", "nan", "zero", "late", "unstamped", "lost", "repeat"])
    poses = [k for k, (topic, _, _) in enumerate(bag.messages) if topic == "/pose"]
    some = rng.choice(poses)
    message = bag.messages[some][2]
    drop: set[int] = set()
    if way in ("no poses", "no camera"):
        lost = "/pose" if way == "no poses" else "/camera/image_raw"
        drop = {k for k, one in enumerate(bag.messages) if one[0] == lost}
    elif way == "one frame":
        drop = {k for k, one in enumerate(bag.messages) if one[0] == "/camera/image_raw"} - {0}
    elif way == "nan":
        message.pose.position.x = float("nan")
    elif way == "zero":
        for name in "xyzw":
            setattr(message.pose.orientation, name, 0.0)
    elif way == "late":  # it was received seconds after the others
        bag.messages[some] = ("/pose", bag.messages[some][1] + 3 * 10**9, message)
    elif way == "unstamped":
        for _, _, one in bag.messages:
            if hasattr(one, "header"):
                one.header.stamp.sec = one.header.stamp.nanosec = 0
    elif way == "lost":
        drop = set(poses[poses.index(some) : poses.index(some) + rng.choice([1, 2, 20])])
    elif way == "repeat":
        bag.messages.append(bag.messages[some])
    bag.messages = [one for k, one in enumerate(bag.messages) if k not in drop]
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    bag.write(path)
    return f"bag:{way.replace(' ', '-')} {path.name}"


def impostor(rng: Random, root: Path, mark: Path) -> str:
    """A pickle, a zip bomb, or an archive that leads out of the folder, under the name of a file of the log."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    kinds = sorted({path.suffix for path in files})
    kind = rng.choice(kinds)
    path = rng.choice([one for one in files if one.suffix == kind])
    way = rng.choice(["pickle", "bomb", "slip"])
    if way == "pickle":
        path.write_bytes(pickle.dumps(Trap(mark), protocol=rng.choice([0, 2, 4])))
    else:
        packed = io.BytesIO()
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(packed, "w") as archive:
            content = b"\x00" * (30_000_000 if way == "bomb" else 10)
            for name in ("metadata", "rgbd/0.jpg", "groundtruth.txt", "transforms.json", path.name):
                member = zipfile.ZipInfo(f"../../{mark.name}" if way == "slip" else name)  # without the time of day
                archive.writestr(member, content, zipfile.ZIP_DEFLATED)
        path.write_bytes(packed.getvalue())
    return f"impostor:{way} {path.name}"
