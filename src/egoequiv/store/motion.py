"""Which poses the frames of a log get: those of the log, or those that its pictures show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, get_args

from egoequiv.cache import program_digest
from egoequiv.engines import Engine
from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import NoMotion
from egoequiv.progress import Progress
from egoequiv.sources import Source

Poses = Literal["auto", "log", "visual", "sfm"]
SEEN = ("visual", "sfm")  # poses that are found in the pictures
FEWEST = 0.5  # of the frames must get a pose for poses that were not asked for to be used


@dataclass(frozen=True)
class MotionOptions:
    """Where the poses of frames come from."""

    # auto: visual for pictures with times and without poses, if OpenCV is there; else log. sfm: structure from motion.
    poses: Poses = "auto"
    view_deg: float | None = None  # the horizontal field of view of the camera; None: by the log, or guessed
    scale: str | None = None  # a column of the log that tells how long steps are, or `log`

    def __post_init__(self) -> None:
        if self.poses not in get_args(Poses):
            raise ConfigError(f"--poses {self.poses}: expected log, visual or sfm")
        if self.view_deg is not None and not 1 <= self.view_deg < 179:
            raise ConfigError(f"--fov {self.view_deg:g}: expected the horizontal field of view, 1 to 179 degrees")

    def are_visual(self, source: Source) -> bool:
        """Whether poses are found in the pictures of a source."""
        can_be = can_be_seen(source) and find_spec("cv2") is not None
        visual = self.poses in SEEN or (self.poses == "auto" and can_be)
        given = {"--fov": self.view_deg, "--scale": self.scale}
        if not visual and (unused := [name for name, value in given.items() if value is not None]):
            raise ConfigError(f"{unused[0]} is for poses that are seen in the pictures: add --poses visual")
        return visual

    def identity(self, source: Source) -> str:
        """What of these options decides the poses of a source, as text for a digest."""
        return repr((self, program_digest("odometry"))) if self.are_visual(source) else ""


def can_be_seen(source: Source) -> bool:
    """Whether a source has pictures in the order of time, and no motion of its own."""
    timed = bool(source.recordings) and all(one.times_s is not None for one in source.recordings)
    return source.has_images and timed and isinstance(source.space, NoMotion)


def with_motion(
    source: Source, options: MotionOptions, engine: Engine | None = None, on_progress: Progress | None = None
) -> Source:
    """A source with the poses that the options ask for.

    Args:
        source: as it was read from the log.
        options: whether its poses or those seen in the pictures are wanted.
        engine: where pictures are compared.
        on_progress: gets frames looked at and frames in all.

    Returns:
        The source itself; or one whose recordings may be cut where the pictures do not tell the motion.

    """
    if not options.are_visual(source):
        return source
    from egoequiv.odometry.sfm import sfm_poses
    from egoequiv.odometry.visual import visual_poses

    find = sfm_poses if options.poses == "sfm" else visual_poses
    try:
        seen = find(source, lens=options.view_deg, scale=options.scale, engine=engine, on_progress=on_progress)
    except DataError as problem:
        if options.poses in SEEN:
            raise
        return _remarked(source, f"no poses: {problem}")
    if options.poses in SEEN:
        return seen
    share = seen.frame_count / max(source.frame_count, 1)
    if share < FEWEST:
        why = f"the pictures tell the motion of {100 * share:.0f} % of the frames only"
        return _remarked(source, f"no poses: {why}; --poses visual takes these frames alone")
    return _remarked(seen, "the log has no poses: they are found in the pictures; --poses log does not use them")


def _remarked(source: Source, text: str) -> Source:
    return replace(source, remarks=(*source.remarks, text))
