"""GPS/IMU packets: what they must hold, and the poses that follow, by hand and by another computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from egoequiv.pose import DRIVING_POSES
from egoequiv.sources.oxts import FIELDS, packet_column, packet_poses, packet_transforms, parse_packet
from helpers import data_error
from kitti_files import packet_text

Array = NDArray[np.float64]

NEEDED = ("lat", "lon", "alt", "roll", "pitch", "yaw", "vf")
METRES_A_DEGREE = 111_319.49079327357  # of the equator: 2 pi x 6378137 / 360


def packets(count: int = 1, **columns: object) -> Array:
    """Packets at 0 N 0 E, level, facing east, standing, but for the given columns."""
    values = np.zeros((count, len(FIELDS)))
    for name, column in columns.items():
        values[:, FIELDS.index(name)] = column
    return values


def test_a_packet_has_30_fields_in_the_order_of_kitti() -> None:
    assert len(FIELDS) == 30
    assert FIELDS[:9] == ("lat", "lon", "alt", "roll", "pitch", "yaw", "vn", "ve", "vf")
    assert FIELDS.index("wu") == 22
    assert FIELDS[-1] == "orimode"
    real = (
        "49.015003823272 8.4342971002335 116.43032836914 0.035752 0.00903 -2.6087069803847 -6.811441479104 "
        "-11.275641809511 13.172716663769 -0.12475264293164 -0.032919903047354 0.44519814145 -0.62823 9.6 0.6 -0.4 9.8 "
        "0.01 0.02 0.03 0.04 0.05 0.06 0.44699833 0.02 4 9 4 4 0"
    )
    packet = np.array([parse_packet(real, "packet")])
    assert packet_column(packet, "lat").tolist() == [49.015003823272]
    assert packet_column(packet, "yaw").tolist() == [-2.6087069803847]
    assert packet_column(packet, "vf").tolist() == [13.172716663769]
    assert packet_column(packet, "orimode").tolist() == [0]


@pytest.mark.parametrize("words", [0, 1, 29, 31])
def test_too_few_and_too_many_numbers_are_counted(words: int) -> None:
    text = " ".join((packet_text().split() * 2)[:words])
    with data_error("data/0000000007.txt: expected 30 numbers", f"found {words}"):
        parse_packet(text, "data/0000000007.txt")


@pytest.mark.parametrize("field", FIELDS)
def test_a_word_is_named_with_its_field(field: str) -> None:
    with data_error(f"packet.txt: expected a number for {field}, found 'north'"):
        parse_packet(packet_text(**{field: "north"}), "packet.txt")


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("field", NEEDED)
def test_what_the_poses_need_must_be_finite(field: str, value: str) -> None:
    with data_error(f"packet.txt: {field} is {value}"):
        parse_packet(packet_text(**{field: value}), "packet.txt")


@pytest.mark.parametrize("field", [name for name in FIELDS if name not in NEEDED])
def test_what_they_do_not_need_may_be_anything(field: str) -> None:
    packet = np.array([parse_packet(packet_text(**{field: "nan"}), "packet")] * 2)
    assert np.isnan(packet_column(packet, field)).all()
    assert np.isfinite(packet_poses(packet, np.array([0.0, 0.1]))).all()


@pytest.mark.parametrize(("field", "value"), [("lat", "91"), ("lat", "-90.5"), ("lat", "90"), ("lon", "541")])
def test_a_place_that_is_not_on_the_map_is_named(field: str, value: str) -> None:
    with data_error("packet.txt", f"{field} {value}", "not on the map"):
        parse_packet(packet_text(**{field: value}), "packet.txt")


def test_places_by_hand() -> None:
    places, _ = packet_transforms(packets(3, lon=[0, 0.001, 0], lat=[0, 0, 0.001], alt=[50, 50, 57]))
    assert places == pytest.approx(np.array([[0, 0, 0], [111.31949, 0, 0], [0, 111.31949, 7]]), abs=1e-4)
    # At 60 N a degree of longitude is half as long; one of latitude is as long as ever.
    places, _ = packet_transforms(packets(3, lon=[9, 9.001, 9], lat=[60, 60, 60.0001]))
    assert places == pytest.approx(np.array([[0, 0, 0], [55.659745, 0, 0], [0, 11.131949, 0]]), abs=1e-4)


def test_the_date_line_is_no_leap() -> None:
    places, _ = packet_transforms(packets(3, lon=[179.9995, -179.9995, 179.9995]))
    assert places[:, 0] == pytest.approx([0, 111.31949, 0], abs=1e-4)


@given(
    st.floats(-70, 70),
    st.floats(-180, 180),
    st.floats(-1000, 1000).filter(lambda m: abs(m) > 1),
    st.floats(-1000, 1000).filter(lambda m: abs(m) > 1),
)
def test_places_agree_with_mercator_and_with_the_way_over_the_globe(
    lat: float, lon: float, east: float, north: float
) -> None:
    radius = 6_378_137.0
    other_lat = lat + north / METRES_A_DEGREE
    other_lon = lon + east / METRES_A_DEGREE / math.cos(math.radians(lat))
    places, _ = packet_transforms(packets(2, lat=[lat, other_lat], lon=[lon, other_lon]))
    # The development kit of KITTI.
    scale = math.cos(lat * math.pi / 180)

    def mercator(a: float, b: float) -> tuple[float, float]:
        return (
            scale * b * math.pi * radius / 180,
            scale * radius * math.log(math.tan((90 + a) * math.pi / 360)),
        )

    (x0, y0), (x1, y1) = mercator(lat, lon), mercator(other_lat, other_lon)
    assert places[1] == pytest.approx([x1 - x0, y1 - y0, 0], abs=1e-6)
    # The haversine of the great circle.
    half_lat, half_lon = math.radians(other_lat - lat) / 2, math.radians(other_lon - lon) / 2
    h = math.sin(half_lat) ** 2 + math.cos(math.radians(lat)) * math.cos(math.radians(other_lat)) * (
        math.sin(half_lon) ** 2
    )
    assert np.linalg.norm(places[1]) == pytest.approx(2 * radius * math.asin(math.sqrt(h)), rel=1e-3)


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
def test_turns_are_yaw_then_pitch_then_roll(yaw: float, pitch: float, roll: float) -> None:
    _, rotation = packet_transforms(packets(1, yaw=yaw, pitch=pitch, roll=roll))
    cz, sz, cy, sy, cx, sx = (f(a) for a in (yaw, pitch, roll) for f in (math.cos, math.sin))
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    assert rotation.as_matrix()[0] == pytest.approx(about_z @ about_y @ about_x, abs=1e-9)


def test_where_ahead_points_by_hand() -> None:
    quarter = math.pi / 2
    _, rotation = packet_transforms(packets(4, yaw=[0, quarter, quarter, 0], pitch=[0, 0, 0.1, 0], roll=[0, 0, 0, 0.1]))
    ahead, left = rotation.apply([1.0, 0, 0]), rotation.apply([0, 1.0, 0])
    assert ahead[0] == pytest.approx([1, 0, 0])  # yaw 0 is east
    assert ahead[1] == pytest.approx([0, 1, 0])  # a quarter turn to the left is north
    assert ahead[2] == pytest.approx([0, math.cos(0.1), -math.sin(0.1)])  # positive pitch: the front is down
    assert left[3] == pytest.approx([0, math.cos(0.1), math.sin(0.1)])  # positive roll: the left side is up


def test_a_drive_north_and_then_east_by_hand() -> None:
    degree = 1 / METRES_A_DEGREE
    drive = packets(
        4,
        lat=[0, 10 * degree, 10 * degree, 10 * degree],
        lon=[0, 0, 10 * degree, 5 * degree],  # and back half of the way, in reverse
        yaw=[math.pi / 2, math.pi / 2, 0, 0],
        vf=[10, 10, 10, -5],
    )
    poses = packet_poses(drive, np.array([0.0, 1.0, 2.0, 3.0]))
    assert poses.shape == (4, len(DRIVING_POSES))
    half = math.sqrt(0.5)
    expected = [
        [0, 0, 0, 0, 0, half, half, 0, 90],
        [0, 10, 0, 0, 0, half, half, 10, 90],
        [10, 10, 0, 0, 0, 0, 1, 20, 0],
        [5, 10, 0, 0, 0, 0, 1, 22.5, 0],
    ]
    assert poses == pytest.approx(np.array(expected), abs=1e-5)


def test_the_heading_is_unwrapped_at_pi() -> None:
    turning = np.arange(0, 9, 0.5)  # more than a full turn to the left, in radians
    wrapped = (turning + math.pi) % (2 * math.pi) - math.pi
    assert (np.diff(wrapped) < 0).any()
    left = packet_poses(packets(len(wrapped), yaw=wrapped), np.arange(len(wrapped)) / 10)
    assert left[:, 8] == pytest.approx(np.rad2deg(turning))
    right = packet_poses(packets(len(wrapped), yaw=-wrapped), np.arange(len(wrapped)) / 10)
    assert right[:, 8] == pytest.approx(-np.rad2deg(turning))


def test_the_way_is_the_integral_of_the_speed_over_real_time() -> None:
    times = np.array([0.0, 0.1, 0.2, 2.2, 2.31])  # two seconds are missing
    poses = packet_poses(packets(5, vf=[10, 10, 12, 14, -6]), times)
    assert poses[:, 7] == pytest.approx([0, 1, 2.1, 28.1, 28.54])


def test_one_packet_is_one_pose() -> None:
    assert packet_poses(packets(1, lat=49, lon=8, alt=3, vf=5), np.array([0.0])).tolist() == [
        [0, 0, 0, 0, 0, 0, 1, 0, 0]
    ]


@pytest.mark.parametrize(("field", "value"), [("vf", "1e200"), ("alt", "-2e5"), ("yaw", "7.5"), ("roll", "-1e300")])
def test_what_is_impossible_for_a_car_is_named(field: str, value: str) -> None:
    with data_error("packet.txt", field, value, "impossible for a car"):
        parse_packet(packet_text(**{field: value}), "packet.txt")
