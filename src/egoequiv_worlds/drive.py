"""The driving world: a car with a camera and a GPS/IMU in four kinds of area, like KITTI's raw recordings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.pose.camera import Lens
from egoequiv.sources.oxts import packet_poses
from egoequiv.sources.recording import Image, Source
from egoequiv_worlds.recordings import DrawnRecording, check_numbers
from egoequiv_worlds.render import Array, Vector
from egoequiv_worlds.street import AREAS, Drive
from egoequiv_worlds.street.motion import bumps, motion, track
from egoequiv_worlds.street.sensors import RATE_HZ, focal_px, packets

DATE = "2031-05-01"
FRAME_NS = 1_000_000_000 // RATE_HZ
STAMP_NS = 10_000  # stamps are whole multiples of this
JITTER_STAMPS = 150  # how many of them a stamp may be late at most
LONGEST_S = 600.0
MOST_DRIVES = 9999  # their names have four digits


@dataclass(frozen=True, eq=False, kw_only=True)
class DriveRecording(DrawnRecording):
    """One drive through one area; poses (N, 9) are DRIVING_POSES."""

    drive: Drive
    width: int
    height: int
    color: bool
    stamps_ns: NDArray[np.int64]  # (N,), since midnight of DATE; camera and GPS/IMU are triggered together
    packets: NDArray[np.float64]  # (N, 30), as the GPS/IMU gives them

    def image(self, frame: int) -> Image:
        """Draw one frame, (height, width) gray or (height, width, 3) colour."""
        time_s = self.time_s(frame)
        now = motion(self.drive, np.array([time_s]))
        angles_rad = (float(now.roll_rad[0]), float(now.pitch_rad[0]), float(now.yaw_rad[0]))
        return self.view(time_s, now.places_m[0], angles_rad, 90, round(time_s * 1e4))

    def view(self, time_s: float, place_m: Array, angles_rad: Vector, *purpose: int) -> Image:
        """Draw what a car at a place with a roll, pitch and yaw sees at a time."""
        from egoequiv_worlds.street.renderer import picture  # here, because it imports numba, which takes a second

        return picture(self.drive, time_s, place_m, angles_rad, (self.width, self.height), self.color, *purpose)

    def time_s(self, frame: int) -> float:
        """When a frame was taken, since the drive began."""
        return float(self.stamps_ns[frame] - self.stamps_ns[0]) / 1e9

    def around(self, frame: int, poses: NDArray[np.float64]) -> StandingRecording:
        """Views near a frame, as the traffic is then: (N, 2) metres ahead along the lane, and degrees to its left."""
        moment_s, about = self.time_s(frame), self.attributes
        return StandingRecording(name=self.name, poses=poses, attributes=about, driven=self, moment_s=moment_s)


@dataclass(frozen=True, eq=False, kw_only=True)
class StandingRecording(DrawnRecording):
    """Views from places along the lane of a drive at one moment.

    Poses (N, 2) are forward_m along the lane from the car and yaw_deg to the left of the lane.
    """

    driven: DriveRecording
    moment_s: float

    def image(self, frame: int) -> Image:
        """Draw one view, (height, width) gray or (height, width, 3) colour."""
        own, (ahead_m, turn_deg), time_s = self.driven, self.poses[frame], self.moment_s
        driven = track(own.drive)
        length_m = driven.lengths_at(np.array([time_s])) + float(ahead_m)
        (place_m,), (heading,) = driven.lane.at(length_m)
        pitch, roll = bumps(own.drive, length_m)
        angles_rad = (float(roll[0]), float(pitch[0]), float(heading) + float(np.deg2rad(turn_deg)))
        return own.view(time_s, place_m, angles_rad, 91, round(time_s * 1e4), frame)


def drive(
    *, seed: int = 0, drives_per_area: int = 6, seconds: float = 30.0, width: int = 310, height: int = 94,
    color: bool = False,
) -> Source:  # fmt: skip
    """Drives through a procedural campus, city, residential area and country road at 10 frames a second.

    The camera looks ahead along the car; the poses are computed from its noisy GPS/IMU in the same way as KITTI's. The
    same seed gives the same pictures, byte for byte; another seed gives other routes, buildings, light and traffic.
    """
    settings = {"seed": seed, "drives_per_area": drives_per_area, "seconds": seconds}
    settings |= {"width": width, "height": height, "color": color}
    check_numbers("drive", settings, {"seed": 0, "drives_per_area": 1, "width": 32, "height": 16})
    if len(AREAS) * drives_per_area > MOST_DRIVES:
        most = MOST_DRIVES // len(AREAS)
        raise ConfigError(f"drive: drives_per_area must be at most {most}, found {drives_per_area}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 1.0 <= seconds <= LONGEST_S:
        raise ConfigError(f"drive: seconds must be a number from 1 to {LONGEST_S:g}, found {seconds!r}")
    if not isinstance(color, bool):
        raise ConfigError(f"drive: color must be true or false, found {color!r}")
    drives = [Drive(area, k, int(seed), float(seconds)) for area in AREAS for k in range(drives_per_area)]
    recordings = [_recording(each, number, width, height, color) for number, each in enumerate(drives, 1)]
    return Source("drive", PlanarSpace(), recordings, settings, pose_names=DRIVING_POSES)


def _recording(drive: Drive, number: int, width: int, height: int, color: bool) -> DriveRecording:
    date, start_s = DATE.replace("-", "_"), 7 * 3600 + (number * 97) % (12 * 3600)
    late = drive.generator(1).integers(0, JITTER_STAMPS, round(drive.seconds * RATE_HZ))  # no sensor keeps its rate
    stamps_ns = start_s * 10**9 + FRAME_NS * np.arange(len(late), dtype=np.int64) + STAMP_NS * late
    times_s = (stamps_ns - stamps_ns[0]) / 1e9
    measured, focal = packets(drive, motion(drive, times_s)), focal_px(width)
    return DriveRecording(
        name=f"{date}_drive_{number:04d}", poses=packet_poses(measured, times_s), times_s=times_s,
        labels=(drive.area,) * len(times_s), attributes={"location": drive.area, "date": date},
        lens=Lens.of_pixels((focal, focal), None, (height, width), origin="the embedded drive"),
        drive=drive, width=width, height=height, color=color, stamps_ns=stamps_ns, packets=measured,
    )  # fmt: skip
