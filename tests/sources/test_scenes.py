"""Scenes: class folders in every layout, SUN397 with its lists, and notes on all that is left out."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.errors import BrokenFrameError, ConfigError
from egoequiv.pose import NoMotion
from egoequiv.sources import Source
from egoequiv.sources.scenes import scenes
from helpers import data_error


def put(root: Path, *names: str, size: tuple[int, int] = (6, 4)) -> None:
    """Write a small gray picture, of its own brightness, under each name."""
    for k, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", size, 10 * k).save(path)


def found(source: Source) -> dict[str, list[str]]:
    return {r.name: list(r.files) for r in source.recordings}  # type: ignore[attr-defined]


def test_a_tree_of_classes(tmp_path: Path) -> None:
    put(tmp_path, "kitchen/b.jpg", "kitchen/a.jpg", "bedroom/x.png")
    source = scenes(tmp_path)
    assert source.name == "scenes"
    assert source.space == NoMotion()
    assert found(source) == {"bedroom": ["x.png"], "kitchen": ["a.jpg", "b.jpg"]}
    kitchen = source.recordings[1]
    assert kitchen.labels == ("kitchen", "kitchen")
    assert kitchen.attributes == {}
    assert kitchen.times_s is None
    assert kitchen.poses.shape == (2, 0)
    assert kitchen.image(0).shape == (4, 6)
    assert abs(int(kitchen.image(0).mean()) - 10) <= 1
    assert source.notes == ()
    assert dict(source.settings) == {"path": str(tmp_path), "partition": None, "aspect": None}


def test_every_ending_in_any_case_and_nothing_hidden(tmp_path: Path) -> None:
    endings = ("jpg", "JPEG", "Png", "bmp", "webp", "tif", "TIFF", "gif", "pgm", "ppm")
    names = [f"{k}.{ending}" for k, ending in enumerate(endings)]
    put(tmp_path, *(f"attic/{name}" for name in names))
    put(tmp_path, "attic/.hidden.jpg", ".cache/x.jpg", "__MACOSX/attic/y.jpg")
    (tmp_path / "attic" / "notes.txt").write_text("not an image")
    (tmp_path / "attic" / "._0.jpg").write_bytes(b"left by an archiver")
    source = scenes(tmp_path)
    assert found(source) == {"attic": sorted(names)}
    assert source.notes == ()


def test_a_nested_class_is_named_by_its_path(tmp_path: Path) -> None:
    put(tmp_path, "church/indoor/a.jpg", "church/outdoor/b.jpg", "church/c.jpg", "abbey/d.jpg")
    source = scenes(tmp_path)
    assert list(found(source)) == ["abbey", "church", "church/indoor", "church/outdoor"]
    assert source.recordings[2].labels == ("church/indoor",)


@pytest.mark.parametrize("parts", [("train", "test"), ("Train", "TEST"), ("train", "val"), ("test", "train", "Val")])
def test_parts_become_an_attribute(tmp_path: Path, parts: tuple[str, ...]) -> None:
    for part in parts:
        put(tmp_path, f"{part}/bedroom/a.jpg", f"{part}/bedroom/b.jpg", f"{part}/house/indoor/c.jpg")
    source = scenes(tmp_path)
    order = [p for p in ("train", "test", "val") if p in [part.lower() for part in parts]]
    assert list(found(source)) == [f"{p}/{c}" for p in order for c in ("bedroom", "house/indoor")]
    for recording in source.recordings:
        part, _, name = recording.name.partition("/")
        assert recording.attributes == {"part": part}
        assert set(recording.labels or ()) == {name}
        assert recording.image(0).shape == (4, 6)
    assert source.notes == ()


def test_one_part_alone_is_a_folder_of_classes_and_told_of(tmp_path: Path) -> None:
    put(tmp_path, "train/bedroom/a.jpg")
    source = scenes(tmp_path)
    assert list(found(source)) == ["train/bedroom"]
    assert source.recordings[0].attributes == {}
    assert source.remarks == ("train is read as a folder of classes, because there is no other part beside it",)


def test_a_class_of_trains_is_a_class(tmp_path: Path) -> None:
    put(tmp_path, "train/a.jpg", "tram/b.jpg")
    source = scenes(tmp_path)
    assert list(found(source)) == ["train", "tram"]
    assert source.notes == ()


def test_parts_beside_classes_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "train/bedroom/a.jpg", "test/bedroom/b.jpg", "kitchen/c.jpg")
    with data_error(str(tmp_path), "test and train", "kitchen"):
        scenes(tmp_path)
    shutil.rmtree(tmp_path / "kitchen")
    (tmp_path / "docs").mkdir()
    assert len(scenes(tmp_path).recordings) == 2


def test_parts_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "train/bedroom/a.jpg", "Train/bedroom/b.jpg", "test/bedroom/c.jpg")
    if len(os.listdir(tmp_path)) < 3:
        pytest.skip("this file system does not tell Train from train")
    with data_error(str(tmp_path), "Train", "train", "case"):
        scenes(tmp_path)


def test_classes_of_one_part_alone_are_noted(tmp_path: Path) -> None:
    put(tmp_path, "train/a/1.jpg", "train/b/1.jpg", "train/c/1.jpg", "test/b/1.jpg", "test/d/1.jpg")
    assert scenes(tmp_path).notes == (
        "classes that are not in train: 1 (d)",
        "classes that are not in test: 2 (a, c)",
    )


def test_an_empty_part_is_a_part(tmp_path: Path) -> None:
    put(tmp_path, "train/a/1.jpg")
    (tmp_path / "test").mkdir()
    source = scenes(tmp_path)
    assert list(found(source)) == ["train/a"]
    assert source.notes == ("class folders without images: 1 (test)", "classes that are not in test: 1 (a)")


def test_empty_classes_and_strays_are_noted(tmp_path: Path) -> None:
    put(tmp_path, "attic/1.jpg", "cover.jpg", "logo.png")
    for name in ("barn", "cellar/deep"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "barn" / "readme.txt").write_text("to come")
    source = scenes(tmp_path)
    assert list(found(source)) == ["attic"]
    assert source.notes == (
        "class folders without images: 2 (barn, cellar/deep)",
        "images in no class folder, left out: 2",
    )


def test_strays_in_parts_are_noted(tmp_path: Path) -> None:
    put(tmp_path, "train/a/1.jpg", "test/a/1.jpg", "train/stray.jpg", "stray.jpg")
    (tmp_path / "test" / "b").mkdir()
    assert scenes(tmp_path).notes == (
        "class folders without images: 1 (test/b)",
        "images in no class folder, left out: 2",
    )


def test_where_there_is_nothing_it_says_what_was_expected(tmp_path: Path) -> None:
    with data_error(str(tmp_path), "no images", "CLASS/*.jpg", "SUN397"):
        scenes(tmp_path)
    with data_error(str(tmp_path / "nowhere"), "does not exist", "CLASS/*.jpg"):
        scenes(tmp_path / "nowhere")
    put(tmp_path, "single.jpg")
    with data_error(str(tmp_path / "single.jpg"), "is a file", "CLASS/*.jpg"):
        scenes(tmp_path / "single.jpg")
    with data_error("no images in class folders", "images in no class folder, left out: 1"):
        scenes(tmp_path)


def test_symlinked_classes_are_read_and_loops_end(tmp_path: Path) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    put(elsewhere, "a.jpg")
    put(root, "barn/b.jpg", "farm/c.jpg")
    (root / "attic").symlink_to(elsewhere)
    (root / "barn" / "up").symlink_to(root)
    (root / "zoo").symlink_to(root / "barn")
    for name in ("barn", "farm"):
        (root / name / "siblings").symlink_to(root / "farm")
    source = scenes(root)
    assert found(source) == {"attic": ["a.jpg"], "barn": ["b.jpg"], "farm": ["c.jpg"]}
    again = "barn/siblings, barn/up, farm/siblings, zoo"
    assert sorted(source.notes[0].rpartition("(")[2].rstrip(")").split(", ")) == again.split(", ")
    assert source.notes[0].startswith("links to folders that were read already, left out: 4 (")


def test_links_to_nothing_are_frames_that_cannot_be_read(tmp_path: Path) -> None:
    put(tmp_path, "attic/a.jpg")
    (tmp_path / "attic" / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (tmp_path / "attic" / "self.jpg").symlink_to(tmp_path / "attic" / "self.jpg")
    os.mkfifo(tmp_path / "attic" / "pipe.jpg")
    (tmp_path / "attic" / "folder.jpg").mkdir()
    source = scenes(tmp_path)
    assert found(source) == {"attic": ["a.jpg", "gone.jpg", "self.jpg"]}
    for frame in (1, 2):
        with pytest.raises(BrokenFrameError, match=r"attic/(gone|self)\.jpg: "):
            source.recordings[0].image(frame)


def test_a_broken_image_is_named_when_it_is_read(tmp_path: Path) -> None:
    put(tmp_path, "attic/a.jpg")
    (tmp_path / "attic" / "b.jpg").write_bytes(b"")
    source = scenes(tmp_path)
    with data_error(str(tmp_path / "attic" / "b.jpg")):
        source.recordings[0].image(1)


def test_recordings_survive_pickling_and_are_light(tmp_path: Path) -> None:
    put(tmp_path, *(f"train/attic/{k:03d}.jpg" for k in range(50)), "test/attic/a.jpg")
    recording = scenes(tmp_path, aspect="1x1").recordings[0]
    packed = pickle.dumps(recording)
    assert len(packed) < 3_000
    again = pickle.loads(packed)
    assert again.image(7).tolist() == recording.image(7).tolist()
    assert (again.name, again.labels, again.attributes) == (recording.name, recording.labels, recording.attributes)
    assert len(again) == 50


def test_an_aspect_is_a_central_crop(tmp_path: Path) -> None:
    (tmp_path / "attic").mkdir()
    image = np.arange(80, dtype=np.uint8).reshape(8, 10)
    Image.fromarray(image).save(tmp_path / "attic" / "a.png")
    assert scenes(tmp_path, aspect="1242x621").recordings[0].image(0).tolist() == image[1:6].tolist()
    assert scenes(tmp_path, aspect="3x8").recordings[0].image(0).tolist() == image[:, 3:6].tolist()


@pytest.mark.parametrize(
    "aspect", ["", "1242", "1242x", "x375", "0x10", "10x0", "-3x4", "3.5x2", "3x2x1", "wide", "3 x 2"]
)
def test_an_aspect_that_is_none_is_refused(tmp_path: Path, aspect: str) -> None:
    put(tmp_path, "attic/a.jpg")
    with pytest.raises(ConfigError, match="1242x375"):
        scenes(tmp_path, aspect=aspect)


SUN_FILES = (
    "a/abbey/sun_a1.jpg",
    "a/abbey/sun_a2.jpg",
    "a/abbey/sun_a3.jpg",
    "a/apartment_building/outdoor/sun_b1.jpg",
    "a/apartment_building/outdoor/sun_b2.jpg",
    "z/zoo/sun_z1.jpg",
)
TRAINING = ("/a/abbey/sun_a1.jpg", "/a/apartment_building/outdoor/sun_b2.jpg", "/z/zoo/sun_z1.jpg")
TESTING = ("/a/abbey/sun_a3.jpg", "/a/apartment_building/outdoor/sun_b1.jpg")


def lines(names: Iterable[str]) -> str:
    return "".join(f"{name}\n" for name in names)


@pytest.fixture
def sun(tmp_path: Path) -> Path:
    """The folder SUN397, with no lists."""
    put(tmp_path / "SUN397", *SUN_FILES)
    return tmp_path / "SUN397"


def put_lists(folder: Path, number: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"Training_{number:02d}.txt").write_text(lines(TRAINING))
    (folder / f"Testing_{number:02d}.txt").write_text(lines(TESTING))


@pytest.mark.parametrize("given", ["SUN397", "."])
def test_sun397_is_read_without_its_letters(sun: Path, given: str) -> None:
    source = scenes(sun.parent / given)
    assert found(source) == {
        "abbey": ["sun_a1.jpg", "sun_a2.jpg", "sun_a3.jpg"],
        "apartment_building/outdoor": ["sun_b1.jpg", "sun_b2.jpg"],
        "zoo": ["sun_z1.jpg"],
    }
    assert source.recordings[1].labels == ("apartment_building/outdoor",) * 2
    assert source.recordings[1].image(1).shape == (4, 6)
    assert source.recordings[1].attributes == {}
    assert source.notes == ()


def test_classes_named_by_single_letters_are_not_sun397(tmp_path: Path) -> None:
    put(tmp_path, "a/1.jpg", "b/1.jpg")
    assert list(found(scenes(tmp_path))) == ["a", "b"]
    put(tmp_path, "a/x/2.jpg")
    assert list(found(scenes(tmp_path))) == ["a", "a/x", "b"]


@pytest.mark.parametrize("place", ["SUN397", "SUN397/Partitions", "Partitions", "."])
@pytest.mark.parametrize("given", ["SUN397", "."])
def test_a_partition_of_sun397(sun: Path, place: str, given: str) -> None:
    put_lists(sun.parent / place, 7)
    source = scenes(sun.parent / given, partition=7)
    assert found(source) == {
        "train/abbey": ["sun_a1.jpg"],
        "train/apartment_building/outdoor": ["sun_b2.jpg"],
        "train/zoo": ["sun_z1.jpg"],
        "test/abbey": ["sun_a3.jpg"],
        "test/apartment_building/outdoor": ["sun_b1.jpg"],
    }
    assert [r.attributes["part"] for r in source.recordings] == ["train"] * 3 + ["test"] * 2
    assert source.recordings[0].labels == ("abbey",)
    assert source.notes == ("classes that are not in test: 1 (zoo)",)
    assert source.settings["partition"] == 7
    assert found(scenes(sun.parent / given))["abbey"] == ["sun_a1.jpg", "sun_a2.jpg", "sun_a3.jpg"]


def test_images_that_a_partition_lists_in_vain_are_counted(sun: Path) -> None:
    put_lists(sun, 1)
    (sun / "z/zoo/sun_z1.jpg").unlink()
    (sun / "a/abbey/sun_a1.jpg").unlink()
    assert scenes(sun, partition=1).notes == (
        "images of Training_01.txt that are missing: 2 of 3 (a/abbey/sun_a1.jpg, z/zoo/sun_z1.jpg)",
        "class folders without images: 1 (z/zoo)",
        "classes that are not in train: 1 (abbey)",
    )


def test_images_in_both_parts_of_a_partition_are_counted(sun: Path) -> None:
    put_lists(sun, 1)
    (sun / "Testing_01.txt").write_text(lines([*TESTING, TRAINING[2], TRAINING[2]]))
    source = scenes(sun, partition=1)
    assert source.notes == ("images of partition 1 in both train and test: 1 (z/zoo/sun_z1.jpg)",)
    assert source.frame_count == 6


def test_a_partition_without_its_files_is_refused(sun: Path) -> None:
    with data_error("Training_03.txt", str(sun), "Partitions"):
        scenes(sun, partition=3)
    put_lists(sun, 3)
    (sun / "Testing_03.txt").unlink()
    with data_error("Testing_03.txt", str(sun), "Partitions"):
        scenes(sun, partition=3)


@pytest.mark.parametrize("partition", [0, 11, -1])
def test_there_are_ten_partitions(sun: Path, partition: int) -> None:
    with pytest.raises(ConfigError, match=f"partition={partition}: .* 1 to 10"):
        scenes(sun, partition=partition)


def test_a_partition_is_of_sun397_alone(tmp_path: Path) -> None:
    put(tmp_path, "attic/a.jpg")
    with data_error("partition=1", str(tmp_path), "SUN397"):
        scenes(tmp_path, partition=1)


def test_a_partition_none_of_whose_images_is_there_is_refused(sun: Path) -> None:
    put_lists(sun)
    for name in ("Training_01.txt", "Testing_01.txt"):
        (sun / name).write_text("/x/x-ray_room/sun_x.jpg\n")
    with data_error(str(sun), "no images", "that are missing: 1 of 1"):
        scenes(sun, partition=1)


@pytest.mark.parametrize("place", ["SUN397", "."])
def test_the_list_of_classes_decides(sun: Path, place: str) -> None:
    (sun / "b" / "bakery").mkdir(parents=True)
    listed = ["/a/abbey", "/a/apartment_building/outdoor", "/b/bakery", "/c/castle", "/d/den", "/c/castle", ""]
    (sun.parent / place / "ClassName.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(listed).encode())
    source = scenes(sun)
    assert list(found(source)) == ["abbey", "apartment_building/outdoor"]
    assert source.notes == (
        "classes of ClassName.txt without a folder: 2 of 5 (castle, den)",
        "folders that ClassName.txt does not list, left out: 1 (z/zoo)",
        "class folders without images: 1 (b/bakery)",
    )


def test_with_a_list_of_classes_other_folders_do_no_harm(sun: Path) -> None:
    (sun / "ClassName.txt").write_text(lines(["/a/abbey", "/a/apartment_building/outdoor", "/z/zoo"]))
    put(sun, "thumbnails/sun_a1.jpg")
    source = scenes(sun)
    assert list(found(source)) == ["abbey", "apartment_building/outdoor", "zoo"]
    assert source.notes == ("folders that ClassName.txt does not list, left out: 1 (thumbnails)",)


def test_a_long_list_of_names_is_cut(sun: Path) -> None:
    (sun / "ClassName.txt").write_text(lines(["/a/abbey", *(f"/m/missing_{k:03d}" for k in range(300))]))
    note = scenes(sun).notes[0]
    assert note.startswith("classes of ClassName.txt without a folder: 300 of 301 (missing_000, ")
    assert note.endswith("missing_019, ...)")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"/a/abbey\n/zoo\n", ("row 2", "/zoo", "/a/abbey")),
        (b"\n\n", ("empty", "/a/abbey")),
        (b"", ("empty", "/a/abbey")),
        (b"/a/abbey\n\xff\xfe", ("not text",)),
    ],
)
def test_a_damaged_list_is_named(sun: Path, content: bytes, words: tuple[str, ...]) -> None:
    (sun / "ClassName.txt").write_bytes(content)
    with data_error(str(sun / "ClassName.txt"), *words):
        scenes(sun)


def test_a_damaged_partition_is_named(sun: Path) -> None:
    put_lists(sun)
    (sun / "Testing_01.txt").write_text("/a/abbey/sun_a1.jpg\nsun_a2.jpg\n")
    with data_error(str(sun / "Testing_01.txt"), "row 2", "sun_a2.jpg", "/a/abbey/sun_x.jpg"):
        scenes(sun, partition=1)


def test_sun397_may_be_given_as_the_present_folder(sun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_lists(sun.parent)
    monkeypatch.chdir(sun)
    assert scenes(Path("."), partition=1).frame_count == 5
