"""Files on disk, read as recordings of frames with poses."""

from egoequiv.sources.kitti import kitti
from egoequiv.sources.kitti_odometry import kitti_odometry
from egoequiv.sources.norb import norb
from egoequiv.sources.recording import Frame, Recording, Source
from egoequiv.sources.scenes import scenes
from egoequiv.sources.table import table

__all__ = ["Frame", "Recording", "Source", "kitti", "kitti_odometry", "norb", "scenes", "table"]
