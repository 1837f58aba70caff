"""Files on disk, read as recordings of frames with poses."""

from egoequiv.sources.colmap import colmap
from egoequiv.sources.donkey import donkey
from egoequiv.sources.euroc import euroc
from egoequiv.sources.kitti import kitti
from egoequiv.sources.kitti_odometry import kitti_odometry
from egoequiv.sources.lerobot import lerobot
from egoequiv.sources.norb import norb
from egoequiv.sources.phone import phone
from egoequiv.sources.recording import Frame, Recording, Source
from egoequiv.sources.ros import ros
from egoequiv.sources.scenes import scenes
from egoequiv.sources.seven_scenes import seven_scenes
from egoequiv.sources.table import table
from egoequiv.sources.transforms import transforms
from egoequiv.sources.tum import tum
from egoequiv.sources.video import video

__all__ = [
    "Frame",
    "Recording",
    "Source",
    "colmap",
    "donkey",
    "euroc",
    "kitti",
    "kitti_odometry",
    "lerobot",
    "norb",
    "phone",
    "ros",
    "scenes",
    "seven_scenes",
    "table",
    "transforms",
    "tum",
    "video",
]
