"""Embedded worlds, rendered in process so that everything runs without a download.

What is drawn is in `toys`, `street` and `place`, and in `things` if more than one of them has it; how it is drawn is in
`render`, which knows none of them.

- A toy is a function from a generator to parts, in the DESIGNS of its `toys/toy_*.py`; a category is such a file and a
  line in `toys/__init__.py`.
- A kind of house is a function that puts solids at a spot, in the HOUSES of `things/buildings.py`; both the drive and
  the places then have it.
- A class of places is a function from dice to a scene, and a line in `place/__init__.py`.
- A lighting of toys is a line in `render/studio.py`; a paint is a function in `render/paints.py` and its pattern in
  `render/painting.py`.
"""

from egoequiv_worlds.drive import DriveRecording, drive
from egoequiv_worlds.places import PlaceRecording, places
from egoequiv_worlds.turntable import TurntableRecording, turntable
from egoequiv_worlds.writers import write_class_folders, write_kitti_raw

__all__ = [
    "DriveRecording", "PlaceRecording", "TurntableRecording", "drive", "places", "turntable", "write_class_folders",
    "write_kitti_raw",
]  # fmt: skip
