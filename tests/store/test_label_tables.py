"""A few labels in a table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.store import FrameStore, ingest
from egoequiv.store.label_tables import LabelPlace, with_labels
from logs.table import write_csv, write_pictures
from logs.video import write_video


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """Two recordings a and b of 5 frames each, 0.1 s apart, files 0.png to 4.png in both; a begins at 1714521600 s."""
    folder = tmp_path_factory.mktemp("drives")
    files = [f"{r}/{k}.png" for r in "ab" for k in range(5)]
    write_pictures(folder / "log", files)
    times = [f"{1714521600 + 100 * r + 0.1 * k:.3f}" for r in range(2) for k in range(5)]
    write_csv(folder / "log" / "log.csv", {"file": files, "time": times, "steering": range(10)})
    return ingest(open_source("table", folder / "log"), folder / "store", progress=False)


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """One recording of 6 frames, 0.1 s apart, files 0.png to 5.png."""
    folder = tmp_path_factory.mktemp("drive")
    files = [f"{k}.png" for k in range(6)]
    write_pictures(folder / "log", files)
    write_csv(folder / "log" / "log.csv", {"file": files, "time": 0.1 * np.arange(6), "steering": range(6)})
    return ingest(open_source("table", folder / "log"), folder / "store", progress=False)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("labels.csv", LabelPlace(Path("labels.csv"))),
        ("a/labels.JSONL:angle", LabelPlace(Path("a/labels.JSONL"), "angle")),
        ("labels.parquet:class:weather id", LabelPlace(Path("labels.parquet"), "weather id", True)),
        ("store", None),
        ("s3://bucket/labels.csv", None),
        (None, None),
    ],
)
def test_places_of_labels(place: str | None, expected: LabelPlace | None) -> None:
    assert LabelPlace.parse(place) == expected


@pytest.mark.parametrize(
    "columns",
    [
        {"file": ["0.png", "images/2.png", "9.png"], "label": ["sun", "rain", "sun"]},
        {"frame": [0, 2, 9], "weather": ["sun", "rain", "sun"]},
        {"time": [0.04, 0.16, 0.6], "weather": ["sun", "rain", "sun"]},
        {"time": ["0.04", "0.2", ""], "class": ["sun", "rain", "sun"], "by": ["me", "me", "me"]},
    ],
)
def test_texts_are_classes_and_what_matches_no_frame_is_counted(
    drive: FrameStore, tmp_path: Path, columns: dict[str, list[object]]
) -> None:
    write_csv(tmp_path / "labels.csv", columns)
    view = with_labels(drive, str(tmp_path / "labels.csv"))
    assert view.class_names == ("rain", "sun")
    assert view.labels.tolist() == [1, -1, 0, -1, -1, -1]
    assert not view.numbers
    assert any("1 of 3 rows belong to no frame" in note and "line 4" in note for note in view.label_notes)
    assert drive.class_names == ()


def test_a_view_has_a_fingerprint_of_its_own_that_names_the_store(drive: FrameStore, tmp_path: Path) -> None:
    prints = []
    for text in ("file,label\n0.png,a\n1.png,b\n", "file,label\n0.png,b\n1.png,a\n"):
        (tmp_path / "labels.csv").write_text(text)
        prints.append(with_labels(drive, str(tmp_path / "labels.csv")).fingerprint())
    assert len({*prints, drive.fingerprint()}) == 3
    assert all(drive.fingerprint() in one.split() for one in prints)


def test_numbers_are_numbers_unless_declared_as_classes(drive: FrameStore, tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"frame": [0, 3, 4], "angle": [1, 2, None], "speed": [0.5, 1.5, 2.5]}), tmp_path / "l.parquet"
    )
    view = with_labels(drive, f"{tmp_path}/l.parquet:angle")
    np.testing.assert_array_equal(view.numbers["angle"], [1, np.nan, np.nan, 2, np.nan, np.nan])
    assert any("l.parquet:class:angle" in note for note in view.label_notes)
    classes = with_labels(drive, f"{tmp_path}/l.parquet:class:angle")
    assert classes.class_names == ("1", "2")
    assert (classes.labels >= 0).tolist() == [True, False, False, True, False, False]
    speed = with_labels(drive, f"{tmp_path}/l.parquet:speed")
    np.testing.assert_array_equal(speed.numbers["speed"], [0.5, np.nan, np.nan, 1.5, 2.5, np.nan])


@pytest.mark.parametrize(
    "columns",
    [
        {"recording": ["b", "a"], "frame": [1, 4], "label": ["x", "y"]},
        {"recording": ["b", "a"], "file": ["1.png", "4.png"], "label": ["x", "y"]},
        {"file": ["b/1.png", "a/4.png"], "label": ["x", "y"]},
        {"recording": ["b", "a"], "time": [0.12, 0.4], "label": ["x", "y"]},
        {"recording": ["b", "a"], "time": ["1714521700.12", "1714521600.4"], "label": ["x", "y"]},
        {"recording": ["b", "a"], "time": ["2024-05-01T00:01:40.1Z", "2024-05-01T00:00:00.4Z"], "label": ["x", "y"]},
    ],
)
def test_recordings_that_share_names_are_told_apart(
    drives: FrameStore, tmp_path: Path, columns: dict[str, list[object]]
) -> None:
    write_csv(tmp_path / "labels.csv", columns)
    view = with_labels(drives, str(tmp_path / "labels.csv"))
    named = {view.class_names[code]: (drives.recording_names[drives.recording[row]], int(drives.frame[row]))
             for row, code in enumerate(view.labels) if code >= 0}  # fmt: skip
    assert named == {"x": ("b", 1), "y": ("a", 4)}


def test_times_since_1970_are_found_where_recordings_began_at_a_date(drives: FrameStore, tmp_path: Path) -> None:
    dates = np.where(drives.attributes["start"] == drives.attributes["start"][0], "2024-05-01T00:00:00", "")
    dated = replace(drives, attributes={"start": dates})
    write_csv(tmp_path / "labels.csv", {"recording": ["a"], "time": ["1714521600.4"], "label": ["x"]})
    assert np.flatnonzero(with_labels(dated, str(tmp_path / "labels.csv")).labels >= 0).tolist() == [4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,label\n1.png,x\n", r"labels\.csv, line 2, column 'file': 2 frames come from a file '1\.png'"),
        ("frame,label\n1,x\n", "has 2 recordings, and 'frame' alone does not say which"),
        ("time,label\n0.1,x\n", "has 2 recordings"),
        ("recording,frame,label\nc,1,x\n", "none of its 1 rows belongs to a frame"),
        ("recording,frame,label\na,1,x\na,1,y\n", "'y', but another row says 'x' of this frame"),
        ("recording,frame,label\na,1,\n", "no frame of .* has a value"),
        ("name,label\na,x\n", "has no column that names frames"),
        ("recording,frame,p,q\na,1,2,3\n", "which column is the label"),
        ("PK\x03\x04", "zip archive"),
    ],
)
def test_labels_that_cannot_be_matched_are_refused(drives: FrameStore, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises((DataError, ConfigError), match=message) as raised:
        with_labels(drives, str(tmp_path / "labels.csv"))
    assert "\n" not in str(raised.value)


def test_numbers_that_are_not_finite_are_no_labels(drive: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("frame,distance\n0,0.5\n1,inf\n2,1e400\n3,nan\n4,-2\n")
    view = with_labels(drive, str(tmp_path / "labels.csv"))
    np.testing.assert_array_equal(view.numbers["distance"], [0.5, np.nan, np.nan, np.nan, -2, np.nan])


@pytest.fixture(scope="module", params=[0.0, 1714521600.0], ids=["own clock", "since 1970"])
def late(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[FrameStore, float]:
    """The last 10 of 15 frames, 0.1 s apart, whose poses begin late; x is the number of the frame."""
    folder, start = tmp_path_factory.mktemp("late"), float(request.param)
    (folder / "log").mkdir()
    write_video(folder / "log" / "clip.mkv", np.zeros((15, 16, 16), np.uint8), codec="ffv1", rate=10)
    k = np.arange(5, 18)
    write_csv(folder / "log" / "times.csv", {"time": [f"{start + 0.1 * n:.3f}" for n in range(15)]})
    poses = {"time": [f"{start + 0.1 * n:.3f}" for n in k], "x": k, "y": 0 * k, "yaw_deg": 0 * k}
    write_csv(folder / "log" / "clip.csv", poses)
    store = ingest(open_source("table", folder / "log", poses="clip.csv"), folder / "store", progress=False)
    assert store.pose_columns["x_m"].round(6).tolist() == list(range(5, 15))
    return store, start


@pytest.mark.parametrize("key", ["frame", "time"])
def test_labels_go_to_their_frames_where_the_first_ones_were_left_out(
    late: tuple[FrameStore, float], tmp_path: Path, key: str
) -> None:
    store, start = late
    assert store.log_frame is not None
    assert store.log_frame.tolist() == list(range(5, 15))
    assert set(store.attributes["start"]) == {f"{start + 0.5:.9f}"}
    values = range(15) if key == "frame" else [f"{start + 0.1 * k:.3f}" for k in range(15)]
    write_csv(tmp_path / "labels.csv", {key: values, "value": [k + 0.5 for k in range(15)]})
    view = with_labels(store, str(tmp_path / "labels.csv"))
    np.testing.assert_allclose(view.numbers["value"], store.pose_columns["x_m"] + 0.5)
    assert any("5 of 15 rows belong to no frame" in note for note in view.label_notes)
    told = "labels.csv: times are of the log's clock, in which the first frame is at 0.500 s"
    assert (told in view.label_notes) == (key == "time" and start == 0)


def test_times_since_a_first_frame_that_is_not_there_are_refused(
    late: tuple[FrameStore, float], tmp_path: Path
) -> None:
    write_csv(tmp_path / "labels.csv", {"time": [0.0, 0.1], "value": [1.5, 2.5]})
    with pytest.raises(DataError, match="the first 5 frames of recording 'log' are not in"):
        with_labels(late[0], str(tmp_path / "labels.csv"))


@pytest.mark.parametrize("start", ["2024-05-01T00:00:00.000000", "2024-05-01T00:00:00+00:00", "1714521600.000000000"])
def test_the_start_of_a_recording_may_be_a_date(drives: FrameStore, tmp_path: Path, start: str) -> None:
    store = replace(drives, attributes={"start": np.full(len(drives), start)})
    write_csv(tmp_path / "labels.csv", {"recording": ["a"], "time": ["1714521600.4"], "label": ["x"]})
    assert with_labels(store, str(tmp_path / "labels.csv")).labels.tolist() == [-1] * 4 + [0] + [-1] * 5


def test_a_store_without_numbers_of_the_log_is_matched_by_its_own(drive: FrameStore, tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv", {"frame": [2], "label": ["x"]})
    view = with_labels(replace(drive, log_frame=None), str(tmp_path / "labels.csv"))
    assert view.labels.tolist() == [-1, -1, 0, -1, -1, -1]
