"""Stores at URLs: the same as local ones, fetched once, never mixed, never half; one clear line when they cannot be."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drives import poses_only
from egoequiv.cache import cache_folder
from egoequiv.errors import ConfigError
from egoequiv.store import FrameStore, ingest
from egoequiv.store.remote import fetch_store, full_place, is_url
from egoequiv.training import make_config
from helpers import data_error, grid_source
from running import Cli, make_cli

fsspec = pytest.importorskip("fsspec")
FILES = ("store.json", "index.parquet", "frames.npy")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def memory() -> Iterator[Any]:
    """The file system behind memory://, empty before and after."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


@pytest.fixture
def url(small_store: FrameStore, memory: Any) -> str:
    """A store in memory that a test may change."""
    return put(small_store.path, memory)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return make_cli(monkeypatch, capsys)


def put(store: Path, memory: Any) -> str:
    for name in FILES:
        if (store / name).exists():
            memory.pipe_file(f"/bucket/small/{name}", (store / name).read_bytes())
    return "memory://bucket/small"


def copies(cache: Path) -> list[Path]:
    """All that lies in the cache but the locks."""
    return sorted(path for home in cache.glob("stores/*") for path in home.iterdir() if path.name != ".lock")


def zipped(store: Path, path: Path, folder: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            archive.write(store / name, f"{folder}{name}")
    return path


@pytest.mark.parametrize("kind", ["memory", "file", "zip", "folder in a zip", "zip in memory"])
def test_a_store_at_a_url_is_the_local_one(
    kind: str, small_store: FrameStore, memory: Any, tmp_path: Path, cache: Path
) -> None:
    if kind == "memory":
        url = put(small_store.path, memory)
    elif kind == "file":
        url = f"file://{small_store.path}"
    elif kind == "zip":
        url = f"zip://::{zipped(small_store.path, tmp_path / 'small.zip')}"
    elif kind == "folder in a zip":
        url = f"zip://small::file://{zipped(small_store.path, tmp_path / 'small.zip', 'small/')}"
    else:
        memory.pipe_file("/small.zip", zipped(small_store.path, tmp_path / "small.zip").read_bytes())
        url = "zip://::memory://small.zip"
    store = FrameStore.open(url)
    assert isinstance(store.images.base, np.memmap)
    assert store.images.tobytes() == small_store.images.tobytes()
    assert store.poses.tolist() == small_store.poses.tolist()
    assert store.fingerprint() == small_store.fingerprint()
    assert (store.url, store.place) == (url, url)
    assert (small_store.url, small_store.place) == (None, str(small_store.path))
    assert copies(cache) == [store.path]


def test_a_store_of_poses_alone(memory: Any, tmp_path: Path) -> None:
    local = ingest(poses_only(), tmp_path / "poses", workers=1)
    store = FrameStore.open(put(local.path, memory))
    assert not store.has_images
    assert store.poses.tolist() == local.poses.tolist()


def test_what_is_in_the_cache_is_not_fetched_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    first = fetch_store(url, lambda done, total: told.append((done, total)))
    size = sum((first / name).stat().st_size for name in FILES)
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert {total for _, total in told} == {size}
    told.clear()
    assert fetch_store(url, lambda done, total: told.append((done, total))) == first
    assert fetch_store(url + "/") == first
    assert told == []


def test_another_store_at_the_same_url_takes_the_place_of_the_old(
    url: str, small_store: FrameStore, memory: Any, tmp_path: Path, cache: Path
) -> None:
    old = FrameStore.open(url)
    put(ingest(grid_source(labels=None), tmp_path / "other", workers=1).path, memory)
    new = FrameStore.open(url)
    assert new.class_names == ()
    assert new.fingerprint() != old.fingerprint()
    assert copies(cache) == [new.path]
    assert old.images.tobytes() == small_store.images.tobytes()  # who has it mapped can read on


def test_other_pixels_alone_are_another_store(url: str, small_store: FrameStore, memory: Any, cache: Path) -> None:
    FrameStore.open(url)
    content = bytearray((small_store.path / "frames.npy").read_bytes())
    content[-1] ^= 0xFF
    memory.pipe_file("/bucket/small/frames.npy", bytes(content))
    new = FrameStore.open(url)
    assert new.images[-1, -1, -1, -1] == content[-1]
    assert copies(cache) == [new.path]


def test_two_urls_do_not_disturb_each_other(url: str, small_store: FrameStore, cache: Path) -> None:
    paths = {FrameStore.open(url).path, FrameStore.open(f"file://{small_store.path}").path}
    assert set(copies(cache)) == paths
    assert len(paths) == 2


def test_a_stop_in_the_middle_leaves_nothing(url: str, cache: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_store(url, stop)
    assert copies(cache) == []
    assert len(FrameStore.open(url)) == 144


FETCH = """
import os, sys
from egoequiv.store.remote import fetch_store

def report(done, total):
    print("fetching", flush=True)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), 9)

fetch_store(sys.argv[1], report)
"""


@pytest.mark.slow
def test_a_kill_in_the_middle_and_two_processes_at_once(small_store: FrameStore, cache: Path) -> None:
    url = f"file://{small_store.path}"
    killed = subprocess.run([sys.executable, "-c", FETCH, url, "killed"], check=False, capture_output=True)
    assert killed.returncode == -9
    assert [path.suffix for path in copies(cache)] == [".partial"]
    command = [sys.executable, "-c", FETCH, url, "whole"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sum(bool(text) for text in told) == 1  # one fetched, the others waited for it
    assert copies(cache) == [FrameStore.open(url).path]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("memory://bucket/nothing", ["memory://bucket/nothing", "no frame store", "store.json", "egoequiv ingest"]),
        ("file:///no/such/folder", ["file:///no/such/folder", "no frame store"]),
        ("zip://::/no/such.zip", ["zip://::/no/such.zip", "no frame store"]),
        ("carrier://pigeon", ["carrier://pigeon", "Protocol not known: carrier", "s3"]),
    ],
)
def test_a_url_without_a_store_is_named(place: str, words: list[str], memory: Any, cache: Path) -> None:
    with data_error(*words):
        FrameStore.open(place)
    assert copies(cache) == []


def test_a_zip_without_a_store_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    (tmp_path / "text.zip").write_text("hello")
    with data_error("other.zip", "store.json"):
        FrameStore.open(f"zip://::{tmp_path / 'other.zip'}")
    with data_error("text.zip", "zip file"):
        FrameStore.open(f"zip://::{tmp_path / 'text.zip'}")


def failing(problem: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise problem

    return fail


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (PermissionError("Forbidden"), ["no permission", "Forbidden", "credentials"]),
        (FileNotFoundError("The specified bucket does not exist"), ["bucket does not exist", "check the address"]),
        (RuntimeError("Unable to locate credentials\nmore"), ["RuntimeError: Unable to locate credentials)", "again"]),
        (TimeoutError(), ["TimeoutError", "network"]),
        (ImportError("Install s3fs to access S3"), ["not installed", "Install s3fs to access S3", "pip"]),
    ],
)
def test_what_a_driver_says_is_told_in_one_line(
    problem: Exception, words: list[str], url: str, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "cat_file", failing(problem))
    with data_error(url, *words):
        FrameStore.open(url)


def test_fsspec_that_is_not_installed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with data_error(url, "pip install 'egoequiv[remote]'"):
        FrameStore.open(url)


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up(fault: int, url: str, memory: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "get_file", failing(OSError(fault, os.strerror(fault))))
    with data_error(url, str(cache), os.strerror(fault), "EGOEQUIV_CACHE"):
        FrameStore.open(url)
    assert copies(cache) == []


def test_a_disk_that_is_too_small(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(cache.parent)._replace(free=1_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with data_error(url, "0.0 MB are free", "EGOEQUIV_CACHE"):
        FrameStore.open(url)
    assert copies(cache) == []


def test_a_cache_that_cannot_be_written(url: str, cache: Path) -> None:
    cache.write_text("in the way")
    with data_error(url, str(cache), "EGOEQUIV_CACHE"):
        FrameStore.open(url)


def test_a_connection_that_breaks_early(url: str, memory: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = memory.cat_file("/bucket/small/frames.npy")
    monkeypatch.setattr(memory, "get_file", lambda remote, local, **_: Path(local).write_bytes(whole[:-5]))
    with data_error(f"{url}/frames.npy", f"after {len(whole) - 5} of {len(whole)} bytes", "try again"):
        FrameStore.open(url)
    assert copies(cache) == []


@pytest.mark.parametrize("name", FILES)
def test_a_store_that_is_damaged_there_is_named_by_its_url(name: str, url: str, memory: Any, cache: Path) -> None:
    whole = memory.cat_file(f"/bucket/small/{name}")
    memory.pipe_file(f"/bucket/small/{name}", whole[: len(whole) // 2])
    with data_error(f"{url}/{name}", "damaged"):
        FrameStore.open(url)
    assert copies(cache) == []


def test_images_that_are_missing_there(url: str, memory: Any) -> None:
    memory.rm_file("/bucket/small/frames.npy")
    with data_error(f"{url}/frames.npy", "missing"):
        FrameStore.open(url)


def test_a_store_that_changes_while_it_is_fetched_is_not_mixed(url: str, memory: Any, cache: Path) -> None:
    def replace_index(done: int, total: int) -> None:
        memory.pipe_file("/bucket/small/store.json", b"{}")

    with data_error(url, "changed while it was fetched", "try again"):
        fetch_store(url, replace_index)
    assert copies(cache) == []


def test_a_copy_that_was_damaged_later(url: str, memory: Any) -> None:
    copy = FrameStore.open(url).path
    (copy / "frames.npy").unlink()
    with data_error(url, f"remove {copy} and try again"):
        FrameStore.open(url)
    shutil.rmtree(copy)
    assert len(FrameStore.open(url)) == 144


def test_messages_name_the_url(url: str) -> None:
    store = FrameStore.open(url)
    with pytest.raises(ConfigError, match=r"^memory://bucket/small has no attribute"):
        store.attribute("colour")


def test_a_url_as_a_path_gets_a_hint() -> None:
    with data_error("s3:/bucket/store", "a URL is given as text"):
        FrameStore.open(Path("s3://bucket/store"))


@pytest.mark.parametrize(
    ("place", "full"),
    [
        ("toys", "{here}/toys"),
        ("s3://bucket/toys", "s3://bucket/toys"),
        ("file://toys", "file://{here}/toys"),
        ("file:///data/toys", "file:///data/toys"),
        ("zip://::toys.zip", "zip://::{here}/toys.zip"),
        ("zip://a/b::file://toys.zip", "zip://a/b::file://{here}/toys.zip"),
        ("zip://toys::s3://bucket/toys.zip", "zip://toys::s3://bucket/toys.zip"),
        ("simplecache::https://host/toys", "simplecache::https://host/toys"),
    ],
)
def test_places_mean_the_same_from_every_folder(
    place: str, full: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = full.format(here=tmp_path.resolve())
    assert full_place(place) == expected
    assert full_place(expected) == expected
    assert is_url(place) == ("://" in place)
    config = make_config({"data": place, "labels": place})
    assert (config.data, config.labels) == (expected, expected)


def test_where_the_cache_is(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == cache
    monkeypatch.delenv("EGOEQUIV_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "egoequiv"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "egoequiv"


def test_no_home_and_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EGOEQUIV_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", failing(RuntimeError("Could not determine home directory.")))
    with data_error("home directory", "EGOEQUIV_CACHE"):
        cache_folder()


def test_info_of_a_url(cli: Cli, url: str, memory: Any) -> None:
    shown = cli("info", url)
    assert shown.out.startswith(f"{url}  from ")
    assert f"fetching {url}" in shown.err
    assert "fetching" not in cli("info", url).err
    failed = cli("info", "memory://bucket/nothing", code=2)
    assert failed.err.count("\n") == 1


def test_patterns_of_a_url(cli: Cli, memory: Any, tmp_path: Path) -> None:
    url = put(ingest(poses_only(), tmp_path / "poses", workers=1).path, memory)
    cli("patterns", url, "-o", tmp_path / "patterns", "--clusters", "2", "--keep", "1", "--stability", "0")
    assert (tmp_path / "patterns" / "patterns.json").exists()


@pytest.mark.slow
def test_a_run_on_a_url(cli: Cli, small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    zipped(small_store.path, tmp_path / "small.zip")
    short = ["--iterations=20", "--per-class=3", "--set=log_every=10", "--set=checkpoint_every=10"]
    short += ["--set=validate_every=10", "--method=equiv"]
    cli("train", "zip://::small.zip", "-o", "far", *short)
    cli("train", small_store.path, "-o", "near", *short)
    kept = json.loads(Path("far/config.json").read_text())
    assert kept["data"] == f"zip://::{tmp_path.resolve() / 'small.zip'}"
    assert Path("far/last.safetensors").read_bytes() == Path("near/last.safetensors").read_bytes()
    assert Path("far/data.json").read_bytes() == Path("near/data.json").read_bytes()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    cli("train", "-o", tmp_path / "far", "--resume")
    far, near = (json.loads(cli("evaluate", tmp_path / name, "--json").out) for name in ("far", "near"))
    assert [m["values"] for m in far["measurements"]] == [m["values"] for m in near["measurements"]]
    cli("evaluate", tmp_path / "near", f"file://{small_store.path}")
    cli("embed", tmp_path / "near", f"file://{small_store.path}", "-o", "z.npy")
    assert np.load("z.npy").shape == (144, 100)
    quick = ["--methods=drlim", "--rates=0.01", "--weights=1", "--seeds=1", "--rate-seeds=1", "--iterations=10"]
    quick += ["--workers=1", "--set=per_class=3", "--set=log_every=10", "--set=checkpoint_every=10"]
    cli("search", f"file://{small_store.path}", "-o", "search", *quick, "--set=validate_every=10")
    assert Path("search/selection.json").exists()
