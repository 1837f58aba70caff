"""Poses of a camera and the motions between them."""

from egoequiv.pose.space import Axis, GridSpace, MotionSpace, space_from_description

__all__ = ["Axis", "GridSpace", "MotionSpace", "space_from_description"]
