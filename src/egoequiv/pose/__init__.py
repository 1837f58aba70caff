"""Poses of a camera and the motions between them."""

from egoequiv.pose.additive import ColumnsSpace, NoMotion, PlanarSpace
from egoequiv.pose.conventions import CONVENTIONS
from egoequiv.pose.driving import DRIVING_POSES, driving_poses, integrate
from egoequiv.pose.grid import Axis, GridSpace
from egoequiv.pose.rigid import SE2Space, SE3Space
from egoequiv.pose.scale_free import ScaleFreeSpace
from egoequiv.pose.space import MotionAxis, MotionSpace
from egoequiv.pose.spaces import SPACES, space_from_description, space_named
from egoequiv.pose.track import CAMERA_POSES, ColumnTrack, PoseTrack

__all__ = [
    "CAMERA_POSES",
    "CONVENTIONS",
    "DRIVING_POSES",
    "SPACES",
    "Axis",
    "ColumnTrack",
    "ColumnsSpace",
    "GridSpace",
    "MotionAxis",
    "MotionSpace",
    "NoMotion",
    "PlanarSpace",
    "PoseTrack",
    "SE2Space",
    "SE3Space",
    "ScaleFreeSpace",
    "driving_poses",
    "integrate",
    "space_from_description",
    "space_named",
]
