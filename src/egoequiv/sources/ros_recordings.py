"""One bag as one recording: a camera and a motion are chosen, read in one pass, and brought to one clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from egoequiv.errors import DataError
from egoequiv.pose import ColumnsSpace, MotionSpace, NoMotion, SE3Space
from egoequiv.pose.clock import Nanoseconds, read_clock
from egoequiv.pose.track import ColumnTrack, PoseTrack
from egoequiv.remarks import Remark
from egoequiv.sources.logged import (
    FrameReader,
    LoggedRecording,
    Timing,
    seconds_since_first,
    start_of,
    values_at_frames,
)
from egoequiv.sources.recording import Listed
from egoequiv.sources.ros_bags import BagPath, Topic, open_bag
from egoequiv.sources.ros_images import BagImages, NoPictures
from egoequiv.sources.ros_lenses import camera_lens
from egoequiv.sources.ros_motion import CameraMotion, PoseWish, column_track, motion_from_tf, motion_from_topic
from egoequiv.sources.ros_streams import (
    Numbers,
    StampChoice,
    Stream,
    camera_numbers,
    column_number,
    decide_clock,
    pose_numbers,
    read_streams,
    split_column,
)
from egoequiv.sources.ros_topics import Camera, Topics


@dataclass(frozen=True)
class Wishes:
    """The settings of a user."""

    camera: str
    pose: PoseWish
    columns: tuple[str, ...]
    rates: tuple[str, ...]
    stamps: StampChoice
    timing: Timing


@dataclass(frozen=True)
class BagRecording:
    """A bag as a recording, with what a source says about it."""

    recording: LoggedRecording
    space: MotionSpace
    has_images: bool
    convention: str
    listed: list[Listed]
    notes: list[str]


@dataclass
class _Choice:
    """What is read of a bag."""

    topics: Topics
    camera: Camera | None
    poses: Topic | None
    columns: dict[str, tuple[str, ...]]  # by topic
    uses_tf: bool
    notes: list[str] = field(default_factory=list)

    def numbers(self) -> dict[str, Numbers]:
        """The topics to read, and what is kept of their messages."""
        found: dict[str, Numbers] = {topic: _numbers(topic, self) for topic in self.columns}
        if self.poses is not None:
            found[self.poses.name] = pose_numbers
        if self.camera is not None:
            found[self.camera.topic.name] = camera_numbers
        return found

    @property
    def used(self) -> list[str]:
        return [*self.numbers(), *(["tf"] if self.uses_tf else [])]


@dataclass(frozen=True)
class _Motion:
    tracks: list[PoseTrack] | list[ColumnTrack]
    space: MotionSpace
    convention: str


def read_bag(path: BagPath, wishes: Wishes) -> BagRecording:
    """Read the tables and stamps of a bag; no picture is decoded."""
    choice = _choose(path, wishes)
    bag, notes = choice.topics.bag, choice.notes
    streams = read_streams(bag, choice.numbers(), notes)
    for stream in streams.values():
        if not len(stream):
            raise DataError(f"{stream.where}: no message can be read{f': {stream.broken[0]}' if stream.broken else ''}")
    by_header = decide_clock(list(streams.values()), wishes.stamps, notes)
    motion = _motion(choice, streams, by_header, wishes)
    reader: FrameReader
    if choice.camera is not None:
        stream = streams[choice.camera.topic.name]
        times, rows = stream.clock(by_header)
        clock = read_clock(times, stream.where, "ns")
        rows, frame_ns = rows[clock.rows], clock.times_ns
        notes.extend([*stream.notes(by_header), *clock.notes])
        log_ns, repeat = (np.array(values, np.int64)[rows] for values in (stream.log_ns, stream.repeat))
        reader = BagImages(path.path, choice.camera.topic.name, log_ns, repeat, bag.is_indexed)
        timing = wishes.timing
    elif motion.tracks:
        frame_ns, timing = motion.tracks[0].times_ns, replace(wishes.timing, offset_s=0.0)
        reader = NoPictures(path.path, len(frame_ns))
        if wishes.camera != "none":
            notes.append(Remark(f"{path.path} has no pictures that can be read: its motion alone is read"))
    else:
        have = ", ".join(f"{one.name} ({one.kind.replace('/msg/', '/')})" for one in choice.topics.all)
        raise DataError(f"{path.path} has no camera and no poses to read; its topics are: {have or 'none'}")
    recording = _recording(path, choice, reader, frame_ns, motion, timing)
    listed = choice.topics.listed(choice.used)
    return BagRecording(recording, motion.space, choice.camera is not None, motion.convention, listed, notes)


def _choose(path: BagPath, wishes: Wishes) -> _Choice:
    """The camera, and one kind of motion: columns if they are named, else a topic of poses, else tf."""
    bag = open_bag(path.path)
    topics = Topics(bag)
    notes = list(bag.notes)
    camera = topics.choose_camera(wishes.camera, notes)
    columns: dict[str, tuple[str, ...]] = {}
    for column in wishes.columns:
        topic, _ = split_column(column, topics)
        columns[topic] = (*columns.get(topic, ()), column)
    poses = None
    if not columns and not wishes.pose.is_tf and wishes.pose.poses != "none":
        poses = topics.choose_poses(wishes.pose.poses, notes)
    no_other = wishes.pose.poses == "auto" and poses is None and bool(topics.tf)
    return _Choice(topics, camera, poses, columns, not columns and (wishes.pose.is_tf or no_other), notes)


def _numbers(topic: str, choice: _Choice) -> Numbers:
    paths = [(split_column(column, choice.topics)[1], column) for column in choice.columns[topic]]
    return lambda message: [column_number(message, path, column) for path, column in paths]


def _motion(choice: _Choice, streams: dict[str, Stream], by_header: bool, wishes: Wishes) -> _Motion:
    if choice.columns:
        tracks = [
            column_track(streams[topic], by_header, names, wishes.rates, wishes.timing.max_gap_s, choice.notes)
            for topic, names in choice.columns.items()
        ]
        names = tuple(name for track in tracks for name in track.names)
        integrated = f"; integrated over time: {', '.join(wishes.rates)}" if wishes.rates else ""
        return _Motion(tracks, ColumnsSpace(names), f"columns {', '.join(names)}{integrated}")
    found = _camera_motion(choice, streams, by_header, wishes)
    if found is None:
        could = [one.choose for one in choice.topics.listed(()) if one.kind == "columns"]
        if could and wishes.pose.poses != "none":
            choice.notes.append(
                Remark(f"{choice.topics.bag.path} has no poses; columns can be the motion: --read {could[0]}")
            )
        return _Motion([], NoMotion(), "")
    choice.notes.extend(found.notes)
    return _Motion([found.track], SE3Space(), found.convention)


def _camera_motion(choice: _Choice, streams: dict[str, Stream], by_header: bool, wishes: Wishes) -> CameraMotion | None:
    frame = choice.camera.frame if choice.camera is not None else ""
    if choice.poses is not None:
        stream = streams[choice.poses.name]
        return motion_from_topic(choice.topics, choice.poses, stream, by_header, wishes.pose, frame)
    if not choice.uses_tf:
        return None
    if not streams:
        by_header = wishes.stamps != "receive"
    try:
        return motion_from_tf(choice.topics, by_header, wishes.pose, frame)
    except DataError as problem:
        if wishes.pose.is_tf or choice.camera is None:
            raise
        choice.notes.append(f"no poses: {problem}")
        return None


def _recording(
    path: BagPath, choice: _Choice, reader: FrameReader, frame_ns: Nanoseconds, motion: _Motion, timing: Timing
) -> LoggedRecording:
    """The frames at which all of the motion is known."""
    rows = np.arange(len(frame_ns))
    values = np.zeros((len(frame_ns), 0))
    for track in motion.tracks:
        found, kept, notes = values_at_frames(track, frame_ns[rows], timing, f"{path.path}")
        if not len(kept):
            raise DataError(
                f"{path.path}: no frame has a pose: frames are from {_span(frame_ns)}, the motion from "
                f"{_span(track.times_ns)}: check --read stamps=receive, offset_s or max_gap_s"
            )
        rows, values = rows[kept], np.concatenate([values[kept], found], axis=1)
        choice.notes.extend(notes)
    if len(rows) < 2:
        raise DataError(f"{path.path} has {len(rows)} usable frame, and motion needs two")
    attributes = start_of(frame_ns[rows])
    lens = None if choice.camera is None else camera_lens(choice.topics, choice.camera, choice.notes)
    times_s = seconds_since_first(frame_ns[rows])
    return LoggedRecording(path.name, values, times_s, reader, rows, attributes=attributes, lens=lens)


def _span(times_ns: Nanoseconds) -> str:
    return f"{times_ns[0] / 1e9:.3f} to {times_ns[-1] / 1e9:.3f} s"
