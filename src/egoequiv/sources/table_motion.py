"""The motion that the columns of a table describe: poses in space or in the plane, rates, a turntable, or columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import (
    CAMERA_POSES,
    ColumnsSpace,
    ColumnTrack,
    MotionSpace,
    NoMotion,
    PlanarSpace,
    PoseTrack,
    SE2Space,
    SE3Space,
    integrate,
)
from egoequiv.pose.additive import OVER_TIME
from egoequiv.pose.clock import Nanoseconds
from egoequiv.pose.conventions import QUATERNION_ORDERS, are_unit_quaternions, parse_transform
from egoequiv.remarks import Remark
from egoequiv.sources import table_columns as usual
from egoequiv.sources.oxts import mercator_m
from egoequiv.sources.table_columns import Word, declared, find, find_family, words_of
from egoequiv.sources.table_grid import grid_of
from egoequiv.sources.table_settings import TableSettings
from egoequiv.sources.table_units import in_degrees, in_metres, in_mps, turn_of
from egoequiv.sources.tables import Table

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """The columns that the motion is read from."""

    kind: str  # pose, plane, rates, angles, columns, none
    position: tuple[str, ...] = ()  # x, y and perhaps z; or latitude, longitude and perhaps altitude
    rotation: tuple[str, ...] = ()  # four of a quaternion; roll, pitch, yaw; or yaw
    columns: tuple[str, ...] = ()  # of rates, angles and columns
    order: str = "xyzw"
    is_gps: bool = False

    @property
    def is_drive(self) -> bool:
        """Whether its rates are a speed and a yaw rate."""
        return self.kind == "rates" and _is_drive(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.position, *self.rotation, *self.columns)


@dataclass(frozen=True)
class Motion:
    """The motion of all rows of a table, in metres and degrees, and the space that it lives in."""

    choice: Choice
    space: MotionSpace
    values: Array  # (N, K) as `columns` has them before they are integrated or turned
    good: NDArray[np.bool_]  # (N,)
    settings: TableSettings
    convention: str = ""
    notes: list[str] = field(default_factory=list)
    periods: tuple[float, ...] = ()  # of values that are angles and go round; 0 for others

    def track(self, rows: Indices, stamps: Nanoseconds | None, where: str) -> PoseTrack | ColumnTrack:
        """The rows (K,) of one recording as a track in the columns of the space; without stamps, one row a second.

        Rows in order of time follow an angle past a whole turn. Views without times may be in any order, so their
        angles stay as they are.
        """
        values = self.values[rows]
        times_ns = np.arange(len(rows)) * 10**9 if stamps is None else stamps
        places = len(self.choice.position)
        if self.choice.is_gps and len(values):
            values[:, :2] = np.stack(mercator_m(values[:, 0], values[:, 1]), axis=1)
            values[:, :places] -= values[0, :places]
        if self.choice.kind == "pose":
            position = np.zeros((len(values), 3))
            position[:, :places] = values[:, :places]
            mount = parse_transform(self.settings.mount, "mount") if self.settings.mount else None
            axes = self.settings.axes or "ros"
            return PoseTrack.of(times_ns, position, values[:, places:], where, axes=axes, mount=mount)
        for place, period in enumerate(self.periods):
            if period and stamps is not None:
                values[:, place] = np.unwrap(values[:, place], period=period)
        if self.choice.kind == "rates":
            times_s = (times_ns - times_ns[:1]) / 1e9
            values = np.stack([integrate(rate, times_s) for rate in values.T], axis=1)
        return ColumnTrack(times_ns, values, self.space.pose_names)


def choose_columns(table: Table, settings: TableSettings, taken: set[str], has_time: bool) -> Choice:
    """The columns of the motion: those that are declared, or those with usual names that say most."""
    if settings.columns:
        return Choice("columns", columns=declared(table, settings.columns, "columns"))
    if settings.rates:
        return Choice("rates", columns=_rates(declared(table, settings.rates, "rates")))
    words = [word for word in words_of(table) if word.name not in taken and table.is_numeric(word.name)]
    position, rotation, is_gps = _position(table, words, settings), _rotation(table, words, settings), False
    if not position:
        position, is_gps = _gps(words), True
    elif re.fullmatch(usual.LATITUDE[0], Word.of(position[0]).plain):
        is_gps = True
    order = settings.quaternion if settings.rotation else "xyzw"
    if position and rotation:
        flat = (len(position), len(rotation)) == (2, 1) and not settings.mount and not settings.axes
        return Choice("plane" if flat else "pose", position, rotation, order=order, is_gps=is_gps)
    if len(rotation) == 4:
        return Choice("pose", (), rotation, order=order)
    speed, yaw_rate = find(words, usual.SPEED), find(words, usual.YAW_RATE)
    if speed and yaw_rate and has_time:
        return Choice("rates", columns=(speed, yaw_rate))
    angles = tuple(name for name in (find(words, usual.ELEVATION), find(words, usual.AZIMUTH)) if name)
    if angles and not position:
        return Choice("angles", columns=angles)
    if position:
        return Choice("columns", position, is_gps=is_gps)
    return _controls(words) if not rotation else Choice("columns", columns=rotation)


def _rates(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Declared rates; a speed and a yaw rate come in this order."""
    return columns[::-1] if _is_drive(columns[::-1]) else columns


def _is_drive(columns: tuple[str, ...]) -> bool:
    words = [Word.of(name) for name in columns]
    return len(words) == 2 and bool(find(words[:1], usual.SPEED) and find(words[1:], usual.YAW_RATE))


def _controls(words: list[Word]) -> Choice:
    """Steering, throttle, speed and the like."""
    controls = tuple(word.name for word in words if re.fullmatch(usual.CONTROLS[0], word.plain))
    return Choice("columns", columns=controls) if controls else Choice("none")


def _position(table: Table, words: list[Word], settings: TableSettings) -> tuple[str, ...]:
    if settings.position:
        return declared(table, settings.position, "position", (2, 3))
    return find_family(words, usual.POSITION, ("x", "y", "z"))


def _rotation(table: Table, words: list[Word], settings: TableSettings) -> tuple[str, ...]:
    if settings.rotation:
        return declared(table, settings.rotation, "rotation", (1, 3, 4))
    quaternion = find_family(words, usual.QUATERNION, ("x", "y", "z", "w"))
    if len(quaternion) == 4:
        return quaternion
    angles = find_family(words, usual.YAW, ("yaw", "pitch", "roll"))
    yaw = find(words, usual.YAW)
    return angles[::-1] if len(angles) == 3 else (yaw,) if yaw else ()


def _gps(words: list[Word]) -> tuple[str, ...]:
    found = tuple(find(words, one) for one in (usual.LATITUDE, usual.LONGITUDE, usual.ALTITUDE))
    return tuple(name for name in found if name) if found[0] and found[1] else ()


def read_motion(table: Table, choice: Choice, settings: TableSettings, groups: Indices) -> Motion:
    """The values of the chosen columns in metres, degrees and unit quaternions; rows without them are counted.

    Args:
        table: the table.
        choice: its columns.
        settings: units and conventions.
        groups: (N,) the recording of each row; a turntable shows each angle once in a recording.

    """
    notes: list[str] = []
    values = _values(table, choice, settings, notes)
    grid = None
    if choice.kind == "angles":
        known = values[np.isfinite(values).all(axis=1)]
        moving = np.flatnonzero(np.ptp(known, axis=0)) if len(known) else np.arange(len(choice.columns))
        columns = tuple(choice.columns[k] for k in moving)
        grid = grid_of(values[:, moving], columns, groups)
        if grid is not None:
            choice, values = replace(choice, columns=columns), values[:, moving]
        else:
            words = [word for word in words_of(table) if table.is_numeric(word.name)]
            choice = Choice("columns", columns=tuple(dict.fromkeys((*choice.columns, *_controls(words).columns))))
            values, notes = _values(table, choice, settings, []), []
            notes.append(
                Remark(
                    f"{', '.join(choice.columns)}: not in even steps with each angle once in a recording, so they are "
                    "columns and not a turntable"
                )
            )
    good: NDArray[np.bool_] = np.asarray(np.isfinite(values).all(axis=1))
    if len(good) and not good.any():
        raise DataError(f"{table.path.name} has no row with a usable number in each of {', '.join(choice.names)}")
    if not good.all():
        first = table.lines[int(np.flatnonzero(~good)[0])]
        notes.append(
            f"{table.path.name}: {int((~good).sum())} of {len(good)} rows left out, without a usable number in each of "
            f"{', '.join(choice.names)} (the first in line {first})"
        )
    periods = _periods(choice, values[good], settings)
    notes += [
        Remark(f"{name}: an angle, a whole turn is {period:.4g}; motions go the shorter way round")
        for name, period in zip(choice.columns, periods, strict=False)
        if period
    ]
    space = grid or _space(choice, periods)
    return Motion(choice, space, values, good, settings, _in_words(choice, space, settings), notes, periods)


def _periods(choice: Choice, values: Array, settings: TableSettings) -> tuple[float, ...]:
    """A whole turn for each value that is an angle and goes round, 0 for others; () where there is none."""
    if choice.kind == "plane":
        return 0.0, 0.0, 360.0
    if choice.kind != "columns" or choice.position:
        return ()
    turns = (turn_of(column, Word.of(name), settings) for column, name in zip(values.T, choice.columns, strict=True))
    periods = tuple(turns)
    return periods if any(periods) else ()


def _values(table: Table, choice: Choice, settings: TableSettings, notes: list[str]) -> Array:
    """The numbers of the chosen columns, (N, K), in the units of a store; not a number where a row has none."""
    raw = {name: table.numbers(name).astype(np.float64) for name in choice.names}
    if choice.is_gps:
        parts = _on_earth([raw[name] for name in choice.position])
    else:
        parts = [in_metres(raw[name], Word.of(name), settings) for name in choice.position]
    if len(choice.rotation) == 4:
        parts += list(_quaternions(np.stack([raw[name] for name in choice.rotation], axis=1), choice.order).T)
    elif choice.rotation:
        angles = in_degrees([raw[name] for name in choice.rotation], choice.rotation, settings, notes)
        parts += list(_euler(angles).T) if choice.kind == "pose" else angles
    if choice.is_drive:
        speed, rate = choice.columns
        parts += [in_mps(raw[speed], Word.of(speed)), *in_degrees([raw[rate]], (rate,), settings, notes, is_rate=True)]
    elif choice.kind == "angles":
        parts += in_degrees([raw[name] for name in choice.columns], choice.columns, settings, notes)
    else:
        parts += [raw[name] for name in choice.columns]
    return np.stack(parts, axis=1) if parts else np.empty((len(table), 0))


def _on_earth(parts: list[Array]) -> list[Array]:
    """Latitude and longitude in degrees; not numbers where they are no place, such as 0, 0 before the first fix."""
    lat, lon, *rest = parts
    known = (np.abs(lat) < 90) & (np.abs(lon) <= 540) & ((lat != 0) | (lon != 0))
    return [np.where(known, lat, np.nan), np.where(known, lon, np.nan), *rest]


def _quaternions(values: Array, order: str) -> Array:
    """Rotations as x y z w; not numbers where they do not have length 1."""
    if order not in QUATERNION_ORDERS:
        raise ConfigError(f"quaternion={order}: expected {' or '.join(QUATERNION_ORDERS)}")
    known = np.where(are_unit_quaternions(values)[:, None], values, np.nan)
    return known if order == "xyzw" else known[:, [1, 2, 3, 0]]


def _euler(angles_deg: list[Array]) -> Array:
    """Quaternions (N, 4) of roll, pitch and yaw, or of yaw alone: turned about z, then y, then x."""
    from scipy.spatial.transform import Rotation

    roll, pitch, yaw = angles_deg if len(angles_deg) == 3 else [np.zeros_like(angles_deg[0])] * 2 + angles_deg
    turned = np.stack([yaw, pitch, roll], axis=1)
    found = Rotation.from_euler("ZYX", np.nan_to_num(turned), degrees=True).as_quat()
    return np.where(np.isfinite(turned).all(axis=1, keepdims=True), found, np.nan)


def _space(choice: Choice, periods: tuple[float, ...]) -> MotionSpace:
    if choice.kind in ("pose", "plane"):
        return SE3Space() if choice.kind == "pose" else SE2Space()
    if choice.is_drive:
        return PlanarSpace()
    if not choice.names:
        return NoMotion()
    if choice.position:
        return ColumnsSpace(CAMERA_POSES[: len(choice.position)])
    names = tuple(Word.of(name).column for name in choice.columns)
    if choice.kind == "rates":
        names = tuple(f"{name}{OVER_TIME}" for name in names)
    return ColumnsSpace(names if len(set(names)) == len(names) else choice.columns, periods)


def _in_words(choice: Choice, space: MotionSpace, settings: TableSettings) -> str:
    """One sentence: which columns, and how they were read."""
    names = ", ".join(choice.names)
    place = "positions from latitude and longitude (Mercator, metres east and north of the first)"
    place = place if choice.is_gps else "positions in metres"
    if choice.kind == "pose":
        turned = f"quaternion {choice.order}" if len(choice.rotation) == 4 else "angles about z, y and x (yaw first)"
        mount = ", then turned by mount" if settings.mount else ""
        return f"{names}: T_world_camera, {place}, {turned}, axes {settings.axes or 'ros'}{mount}"
    if choice.kind == "plane":
        return f"{names}: poses in the plane, {place}, yaw in degrees, counter-clockwise"
    if choice.kind == "rates":
        return f"{names}: rates, integrated over time by the trapezium rule"
    if choice.kind == "angles":
        return f"{names}: a turntable in even steps, growing angles are called up and right"
    return f"{names}: columns as they are; the motion is the change of each" if space.axes else ""
