"""Transforms between named frames of ROS (tf): which are fixed, and the way from one frame to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose.clock import Nanoseconds, read_clock
from egoequiv.pose.conventions import are_unit_quaternions
from egoequiv.pose.track import PoseTrack

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

_MOST = 1e12  # metres
_STILL = 1e-9  # metres and quaternion units; what is published again and again with less change than this is fixed


@dataclass(frozen=True)
class Link:
    """T_parent_child: fixed, or a track."""

    parent: str
    child: str
    track: PoseTrack  # of one pose where it is fixed
    notes: tuple[str, ...] = ()

    @property
    def is_fixed(self) -> bool:
        return len(self.track.times_ns) == 1

    def at(self, times_ns: Nanoseconds) -> tuple[Array, Rotation, NDArray[np.bool_]]:
        """Positions (Q, 3) and rotations of the child in the parent, and which are known."""
        from scipy.spatial.transform import Rotation

        if self.is_fixed:
            poses = np.repeat(np.hstack([self.track.position_m, self.track.quaternion]), len(times_ns), axis=0)
            known = np.ones(len(times_ns), bool)
        else:
            poses, known = self.track.at(times_ns, interpolation="linear")
        return poses[:, :3], Rotation.from_quat(poses[:, 3:]), known


@dataclass
class FrameTree:
    """All links of a bag, each by its child; a frame has one parent."""

    links: dict[str, Link] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def root_of(self, frame: str) -> str:
        """The frame at the top of the tree that a frame belongs to."""
        return self._way_up(frame)[-1]

    def _way_up(self, frame: str) -> list[str]:
        """A frame, its parent, and so on; it ends where frames go round in a circle."""
        way = [frame]
        while way[-1] in self.links and self.links[way[-1]].parent not in way:
            way.append(self.links[way[-1]].parent)
        return way

    def chain(self, outer: str, inner: str) -> tuple[list[Link], list[Link]] | None:
        """The links to walk back and those to walk on, from frame `outer` to frame `inner`; None if there is no way."""
        up, down = self._way_up(outer), self._way_up(inner)
        common = next((frame for frame in down if frame in up), None)
        if common is None:
            return None
        back = [self.links[frame] for frame in up[: up.index(common)]]
        on = [self.links[frame] for frame in down[: down.index(common)]]
        return back, on[::-1]

    def fixed(self, outer: str, inner: str) -> Array | None:
        """T_outer_inner (4, 4), if all links on the way are fixed."""
        chain = self.chain(outer, inner)
        if chain is None or not all(link.is_fixed for part in chain for link in part):
            return None
        position, rotation, _ = _walk(chain, np.zeros(1, np.int64))
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rotation.as_matrix()[0], position[0]
        return matrix

    def notes_between(self, outer: str, inner: str) -> list[str]:
        """What is to be said of the links on the way from one frame to another."""
        return [note for part in self.chain(outer, inner) or () for link in part for note in link.notes]

    def track(self, outer: str, inner: str, where: str) -> PoseTrack:
        """T_outer_inner over time, at the stamps of the link on the way that has the most of them."""
        chain = self.chain(outer, inner)
        if chain is None:
            known = ", ".join(sorted({name for link in self.links.values() for name in (link.parent, link.child)}))
            raise DataError(
                f"{where}: no transforms lead from {outer!r} to {inner!r}; the frames are: {known or 'none'}"
            )
        moving = [link for part in chain for link in part if not link.is_fixed]
        if not moving:
            why = "".join(f" ({note})" for note in self.notes_between(outer, inner)[:1])
            raise DataError(f"{where}: {inner!r} never moves in {outer!r}: all transforms between them are fixed{why}")
        self.notes.extend(self.notes_between(outer, inner))
        times = max((link.track.times_ns for link in moving), key=len)
        position, rotation, known_rows = _walk(chain, times)
        if not known_rows.any():
            raise DataError(f"{where}: the transforms from {outer!r} to {inner!r} have no time in common")
        track = PoseTrack.of(times, position, rotation.as_quat(), where)
        return PoseTrack(times[known_rows], track.position_m[known_rows], track.quaternion[known_rows])


def _walk(chain: tuple[list[Link], list[Link]], times_ns: Nanoseconds) -> tuple[Array, Rotation, NDArray[np.bool_]]:
    """T_outer_inner at times (Q,), and where all links are known."""
    from scipy.spatial.transform import Rotation

    position = np.zeros((len(times_ns), 3))
    rotation = Rotation.from_quat(np.tile([0.0, 0.0, 0.0, 1.0], (len(times_ns), 1)))
    known = np.ones(len(times_ns), bool)
    for number, part in enumerate(chain):
        for link in part:
            place, turn, here = link.at(times_ns)
            if number == 0:  # from child to parent
                turn = turn.inv()
                place = -turn.apply(place)
            position = position + rotation.apply(place)
            rotation = rotation * turn
            known &= here
    return position, rotation, known


def plain_name(frame: str) -> str:
    """The name of a frame without the slash that ROS 1 put before it."""
    return frame.lstrip("/")


def is_optical(frame: str) -> bool:
    """Whether a frame has the axes of OpenCV: x right, y down, z forward. By convention its name says so."""
    return "optical" in frame.lower()


def build_tree(transforms: Iterable[tuple[int, bool, Any]], where: str) -> FrameTree:
    """The tree of frames from TransformStamped messages.

    Args:
        transforms: time in ns, whether it is fixed (from /tf_static), and the message.
        where: the bag, for messages.

    """
    rows: dict[str, dict[str, list[tuple[int, bool, list[float]]]]] = {}
    for time, fixed, one in transforms:
        parent, child = plain_name(one.header.frame_id), plain_name(one.child_frame_id)
        at, turn = one.transform.translation, one.transform.rotation
        rows.setdefault(child, {}).setdefault(parent, []).append(
            (time, fixed, [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w])
        )
    tree = FrameTree()
    for child, parents in rows.items():
        parent = max(parents, key=lambda name: len(parents[name]))
        if len(parents) > 1:
            others = ", ".join(sorted(set(parents) - {parent}))
            tree.notes.append(f"{where}: frame {child!r} has parent {parent!r} and also {others}: the first is used")
        link = _link(parent, child, parents[parent], where)
        if link is None:
            tree.notes.append(f"{where}: no transform {parent} -> {child} is rigid (NaN or a zero quaternion)")
        else:
            tree.links[child] = link
    return tree


def _link(parent: str, child: str, rows: list[tuple[int, bool, list[float]]], where: str) -> Link | None:
    name = f"{where}, transform {parent} -> {child}"
    values = np.array([row[2] for row in rows])
    good = usable_poses(values)
    if not good.any():
        return None
    notes = []
    if not good.all():
        notes.append(f"{name}: {int((~good).sum())} of {len(good)} are not rigid (NaN or a zero quaternion); left out")
    values, times = values[good], np.array([row[0] for row in rows], np.int64)[good]
    if any(row[1] for row in rows) or np.abs(values - values[-1]).max() < _STILL:
        values, times = values[-1:], times[-1:]
    clock = read_clock(times, name, "ns")
    if len(clock.rows) == 1 < len(values):
        notes.append(
            f"{name}: {len(values)} transforms that differ have one stamp, so one of them counts for all times: if it "
            "moves, use the times at which they were received, --read stamps=receive"
        )
    values = values[clock.rows]
    track = PoseTrack.of(clock.times_ns, values[:, :3], values[:, 3:], name)
    return Link(parent, child, track, (*notes, *clock.notes))


def usable_poses(values: Array) -> NDArray[np.bool_]:
    """Which rows x y z qx qy qz qw (N, 7) are numbers of a plausible size and have a quaternion of length 1."""
    plausible = np.asarray((np.abs(values) < _MOST).all(axis=1))  # not where there is NaN
    good: NDArray[np.bool_] = plausible & are_unit_quaternions(values[:, 3:])
    return good
