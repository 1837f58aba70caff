"""The digests of the files of an export, checked when a file is opened."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from egoequiv.errors import DataError

CHECKSUMS = "checksums.txt"


def write_checksums(folder: Path) -> None:
    """Write the digests of all files of a folder, as `sha256sum --check checksums.txt` reads them."""
    paths = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    lines = [f"{_digest(path)}  {name}\n" for name, path in paths.items() if name != CHECKSUMS]
    (folder / CHECKSUMS).write_text("".join(lines))


def check_file(path: Path) -> None:
    """Refuse a file that is not as it was exported; nothing is said where no checksums are beside it."""
    listed = path.parent / CHECKSUMS
    if not listed.exists():
        return
    if not listed.is_file():
        raise DataError(f"{listed} is not a file: export the run again")
    try:
        lines = listed.read_text(encoding="utf-8").splitlines()
    except ValueError as problem:
        raise DataError(f"{listed} is damaged ({problem}): export the run again") from problem
    known = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if path.name not in known:
        raise DataError(f"{listed} does not list {path.name}: export the run again")
    if not path.is_file():
        raise DataError(f"{path} is missing: export the run again")
    if _digest(path) != known[path.name]:
        raise DataError(f"{path} is not the file that was exported (its checksum differs): export the run again")


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
