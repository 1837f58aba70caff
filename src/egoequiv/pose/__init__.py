"""Poses of a camera and the motions between them."""

from egoequiv.pose.additive import ColumnsSpace, NoMotion, PlanarSpace
from egoequiv.pose.driving import DRIVING_POSES, driving_poses, integrate
from egoequiv.pose.grid import Axis, GridSpace
from egoequiv.pose.rigid import SE2Space, SE3Space
from egoequiv.pose.space import MotionAxis, MotionSpace
from egoequiv.pose.spaces import SPACES, space_from_description, space_named

__all__ = [
    "DRIVING_POSES",
    "SPACES",
    "Axis",
    "ColumnsSpace",
    "GridSpace",
    "MotionAxis",
    "MotionSpace",
    "NoMotion",
    "PlanarSpace",
    "SE2Space",
    "SE3Space",
    "driving_poses",
    "integrate",
    "space_from_description",
    "space_named",
]
