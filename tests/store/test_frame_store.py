"""Opening stores: what they hold, and that damaged ones are refused in one clear line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drives import drive_source, poses_only
from egoequiv.errors import ConfigError
from egoequiv.pose import (
    DRIVING_POSES,
    ColumnsSpace,
    MotionSpace,
    NoMotion,
    PlanarSpace,
    SE2Space,
    SE3Space,
)
from egoequiv.sources import Source
from egoequiv.store import FrameStore, ingest
from helpers import AZIMUTHS, ELEVATIONS, GRID, KINDS, GridRecording, data_error, grid_recording, grid_source


@pytest.fixture
def copy(small_store: FrameStore, tmp_path: Path) -> Path:
    """A store to damage."""
    return Path(shutil.copytree(small_store.path, tmp_path / "copy"))


def change_meta(store: Path, **changes: Any) -> None:
    meta = json.loads((store / "store.json").read_text())
    (store / "store.json").write_text(json.dumps({**meta, **changes}))


def without_meta(store: Path, key: str) -> None:
    meta = json.loads((store / "store.json").read_text())
    del meta[key]
    (store / "store.json").write_text(json.dumps(meta))


def test_the_index_holds_all_that_the_source_knew(small_store: FrameStore) -> None:
    source = grid_source()
    assert len(small_store) == source.frame_count == 144
    assert small_store.recording_names == tuple(r.name for r in source.recordings)
    assert small_store.class_names == tuple(sorted(KINDS))
    assert small_store.times_s is None
    assert small_store.space == GRID
    assert small_store.image_shape == (12, 12, 1)
    assert set(small_store.attributes) == {"shape", "take"}
    row = 0
    for number, recording in enumerate(source.recordings):
        for k in range(len(recording)):
            frame = recording.frame(k)
            assert small_store.recording[row] == number
            assert small_store.frame[row] == k
            assert small_store.poses[row].tolist() == frame.pose.tolist()
            assert small_store.class_names[small_store.labels[row]] == frame.label
            assert small_store.attribute("take")[row] == recording.attributes["take"]
            assert small_store.images[row, :, :, 0].tolist() == frame.image.tolist()
            row += 1


def test_images_are_memory_mapped_and_read_only(small_store: FrameStore) -> None:
    assert isinstance(small_store.images.base, np.memmap)
    assert Path(str(small_store.images.base.filename)) == small_store.path / "frames.npy"
    with pytest.raises(ValueError, match="read-only"):
        small_store.images[0] = 0


def test_a_store_may_be_opened_by_text(small_store: FrameStore) -> None:
    assert FrameStore.open(str(small_store.path)).images.tobytes() == small_store.images.tobytes()


def test_times_come_back_exactly(tmp_path: Path) -> None:
    times = 1.6e9 + np.arange(24) * 0.1
    source = Source("timed", GRID, [grid_recording(0, 0, times_s=times), grid_recording(1, 0, times_s=times + 100)])
    store = ingest(source, tmp_path / "store", workers=1)
    assert store.times_s is not None
    assert store.times_s.tolist() == [*times, *(times + 100)]


def test_times_are_for_all_recordings_or_none(tmp_path: Path) -> None:
    source = Source("mixed", GRID, [grid_recording(0, 0, times_s=np.arange(24.0)), grid_recording(1, 0)])
    with data_error("bar/take-0", "all recordings have times or none"):
        ingest(source, tmp_path / "store", workers=1)


def test_frames_without_a_label(tmp_path: Path) -> None:
    source = Source("mixed", GRID, [grid_recording(1, 0), grid_recording(0, 0, labels=None), grid_recording(0, 1)])
    store = ingest(source, tmp_path / "store", workers=1)
    assert store.class_names == ("ball", "bar")
    assert store.labels.tolist() == [1] * 24 + [-1] * 24 + [0] * 24
    classes, names = store.classes()
    assert names == store.class_names
    assert classes.tolist() == store.labels.tolist()


def test_a_store_without_labels(tmp_path: Path) -> None:
    store = ingest(grid_source(labels=None), tmp_path / "store", workers=1)
    assert store.class_names == ()
    assert store.labels.tolist() == [-1] * 144
    with data_error(str(store.path), "no labels"):
        store.classes()


def test_classes_from_an_attribute(small_store: FrameStore) -> None:
    codes, names = small_store.classes("take")
    assert names == ("0", "1")
    assert codes.tolist() == ([0] * 24 + [1] * 24) * 3
    shapes, shape_names = small_store.classes("shape")
    assert [shape_names[code] for code in shapes] == list(small_store.attribute("shape"))


def test_an_attribute_that_some_recordings_lack(tmp_path: Path) -> None:
    first = grid_recording(0, 0, attributes={"city": "Bern"})
    source = Source("mixed", GRID, [first, grid_recording(1, 0, attributes={"street": "Aare"})])
    store = ingest(source, tmp_path / "store", workers=1)
    assert store.attribute("city").tolist() == ["Bern"] * 24 + [""] * 24
    assert store.attribute("street").tolist() == [""] * 24 + ["Aare"] * 24


def test_an_unknown_attribute_is_named_with_the_choices(small_store: FrameStore) -> None:
    with pytest.raises(ConfigError, match=r"no attribute 'colour'; its attributes are: shape, take"):
        small_store.attribute("colour")


def test_poses_are_those_of_the_whole_grid(small_store: FrameStore) -> None:
    for number in range(len(small_store.recording_names)):
        own = small_store.poses[small_store.recording == number]
        assert len(np.unique(own, axis=0)) == ELEVATIONS * AZIMUTHS


def test_a_path_that_is_no_store_is_named(tmp_path: Path) -> None:
    with data_error(str(tmp_path / "nowhere"), "does not exist", "egoequiv ingest"):
        FrameStore.open(tmp_path / "nowhere")
    with data_error(str(tmp_path / "store.json"), "missing", "not a frame store"):
        FrameStore.open(tmp_path)
    (tmp_path / "file").touch()
    with data_error(str(tmp_path / "file"), "is a file"):
        FrameStore.open(tmp_path / "file")


@pytest.mark.parametrize("name", ["store.json", "index.parquet", "frames.npy"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with data_error(str(copy / name), "missing"):
        FrameStore.open(copy)


@pytest.mark.parametrize("name", ["store.json", "index.parquet", "frames.npy"])
@pytest.mark.parametrize("keep", [0.0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_named(copy: Path, name: str, keep: float) -> None:
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: int(keep * len(content))])
    with data_error(str(copy / name), "damaged"):
        FrameStore.open(copy)


@pytest.mark.parametrize("name", ["store.json", "index.parquet", "frames.npy"])
@pytest.mark.parametrize("filler", [b"\x00", b"\xff", b"PK\x03\x04", b"hello "], ids=["0", "ff", "zip", "text"])
def test_a_file_of_something_else_is_named(copy: Path, name: str, filler: bytes) -> None:
    (copy / name).write_bytes(filler * 3_000)
    with data_error(str(copy / name), "damaged"):
        FrameStore.open(copy)


@pytest.mark.parametrize("where", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_damaged_index_is_named(copy: Path, where: float) -> None:
    path = copy / "index.parquet"
    content = bytearray(path.read_bytes())
    start = int(where * len(content))
    content[start : start + 40] = bytes(0xFF for _ in content[start : start + 40])
    path.write_bytes(bytes(content))
    with data_error(str(path), "damaged"):
        FrameStore.open(copy)


@pytest.mark.parametrize("header", [b"{'descr': '|u1', 'shape': (", b"{'descr'", b"import os", b"\xff\xff", b"{}"])
def test_a_damaged_image_header_is_named(copy: Path, header: bytes) -> None:
    path = copy / "frames.npy"
    content = path.read_bytes()
    path.write_bytes(content[:10] + header.ljust(118) + content[128:])
    with data_error(str(path), "damaged"):
        FrameStore.open(copy)


def test_images_of_another_kind_are_named(copy: Path) -> None:
    np.save(copy / "frames.npy", np.zeros((144, 12, 12, 1), np.float32))
    with data_error(str(copy / "frames.npy"), "uint8", "float32"):
        FrameStore.open(copy)
    np.save(copy / "frames.npy", np.zeros((144, 12, 12), np.uint8))
    with data_error(str(copy / "frames.npy"), "(N, H, W, C)", "(144, 12, 12)"):
        FrameStore.open(copy)


def test_pickled_images_are_not_loaded(copy: Path) -> None:
    np.save(copy / "frames.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with data_error(str(copy / "frames.npy")):
        FrameStore.open(copy)


@pytest.mark.parametrize("count", [143, 145, 0])
def test_images_and_index_that_disagree_are_named(copy: Path, count: int) -> None:
    np.save(copy / "frames.npy", np.zeros((count, 12, 12, 1), np.uint8))
    with data_error(str(copy / "frames.npy"), f"{count} images", "144 rows"):
        FrameStore.open(copy)


@pytest.mark.parametrize("changes", [{"format": "zip"}, {"version": 2}, {"version": None}, {"format": None}])
def test_a_store_of_another_format_is_named(copy: Path, changes: dict[str, Any]) -> None:
    change_meta(copy, **changes)
    with data_error(str(copy / "store.json"), "egoequiv-store version 1"):
        FrameStore.open(copy)


@pytest.mark.parametrize("content", ["[]", "3", "null", '"store"'])
def test_a_description_that_is_no_object_is_named(copy: Path, content: str) -> None:
    (copy / "store.json").write_text(content)
    with data_error(str(copy / "store.json")):
        FrameStore.open(copy)


@pytest.mark.parametrize("space", [None, 3, [], {}, {"kind": "sphere"}, {"kind": "grid", "axes": [{"name": "x"}]}])
def test_a_damaged_motion_space_is_named(copy: Path, space: object) -> None:
    change_meta(copy, space=space)
    with data_error(str(copy / "store.json"), "motion space"):
        FrameStore.open(copy)


def test_a_missing_motion_space_is_named(copy: Path) -> None:
    without_meta(copy, "space")
    with data_error(str(copy / "store.json"), "space"):
        FrameStore.open(copy)


@pytest.mark.parametrize("column", ["recording", "frame", "time_s", "label", "pose_elevation_deg", "pose_azimuth_deg"])
def test_a_missing_column_is_named(copy: Path, column: str) -> None:
    path = copy / "index.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    with data_error(repr(column.removeprefix("pose_"))):
        FrameStore.open(copy)


def test_a_motion_space_of_other_columns_is_named(copy: Path) -> None:
    axes = GRID.describe()["axes"]
    change_meta(copy, space={"kind": "grid", "axes": [axes[0], {**axes[1], "name": "heading"}]})
    with data_error(str(copy), "heading_deg"):
        FrameStore.open(copy)


@pytest.mark.parametrize("changes", [{"frames": 143}, {"image_shape": [12, 12, 3]}, {"image_shape": [6, 24, 1]}])
def test_a_description_that_disagrees_with_the_images_is_named(copy: Path, changes: dict[str, Any]) -> None:
    change_meta(copy, **changes)
    with data_error(str(copy)):
        FrameStore.open(copy)


def test_a_column_of_the_wrong_type_is_named(copy: Path) -> None:
    path = copy / "index.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("pose_azimuth_deg")
    pq.write_table(table.set_column(place, "pose_azimuth_deg", pa.array(["east"] * len(table))), path)
    with data_error("index.parquet", "pose_azimuth_deg"):
        FrameStore.open(copy)


ODD_COLUMNS = {
    "list": pa.array([[1, 2]] * 144),
    "struct": pa.array([{"a": 1.0}] * 144),
    "bytes": pa.array([b"\xff\xfe"] * 144),
    "broken text": pa.Array.from_buffers(pa.string(), 144, pa.array([b"\xff"] * 144).buffers()),
    "nulls": pa.nulls(144),
    "bool": pa.array([True] * 144),
    "times": pa.array([1] * 144, pa.timestamp("us")),
}


@pytest.mark.parametrize("column", ["recording", "frame", "time_s", "label", "pose_azimuth_deg", "attr_shape"])
@pytest.mark.parametrize("kind", ODD_COLUMNS)
def test_columns_of_any_type_are_read_or_named(copy: Path, column: str, kind: str) -> None:
    path = copy / "index.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index(column), column, ODD_COLUMNS[kind]), path)
    may_be = {"nulls": ("time_s", "label", "attr_shape"), "bool": ("recording", "label", "attr_shape")}
    if column in may_be.get(kind, ()) or (kind == "times" and column in may_be["bool"]):
        FrameStore.open(copy)
    else:
        with data_error("index.parquet", "ingest the data again", *([column] if kind != "broken text" else [])):
            FrameStore.open(copy)


def test_arrow_reads_the_index_without_objects_of_python(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threads let go of them when they like, and after the end of Python that ends the process with SIGABRT."""
    opened: list[object] = []
    first = pq.ParquetFile.__init__

    def note(self: pq.ParquetFile, source: object, *rest: object, **others: object) -> None:
        opened.append(source)
        first(self, source, *rest, **others)

    monkeypatch.setattr(pq.ParquetFile, "__init__", note)
    monkeypatch.setattr(pq, "read_table", None)
    assert len(FrameStore.open(copy))
    assert opened == [copy / "index.parquet"]


def test_two_columns_of_one_name_are_named(copy: Path) -> None:
    table = pq.read_table(copy / "index.parquet")
    pq.write_table(table.append_column("label", table["label"]), copy / "index.parquet")
    with data_error("index.parquet", "ingest the data again"):
        FrameStore.open(copy)


@pytest.mark.parametrize("changes", [{"notes": 5}, {"notes": [1]}, {"source": None}, {"settings": []}])
def test_a_description_of_wrong_types_is_named(copy: Path, changes: dict[str, Any]) -> None:
    change_meta(copy, **changes)
    with data_error(str(copy / "store.json"), "ingest the data again"):
        FrameStore.open(copy)


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """Two drives with all pose columns of a vehicle."""
    return ingest(drive_source(2), tmp_path_factory.mktemp("drives") / "store", workers=1)


@pytest.mark.parametrize("space", [PlanarSpace(), SE2Space(), SE3Space(), ColumnsSpace(("yaw_deg", "x_m")), NoMotion()])
def test_the_same_frames_in_another_space(drives: FrameStore, space: MotionSpace) -> None:
    seen = drives.in_space(space)
    assert seen.space == space
    assert seen.poses.shape == (480, len(space.pose_names))
    for k, name in enumerate(space.pose_names):
        assert seen.poses[:, k].tolist() == drives.pose_columns[name].tolist()
    assert seen.images is drives.images
    assert drives.space == PlanarSpace()
    back = seen.in_space(PlanarSpace())
    assert back.poses.tolist() == drives.poses.tolist()


def test_the_spaces_of_a_vehicle_agree(drives: FrameStore) -> None:
    i, j = np.arange(0, 230), np.arange(8, 238)
    planar, flat, rigid = (
        space.difference(drives.in_space(space).poses[i], drives.in_space(space).poses[j])
        for space in (PlanarSpace(), SE2Space(), SE3Space())
    )
    np.testing.assert_allclose(planar[:, 1], flat[:, 2], atol=1e-6)  # the turn
    np.testing.assert_allclose(flat[:, :2], rigid[:, :2], atol=1e-6)  # ahead and aside
    np.testing.assert_allclose(flat[:, 2], rigid[:, 5], atol=1e-6)
    straight = np.abs(planar[:, 1]) < 0.3
    assert straight.sum() > 50
    np.testing.assert_allclose(planar[straight, 0], flat[straight, 0], atol=0.05)  # the way driven is the way ahead


def test_a_space_is_read_from_the_store(tmp_path: Path) -> None:
    source = drive_source(1)
    store = ingest(Source("d", SE3Space(), source.recordings, pose_names=DRIVING_POSES), tmp_path / "store", workers=1)
    assert store.space == SE3Space()
    assert store.poses.shape == (240, 7)
    assert FrameStore.open(store.path).in_space(PlanarSpace()).poses.shape == (240, 2)


def test_a_column_that_is_not_there_is_named(drives: FrameStore, small_store: FrameStore) -> None:
    with data_error(str(drives.path), "'steering'", "forward_m, yaw_deg"):
        drives.in_space(ColumnsSpace(("yaw_deg", "steering")))
    with data_error("'forward_m'", "elevation_deg, azimuth_deg"):
        small_store.in_space(PlanarSpace())


def test_a_store_without_pose_columns_says_none(tmp_path: Path) -> None:
    recording = grid_recording(0, 0, poses=np.empty((24, 0)))
    source = Source("pictures", NoMotion(), [recording], has_images=False)
    store = ingest(source, tmp_path / "store", workers=1)
    assert store.poses.shape == (24, 0)
    assert store.pose_columns == {}
    with data_error("'x_m'", "pose columns are: none"):
        store.in_space(SE2Space())


def test_poses_alone_are_opened_and_checked(tmp_path: Path) -> None:
    store = ingest(poses_only(2), tmp_path / "store", workers=1)
    assert FrameStore.open(store.path).poses.tolist() == store.poses.tolist()
    assert FrameStore.open(store.path).fingerprint() == store.fingerprint()
    change_meta(store.path, frames=479)
    with data_error(str(store.path)):
        FrameStore.open(store.path)
    change_meta(store.path, frames=480, image_shape=[16, 16, 1])
    with data_error("frames.npy", "missing"):
        FrameStore.open(store.path)


def test_a_pose_that_is_not_finite_is_named(copy: Path) -> None:
    path = copy / "index.parquet"
    table = pq.read_table(path)
    values = table["pose_azimuth_deg"].to_numpy().copy()
    values[3] = np.nan
    place = table.column_names.index("pose_azimuth_deg")
    pq.write_table(table.set_column(place, "pose_azimuth_deg", pa.array(values)), path)
    with data_error("row 3", "pose_azimuth_deg", "nan"):
        FrameStore.open(copy)


@pytest.mark.parametrize("key", ["source", "settings"])
def test_a_store_that_does_not_say_where_it_comes_from(copy: Path, key: str) -> None:
    without_meta(copy, key)
    with data_error(str(copy / "store.json"), "come from"):
        FrameStore.open(copy)


class NamedRecording(GridRecording):
    """One whose frames come from files, the first of a name that is not UTF-8."""

    def file_name(self, frame: int) -> str:
        return f"{frame:03d}.png" if frame else "bad\udcff.png"


def test_a_store_keeps_the_names_of_picture_files(tmp_path: Path) -> None:
    names = tuple(f"{k:03d}.png" for k in range(ELEVATIONS * AZIMUTHS))
    drawn = grid_recording(1, 0)
    named = NamedRecording("named", 0, labels=drawn.labels, attributes=drawn.attributes)
    store = ingest(Source("grid", GRID, [named, drawn]), tmp_path / "store")
    assert store.files is not None
    assert store.files.tolist() == ["bad\ufffd.png", *names[1:], *[""] * len(drawn)]
    assert named.frame(3).file == "003.png"
    assert drawn.frame(3).file is None


def test_a_store_without_file_names_opens(small_store: FrameStore) -> None:
    assert "file" not in pq.read_table(small_store.path / "index.parquet").column_names
    assert small_store.files is None


def test_a_store_of_before_that_has_no_digest_of_its_pictures_opens(copy: Path) -> None:
    without_meta(copy, "images_blake2b")
    assert len(FrameStore.open(copy)) == 144


def test_the_repr_is_one_line(small_store: FrameStore) -> None:
    assert repr(small_store) == (
        f"FrameStore({small_store.path}: 144 frames (12 x 12 x 1) in 6 recordings, "
        "motion space grid (elevation, azimuth), 3 classes)"
    )


def test_a_missing_value_of_an_attribute_is_no_class(copy: Path) -> None:
    table = pq.read_table(copy / "index.parquet")
    place = table.column_names.index("attr_take")
    values = [None if k < 24 else value for k, value in enumerate(table["attr_take"].to_pylist())]
    pq.write_table(table.set_column(place, "attr_take", pa.array(values)), copy / "index.parquet")
    codes, names = FrameStore.open(copy).classes("take")
    assert names == ("0", "1")
    assert (codes[:24] == -1).all()
    assert set(codes[24:].tolist()) == {0, 1}
