"""Time stamps, and the matching of two streams by time."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.pose.clock import longest_increase
from egoequiv.sources.stamps import MISSING, match_by_time, parse_stamps
from helpers import data_error
from kitti_files import START_NS, stamp_text

times_ns = st.integers(0, 30)


def match(times: list[int], others: list[int], tolerance: int = 50) -> list[int]:
    return list(match_by_time(np.array(times, np.int64), np.array(others, np.int64), tolerance).tolist())


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("1970-01-01 00:00:00", 0),
        ("1970-01-01 00:00:00.000000001", 1),
        ("1970-01-01 00:00:01.5", 1_500_000_000),
        ("2011-09-26 13:02:25.964389445", START_NS),
        ("2012-02-29 00:00:00.100", 1_330_473_600_100_000_000),
        ("1969-12-31 23:59:59.25", -750_000_000),
        ("  1970-01-01 00:00:02\r", 2_000_000_000),
    ],
)
def test_a_stamp_is_read_to_the_nanosecond(text: str, time_ns: int) -> None:
    times = parse_stamps(text, "stamps")
    assert times.tolist() == [time_ns]
    assert times.dtype == np.int64


@given(st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)), st.integers(0, 999_999_999))
def test_every_nanosecond_comes_back(moment: datetime, rest: int) -> None:
    whole = moment.replace(microsecond=0)
    expected = (whole.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // (datetime.resolution) * 1000 + rest
    assert parse_stamps(f"{whole:%Y-%m-%d %H:%M:%S}.{rest:09d}", "stamps").tolist() == [expected]


def test_blank_rows_keep_their_place_but_for_those_at_the_end() -> None:
    text = f"\n{stamp_text(5)}\n\n   \n{stamp_text(7)}\n\n"
    assert parse_stamps(text, "stamps").tolist() == [MISSING, 5, MISSING, MISSING, 7]
    assert parse_stamps("", "stamps").tolist() == parse_stamps("\n \n", "stamps").tolist() == []
    assert (
        parse_stamps(stamp_text(5), "stamps").tolist() == parse_stamps(stamp_text(5) + "\n", "stamps").tolist() == [5]
    )


@pytest.mark.parametrize(
    "row",
    [
        "1317042145.96",
        "2011-09-26",
        "2011-09-26T13:02:25",
        "2011-09-26 13:02:25.",
        "2011-09-26 13:02:25.9643894451",
        "2011-13-26 13:02:25.9",
        "2011-02-29 13:02:25.9",
        "2011-09-26 25:02:25.9",
        "2011-09-26 13:02:25.96 2011-09-26 13:02:25.96",
        "0001-01-01 00:00:00",
        "9999-12-31 00:00:00",
        "٢٠١١-٠٩-٢٦ ١٣:٠٢:٢٥",
        "2011-09-26 13:02:25.٩٦",
        "nan",
        "\ufffd\x00",
    ],
)
def test_a_malformed_row_is_named(row: str) -> None:
    with data_error("drive/timestamps.txt, row 3", "expected a time such as", repr(row.strip()[:40])):
        parse_stamps(f"{stamp_text(0)}\n\n{row}\n{stamp_text(9)}\n", "drive/timestamps.txt")


@pytest.mark.parametrize(
    ("times", "others", "places"),
    [
        ([0, 100, 200], [3, 97, 210], [0, 1, 2]),
        ([0, 100, 200], [100], [-1, 0, -1]),  # a single packet
        ([100], [40, 70, 160], [1]),  # a single image
        ([100], [100], [0]),
        ([100], [151], [-1]),  # too far by one
        ([100], [150], [0]),  # just near enough
        ([100], [50], [0]),
        ([100], [49], [-1]),
        ([90, 120], [100], [0, -1]),  # the nearer of two images keeps the packet
        ([70, 110], [100], [-1, 0]),
        ([90, 110], [100], [0, -1]),  # of two that are equally near, the earlier one
        ([100], [90, 110], [0]),  # and the earlier one of two packets
        ([95, 100, 105], [100], [-1, 0, -1]),
        ([0, 100, 200], [103, 203, 303], [-1, 0, 1]),  # a late beginning shifts nothing
        ([0, 100, 300, 400], [0, 100, 200, 300, 400], [0, 1, 3, 4]),  # an image is missing
        ([0, 100, 200, 300], [0, 100, 300], [0, 1, -1, 2]),  # a packet is missing
        ([5_000], [0, 100], [-1]),
        ([-5_000], [0, 100], [-1]),
        ([], [0, 100], []),
        ([0, 100], [], [-1, -1]),
        ([], [], []),
    ],
)
def test_matches_by_hand(times: list[int], others: list[int], places: list[int]) -> None:
    assert match(times, others) == places


def test_real_times_are_matched_to_the_nanosecond() -> None:
    assert match([START_NS], [START_NS - 51, START_NS + 50]) == [1]
    assert match([START_NS], [START_NS - 51, START_NS + 51]) == [-1]


@given(st.lists(times_ns, max_size=8), st.sets(times_ns, max_size=8), st.integers(0, 12))
def test_matches_equal_a_slow_search(times: list[int], others: set[int], tolerance: int) -> None:
    packets = sorted(others)
    wanted = [min(range(len(packets)), key=lambda k: (abs(packets[k] - t), k)) if packets else -1 for t in times]
    expected = []
    for k, place in enumerate(wanted):
        rivals = [m for m in range(len(times)) if wanted[m] == place]
        mine = place >= 0 and min(rivals, key=lambda m: (abs(times[m] - packets[place]), m)) == k
        expected.append(place if mine and abs(times[k] - packets[place]) <= tolerance else -1)
    assert match(times, packets, tolerance) == expected


@pytest.mark.parametrize(
    ("times", "places"),
    [
        ([], []),
        ([5], [0]),
        ([1, 2, 3], [0, 1, 2]),
        ([1, 2, 2, 3], [0, 1, 3]),  # of two equal ones the first
        ([1, 99, 2, 3, 4], [0, 2, 3, 4]),  # one far ahead takes out itself alone
        ([10, 11, 1, 12], [0, 1, 3]),  # and so does one far behind
        ([99, 1, 2, 3], [1, 2, 3]),
        ([3, 2, 1], [2]),
    ],
)
def test_the_longest_increase_by_hand(times: list[int], places: list[int]) -> None:
    assert longest_increase(np.array(times, np.int64)).tolist() == places


@given(st.lists(st.integers(0, 9), max_size=9))
def test_no_choice_of_increasing_times_is_longer(times: list[int]) -> None:
    places = longest_increase(np.array(times, np.int64)).tolist()
    chosen = [times[k] for k in places]
    assert places == sorted(set(places))
    assert chosen == sorted(set(chosen))
    longer = combinations(times, len(chosen) + 1)
    assert not any(list(choice) == sorted(set(choice)) for choice in longer)
