"""Small NORB: reading the official format, and refusing anything else in one clear line."""

from __future__ import annotations

import gc
import pickle
import struct
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import DataError
from egoequiv.sources import norb
from egoequiv.sources.norb import NorbRecording
from helpers import NorbFiles, data_error, matrix_bytes, write_norb

CATEGORIES = ("animal", "human", "airplane", "truck", "car")
KINDS = ("dat", "cat", "info")


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files are unpacked, so that no test leaves any in the system's folder."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(params=[False, True], ids=["plain", "gzipped"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> NorbFiles:
    return write_norb(tmp_path, packed=request.param)


@pytest.mark.parametrize("camera", ["left", "right"])
def test_every_record_is_found_with_its_pose_and_image(files: NorbFiles, camera: str) -> None:
    source = norb(files.folder, camera=camera)
    expected = Counter()
    for category, (instance, elevation, azimuth, light), image in zip(
        files.category, files.rows, files.images, strict=True
    ):
        name = f"{CATEGORIES[category]}-{instance}/light-{light}/{camera}"
        expected[name, 30.0 + 5 * elevation, 10.0 * azimuth, image[("left", "right").index(camera)].tobytes()] += 1
    found = Counter()
    for recording in source.recordings:
        for k in range(len(recording)):
            frame = recording.frame(k)
            assert frame.image.dtype == np.uint8
            assert frame.image.shape == (6, 8)
            found[recording.name, *frame.pose.tolist(), frame.image.tobytes()] += 1
    assert found == expected


def test_a_recording_is_one_toy_under_one_lighting_in_grid_order(files: NorbFiles) -> None:
    recordings = norb(files.folder).recordings
    assert [r.name for r in recordings] == [
        "animal-4/light-0/left",
        "animal-4/light-5/left",
        "truck-4/light-0/left",
        "truck-4/light-5/left",
    ]
    for recording in recordings:
        assert recording.poses.tolist() == [[30, 0], [30, 20], [30, 340], [70, 0], [70, 20], [70, 340]]
        assert recording.times_s is None
    assert recordings[3].labels == ("truck-4",) * 6
    assert recordings[3].attributes == {
        "category": "truck",
        "instance": "4",
        "toy": "truck-4",
        "lighting": "5",
        "camera": "left",
    }


def test_the_motion_space_is_that_of_the_turntable(files: NorbFiles) -> None:
    source = norb(files.folder)
    assert source.space.pose_names == ("elevation_deg", "azimuth_deg")
    assert source.space.named_motions()["up"].tolist() == [5, 0]
    seam = source.space.difference(np.array([30.0, 340.0]), np.array([30.0, 0.0]))
    assert seam.tolist() == source.space.named_motions()["right"].tolist()
    assert dict(source.settings) == {"path": str(files.folder), "part": "auto", "camera": "left"}


def test_both_cameras(files: NorbFiles) -> None:
    source = norb(files.folder, camera="both")
    assert source.frame_count == 48
    assert Counter(r.attributes["camera"] for r in source.recordings) == {"left": 4, "right": 4}


def test_a_recording_survives_pickling(files: NorbFiles) -> None:
    source = norb(files.folder)
    recording = source.recordings[2]
    again = pickle.loads(pickle.dumps(recording))
    assert again.image(4).tolist() == recording.image(4).tolist()


def test_an_image_is_a_copy(files: NorbFiles) -> None:
    source = norb(files.folder)
    recording = source.recordings[0]
    before = recording.image(0).copy()
    recording.image(0)[:] = 0
    assert recording.image(0).tolist() == before.tolist()


def test_the_parts(tmp_path: Path) -> None:
    write_norb(tmp_path, "training", instance=4)
    assert norb(tmp_path, part="training").frame_count == 24
    with data_error(str(tmp_path), "no testing part"):
        norb(tmp_path, part="testing")
    with data_error(str(tmp_path), "no testing part"):
        norb(tmp_path, part="both")
    write_norb(tmp_path, "testing", instance=5)
    with data_error(str(tmp_path), "training", "testing", "both"):
        norb(tmp_path)
    both = norb(tmp_path, part="both")
    assert Counter(r.attributes["instance"] for r in both.recordings) == {"4": 4, "5": 4}
    assert {r.attributes["instance"] for r in norb(tmp_path, part="testing").recordings} == {"5"}


def test_the_plain_file_is_preferred_to_the_packed_one(tmp_path: Path) -> None:
    write_norb(tmp_path, packed=False)
    for path in list(tmp_path.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(b"not gzip at all")
    assert norb(tmp_path).frame_count == 24


def test_a_folder_without_norb_is_named(tmp_path: Path) -> None:
    with data_error(str(tmp_path), "smallnorb"):
        norb(tmp_path)


def test_a_path_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with data_error(str(path), "not a folder"):
            norb(path)


@pytest.mark.parametrize("kind", ["cat", "info"])
def test_a_missing_file_is_named(files: NorbFiles, kind: str) -> None:
    files.path(kind).unlink()
    with data_error(str(files.folder), f"training-{kind}.mat"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep", [1, 7, 8, 15, -1, -9])
def test_a_truncated_file_is_named(files: NorbFiles, kind: str, keep: int) -> None:
    files.put(kind, files.content(kind)[:keep])
    with data_error(str(files.path(kind)), "cut short"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.05, 0.5, 0.99])
def test_a_truncated_gzip_stream_is_named(tmp_path: Path, kind: str, part: float) -> None:
    path = write_norb(tmp_path, packed=True).path(kind)
    packed = path.read_bytes()
    path.write_bytes(packed[: max(1, int(part * len(packed)))])
    with data_error(str(path), "gzip", "cut short"):
        norb(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_gzip_data_is_named(tmp_path: Path, kind: str) -> None:
    path = write_norb(tmp_path, packed=True).path(kind)
    packed = bytearray(path.read_bytes())
    packed[12:20] = b"\xff" * 8
    path.write_bytes(bytes(packed))
    with data_error(str(path), "gzip", "damaged"):
        norb(tmp_path)
    path.write_bytes(b"this was never packed")
    with data_error(str(path), "gzip", "damaged"):
        norb(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_file_is_named(files: NorbFiles, kind: str) -> None:
    files.path(kind).write_bytes(b"")
    with data_error(str(files.path(kind)), "empty"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_empty_file_is_named(tmp_path: Path, kind: str) -> None:
    files = write_norb(tmp_path, packed=True)
    files.put(kind, b"")
    with data_error(str(files.path(kind)), "empty"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("magic", [0, 0x1E3D4C51, 0x1E3D4C53, 0x554C3D1E, 0x7FFFFFFF, -1])
def test_a_wrong_magic_number_is_named(files: NorbFiles, kind: str, magic: int) -> None:
    files.put(kind, struct.pack("<i", magic) + files.content(kind)[4:])
    with data_error(str(files.path(kind)), f"magic number 0x{magic & 0xFFFFFFFF:08X}"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_too_long_is_named(files: NorbFiles, kind: str) -> None:
    files.put(kind, files.content(kind) + b"\0")
    with data_error(str(files.path(kind)), "too long"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dimensions", [-1, 0, 5, 1_000_000])
def test_a_wrong_number_of_dimensions_is_named(files: NorbFiles, kind: str, dimensions: int) -> None:
    content = files.content(kind)
    files.put(kind, content[:4] + struct.pack("<i", dimensions) + content[8:])
    with data_error(str(files.path(kind)), f"{dimensions} dimensions"):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, -24, -(2**31)])
def test_sizes_must_be_positive(files: NorbFiles, kind: str, size: int) -> None:
    content = files.content(kind)
    files.put(kind, content[:8] + struct.pack("<i", size) + content[12:])
    with data_error(str(files.path(kind)), "dimensions", str(size)):
        norb(files.folder)


@pytest.mark.parametrize("kind", KINDS)
def test_huge_sizes_are_not_believed(files: NorbFiles, kind: str) -> None:
    content = files.content(kind)
    files.put(kind, content[:8] + struct.pack("<3i", *[2**31 - 1] * 3) + content[20:])
    with data_error(str(files.path(kind))):
        norb(files.folder)


@pytest.mark.parametrize(("one", "other"), [("dat", "cat"), ("dat", "info"), ("cat", "info")])
def test_two_swapped_files_are_named(files: NorbFiles, one: str, other: str) -> None:
    first, second = files.content(one), files.content(other)
    files.put(one, second)
    files.put(other, first)
    with pytest.raises(DataError, match="swapped") as caught:
        norb(files.folder)
    assert str(files.path(one)) in str(caught.value) or str(files.path(other)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(24, 96), (24, 1, 6, 8), (24, 3, 6, 8), (24, 2, 48)])
def test_images_of_another_shape_are_named(files: NorbFiles, shape: tuple[int, ...]) -> None:
    files.put("dat", matrix_bytes(np.zeros(shape, np.uint8)))
    with data_error(str(files.dat), "N x 2 x height x width", " x ".join(map(str, shape))):
        norb(files.folder)


@pytest.mark.parametrize(("kind", "rows"), [("cat", 23), ("cat", 1), ("info", 23), ("info", 2)])
def test_files_that_disagree_are_named(files: NorbFiles, kind: str, rows: int) -> None:
    values = files.category if kind == "cat" else files.rows
    files.put(kind, matrix_bytes(values[:rows]))
    with data_error(str(files.path(kind)), f"{rows} rows", str(files.dat), "24 images"):
        norb(files.folder)


@pytest.mark.parametrize("value", [-1, 5, 2**31 - 1])
def test_a_category_out_of_range_is_named(files: NorbFiles, value: int) -> None:
    changed = files.category.copy()
    changed[11] = value
    files.put("cat", matrix_bytes(changed))
    with data_error(str(files.cat), "row 11", f"category {value}", "0 to 4"):
        norb(files.folder)


@pytest.mark.parametrize(
    ("column", "name", "value"),
    [
        (0, "instance", 10),
        (0, "instance", -1),
        (1, "elevation", 9),
        (1, "elevation", -1),
        (2, "azimuth", 35),
        (2, "azimuth", 36),
        (2, "azimuth", -2),
        (3, "lighting", 6),
        (3, "lighting", -1),
        (2, "azimuth", 3),
    ],
)
def test_a_pose_out_of_range_is_named(files: NorbFiles, column: int, name: str, value: int) -> None:
    changed = files.rows.copy()
    changed[7, column] = value
    files.put("info", matrix_bytes(changed))
    with data_error(str(files.info), "row 7", f"{name} {value}"):
        norb(files.folder)


def test_matrices_may_be_written_with_three_dimensions(tmp_path: Path) -> None:
    files = write_norb(tmp_path)
    files.put("cat", matrix_bytes(files.category[:, None, None]))
    files.put("info", matrix_bytes(files.rows[:, :, None]))
    assert norb(tmp_path).frame_count == 24


def test_unpacked_files_go_away_with_the_source(tmp_path: Path, scratch: Path) -> None:
    files = write_norb(tmp_path, packed=True)
    source = norb(files.folder)
    assert len(list(scratch.rglob("*-dat.mat"))) == 1
    assert not list(scratch.rglob("*-cat.mat"))
    del source
    gc.collect()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_unpacked_files_go_away_when_the_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    files = write_norb(tmp_path, packed=True)
    files.put(
        kind,
        files.content(kind)[:-1]
        if kind == "dat"
        else matrix_bytes(np.full((24, 4)[: 1 + (kind == "info")], 99, np.int32)),
    )
    with data_error(str(files.path(kind))):
        norb(files.folder)
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_a_recording_may_outlive_its_source(tmp_path: Path) -> None:
    files = write_norb(tmp_path, packed=True)
    recording = norb(files.folder).recordings[0]
    gc.collect()
    assert isinstance(recording, NorbRecording)
    assert recording.image(0).shape == (6, 8)


def test_a_replaced_file_is_read_anew(tmp_path: Path) -> None:
    files = write_norb(tmp_path)
    norb(tmp_path).recordings[0].image(0)
    files.dat.unlink()
    files.put("dat", matrix_bytes(np.full_like(files.images, 77)))
    assert np.unique(norb(tmp_path).recordings[0].image(0)).tolist() == [77]
