"""The clocks of logs."""

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.clock import nearest_in_time, read_clock

EPOCH = 1_700_000_000


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
@pytest.mark.parametrize("start", [0, EPOCH])
def test_the_unit_is_found(unit: str, scale: float, start: int) -> None:
    seconds = start + np.arange(50) / 30
    stamps = read_clock(np.round(seconds * scale).astype(np.int64) if unit != "s" else seconds, "log")
    np.testing.assert_allclose(np.diff(stamps.times_ns) / 1e9, 1 / 30, atol=2e-3)
    assert stamps.notes == (() if unit == "s" else (f"log: stamps are in {unit}",))


def test_whole_nanoseconds_keep_their_digits() -> None:
    times = EPOCH * 10**9 + np.array([1, 33_333_334, 66_666_667], np.int64)
    assert read_clock(times, "log").times_ns.tolist() == times.tolist()


def test_stamps_a_little_out_of_order_are_sorted() -> None:
    stamps = read_clock(np.array([0.0, 0.1, 0.3, 0.2, 0.4]), "log")
    assert stamps.rows.tolist() == [0, 1, 3, 2, 4]
    assert "1 stamp out of order, the first in row 4" in stamps.notes[0]


def test_repeated_stamps_are_kept_once() -> None:
    stamps = read_clock(np.array([0.0, 0.1, 0.1, 0.2]), "log")
    assert stamps.rows.tolist() == [0, 1, 3]
    assert "1 stamp is repeated, the first in row 3" in stamps.notes[0]


def test_a_reset_keeps_the_longest_part_in_one_piece() -> None:
    """Both parts have times that overlap: together they would be two drives in one."""
    first, second = np.arange(0, 10, 0.1), np.arange(0, 15, 0.1)
    stamps = read_clock(np.concatenate([first, second]), "log")
    assert stamps.rows.tolist() == list(range(100, 250))
    assert "goes back by 9.9 s at row 101" in stamps.notes[0]
    assert "longest of 2 parts" in stamps.notes[0]
    assert "100 of 250 rows" in stamps.notes[0]


def test_one_wrong_stamp_removes_itself_alone() -> None:
    times = np.arange(0, 10, 0.1)
    times[40] = 5000.0
    stamps = read_clock(times, "log")
    assert stamps.rows.tolist() == [k for k in range(100) if k != 40]
    assert len(stamps.notes) == 1


@pytest.mark.parametrize("wrong", [1, 7, 18])
@pytest.mark.parametrize("jump", [-100.0, 100.0])
def test_the_stamp_that_is_far_off_is_left_out_wherever_it_is(wrong: int, jump: float) -> None:
    """Of the first two and the last two, either may be left out: the one far from all the others is."""
    stamps = 7.0 + np.arange(20) / 60
    stamps[wrong] += jump
    assert read_clock(stamps, "x").rows.tolist() == [k for k in range(20) if k != wrong]


def test_stamps_that_are_no_numbers() -> None:
    stamps = read_clock(np.array([0.0, np.nan, 0.2, np.inf, 0.4]), "log")
    assert stamps.rows.tolist() == [0, 2, 4]
    assert "2 of 5 stamps are not numbers" in stamps.notes[0]
    with pytest.raises(DataError, match="no time in s"):
        read_clock(np.array([1e300, 2e300]), "log", "s")
    with pytest.raises(ConfigError, match="time unit 'min'"):
        read_clock(np.array([1.0]), "log", "min")
    assert len(read_clock(np.empty(0), "log").times_ns) == 0


@pytest.mark.parametrize(
    ("step", "count", "unit", "other"),
    [
        (1, 1000, "s", "ms"),  # 17 minutes at 1 Hz
        (1, 10_000, "ms", "s"),  # 10 seconds at 1000 Hz
        (5, 20, "s", "ms"),
        (5, 1300, "ms", "s"),
        (2000, 1000, "us", "ms"),
        (5_000_000, 1300, "ns", "us"),
    ],
)
def test_a_unit_that_can_be_two_is_told_of(step: int, count: int, unit: str, other: str) -> None:
    stamps = read_clock(step * np.arange(count), "log")
    scale = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[unit]
    assert stamps.times_ns[1] == step * scale
    assert stamps.notes == (f"log: stamps are taken as {unit}, they could be {other} (if so: time_unit={other})",)
    assert read_clock(step * np.arange(count), "log", other).notes == ()


def test_fractions_of_seconds_are_seconds() -> None:
    assert read_clock(1.7 * np.arange(1000), "log").times_ns[1] == 1_700_000_000


@pytest.mark.parametrize("times", [[5], [5, 9], [1, 4, 6, 30]])
def test_the_nearest_in_time_is_that_of_all_distances(times: list[int]) -> None:
    asked = np.arange(-3, 35)
    distances = np.abs(asked[:, None] - np.array(times)[None])
    np.testing.assert_array_equal(nearest_in_time(np.array(times), asked), distances.argmin(axis=1))
