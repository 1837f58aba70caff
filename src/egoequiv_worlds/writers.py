"""Worlds as files: drives in the raw layout of KITTI, and labelled pictures in a folder for each part and class."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from PIL import Image as PillowImage

from egoequiv.errors import ConfigError, DataError
from egoequiv.files import cannot_write, new_folder
from egoequiv.sources.recording import Source
from egoequiv_worlds.drive import DATE, DriveRecording
from egoequiv_worlds.street.sensors import CAMERA_AHEAD_M, CAMERA_UP_M, focal_px, packet_text

Progress = Callable[[int, int], None]  # pictures done, pictures in total

FORMAT = """\
lat:   latitude of the oxts-unit (deg)
lon:   longitude of the oxts-unit (deg)
alt:   altitude of the oxts-unit (m)
roll:  roll angle (rad),    0 = level, positive = left side up,      range: -pi   .. +pi
pitch: pitch angle (rad),   0 = level, positive = front down,        range: -pi/2 .. +pi/2
yaw:   heading (rad),       0 = east,  positive = counter clockwise, range: -pi   .. +pi
vn:    velocity towards north (m/s)
ve:    velocity towards east (m/s)
vf:    forward velocity, i.e. parallel to earth-surface (m/s)
vl:    leftward velocity, i.e. parallel to earth-surface (m/s)
vu:    upward velocity, i.e. perpendicular to earth-surface (m/s)
ax:    acceleration in x, i.e. in direction of vehicle front (m/s^2)
ay:    acceleration in y, i.e. in direction of vehicle left (m/s^2)
az:    acceleration in z, i.e. in direction of vehicle top (m/s^2)
af:    forward acceleration (m/s^2)
al:    leftward acceleration (m/s^2)
au:    upward acceleration (m/s^2)
wx:    angular rate around x (rad/s)
wy:    angular rate around y (rad/s)
wz:    angular rate around z (rad/s)
wf:    angular rate around forward axis (rad/s)
wl:    angular rate around leftward axis (rad/s)
wu:    angular rate around upward axis (rad/s)
pos_accuracy:  position accuracy (north/east in m)
vel_accuracy:  velocity accuracy (north/east in m/s)
navstat:       navigation status
numsats:       number of satellites tracked by primary GPS receiver
posmode:       position mode of primary GPS receiver
velmode:       velocity mode of primary GPS receiver
orimode:       orientation mode of primary GPS receiver
"""
IMU_UP_M, VELODYNE_UP_M = 0.93, 1.73
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
TO_CAMERA = (0.0, -1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0)  # from x forward, y left, z up to x right, y down, z ahead


def write_kitti_raw(source: Source, folder: Path, on_progress: Progress | None = None) -> None:
    """Write the drives of `drive(...)` as KITTI raw files, which the `kitti` source reads back.

    The folder must not exist, or be empty. Gray pictures are written as KITTI's left gray camera (image_00), colour
    ones as its left colour camera (image_02); with colour, read them with `camera=2`.
    """
    folder = Path(folder)
    recordings = [recording for recording in source.recordings if isinstance(recording, DriveRecording)]
    if not recordings or len(recordings) != len(source.recordings):
        raise ConfigError(f"source {source.name!r} has no GPS/IMU packets to write: use what drive() returns")
    count_one = _counter(source, on_progress)
    with new_folder(folder, overwrite=_is_empty(folder)) as temporary:
        try:
            date = temporary / DATE.replace("-", "_")
            date.mkdir()
            _write_calibration(date, recordings[0])
            rows = ["drive,location", *(f"{each.name},{each.attributes['location']}" for each in recordings)]
            _write_lines(temporary / "locations.csv", rows)
            for recording in recordings:
                _write_drive(date / f"{recording.name}_sync", recording, count_one)
        except OSError as problem:
            raise cannot_write(folder, problem) from problem


def write_class_folders(source: Source, folder: str | Path, on_progress: Progress | None = None) -> None:
    """Write every picture as FOLDER/PART/CLASS/0000.png, without loss, all or nothing.

    The part is the recording's attribute "part", the class the picture's label.
    """
    folder = Path(folder)
    _check_labels(source)
    count_one, written = _counter(source, on_progress), Counter[tuple[str, str]]()
    with new_folder(folder, overwrite=_is_empty(folder)) as temporary:
        for recording in source.recordings:
            part = recording.attributes["part"]
            for frame, label in enumerate(recording.labels or ()):
                path = temporary / part / label / f"{written[part, label]:04d}.png"
                written[part, label] += 1
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    PillowImage.fromarray(recording.image(frame)).save(path)
                except OSError as problem:
                    raise cannot_write(path, problem) from problem
                count_one()


def _is_empty(folder: Path) -> bool:
    """Whether a folder exists that may be replaced, because nothing is in it; refuse one with something in it."""
    exists = folder.is_dir() and not folder.is_symlink()
    if exists and any(folder.iterdir()):
        raise DataError(f"{folder} exists already and is not empty: choose another name")
    return exists


def _counter(source: Source, on_progress: Progress | None) -> Callable[[], None]:
    """What to call after each picture."""
    numbers = count(1)
    return lambda: None if on_progress is None else on_progress(next(numbers), source.frame_count)


def _check_labels(source: Source) -> None:
    if not source.frame_count:
        raise DataError(f"source {source.name!r} has no frames")
    for recording in source.recordings:
        if recording.labels is None or "part" not in recording.attributes:
            needed = "only labelled pictures can be written as class folders"
            raise DataError(f"{recording.name} has no labels or no part: {needed}")
        for name in {recording.attributes["part"], *recording.labels}:
            if not name or name in (".", "..") or "/" in name or "\0" in name:
                raise DataError(f"{recording.name}: {name!r} cannot be the name of a folder")


def stamp_text(stamp_ns: int) -> str:
    """A time since midnight of the date of all drives, such as `2031-05-01 07:01:37.000000000`."""
    seconds, nanoseconds = divmod(int(stamp_ns), 10**9)
    moment = datetime.fromisoformat(DATE) + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{nanoseconds:09d}"


def calibration_text(values: Mapping[str, Sequence[float] | str]) -> str:
    """A calibration file: a name, a colon and numbers in each line."""
    texts = (value if isinstance(value, str) else " ".join(f"{n:.6e}" for n in value) for value in values.values())
    return "".join(f"{name}: {text}\n" for name, text in zip(values, texts, strict=True))


def _write_drive(folder: Path, recording: DriveRecording, count_one: Callable[[], None]) -> None:
    camera, oxts = folder / ("image_02" if recording.color else "image_00"), folder / "oxts"
    for stream in (camera, oxts):
        (stream / "data").mkdir(parents=True)
        _write_lines(stream / "timestamps.txt", [stamp_text(stamp) for stamp in recording.stamps_ns])
    (oxts / "dataformat.txt").write_text(FORMAT, encoding="utf-8")
    for frame, packet in enumerate(recording.packets):
        PillowImage.fromarray(recording.image(frame)).save(camera / "data" / f"{frame:010d}.png")
        _write_lines(oxts / "data" / f"{frame:010d}.txt", [packet_text(packet)])
        count_one()


def _write_calibration(folder: Path, recording: DriveRecording) -> None:
    """The camera's lens and the positions of camera, laser scanner and GPS/IMU; the scanner only connects the two."""
    width, height, focal = float(recording.width), float(recording.height), focal_px(recording.width)
    lens = (focal, 0.0, (width - 1) / 2, 0.0, focal, (height - 1) / 2, 0.0, 0.0, 1.0)  # the first pixel is 0
    cameras: dict[str, Sequence[float] | str] = {"calib_time": "01-May-2031 06:00:00", "corner_dist": (0.0995,)}
    projection = (*lens[:3], 0.0, *lens[3:6], 0.0, *lens[6:], 0.0)
    own = {"S": (width, height), "K": lens, "D": (0.0,) * 5, "R": UNIT, "T": (0.0,) * 3}
    rectified = {"S_rect": (width, height), "R_rect": UNIT, "P_rect": projection}
    for number in range(4):
        cameras |= {f"{name}_{number:02d}": values for name, values in (own | rectified).items()}
    time = {"calib_time": "01-May-2031 06:00:00"}
    to_scanner = time | {"R": UNIT, "T": (0.0, 0.0, IMU_UP_M - VELODYNE_UP_M)}
    to_camera = time | {"R": TO_CAMERA, "T": (0.0, CAMERA_UP_M - VELODYNE_UP_M, -CAMERA_AHEAD_M)}
    for name, values in (("cam_to_cam", cameras), ("imu_to_velo", to_scanner), ("velo_to_cam", to_camera)):
        (folder / f"calib_{name}.txt").write_text(calibration_text(values), encoding="utf-8")


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
