"""Embedded worlds, rendered in process so that everything runs without a download.

What is drawn is in `toys`, `street` and `place`; how it is drawn is in `render`, which knows none of them.

- A toy is a function from a generator to parts, in the DESIGNS of its `toys/toy_*.py`; a category is such a file and a
  line in `toys/catalogue.py`.
- A building or another thing along a street is a function that returns faces, placed by `street/scenery.py`.
- A class of places is a function from dice to a scene, and a line in `place/classes.py`.
- A lighting of toys is a line in `render/lamps.py`.
"""

from egoequiv_worlds.drive import DriveRecording, drive
from egoequiv_worlds.folder_writer import write_class_folders
from egoequiv_worlds.kitti_writer import write_kitti_raw
from egoequiv_worlds.places import PlaceRecording, places
from egoequiv_worlds.turntable import TurntableRecording, turntable

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
