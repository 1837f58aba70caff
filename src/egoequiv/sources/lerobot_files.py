"""The files of a LeRobot data set as they are on disk, and what its metadata says of them."""

from __future__ import annotations

import fnmatch
import glob
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egoequiv.errors import DataError
from egoequiv.sources.trees import FolderTree
from egoequiv.sources.video_frames import SUFFIXES

if TYPE_CHECKING:
    import pyarrow as pa

_EPISODE = re.compile(r"episode[_-](\d{1,18})")  # versions 2.x: a table and a video for each episode
_FILE = re.compile(r"file[_-](\d{1,18})")  # version 3: several episodes in a table, and in a video
_CHUNK = re.compile(r"chunk[_-](\d{1,18})")

VideoKey = tuple[str, int, int]  # camera; chunk and file of version 3, or -1 and the episode of versions 2.x


def episode_name(number: int) -> str:
    """The name of a recording, such as episode_000002."""
    return f"episode_{number:06d}"


@dataclass(frozen=True)
class LeRobotFiles:
    """A data set: `info.json`, and the tables and videos that are there."""

    root: Path
    info: Mapping[str, Any]
    tables: Sequence[Path]  # in order
    notes: list[str] = field(default_factory=list)  # where disk and metadata differ

    @classmethod
    def open(cls, path: Path) -> LeRobotFiles:
        """Open the data set at a folder, or the one that a file belongs to; of a table, only its episodes are read."""
        root = find_root(path)
        if root is None:
            raise DataError(f"{path} is not a LeRobot data set: there is no meta/info.json")
        info = _read_info(root / "meta" / "info.json")
        tables = sorted((root / "data").rglob("*.parquet"))
        if path.is_file() and path.suffix == ".parquet" and path.resolve() in [table.resolve() for table in tables]:
            tables = [path]
        if not tables:
            raise DataError(f"{root / 'data'} has no tables (*.parquet)")
        return cls(root, info, tables)

    @property
    def features(self) -> dict[str, dict[str, Any]]:
        found = self.info.get("features")
        features = found if isinstance(found, dict) else {}
        return {name: one for name, one in features.items() if isinstance(one, dict)}

    @property
    def rate_hz(self) -> float:
        """Rows a second as the metadata says; 30 where it does not."""
        rate = self.info.get("fps")
        return float(rate) if isinstance(rate, int | float) and 0.01 < rate < 1e5 else 30.0

    @cached_property
    def videos(self) -> dict[VideoKey, Path]:
        """Every video by camera and number, in any folder: they are often named otherwise than info.json says."""
        found: dict[VideoKey, Path] = {}
        for file in sorted(file for file in self.root.rglob("*") if file.suffix.lower() in SUFFIXES):
            folders = file.relative_to(self.root).parts[:-1]
            chunks = [int(match[1]) for part in folders if (match := _CHUNK.fullmatch(part))]
            camera = "/".join(part for part in folders[1:] if not _CHUNK.fullmatch(part))
            if match := _EPISODE.fullmatch(file.stem):
                found.setdefault((camera, -1, int(match[1])), file)
            elif match := _FILE.fullmatch(file.stem):
                found.setdefault((camera, chunks[0] if chunks else 0, int(match[1])), file)
        return found

    @cached_property
    def episodes(self) -> dict[int, dict[str, Any]]:
        """What the metadata says of each episode: its tasks, its length, and in version 3 where its frames are."""
        found: dict[int, dict[str, Any]] = {}
        for row in self._episode_rows():
            number = row.get("episode_index")
            if isinstance(number, int):
                found[number] = row
        return found

    def _episode_rows(self) -> Iterator[dict[str, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for file in sorted((self.root / "meta" / "episodes").rglob("*.parquet")):
            try:
                names = pq.read_schema(file).names
                yield from read_table(file, [name for name in names if not name.startswith("stats/")]).to_pylist()
            except (DataError, pa.ArrowException, OSError) as problem:
                self.notes.append(f"{file} cannot be read and is left out ({str(problem).splitlines()[0]})")
        lines = self.root / "meta" / "episodes.jsonl"
        if lines.is_file():
            try:
                text = FolderTree(lines.parent).read(lines.name).decode("utf-8", "replace")
            except DataError as problem:
                self.notes.append(f"{problem}; left out")
                return
            for number, line in enumerate(text.splitlines(), 1):
                try:
                    row = json.loads(line) if line.strip() else {}
                except (ValueError, RecursionError):
                    row = None
                if isinstance(row, dict):
                    yield row
                else:
                    self.notes.append(f"{lines}, line {number} is not a JSON object and is left out")

    def is_where_it_should(self, kind: str, file: Path) -> bool:
        """Whether a file lies where info.json says (`video_path`, `data_path`), or it says nothing."""
        template = self.info.get(kind)
        if not isinstance(template, str):
            return True
        pattern = "*".join(glob.escape(part) for part in re.split(r"\{[^{}]*\}", template))
        return fnmatch.fnmatchcase(file.relative_to(self.root).as_posix(), pattern)


def find_root(path: Path) -> Path | None:
    """The folder with meta/info.json that a path is, or lies in."""
    path = path.resolve()
    for folder in (path, *path.parents[:5]):
        if (folder / "meta" / "info.json").is_file():
            return folder
    return None


def belongs_to(path: Path, root: Path) -> bool:
    """Whether a path is the folder of a data set, or a file that belongs to it: other logs may lie below the folder."""
    parts = path.resolve().relative_to(root).parts
    if not parts or not path.is_file():
        return not parts
    suffix = path.suffix.lower()
    if parts[0] == "videos":
        return suffix in SUFFIXES and bool(_EPISODE.fullmatch(path.stem) or _FILE.fullmatch(path.stem))
    return (parts[0] == "data" and suffix == ".parquet") or (
        parts[0] == "meta" and suffix in (".json", ".jsonl", ".parquet")
    )


def table_episode(file: Path) -> int | None:
    """The episode of a table that holds one, by its name."""
    match = _EPISODE.fullmatch(file.stem)
    return int(match[1]) if match else None


def same_numbers(file: Path) -> tuple[int, int] | None:
    """The chunk and file numbers of a table of version 3."""
    match, chunk = _FILE.fullmatch(file.stem), _CHUNK.fullmatch(file.parent.name)
    return (int(chunk[1]) if chunk else 0, int(match[1])) if match else None


def read_table(file: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of a Parquet file; those it does not have are left out."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            there = set(opened.schema_arrow.names)
            table = opened.read(columns=[name for name in columns if name in there])
        table.validate(full=True)  # such as text that is not UTF-8
        return table
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise DataError(f"{file} cannot be read as Parquet ({(str(problem).splitlines() or ['?'])[0]})") from problem


def read_head(file: Path) -> pa.Table:
    """The first rows of a table; of pictures, which are large, the type alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            schema = opened.schema_arrow
            small = [one.name for one in schema if not pa.types.is_struct(one.type) and not _is_bytes(one.type)]
            batch = next(opened.iter_batches(8, columns=small), None)
            table = pa.Table.from_batches([batch] if batch is not None else [], None if batch is not None else schema)
            for one in schema:
                if one.name not in table.column_names:
                    table = table.append_column(one, pa.nulls(table.num_rows, one.type))
            return table
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise DataError(f"{file} cannot be read as Parquet ({(str(problem).splitlines() or ['?'])[0]})") from problem


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _read_info(file: Path) -> dict[str, Any]:
    try:
        info = json.loads(FolderTree(file.parent).read(file.name))
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{file} is not JSON ({str(problem).splitlines()[0]})") from problem
    if not isinstance(info, dict):
        raise DataError(f"{file}: expected a JSON object")
    return info
