"""Where the camera is mounted on the car, and its lens."""

from __future__ import annotations

CAMERA_UP_M = 1.65  # above the road
CAMERA_AHEAD_M = 1.08  # of the GPS/IMU
FOCAL_SHARE = 721.5 / 1242.0  # KITTI's focal length over the width of its pictures


def focal_px(width: int) -> float:
    """The focal length of pictures of a width, in pixels; the principal point is in their middle."""
    return FOCAL_SHARE * width
