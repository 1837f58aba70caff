"""Faults of the motion of a log: its clock, signs, axes, quaternions and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from egoequiv.doctor.changed import Case, changed
from egoequiv.errors import ConfigError
from egoequiv.pose import CAMERA_POSES, ColumnTrack, PoseTrack, SE3Space
from egoequiv.sources.recording import Recording

Array = NDArray[np.float64]

ROTATION_AXES = {"roll": 3, "pitch": 4, "yaw": 5}  # components of a motion of SE3Space: metres, then degrees
TRANSLATION_AXES = {"forward": 0, "left": 1, "up": 2}
_PLANAR = {"forward_m": 0, "yaw_deg": 5}  # columns that say again what a rigid pose says: the sum of that component


def clock_offset(case: Case, *, offset_s: float = 0.3) -> Recording:
    """Poses whose stamps are `offset_s` too late: each frame gets the pose of so many seconds before.

    Frames whose pose is then not known, mostly at one end, are left out. The setting `offset_s=-OFFSET` of a source
    repairs it.
    """
    recording, names = case.recording, case.names
    if recording.times_s is None:
        raise ConfigError(f"{recording.name}: a clock offset needs times")
    times_ns = np.round(recording.times_s * 1e9).astype(np.int64)
    asked_ns = times_ns - round(offset_s * 1e9)
    poses, known = np.array(recording.poses), np.ones(len(recording), bool)
    rigid = _rigid(names)
    if rigid is not None:
        where = poses[:, rigid]
        poses[:, rigid], known = PoseTrack.of(times_ns, where[:, :3], where[:, 3:], recording.name).at(asked_ns)
    rest = [k for k in range(len(names)) if rigid is None or k not in rigid]
    if rest:
        values = np.array(recording.poses[:, rest])
        for column, k in enumerate(rest):
            if names[k].endswith("_deg"):
                values[:, column] = np.unwrap(values[:, column], period=360.0)
        poses[:, rest], also = ColumnTrack(times_ns, values, tuple(names[k] for k in rest)).at(asked_ns)
        known = known & also
    return changed(recording, frames=np.flatnonzero(known), poses=poses)


def flipped(case: Case, *, axis: str = "yaw") -> Recording:
    """One component of the camera's motion with the wrong sign: roll, pitch, yaw, forward, left or up."""
    recording, names = case.recording, case.names
    component = {**ROTATION_AXES, **TRANSLATION_AXES}.get(axis)
    if component is None:
        raise ConfigError(f"axis {axis!r}: expected {', '.join([*ROTATION_AXES, *TRANSLATION_AXES])}")
    sign = np.ones(6)
    sign[component] = -1.0
    return changed(recording, poses=_moved_otherwise(recording, names, lambda motion: motion * sign))


def permuted_axes(case: Case, *, axes: NDArray[np.int64] | None = None) -> Recording:
    """Camera axes that point elsewhere: R_world_camera times a signed permutation (3, 3), by default one drawn."""
    recording, names = case.recording, case.names
    if axes is None:
        choices = axis_permutations()
        axes = choices[int(np.random.default_rng(case.seed).integers(1, len(choices)))]
    turn = np.asarray(axes, np.float64)
    # A motion t, w in the old axes is P^T t, P^T w in the new ones.
    return changed(
        recording,
        poses=_moved_otherwise(
            recording, names, lambda motion: np.hstack([motion[:, :3] @ turn, motion[:, 3:] @ turn]), start=turn
        ),
    )


def backwards_mount(case: Case) -> Recording:
    """Poses of a camera that looks back: turned by half a turn about its upward axis."""
    return permuted_axes(case, axes=np.diag([-1, -1, 1]))


def quaternion_order(case: Case) -> Recording:
    """Quaternions w x y z that were read as x y z w."""
    recording, names = case.recording, case.names
    rigid = _rigid(names)
    if rigid is None:
        raise ConfigError(f"{recording.name}: the fault needs quaternions, found the columns {', '.join(names)}")
    poses = np.array(recording.poses)
    read = np.roll(poses[:, rigid[3:]], 1, axis=1)
    poses[:, rigid[3:]] = read * np.where(read[:, 3:] < 0, -1.0, 1.0)
    motion = SE3Space().difference(poses[:-1, rigid], poses[1:, rigid])
    return changed(recording, poses=_with_sums(poses, names, motion))


def radians_as_degrees(case: Case, *, inverse: bool = False) -> Recording:
    """Angles in radians that were taken for degrees, so that they are 57 times too small (`inverse`: too large)."""
    recording, names = case.recording, case.names
    factor = np.rad2deg(1.0) if inverse else np.deg2rad(1.0)
    scale = np.array([1.0, 1.0, 1.0, factor, factor, factor])
    poses = np.array(recording.poses)
    if _rigid(names) is not None or "yaw_deg" in names:
        poses = _moved_otherwise(recording, names, lambda motion: motion * scale)
    others = [k for k, name in enumerate(names) if name.endswith(("_deg", "_rad")) and name not in _PLANAR]
    if not others and _rigid(names) is None and "yaw_deg" not in names:
        raise ConfigError(f"{recording.name}: the fault needs angles, found the columns {', '.join(names)}")
    poses[:, others] *= factor
    return changed(recording, poses=poses)


def axis_permutations() -> list[NDArray[np.int64]]:
    """The 24 signed permutations that are rotations, the identity first."""
    found = []
    for order, signs in product(permutations(range(3)), product((1, -1), repeat=3)):
        matrix = np.eye(3, dtype=np.int64)[list(order)] * np.array(signs)
        if round(float(np.linalg.det(matrix))) == 1:
            found.append(matrix)
    return found


def _rigid(names: Sequence[str]) -> list[int] | None:
    """The columns of the rigid pose, if there is one."""
    return [list(names).index(name) for name in CAMERA_POSES] if set(CAMERA_POSES) <= set(names) else None


def _moved_otherwise(
    recording: Recording, names: Sequence[str], change: Callable[[Array], Array], start: Array | None = None
) -> Array:
    """Poses with each motion from frame to frame (N - 1, 6) changed, in all columns that hold it; (N, P).

    The first orientation is turned by `start` (3, 3), about the camera's own axes.
    """
    rigid, poses = _rigid(names), np.array(recording.poses)
    if rigid is None and ("x_m" in names or not set(_PLANAR) & set(names)):
        raise ConfigError(f"{recording.name}: the fault needs poses of a camera, found the columns {', '.join(names)}")
    motion = np.zeros((max(len(poses) - 1, 0), 6))
    if rigid is not None:
        motion = SE3Space().difference(poses[:-1, rigid], poses[1:, rigid])
        poses[:, rigid] = _chained(poses[0, rigid], change(motion), start)
    for name, component in _PLANAR.items():
        if name in names:
            motion[:, component] = np.diff(recording.poses[:, list(names).index(name)])
    return _with_sums(poses, names, change(motion))


def _chained(first: Array, motions: Array, start: Array | None) -> Array:
    """Poses (N, 7) that begin at `first` (7,) and move by `motions` (N - 1, 6), each seen from the pose before it."""
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_rotvec(motions[:, 3:], degrees=True).as_matrix().reshape(-1, 3, 3)
    rotation = Rotation.from_quat(first[3:]).as_matrix() @ (np.eye(3) if start is None else start)
    position, positions, rotations = first[:3], [first[:3]], [rotation]
    for shift, turn in zip(motions[:, :3], turns, strict=True):
        position, rotation = position + rotation @ shift, rotation @ turn
        positions.append(position)
        rotations.append(rotation)
    quaternion = Rotation.from_matrix(np.array(rotations)).as_quat()
    return np.hstack([np.array(positions), quaternion * np.where(quaternion[:, 3:] < 0, -1.0, 1.0)])


def _with_sums(poses: Array, names: Sequence[str], motion: Array) -> Array:
    """Poses whose columns of distance and heading, if there are any, are the sums of motions (N - 1, 6)."""
    poses = np.array(poses)
    for name, component in _PLANAR.items():
        if name in names and len(poses):
            column = list(names).index(name)
            poses[1:, column] = poses[0, column] + np.cumsum(motion[:, component])
    return poses
