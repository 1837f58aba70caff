"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import DataError
from egoequiv.files import is_number, new_folder, or_nan, plain, read_json, replacing, write_json, write_text
from helpers import data_error, read_line, started


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def ended_process_id() -> int:
    """The id of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_file_appears_only_when_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.parent.parent == path.parent  # on the same file system
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt])
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, problem: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise problem

    with pytest.raises(problem):
        write_half()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_writer_that_wrote_nothing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(DataError, match="cannot write"), replacing(path):
        pass
    assert path.read_text() == "old"


def test_parents_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.txt", "größer\n")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "größer\n".encode()
    with new_folder(tmp_path / "d" / "e") as temporary:
        (temporary / "f").touch()
    assert names(tmp_path / "d" / "e") == ["f"]


def test_json_round_trip(tmp_path: Path) -> None:
    value = {"z": [1, 2.5, None, True], "a": {"name": "größer"}}
    write_json(tmp_path / "v.json", value)
    assert read_json(tmp_path / "v.json", "a test") == value
    text = (tmp_path / "v.json").read_text(encoding="utf-8")
    assert text.index('"z"') < text.index('"a"')
    assert "größer" in text
    assert text.endswith("}\n")


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff\xfe\x00", b"nothing"])
def test_damaged_json_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "v.json"
    path.write_bytes(content)
    with data_error(str(path), "damaged", "a test"):
        read_json(path, "a test")


def test_json_that_breaks_the_reader_is_named(tmp_path: Path) -> None:
    for number, content in enumerate(("[" * 200_000, '{"a": ' + "9" * 5_000 + "}")):
        path = tmp_path / f"{number}.json"
        path.write_text(content)
        with data_error(str(path), "damaged"):
            read_json(path, "a test")


def test_missing_json_is_named(tmp_path: Path) -> None:
    with data_error(str(tmp_path / "v.json"), "missing", "is not a test"):
        read_json(tmp_path / "v.json", "a test")
    (tmp_path / "file").touch()
    with data_error(str(tmp_path / "file"), "is a file", "a test"):
        read_json(tmp_path / "file" / "v.json", "a test")


def test_an_enormous_json_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text("{}")
    os.truncate(tmp_path / "v.json", 2**36)
    with data_error("v.json has 68,719 MB and is damaged"):
        read_json(tmp_path / "v.json", "a test")


def test_a_folder_appears_only_when_whole(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with new_folder(path) as temporary:
        (temporary / "a").write_text("1")
        assert not path.exists()
    assert names(path) == ["a"]
    assert names(tmp_path) == ["store"]


@pytest.mark.parametrize("problem", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [False, True])
def test_a_failed_folder_leaves_what_was_there(tmp_path: Path, problem: type[BaseException], before: bool) -> None:
    path = tmp_path / "store"
    if before:
        path.mkdir()
        (path / "old").touch()

    def write_half() -> None:
        with new_folder(path, overwrite=True) as temporary:
            (temporary / "new").touch()
            raise problem

    with pytest.raises(problem):
        write_half()
    assert names(tmp_path) == (["store"] if before else [])
    assert not before or names(path) == ["old"]


def test_an_existing_folder_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "store"
    for content in ("1", "2"):
        with new_folder(path, overwrite=True) as temporary:
            (temporary / content).touch()
    assert names(path) == ["2"]
    with data_error(str(path), "exists", "--overwrite"), new_folder(path):
        pass
    assert names(path) == ["2"]


def test_a_file_is_never_replaced_by_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "thesis.pdf"
    path.write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(DataError, match=r"thesis\.pdf"), new_folder(path, overwrite=overwrite):
            pass
    assert path.read_text() == "years of work"
    assert names(tmp_path) == ["thesis.pdf"]


HELD = """
import sys, time
from pathlib import Path
from egoequiv.files import new_folder, replacing

with {writer}(Path(sys.argv[1])) as temporary:
    {write}.touch()
    print(flush=True)
    sys.stdin.readline()
"""
WRITERS = {
    "new_folder": HELD.format(writer="new_folder", write="(temporary / 'half')"),
    "replacing": HELD.format(writer="replacing", write="temporary"),
}


@contextmanager
def writer(name: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is in the middle of writing `path`."""
    command = [sys.executable, "-c", WRITERS[name], str(path)]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        read_line(process)
        yield process


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_killed_process_left_is_removed_by_the_next_write(name: str, tmp_path: Path) -> None:
    with writer(name, tmp_path / "store") as process:
        process.kill()
        process.wait()
    assert [path.startswith(".store.") for path in names(tmp_path)] == [True]
    write_text(tmp_path / "another", "")  # in the same folder
    assert names(tmp_path) == ["another"]


@pytest.mark.parametrize("name", WRITERS)
def test_what_another_process_is_writing_is_left_alone(name: str, tmp_path: Path) -> None:
    with writer(name, tmp_path / "store") as process:
        busy = names(tmp_path)
        write_text(tmp_path / "store", "mine")
        assert names(tmp_path) == [*busy, "store"]
        (tmp_path / "store").unlink()
        process.communicate("go on\n")
    assert process.returncode == 0
    assert names(tmp_path) == ["store"]


def test_only_what_was_left_half_written_is_removed(tmp_path: Path) -> None:
    dead = ended_process_id()
    abandoned = [tmp_path / f".store.{dead}.partial", tmp_path / f".other.{os.getppid()}-01234567.partial"]
    kept = [f".other.{dead}.partial", ".store.word.partial", "store.1.partial", f".x.{dead}-01234567.partial.txt"]
    for folder in (*abandoned, *(tmp_path / name for name in kept)):
        folder.mkdir()
        (folder / "frames.npy").touch()
    (tmp_path / f".file.{dead}-01234567.partial").touch()
    (tmp_path / f".link.{dead}-01234567.partial").symlink_to(tmp_path / "store.1.partial")
    with new_folder(tmp_path / "store"):
        pass
    assert names(tmp_path) == sorted(["store", f".link.{dead}-01234567.partial", *kept])
    assert names(tmp_path / "store.1.partial") == ["frames.npy"]


def test_a_folder_that_was_moved_away_when_the_process_was_killed_comes_back(tmp_path: Path) -> None:
    left = tmp_path / f".store.{ended_process_id()}-01234567.partial"
    (left / ".old").mkdir(parents=True)
    (left / ".old" / "years of work").touch()
    with data_error("exists already"), new_folder(tmp_path / "store"):
        pass
    assert names(tmp_path) == ["store"]
    assert names(tmp_path / "store") == ["years of work"]


def test_files_are_readable_by_others_whatever_their_writer_chose(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    for umask, expected in ((0o022, 0o644), (0o077, 0o600)):
        before = os.umask(umask)
        try:
            with replacing(tmp_path / "weights") as temporary:
                save_file({"a": np.zeros(3)}, temporary)
            write_json(tmp_path / "a.json", {})
            with new_folder(tmp_path / "folder", overwrite=True) as folder:
                (folder / "file").touch()
        finally:
            os.umask(before)
        for path in (tmp_path / "weights", tmp_path / "a.json", tmp_path / "folder" / "file"):
            assert path.stat().st_mode & 0o777 == expected, path
        assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o777 & ~umask


def test_a_name_that_is_not_utf_8_is_written_and_read_again(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    write_json(tmp_path / name / "a.json", {name: [name]})
    assert read_json(tmp_path / name / "a.json", "a test") == {name: [name]}


def test_what_is_not_defined_is_null_in_json_and_not_a_number_here() -> None:
    given = {"rho": float("nan"), "interval": (0.5, float("inf")), "rows": [{"n": 3, "named": True, "why": None}]}
    held = {"rho": None, "interval": [0.5, None], "rows": [{"n": 3, "named": True, "why": None}]}
    assert plain(given) == held
    assert json.loads(json.dumps(plain(given), allow_nan=False)) == held
    assert (or_nan(2), math.isnan(or_nan(None))) == (2.0, True)
    assert [is_number(value) for value in (1, 0.5, True, "1", None)] == [True, True, False, False, False]
