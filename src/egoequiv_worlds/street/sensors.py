"""What the car carries: its camera, and a GPS/IMU that measures with noise."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from egoequiv.sources.oxts import EARTH_RADIUS_M
from egoequiv_worlds.render import Array
from egoequiv_worlds.street import Drive
from egoequiv_worlds.street.motion import Motion

CAMERA_UP_M = 1.65  # above the road
CAMERA_AHEAD_M = 1.08  # of the GPS/IMU
FOCAL_SHARE = 721.5 / 1242.0  # KITTI's focal length over the width of its pictures

ORIGIN_DEG = (48.5, 9.05)  # latitude and longitude near which all drives begin
ALTITUDE_M = 330.0
GRAVITY_MPS2 = 9.81
RATE_HZ = 10
DRIFT_S = 8.0  # how slowly the error of the position changes
DRIFT_M, JITTER_M = 0.035, 0.008
ANGLE_DRIFT_RAD, ANGLE_JITTER_RAD = 0.0007, 0.0003
SPEED_JITTER_MPS = 0.03
RATE_JITTER = 0.004  # radians a second
SHAKE_MPS2 = 0.12
ACCURACY = (0.03, 0.015)  # of positions and velocities
STATUS = (4, 9, 6, 6, 6)  # of the sensor, the number of satellites, and three modes


def focal_px(width: int) -> float:
    """The focal length of pictures of a width, in pixels; the principal point is in their middle."""
    return FOCAL_SHARE * width


def packet_text(packet: Array) -> str:
    """One packet (30,) as the line of its file."""
    return " ".join(f"{value:.14g}" for value in packet)


def packets(drive: Drive, motion: Motion) -> Array:
    """What the sensor measures of a motion: packets (N, 30), each number as it is written to its file."""
    rng, count = drive.generator(30), len(motion.yaw_rad)
    error = np.stack([_drift(rng, count, DRIFT_M) + JITTER_M * rng.standard_normal(count) for _ in range(3)], axis=1)
    start_deg = np.array(ORIGIN_DEG) + drive.generator(31).uniform(-0.02, 0.02, 2)
    # by KITTI's Mercator projection, at the scale of the start
    east, north = (motion.places_m - motion.places_m[0] + error[:, :2]).T
    radius = EARTH_RADIUS_M * np.cos(np.radians(start_deg[0]))
    lon, start_north = start_deg[1] + np.degrees(east / radius), np.log(np.tan(np.radians(90.0 + start_deg[0]) / 2))
    lat = np.degrees(2 * np.arctan(np.exp(start_north + north / radius))) - 90.0
    true = (motion.roll_rad, motion.pitch_rad, motion.yaw_rad)
    angles = [a + _drift(rng, count, ANGLE_DRIFT_RAD) + ANGLE_JITTER_RAD * rng.standard_normal(count) for a in true]
    forward, left, up = motion.speed_mps + SPEED_JITTER_MPS * rng.standard_normal(count), *_noise(rng, 2, count, 0.02)
    yaw, pull = angles[2], motion.speed_mps * motion.yaw_rate
    shake, rates = _noise(rng, 3, count, SHAKE_MPS2), _noise(rng, 3, count, RATE_JITTER)
    rates[2] += motion.yaw_rate
    level = (motion.acceleration_mps2 + shake[0], pull + shake[1], GRAVITY_MPS2 + shake[2])
    in_car = (  # with pitch and roll, the car's own axes have part of gravity
        motion.acceleration_mps2 - GRAVITY_MPS2 * np.sin(motion.pitch_rad) + shake[0],
        pull + GRAVITY_MPS2 * np.sin(motion.roll_rad) + shake[1],
        GRAVITY_MPS2 * np.cos(motion.pitch_rad) * np.cos(motion.roll_rad) + shake[2],
    )
    columns = (  # as FIELDS names them
        lat, lon, ALTITUDE_M + 2.0 * error[:, 2], angles[0], angles[1], (yaw + np.pi) % (2 * np.pi) - np.pi,
        forward * np.sin(yaw) + left * np.cos(yaw), forward * np.cos(yaw) - left * np.sin(yaw), forward, left, up,
        *in_car, *level, *rates, *rates, *ACCURACY, *STATUS,
    )  # fmt: skip
    exact = np.stack([np.broadcast_to(np.asarray(column, np.float64), count) for column in columns], axis=1)
    return np.array([[float(word) for word in packet_text(packet).split()] for packet in exact])


def _drift(rng: np.random.Generator, count: int, size: float) -> Array:
    """A slow random walk around zero of a given standard deviation."""
    sigma = DRIFT_S * RATE_HZ / 2
    white = rng.standard_normal(count + 8 * int(sigma))
    slow = gaussian_filter1d(white, sigma)[4 * int(sigma) :][:count]
    return np.asarray(size * slow * np.sqrt(2 * sigma * np.sqrt(np.pi)))  # what the filter took of the deviation


def _noise(rng: np.random.Generator, rows: int, count: int, size: float) -> Array:
    return size * rng.standard_normal((rows, count))
