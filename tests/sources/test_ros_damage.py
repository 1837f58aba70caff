"""Bags that are cut, damaged, lie about themselves or would run code: what is there is read, or one line says why."""

import bz2
import os
import shutil
import sqlite3
import struct
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import lz4.frame
import numpy as np
import pytest

from egoequiv.catalog import open_source
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.sources import Source
from egoequiv.sources.ros_bags import open_bag
from egoequiv.sources.ros_library import MOST_UNPACKED, types_for
from logs.ros import KINDS, START_NS, STEP_NS, BagWriter, along_x, bag_name, drive, pictures, write_plain_mcap
from running import make_cli


def opened(path: Path, **settings: Any) -> Source:
    return open_source("ros", path, **settings)


def storage(path: Path) -> Path:
    """The file with the messages of a bag."""
    return path if path.is_file() else next(file for file in path.iterdir() if file.suffix in (".db3", ".mcap"))


def long_drive(kind: str, path: Path, **settings: Any) -> Path:
    """Pictures of 200 KB, so that a bag has several chunks."""
    bag = BagWriter(kind, **settings)
    for k in range(20):
        bag.image("/cam", START_NS + k * STEP_NS, np.full((400, 500), k, np.uint8))
        bag.pose("/pose", START_NS + k * STEP_NS, along_x(k))
    return bag.write(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9])
def test_a_bag_that_is_cut_short_is_one_line_or_what_is_there(kind: str, share: float, tmp_path: Path) -> None:
    path = long_drive(kind, tmp_path / bag_name(kind))
    file = storage(path)
    os.truncate(file, int(share * file.stat().st_size))
    found: Source | DataError
    try:
        found = opened(path)
    except DataError as problem:
        found = problem
    if isinstance(found, DataError):
        assert "\n" not in str(found)
        assert str(path) in str(found)
    else:
        assert kind == "sqlite3"
        assert any("cannot be read" in note for note in found.notes)


@pytest.mark.parametrize(
    ("kind", "words"), [("ros1", "run `rosbag reindex` on it"), ("mcap", "run `mcap recover` on it")]
)
def test_what_to_do_with_a_cut_bag(kind: str, words: str, tmp_path: Path) -> None:
    path = drive(kind).write(tmp_path / bag_name(kind))
    file = storage(path)
    os.truncate(file, file.stat().st_size - 40)
    with pytest.raises(DataError, match=words):
        opened(file)


def test_a_bag_without_index_says_what_to_do(tmp_path: Path) -> None:
    path = drive("ros1").write(tmp_path / "drive.bag")
    data = path.read_bytes()
    place = data.index(b"index_pos=") + len(b"index_pos=")
    path.write_bytes(data[:place] + bytes(8) + data[place + 8 :])
    with pytest.raises(DataError, match="it has no index, as after a crash: run `rosbag reindex` on it"):
        opened(path)


def test_damage_in_the_middle_costs_the_frames_around_it(tmp_path: Path) -> None:
    path = long_drive("ros1", tmp_path / "drive.bag", compression="bz2")
    data = bytearray(path.read_bytes())
    whole = opened(path).recordings[0]
    chunks = sorted(open_bag(path)._readers[0].chunks.values(), key=lambda chunk: chunk.datapos)
    assert len(chunks) >= 3
    place = chunks[1].datapos
    data[place : place + 8] = b"damaged!"
    path.write_bytes(bytes(data))
    source = opened(path)
    assert 5 < source.frame_count < len(whole)
    assert any("what can be read is used" in note for note in source.notes)
    (recording,) = source.recordings
    for pose, image in zip(recording.poses, recording.images(range(len(recording))), strict=True):
        if not isinstance(image, BrokenFrameError):
            assert np.asarray(image)[0, 0] == round(pose[0])


def test_an_mcap_without_summary_or_chunks_is_read_from_its_beginning(tmp_path: Path) -> None:
    bag = open_bag(drive("mcap", 40).write(tmp_path / "bag"))
    kinds = {topic.name: topic.kind for topic in bag.topics()}
    path = tmp_path / "plain.mcap"
    write_plain_mcap(path, kinds, [(one.topic, one.log_ns, bytes(one.data)) for one in bag.messages(list(kinds))])
    (recording,) = opened(path).recordings
    assert list(recording.starts()) == [0]
    assert np.array_equal([np.asarray(image) for image in recording.images(range(40))], pictures(40))


def test_wrong_metadata_is_a_note_and_the_storage_is_read(tmp_path: Path) -> None:
    path = drive("sqlite3").write(tmp_path / "bag")
    text = (path / "metadata.yaml").read_text()
    for number, wrong in enumerate(
        [
            text.replace("bag.db3", "elsewhere.db3"),
            text.replace("sqlite3", "mysql"),
            "rosbag2_bagfile_information: [\n",
            "rosbag2_bagfile_information: !!python/object/apply:os.system ['touch ran']\n",
            "rosbag2_bagfile_information: 3\n",
        ]
    ):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(path, copy)
        (copy / "metadata.yaml").write_text(wrong)
        source = opened(copy)
        assert source.frame_count == 12
        assert any("without metadata.yaml" in note for note in source.notes)
    assert not Path("ran").exists()


def test_poses_that_are_not_rigid_are_left_out_and_counted(tmp_path: Path) -> None:
    bag = drive("mcap", 10)
    bag.pose("/pose", START_NS + 10 * STEP_NS, [0] * 7)
    bag.pose("/pose", START_NS + 11 * STEP_NS, [np.nan, *along_x(1)[1:]])
    source = opened(bag.write(tmp_path / "bag"))
    assert source.frame_count == 10
    assert any("2 of 12 poses are not rigid (NaN or a zero quaternion); left out" in note for note in source.notes)


@pytest.mark.parametrize(("topic", "row", "frames"), [("/pose", 3, 12), ("/pose", 0, 11), ("/camera/image_raw", 0, 11)])
def test_a_message_that_does_not_fit_its_type_is_counted(topic: str, row: int, frames: int, tmp_path: Path) -> None:
    path = drive("sqlite3").write(tmp_path / "bag")
    with sqlite3.connect(path / "bag.db3") as database:
        rows = database.execute(
            "SELECT messages.id FROM messages JOIN topics ON topics.id = topic_id WHERE name = ?", (topic,)
        ).fetchall()
        wrong = b"\x00\x01\x00\x00\xff\xff"
        database.execute("UPDATE messages SET data = ? WHERE id = ?", (wrong, rows[row][0]))
    database.close()
    source = opened(path)
    assert source.frame_count == frames  # a pose in the middle is interpolated
    assert any("1 message cannot be read" in note for note in source.notes)
    (recording,) = source.recordings
    assert np.array_equal([np.asarray(one) for one in recording.images(range(frames))], pictures(12)[-frames:])


def test_a_picture_of_a_huge_declared_size_is_a_broken_frame(tmp_path: Path) -> None:
    bag = drive("mcap", 6)
    bag.image("/camera/image_raw", START_NS + 250_000_000, pictures(1)[0], height=4_000_000_000)
    (recording,) = opened(bag.write(tmp_path / "bag")).recordings
    found = list(recording.images(range(7)))
    assert [isinstance(image, BrokenFrameError) for image in found] == [k == 3 for k in range(7)]
    assert "expected 4,000,000,000 rows" in str(found[3])


def test_a_chunk_that_unpacks_to_more_than_memory_holds_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("egoequiv.sources.ros_library.MOST_UNPACKED", 1 << 20)
    assert MOST_UNPACKED >= 1 << 30
    path = tmp_path / "drive.bag"
    bomb = bz2.compress(bytes(1 << 24))
    long_drive("ros1", path, compression="bz2")
    data = bytearray(path.read_bytes())
    chunk = min(open_bag(path)._readers[0].chunks.values(), key=lambda one: one.datapos)
    data[chunk.datapos : chunk.datapos + len(bomb)] = bomb
    path.write_bytes(bytes(data))
    assert len(bomb) < chunk.datasize
    with pytest.raises(DataError, match="larger than it says or than 1 GB"):
        list(open_bag(path).messages(["/cam"]))


@pytest.mark.parametrize("name", ["a/b/c", "os.system('touch ran')", "x/Y\nimport os", "", "a/__import__('os')"])
def test_names_of_types_that_are_not_plain_words_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not the name of a message type"):
        types_for(name, None, False, tmp_path)


def test_a_definition_that_is_not_one_is_named(tmp_path: Path) -> None:
    bag = drive("mcap")
    for k in range(4):
        bag.wheels("/wheels", START_NS + k * STEP_NS, 0, 0, 0)
    path = bag.write(tmp_path / "bag")
    file = storage(path)
    data = file.read_bytes()
    file.write_bytes(data.replace(b"float64[2] angle", b"float64[2] an=le"))
    assert opened(file).frame_count == 12  # other topics are not concerned
    with pytest.raises(DataError, match=r"the definition of robot_msgs/msg/Wheels cannot be read|Chunk checksum"):
        opened(file, columns="/wheels.angle[0]")


def test_messages_left_in_a_journal_are_reported(tmp_path: Path) -> None:
    path = drive("sqlite3").write(tmp_path / "bag")
    (path / "bag.db3-wal").write_bytes(b"messages")
    assert any("bag.db3-wal holds messages that are not yet in the database" in note for note in opened(path).notes)


def test_a_bag_without_anything_to_read_lists_its_topics(tmp_path: Path) -> None:
    bag = BagWriter("mcap")
    bag.twist("/cmd_vel", START_NS, 1, 0)
    with pytest.raises(
        DataError, match=r"no camera and no poses to read; its topics are: /cmd_vel \(geometry_msgs/Twist\)"
    ):
        opened(bag.write(tmp_path / "one"))
    for kind in KINDS:
        with pytest.raises(DataError, match="its topics are: none"):
            opened(BagWriter(kind).write(tmp_path / bag_name(kind)))


@pytest.mark.parametrize("name", ["drive of tuesday", "drüben 東京", "two\nlines"])
@pytest.mark.parametrize("kind", KINDS)
def test_odd_names(name: str, kind: str, tmp_path: Path) -> None:
    path = drive(kind).write(tmp_path / (name + ".bag" if kind == "ros1" else name))
    assert opened(path).recordings[0].name == name


def test_a_name_with_a_meaning_to_sqlite_is_refused(tmp_path: Path) -> None:
    path = drive("sqlite3").write(tmp_path / "bag")
    shutil.copy(path / "bag.db3", tmp_path / "what?.db3")
    with pytest.raises(DataError, match=r"SQLite gives '\?' in a path a meaning; rename it"):
        opened(tmp_path / "what?.db3")


def test_commands_end_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    cli = make_cli(monkeypatch, capsys)
    rng = np.random.default_rng(0)
    for number, suffix in enumerate((".bag", ".mcap", ".db3", ".bag")):
        path = tmp_path / f"noise{number}{suffix}"
        start = {".bag": b"#ROSBAG V2.0\n" + struct.pack("<I", 2**32 - 1), ".mcap": b"\x89MCAP0\r\n", ".db3": b"SQLite"}
        path.write_bytes((b"" if number == 3 else start[suffix]) + rng.bytes(3000))
        error = cli("ingest", "ros", path, "-o", tmp_path / "store", code=2).err
        assert error.startswith("egoequiv: error:")
        assert len(error.splitlines()) == 1
    missing = tmp_path / "missing.bag"
    assert "missing.bag cannot be read: No such file" in cli("ingest", "ros", missing, "-o", tmp_path / "s", code=2).err


def test_chunks_of_mcap_unpack_to_no_more_than_they_declare(tmp_path: Path) -> None:
    storage_mcap = import_module("rosbags.rosbag2.storage_mcap")
    open_bag(drive("mcap").write(tmp_path / "bag"))
    packed = {"zstd": storage_mcap.zstd.compress(bytes(1 << 24)), "lz4": lz4.frame.compress(bytes(1 << 24))}
    for name, data in packed.items():
        unpack = storage_mcap.DECOMPRESSORS[name]
        assert unpack(data, 1 << 24) == bytes(1 << 24)
        for size in (0, 1000, (1 << 24) - 1):
            with pytest.raises(DataError, match="larger than it says"):
                unpack(data, size)
        with pytest.raises(DataError, match="cut short"):
            unpack(data[:-20], 1 << 24)


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = drive("ros1").write(tmp_path / "drive.bag")
    for name in [name for name in sys.modules if name.split(".")[0] == "rosbags"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=r"install rosbags: pip install 'egoequiv\[ros\]'"):
        opened(path)
