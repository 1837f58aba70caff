"""Ways to damage a file or a folder, each drawn with a seeded generator."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

ODD_NAMES = (
    os.fsdecode(b"caf\xe9"),
    "two\nlines",
    " spaces at both ends ",
    "größe-図-🚗",
    "-rf",
    "[red]x[bold]",
    "a" * 240,
    "%s%n{0}",
    "..hidden",
    'quote\'s "and" $HOME',
    "\u202eright-to-left",
    "tab\there",
)
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**30, 10**400, 1e308, float("nan"), float("inf"), "", "x", "nan", "\x00",
    "\udcff", "../../escape", "a" * 5000, [], [1], [[]], {}, {"a": 1}, [None], "１２", "1e400", "-0", b"".decode(),
)  # fmt: skip
ODD_TOKENS = (
    "nan",
    "inf",
    "-inf",
    "1e400",
    "",
    "-1",
    "9" * 30,
    "x",
    "0x10",
    "１２",
    "\x00",
    "1,5",
    "1_000",
    "\udcff",
    "..",
    "/",
)


LARGE = 50_000_000


class Trap:
    """A pickle that writes a file when it is loaded; none may ever be."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.system, (f"touch {self.mark}",)


def damage(rng: Random, root: Path, mark: Path) -> str:
    """Damage something below `root`, or the file that it is; say what. `mark` is what a trap would write."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()) or [root]
    # Small and rare kinds of files are as interesting as the many pictures.
    kinds = sorted({path.suffix for path in files})
    kind = rng.choice(kinds)
    path = rng.choice([one for one in files if one.suffix == kind])
    if path.stat().st_size > LARGE:  # it was made so before, and would take minutes to read
        return "nothing"
    ways = [*GENERIC, *(3 * BY_KIND.get(path.suffix, ()))]
    way = rng.choice(ways)
    way(rng, path, root, mark)
    return f"{way.__name__.strip('_')} {path.relative_to(root) if path != root else path.name}"


def _cut(rng: Random, path: Path, root: Path, mark: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data) + 1)])


def _extend(rng: Random, path: Path, root: Path, mark: Path) -> None:
    with open(path, "ab") as file:
        file.write(rng.randbytes(rng.choice([1, 7, 4096])))


def _flip(rng: Random, path: Path, root: Path, mark: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 4, 64])):
        if data:
            place = rng.randrange(min(len(data), rng.choice([16, 200, len(data)])))
            data[place] = rng.choice([0, 255, data[place] ^ (1 << rng.randrange(8)), rng.randrange(256)])
    path.write_bytes(data)


def _empty(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.write_bytes(b"")


def _noise(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.write_bytes(rng.randbytes(rng.choice([1, 100, 5000])))


def _delete(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.unlink()


def _folder_in_place(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.unlink()
    path.mkdir()


def _loop(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _dangling(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _loop_of_folders(rng: Random, path: Path, root: Path, mark: Path) -> None:
    (path.parent / "again").symlink_to(root if root.is_dir() else root.parent)


def _huge(rng: Random, path: Path, root: Path, mark: Path) -> None:
    os.truncate(path, rng.choice([2**31 + 1, 2**36]))


def _swap(rng: Random, path: Path, root: Path, mark: Path) -> None:
    others = [one for one in sorted(root.rglob("*")) if one.is_file() and one != path]
    if others:
        shutil.copyfile(rng.choice(others), path)


def _rename(rng: Random, path: Path, root: Path, mark: Path) -> None:
    while path.parent != root and root in path.parents and rng.random() < 0.5:
        path = path.parent
    path.rename(path.with_name(rng.choice(ODD_NAMES)[:200] + path.suffix))


def _copy_under_odd_name(rng: Random, path: Path, root: Path, mark: Path) -> None:
    target = path.with_name(rng.choice(ODD_NAMES)[:200] + path.suffix)
    if not target.exists():
        shutil.copyfile(path, target)


def _no_permission(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.chmod(0)


def _empty_folder(rng: Random, path: Path, root: Path, mark: Path) -> None:
    if path.parent != root and root in path.parents:
        shutil.rmtree(path.parent)
        path.parent.mkdir()


GENERIC = (
    _cut, _extend, _flip, _flip, _empty, _noise, _delete, _folder_in_place, _loop, _dangling, _loop_of_folders, _huge,
    _swap, _rename, _rename, _copy_under_odd_name, _no_permission, _empty_folder,
)  # fmt: skip


def _json_value(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """Replace or remove a value somewhere in a JSON file."""
    try:
        document = json.loads(path.read_text().splitlines()[0] if path.suffix == ".jsonl" else path.read_text())
    except ValueError:
        return
    for _ in range(rng.choice([1, 1, 2])):
        document = _changed(rng, document)
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")


def _changed(rng: Random, value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict | list) and value and rng.random() < (0.95 if depth == 0 else 0.7):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = rng.choice(list(keys))
        if rng.random() < 0.15:
            del value[key]
        elif isinstance(value, dict) and rng.random() < 0.1:
            value[rng.choice(["", "x", "\udcff", "weights", key + " "])] = value.pop(key)
        else:
            value[key] = _changed(rng, value[key], depth + 1)
        return value
    if isinstance(value, bool | int | float) and rng.random() < 0.5:
        return rng.choice([-value, value + 1, value * 1000, value * 10**9, value / 7, str(value), [value]])
    return rng.choice(ODD_VALUES)


def _deep(rng: Random, path: Path, root: Path, mark: Path) -> None:
    path.write_text(rng.choice(["[" * 100_000, '{"a":' * 100_000, "9" * 10_000, '"' + "x" * 1_000_000 + '"']))


def _token(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """Replace a word, or a line, of a text."""
    lines = path.read_text(errors="surrogateescape").split("\n")
    row = rng.randrange(len(lines))
    words = lines[row].replace(",", " , ").split(" ")
    kind = rng.randrange(6)
    if kind == 0:
        del lines[row]
    elif kind == 1:
        lines.insert(row, rng.choice([lines[row], "", "  ", "\r", "#", "\x00"]))
    elif kind == 2:
        lines = ["\r\n".join(lines), *rng.choices(ODD_TOKENS, k=2)]
    else:
        words[rng.randrange(len(words))] = rng.choice(ODD_TOKENS)
        lines[row] = "".join(words) if "," in words else " ".join(words)
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")


def _column(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """Replace, remove, rename or add a column of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    n = table.num_rows
    odd = {
        "list": pa.array([[1, 2]] * n),
        "struct": pa.array([{"a": 1}] * n),
        "bytes": pa.array([b"\xff\x00"] * n),
        "text": pa.Array.from_buffers(pa.string(), n, pa.array([b"\xff"] * n).buffers()),
        "null": pa.nulls(n),
        "bool": pa.array([True] * n),
        "time": pa.array([1] * n, pa.timestamp("us")),
        "giant": pa.array([2**63 - 1] * n),
        "unsigned": pa.array([2**64 - 1] * n, pa.uint64()),
        "nan": pa.array([float("nan")] * n),
        "large": pa.array([1e308] * n),
        "names": pa.array([rng.choice([*ODD_NAMES[1:], "a"]) for _ in range(n)], pa.string()),
        "choice": pa.array(["a", "b"] * (n // 2) + ["a"] * (n % 2)).dictionary_encode(),
        "map": pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
    }
    place = rng.randrange(table.num_columns)
    name = table.column_names[place]
    kind = rng.randrange(8)
    if kind == 0:
        table = table.remove_column(place)
    elif kind == 1:
        table = table.rename_columns([("x" if k == place else one) for k, one in enumerate(table.column_names)])
    elif kind == 2:
        table = table.slice(rng.randrange(n + 1))
    elif kind == 3:
        table = table.take([rng.randrange(n) for _ in range(n)])
    else:
        table = table.set_column(place, name, odd[rng.choice(sorted(odd))])
    pq.write_table(table, path)


def _array(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """A NumPy file with another header, or with a pickle inside."""
    header = rng.choice([
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000, 1000000, 1000, 1), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (144, 12, 12, 1), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (144, 3, 3, 4), }",
        "{'descr': '|u1', 'fortran_order': True, 'shape': (144, 12, 12, 1), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 12, 12, 1), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (144, 12, 12), }",
        "__import__('os')",
        "(" * 300,
    ])  # fmt: skip
    padded = header.ljust(117) + "\n"
    body = path.read_bytes()[128:]
    payload = pickle.dumps(Trap(mark)) if "|O" in header else body
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode() + payload)


def _tensors(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """A safetensors file with another header, or a pickle."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    kind = rng.randrange(6)
    if kind == 0:
        path.write_bytes(pickle.dumps(Trap(mark)))
        return
    if kind == 1:
        path.write_bytes(struct.pack("<Q", rng.choice([2**63, 2**40, 0, 1])) + data[8:])
        return
    if kind == 2:
        body = b"\x00\x00\xc0\x7f" * (len(body) // 4) + body[len(body) // 4 * 4 :]  # all weights not a number
    else:
        header = _changed(rng, header)
    packed = json.dumps(header).encode("utf-8", "surrogatepass")
    packed += b" " * (-len(packed) % 8)
    path.write_bytes(struct.pack("<Q", len(packed)) + packed + body)


def _picture(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """Another picture: of another kind, one pixel, or one that claims to be enormous."""
    from PIL import Image

    mode = rng.choice(["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F", "I"])
    size = rng.choice([(1, 1), (1, 5000), (8, 8), (300, 2)])
    form = rng.choice(["PNG", "GIF", "TIFF", "BMP", "WEBP"])
    data = io.BytesIO()
    try:
        Image.new(mode, size).save(data, form)
    except OSError:
        Image.new("L", size).save(data, "PNG")
    content = data.getvalue()
    if content[:4] == b"\x89PNG" and rng.random() < 0.4:
        content = content[:16] + struct.pack(">II", 100_000, 100_000) + content[24:]
    path.write_bytes(content)


def _archive(rng: Random, path: Path, root: Path, mark: Path) -> None:
    """Rewrite a zip archive with hostile members."""
    with zipfile.ZipFile(path) as old:
        members = [(info.filename, old.read(info)) for info in old.infolist()]
    kind = rng.randrange(6)
    place = rng.randrange(len(members))
    name, content = members[place]
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for number, (inside, data) in enumerate(members):
            if number != place or kind not in (0, 1):
                new.writestr(inside, data)
        if kind == 0:
            new.writestr(f"../../{mark.name}", content)
        elif kind == 1:
            new.writestr(name, b"\x00" * 200_000_000)
        elif kind == 2:
            new.writestr(str(mark), content)
        elif kind == 3:
            new.writestr(rng.choice(ODD_NAMES[1:]), content)
    if kind == 4:  # pretends to be encrypted, or of another method
        data = bytearray(path.read_bytes())
        for at in [k for k in range(len(data) - 4) if data[k : k + 4] == b"PK\x01\x02"][:3]:
            data[at + 8 : at + 12] = rng.choice([b"\x01\x00\x08\x00", b"\x00\x00\x63\x00"])
        path.write_bytes(data)


_TEXTS = (_token, _token)
BY_KIND: dict[str, tuple[Callable[[Random, Path, Path, Path], None], ...]] = {
    ".json": (_json_value, _json_value, _json_value, _json_value, _deep),
    ".jsonl": (_json_value, _token, _deep),
    ".txt": _TEXTS,
    ".csv": _TEXTS,
    ".parquet": (_column, _column, _column),
    ".npy": (_array, _array),
    ".safetensors": (_tensors, _tensors),
    ".png": (_picture,),
    ".jpg": (_picture,),
    ".zip": (_archive, _archive),
}
