"""Donkeycar tubs: columns, drives, deleted and broken records."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.pose import ColumnsSpace
from egoequiv.sources import donkey
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from helpers import data_error
from logs.donkey import START_MS, drive, record, write
from logs.motion import save_picture


def test_a_tub_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    write(tmp_path / "tub", drive(50))
    source = donkey(tmp_path / "tub")
    (recording,) = source.recordings
    assert source.space == ColumnsSpace(("steering over time", "throttle over time"))
    assert source.pose_columns == ("steering", "throttle", "steering over time", "throttle over time")
    assert recording.poses[-1, 2] == pytest.approx(0.05 * np.trapezoid(np.sin(np.arange(50) / 8)))
    assert donkey(tmp_path / "tub", rates="").space == ColumnsSpace(("steering", "throttle"))
    with pytest.raises(ConfigError, match="rates=speed: not one of the columns"):
        donkey(tmp_path / "tub", rates="speed")
    assert source.notes == ()
    assert recording.name == "tub"
    assert recording.poses[:, 0] == pytest.approx(np.sin(np.arange(50) / 8))
    assert recording.times_s == pytest.approx(np.arange(50) * 0.05)
    assert recording.attributes == {"start": "1603101605.780000000"}
    assert abs(int(recording.image(20)[0, 0]) - 20) < 12  # the pictures are JPEG
    assert [(one.kind, one.name) for one in source.listed] == [
        ("camera", "cam/image_array"),
        ("columns", "user/angle"),
        ("columns", "user/throttle"),
    ]
    assert source.listed[2].details == "50 numbers, 0.3 to 0.7"
    for path in (tmp_path, tmp_path / "tub", tmp_path / "tub" / "manifest.json"):
        assert guess_format(path).source == "donkey"
        assert donkey(path).frame_count == 50
    store = ingest(source, tmp_path / "store", size=(8, 8), progress=False)
    assert store.poses.shape == (50, 2)
    assert pickle.loads(pickle.dumps(recording)).file_name(3) == "3_cam_image_array_.jpg"


def test_a_drive_ends_at_a_pause_a_reset_and_a_new_session(tmp_path: Path) -> None:
    paused = [*drive(5), *drive(5, 5, START_MS + 10_000), *drive(5, 10, START_MS - 3_000_000)]
    sessions = [
        *drive(5, 15, START_MS + 20_000, _session_id="20-10-19_0"),
        *drive(4, 20, START_MS + 20_250, _session_id="20-10-19_1"),
    ]
    write(tmp_path / "tub", [*paused, *sessions, record(24, START_MS + 90_000)])
    source = donkey(tmp_path / "tub")
    assert [(r.name, len(r)) for r in source.recordings] == [(f"tub/{k}", n) for k, n in enumerate((5, 5, 5, 5, 4), 1)]
    assert source.notes == ("tub: 1 of 6 drives have a single frame and are left out",)
    assert [len(r) for r in donkey(tmp_path / "tub", pause_s=60.0).recordings] == [10, 5, 5, 4]


def test_records_a_little_out_of_order_are_sorted(tmp_path: Path) -> None:
    records = drive(6)
    records[2]["_timestamp_ms"], records[3]["_timestamp_ms"] = START_MS + 150, START_MS + 100
    write(tmp_path, records)
    source = donkey(tmp_path)
    (recording,) = source.recordings
    assert recording.times_s == pytest.approx(np.arange(6) * 0.05)
    assert [recording.file_name(k) for k in (1, 2, 3, 4)] == [f"{k}_cam_image_array_.jpg" for k in (1, 3, 2, 4)]
    assert recording.poses[2, 0] == pytest.approx(np.sin(3 / 8))
    assert list(recording.starts()) == list(range(6))
    assert "1 stamp out of order" in source.notes[0]


def test_records_marked_as_deleted(tmp_path: Path) -> None:
    write(tmp_path, drive(20), deleted=[0, 1, 7, 999])
    source = donkey(tmp_path)
    assert source.frame_count == 17
    assert "3 of 20 records are marked as deleted and left out: keep them with --read deleted=keep" in source.notes[0]
    kept = donkey(tmp_path, deleted="keep")
    assert kept.frame_count == 20
    assert kept.notes == ()


def test_rates_are_integrated_over_records_that_are_left_out(tmp_path: Path) -> None:
    """The throttle is 1 in records 5 to 14 alone; none of them is a frame, and the car drove all the same."""
    records = [record(k, START_MS + 50 * k, throttle=float(5 <= k < 15)) for k in range(20)]
    records[7]["cam/image_array"] = "lost.jpg"
    write(tmp_path, records, deleted=[5, 6, *range(8, 15)])
    (tmp_path / "images" / "lost.jpg").unlink()
    (recording,) = donkey(tmp_path).recordings
    assert recording.poses[:, 1].tolist() == [0.0] * 10
    assert recording.poses[:, 3] == pytest.approx([0.0] * 5 + [0.5] * 5)
    assert recording.times_s == pytest.approx([0, 0.05, 0.1, 0.15, 0.2, 0.75, 0.8, 0.85, 0.9, 0.95])
    (late,) = donkey(tmp_path, deleted="keep").recordings
    assert late.poses[-1, 3] == pytest.approx(0.5)


def test_gaps_that_are_integrated_across_are_named(tmp_path: Path) -> None:
    records = drive(40)
    write(tmp_path / "tub", [*records[:10], *records[30:]])
    source = donkey(tmp_path / "tub")
    lost = f"{tmp_path / 'tub'}: 20 indexes from 0 to 39 have no record that can be read"
    assert source.notes == (
        lost,
        "tub: the rates have 1 gap, 1.05 s together, the longest 1.05 s: there the integral is a guess, as if they "
        "changed evenly in between",
    )
    assert donkey(tmp_path / "tub", rates="").notes == (lost,)
    assert [len(one) for one in donkey(tmp_path / "tub", pause_s=1.0).recordings] == [10, 10]
    assert donkey(tmp_path / "tub", pause_s=1.0).notes == (lost,)


def test_broken_records_are_counted(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = drive(20)
    records[3]["user/angle"] = None
    records[4]["user/angle"] = float("nan")
    records[5].pop("cam/image_array")
    write(tmp_path, [one for one in records if "cam/image_array" in one])
    (tmp_path / "images" / "8_cam_image_array_.jpg").unlink()
    catalog = tmp_path / "catalog_0.catalog"
    lines = catalog.read_bytes().splitlines()
    lines[10:10] = [b"\0" * 300, b'{"_index": 50, "user/', b"[1]", b'{"_index": "a"}', b"[" * 100_000, b"\xff\xfe"]
    lines += [lines[-1], json.dumps(records[5]).encode()]
    catalog.write_bytes(b"\r\n".join(lines))
    source = donkey(tmp_path)
    assert source.frame_count == 20 - 4
    name = tmp_path.name
    assert source.notes == (
        f"{tmp_path}: 6 of 27 records cannot be read, the first is zero bytes",
        f"{tmp_path}: 1 index is written twice; the last record of each is kept",
        f"{name}: 3 of 20 records lack a picture or a number, left out",
        f"{name}: 1 of 17 pictures are missing, first '8_cam_image_array_.jpg'",
    )


def test_the_disk_is_believed_and_not_the_manifest(tmp_path: Path) -> None:
    write(tmp_path, drive(100))
    (tmp_path / "catalog_1.catalog").unlink()
    source = donkey(tmp_path)
    assert [len(r) for r in source.recordings] == [60]
    assert "40 indexes from 0 to 99 have no record that can be read" in source.notes[0]
    assert "names 1 catalogs that are not there, first 'catalog_1.catalog'" in source.notes[1]
    (tmp_path / "manifest.json").write_text('["a"]\n{"paths": [')
    assert "its last line cannot be read, so no record counts as deleted" in donkey(tmp_path).notes[1]


def test_other_columns(tmp_path: Path) -> None:
    write(tmp_path, drive(5, **{"enc/speed": 1.25}))
    source = donkey(tmp_path, columns="user/angle, enc/speed")
    assert source.space.pose_names == ("steering over time", "enc_speed")
    assert source.recordings[0].poses[:, 1].tolist() == [1.25] * 5
    with pytest.raises(ConfigError, match=r"has no column 'speed'; it has cam/image_array, enc/speed, user/angle"):
        donkey(tmp_path, columns="speed")
    with pytest.raises(ConfigError, match="has no column 'cam/left'"):
        donkey(tmp_path, camera="cam/left")
    with pytest.raises(ConfigError, match="pause_s must be"):
        donkey(tmp_path, pause_s=-1.0)


def test_a_tub_before_version_2(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{}")
    for k in (1, 2, 10):
        values = {"cam/image_array": f"{k}_cam-image_array_.jpg", "user/angle": k / 10, "user/throttle": 0.3}
        (tmp_path / f"record_{k}.json").write_text(json.dumps({**values, "milliseconds": 50 * k}))
        save_picture(tmp_path / f"{k}_cam-image_array_.jpg", k)
    (tmp_path / "record_11.json").write_text("")
    source = donkey(tmp_path)
    (recording,) = source.recordings
    assert recording.poses[:, 0].tolist() == [0.1, 0.2, 1.0]
    assert recording.times_s == pytest.approx([0, 0.05, 0.45])
    assert "1 of 4 records cannot be read" in source.notes[0]
    assert guess_format(tmp_path).source == "donkey"


def test_several_tubs_of_which_one_is_broken(tmp_path: Path) -> None:
    write(tmp_path / "tub_1", drive(5))
    write(tmp_path / "tub_2", drive(5))
    (tmp_path / "tub_2" / "catalog_0.catalog").write_bytes(b"\0" * 100)
    source = donkey(tmp_path)
    assert [recording.name for recording in source.recordings] == ["tub_1"]
    assert any(note.startswith("tub 'tub_2' left out: ") for note in source.notes)
    with data_error("none of its 1 records can be read"):
        donkey(tmp_path / "tub_2")


def test_nothing_to_use_is_one_line(tmp_path: Path) -> None:
    with data_error("has no manifest.json with catalog_*.catalog"):
        donkey(tmp_path)
    write(tmp_path, [record(0, START_MS)])
    with data_error("no drive to use", "a single frame"):
        donkey(tmp_path)
    write(tmp_path, [{key: value for key, value in one.items() if key != "_timestamp_ms"} for one in drive(3)])
    with data_error("records without _timestamp_ms or milliseconds"):
        donkey(tmp_path)
    write(tmp_path, [record(k, 10**300) for k in range(3)])
    with data_error("records without _timestamp_ms or milliseconds"):
        donkey(tmp_path)
    write(tmp_path, drive(3), deleted=range(3))
    with data_error("no record is left of 3"):
        donkey(tmp_path)
