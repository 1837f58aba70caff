"""Folders and zip archives, read alike."""

from __future__ import annotations

import os
import pickle
import random
import zipfile
from pathlib import Path

import pytest

from egoequiv.errors import DataError
from egoequiv.sources.trees import FolderTree, Tree, ZipTree
from helpers import data_error
from kitti_files import zip_folder

CONTENTS = {
    "top.txt": b"top",
    "b/two.txt": b"two " * 500,
    "b/one.txt": b"",
    "b/deep/er/three.bin": bytes(range(256)),
    "a/4.txt": b"four",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    for name, content in CONTENTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    (root / "empty").mkdir()
    return root


@pytest.fixture(params=["folder", "zip", "zip without folders"])
def tree(request: pytest.FixtureRequest, folder: Path, tmp_path: Path) -> Tree:
    if request.param == "folder":
        return FolderTree(folder)
    archive = zip_folder(folder, tmp_path / "files.zip")
    if request.param == "zip without folders":
        with zipfile.ZipFile(archive, "w") as packed:
            for name in reversed(CONTENTS):
                packed.writestr(name, CONTENTS[name])
            packed.writestr("empty/", b"")
    return ZipTree(archive)


def test_listings_are_sorted_and_alike(tree: Tree) -> None:
    assert tree.folders() == ["a", "b", "empty"]
    assert tree.folders("b") == ["deep"]
    assert tree.folders("b/deep") == ["er"]
    assert tree.folders("b/deep/er") == tree.folders("a") == tree.folders("empty") == []
    assert tree.files("") == ["top.txt"]
    assert tree.files("b") == ["one.txt", "two.txt"]
    assert tree.files("b/deep") == tree.files("empty") == []
    assert tree.files("b/deep/er") == ["three.bin"]


def test_what_is_not_there_has_nothing_below_it(tree: Tree) -> None:
    assert tree.folders("nowhere") == tree.files("nowhere") == []
    assert tree.folders("top.txt") == tree.files("top.txt") == []


def test_contents_are_alike(tree: Tree) -> None:
    assert {name: tree.read(name) for name in CONTENTS} == CONTENTS


def test_a_file_is_called_by_its_whole_path(tree: Tree, tmp_path: Path) -> None:
    root = "files" if isinstance(tree, FolderTree) else "files.zip"
    assert tree.where("b/one.txt") == f"{tmp_path}/{root}/b/one.txt"


def test_a_missing_file_is_named(tree: Tree) -> None:
    with data_error(tree.where("b/nine.txt")):
        tree.read("b/nine.txt")
    with data_error(tree.where("b")):
        tree.read("b")


def test_a_tree_survives_pickling(tree: Tree) -> None:
    tree.folders()
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert again.files("b") == ["one.txt", "two.txt"]
    assert again.read("b/two.txt") == CONTENTS["b/two.txt"]
    assert len(pickle.dumps(tree)) < 1_000  # the listing stays behind


def test_a_file_that_was_packed_twice_is_listed_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as packed:
        packed.writestr("a/1.txt", b"old")
        with pytest.warns(UserWarning, match="Duplicate"):
            packed.writestr("a/1.txt", b"new")
    tree = ZipTree(tmp_path / "twice.zip")
    assert tree.files("a") == ["1.txt"]
    assert tree.read("a/1.txt") == b"new"


def test_an_archive_that_was_replaced_is_read_anew(folder: Path, tmp_path: Path) -> None:
    archive = zip_folder(folder, tmp_path / "files.zip")
    assert ZipTree(archive).read("a/4.txt") == b"four"
    (folder / "a" / "4.txt").write_bytes(b"another four")
    zip_folder(folder, archive)
    assert ZipTree(archive).read("a/4.txt") == b"another four"


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_an_archive_that_was_cut_short_is_named(folder: Path, tmp_path: Path, part: float) -> None:
    archive = zip_folder(folder, tmp_path / "files.zip")
    archive.write_bytes(archive.read_bytes()[: int(part * archive.stat().st_size)])
    for look in (ZipTree(archive).folders, lambda: ZipTree(archive).files("a"), lambda: ZipTree(archive).read("a")):
        with data_error(str(archive), "not a complete zip archive", "get the archive again"):
            look()


def test_an_archive_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.zip", tmp_path):
        with data_error(str(path), "cannot be read"):
            ZipTree(path).folders()


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_file_in_an_archive_is_named(folder: Path, tmp_path: Path, compression: int) -> None:
    archive = zip_folder(folder, tmp_path / "files.zip", compression=compression)
    with zipfile.ZipFile(archive) as packed:
        member = packed.getinfo("b/two.txt")
    content = bytearray(archive.read_bytes())
    content[member.header_offset + 30 + len(member.filename) + member.compress_size // 2] ^= 0xFF
    archive.write_bytes(content)
    tree = ZipTree(archive)
    with data_error(f"{archive}/b/two.txt", "cannot be unpacked", "get the archive again"):
        tree.read("b/two.txt")
    assert tree.read("a/4.txt") == b"four"  # the others can still be used


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_whatever_bytes_are_damaged_the_error_is_one_of_data(folder: Path, tmp_path: Path, compression: int) -> None:
    whole = zip_folder(folder, tmp_path / "files.zip", compression=compression).read_bytes()
    rng = random.Random(compression)
    told = 0
    for k in range(150):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 3, 9])):
            content[rng.randrange(len(content))] = rng.randrange(256)
        archive = tmp_path / f"{k}.zip"
        archive.write_bytes(content)
        tree = ZipTree(archive)
        try:
            names = tree.files("b")
        except DataError as problem:
            told += str(archive) in str(problem)
            continue
        for name in names:
            try:
                tree.read(f"b/{name}")
            except DataError as problem:
                told += str(archive) in str(problem)
        archive.unlink()
    assert told > 20


def test_a_name_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    archive, name = tmp_path / "names.zip", "grün.txt"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(name, b"content")
    whole, first = archive.read_bytes(), len("gr")
    local, central = whole.find(name.encode()), whole.rfind(name.encode())
    for start, words in ((local, "cannot be unpacked"), (central, "not a complete zip archive")):
        damaged = bytearray(whole)
        damaged[start + first : start + first + 2] = b"\xff\xff"
        archive.write_bytes(damaged)
        with data_error(str(archive), words):
            ZipTree(archive).read(name)


def test_a_folder_that_may_not_be_listed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("egoequiv.sources.trees.os.scandir", refuse)
    with data_error(str(folder / "b"), "Permission denied"):
        FolderTree(folder).files("b")


def test_a_file_that_is_too_large_is_not_read(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egoequiv.sources.trees.LARGEST", 1999)
    assert len(tree.read("b/deep/er/three.bin")) == 256
    with data_error("two.txt has 2,000 bytes, expected at most 1,999"):
        tree.read("b/two.txt")


def test_a_bomb_is_refused_before_it_is_unpacked_and_one_that_lies_while_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("picture.png", bytes(5_000_000))
    whole = archive.read_bytes()
    size, central = (5_000_000).to_bytes(4, "little"), whole.rfind(b"PK\x01\x02")
    at = whole.find(size, central)
    archive.write_bytes(whole[:at] + (2**31).to_bytes(4, "little") + whole[at + 4 :])
    with data_error("picture.png has 2,147,483,648 bytes"):
        ZipTree(archive).read("picture.png")
    archive.write_bytes(whole[:at] + (100).to_bytes(4, "little") + whole[at + 4 :])
    with data_error("picture.png cannot be unpacked"):
        ZipTree(archive).read("picture.png")


def test_a_huge_file_of_a_folder_is_refused_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "groundtruth.txt").touch()
    os.truncate(tmp_path / "groundtruth.txt", 2**36)
    with data_error("groundtruth.txt has 68,719,476,736 bytes"):
        FolderTree(tmp_path).read("groundtruth.txt")
