"""Embedded worlds, rendered in process so that everything runs without a download."""

from egoequiv.worlds.drive import DriveRecording, drive
from egoequiv.worlds.folder_writer import write_class_folders
from egoequiv.worlds.kitti_writer import write_kitti_raw
from egoequiv.worlds.places import PlaceRecording, places
from egoequiv.worlds.turntable import TurntableRecording, turntable

__all__ = [
    "DriveRecording",
    "PlaceRecording",
    "TurntableRecording",
    "drive",
    "places",
    "turntable",
    "write_class_folders",
    "write_kitti_raw",
]
