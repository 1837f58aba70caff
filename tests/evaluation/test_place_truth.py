"""Tables of the user's that say which frames show one place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.place_pairs import choose_pairs
from egoequiv.evaluation.place_truth import PlaceTruth, read_truth
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.traverses import Traverse, traverses_of
from egoequiv.pose import NoMotion
from egoequiv.store import FrameStore
from helpers import bare_store, data_error

LENGTHS = (6, 4)  # of the reference and of the query


def two_walks() -> FrameStore:
    """Two recordings of pictures with names: first-0.png to first-5.png, and second-0.png to second-3.png."""
    recording = np.repeat([0, 1], LENGTHS)
    frame = np.concatenate([np.arange(length) for length in LENGTHS])
    names = [f"{('first', 'second')[code]}-{number}.png" for code, number in zip(recording, frame, strict=True)]
    bare = bare_store(np.empty((sum(LENGTHS), 0)), recording, space=NoMotion())
    return replace(bare, frame=frame, files=np.array(names))


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path: Path, store: FrameStore | None = None) -> PlaceTruth:
    reference, query = traverses_of(store or two_walks()).values()
    return read_truth(path, reference, query)


@pytest.mark.parametrize(
    "rows",
    [
        ("0,1", "2,5", "2,3", "3,"),
        ("second-0.png,first-1.png", "b/second-2.png,2011/first-5.png", "second-2.png,first-3.png", "second-3.png,"),
        ("000,001", "2.0,5.0", "second-2.png,3", "3,"),
    ],
)
def test_pairs_are_numbers_or_files(tmp_path: Path, rows: tuple[str, ...]) -> None:
    path = write(tmp_path / "truth.csv", "query,reference", *rows)
    found = read(path)
    assert found.matches is not None
    assert found.matches.tolist() == [[0, 1], [2, 5], [2, 3]]
    assert found.query.numbers.tolist() == [0, 2, 3]  # frame 3 is said to have no place, frame 1 is not named
    assert found.notes == (
        "which frames show one place is said by truth.csv",
        "1 query frame is in no row, and left out",
    )
    pairs = choose_pairs(two_walks(), TaskOptions(truth=str(path), tolerance="0"), 1.0)
    right = np.zeros((3, 6), bool)
    right[[0, 1, 1], [1, 5, 3]] = True
    assert pairs.truth().tolist() == right.tolist()
    near = choose_pairs(two_walks(), TaskOptions(truth=str(path), tolerance="1"), 1.0).truth()
    assert [np.flatnonzero(row).tolist() for row in near] == [[0, 1, 2], [2, 3, 4, 5], []]


def test_positions_are_compared_in_metres(tmp_path: Path) -> None:
    path = write(
        tmp_path / "truth.csv",
        "recording,frame,x_m,y_m,z_m",
        *(f"recording-0,{k},{3 * k},0,0" for k in range(6)),
        *("recording-1,0,0,4,0", "recording-1,2,9,0,0", "recording-1,3,,,", "elsewhere,0,0,0,0"),
    )
    found = read(path)
    assert found.matches is None
    assert found.query.numbers.tolist() == [0, 2]
    assert found.notes[1] == "2 frames of recording-1 without a position there: left out"
    pairs = choose_pairs(two_walks(), TaskOptions(truth=str(path), tolerance="5m"), 1.0)
    assert pairs.truth().tolist() == [[True, True, False, False, False, False], [False, False, True, True, True, False]]
    assert pairs.query.along.tolist() == [0, 2]  # the motion prior knows nothing of the truth
    for tolerance in (None, "2"):
        with pytest.raises(ConfigError, match=r"--truth .*truth.csv has positions: give --tolerance in metres"):
            choose_pairs(two_walks(), TaskOptions(truth=str(path), tolerance=tolerance), 1.0)


def test_traverses_of_one_name_are_told_apart_by_their_roles(tmp_path: Path) -> None:
    reference, query = traverses_of(two_walks()).values()
    twins = [replace(one, name="run") for one in (reference, query)]
    rows = [f"{role},{k},{k},0" for role, length in (("reference", 6), ("query", 4)) for k in range(length)]
    found = read_truth(write(tmp_path / "roles.csv", "recording,frame,x,y", *rows), *twins)
    assert (len(found.reference), len(found.query)) == LENGTHS
    with data_error("column 'recording'", "expected reference, found run"):
        read_truth(write(tmp_path / "names.csv", "recording,frame,x,y", "run,0,0,0"), *twins)


def test_one_drive_and_its_own_past_need_no_recording(tmp_path: Path) -> None:
    drive: Traverse = replace(next(iter(traverses_of(two_walks()).values())), times_s=np.arange(6.0))
    found = read_truth(write(tmp_path / "t.csv", "frame,x,y", *(f"{k},{k % 3},0" for k in range(6))), drive, drive)
    assert found.reference is found.query
    single = replace(bare_store(np.empty((6, 0)), [0] * 6, list(range(6)), NoMotion()), frame=np.arange(6))
    options = TaskOptions(truth=str(tmp_path / "t.csv"), tolerance="0.5m", revisit_s=2)
    pairs = choose_pairs(single, options, 1.0)
    allowed = pairs.allowed()
    assert allowed is not None
    assert [np.flatnonzero(row).tolist() for row in pairs.truth() & allowed] == [[], [], [], [0], [1], [2]]
    pairs = choose_pairs(
        single, TaskOptions(truth=str(write(tmp_path / "p.csv", "query,reference", "4,1")), revisit_s=2), 1.0
    )
    assert pairs.allowed() is not None
    assert pairs.truth().tolist() == [[True, True, True, True, False, False]]


def test_frames_that_a_store_has_left_out_are_no_mistake(tmp_path: Path) -> None:
    store = two_walks()
    numbers = np.where(store.recording == 1, store.frame * 2, store.frame)
    found = read(write(tmp_path / "t.csv", "query,reference", "0,0", "1,1", "2,2"), replace(store, log_frame=numbers))
    assert found.matches is not None
    assert found.matches.tolist() == [[0, 0], [2, 2]]
    assert "1 row names a frame that was left out of its store" in found.notes
    for numbers, frame in ((store.frame, 4), (store.frame * 2, 12)):  # nothing was left out; beyond the last frame
        with data_error("line 2, column 'query'", f"'{frame}' is not a frame of recording-1"):
            read(write(tmp_path / "t.csv", "query,reference", f"{frame},0"), replace(store, log_frame=numbers))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("query,reference", "0,1", "4,1"), ("t.csv, line 3, column 'query'", "'4' is not", "0 to 3", "second-0.png")),
        (("query,reference", "0,6"), ("line 2, column 'reference'", "'6' is not a frame of recording-0", "0 to 5")),
        (("query,reference", "0,third.png"), ("line 2, column 'reference'", "'third.png' is not a frame")),
        (("query,reference", ",1"), ("line 2, column 'query'", "expected the number or the file of a frame")),
        (("query,reference", "1.5,1"), ("line 2, column 'query'", "'1.5' is not a frame")),
        (("frame,place", "0,1"), ("t.csv: expected the columns query,reference", "found frame, place")),
        (("frame,x,y", "0,0,0"), ("t.csv: expected", "or recording,frame,x,y", "found frame, x, y")),
        (("recording,frame,x,y", "other,0,0,0"), ("'recording'", "expected recording-0 or reference, found other")),
        (("recording,frame,x,y", "reference,0,0,0", "query,9,0,0"), ("line 3, column 'frame'", "'9' is not a frame")),
        (("recording,frame,x,y", "reference,0,0,east"), ("line 2, column 'y'", "expected a number, found 'east'")),
        (("recording,frame,x,y", "reference,0,0,inf"), ("line 2, column 'y'", "expected metres, found inf")),
        (("recording,frame,x_cm,y_cm", "reference,0,0,1"), ("'x_cm' is in cm, expected metres",)),
        (
            ("recording,frame,x,y", "reference,0,0,0", "reference,0,1,0"),
            ("line 3, column 'frame'", "frame 0 has another position in line 2"),
        ),
        (("recording,frame,x,y", "reference,0,,"), ("has no position of a frame of recording-0",)),
    ],
)
def test_a_mistake_names_file_row_and_value(tmp_path: Path, lines: tuple[str, ...], words: tuple[str, ...]) -> None:
    with data_error(*words):
        read(write(tmp_path / "t.csv", *lines))


def test_a_tolerance_in_metres_fits_no_pairs(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "query,reference", "0,1")
    with pytest.raises(ConfigError, match="has pairs of frames, so give a number of frames"):
        choose_pairs(two_walks(), TaskOptions(truth=str(path), tolerance="5m"), 1.0)
    with pytest.raises(DataError, match="cannot be read"):
        choose_pairs(two_walks(), TaskOptions(truth=str(tmp_path / "gone.csv")), 1.0)
