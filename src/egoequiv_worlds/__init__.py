"""Embedded worlds, rendered in process so that everything runs without a download.

What is drawn is in `toys`, `street` and `place`, and in `things` if more than one of them has it; how it is drawn is in
`render`, which knows none of them.

How to add something, each in one file:

- A toy is a function that puts parts of a `Model` together, in the CATEGORY of its `toys/toy_*.py`. A new category is a
  new file `toys/toy_NAME.py` with a CATEGORY, and is found by itself. The default turntable then has it too: its counts
  in `turntable.py`, the guide and the tests change.
- A kind of house is a function that puts solids at a spot, in the HOUSES of `things/buildings.py`; residential streets,
  farms and suburbs then have it.
- A class of places is a function from dice to a scene, and its name in `place/__init__.py`.
- A lighting of toys is a line in `render/studio.py`; a paint is a function in `render/solids.py` and its pattern in
  `render/painting.py`.

A new category leaves the others as they are; a design that is added to one changes which design an instance is. A new
house changes all that is rolled after it. After a change of any file, the first picture waits for the compiler.
"""

from egoequiv_worlds.drive import DriveRecording, drive
from egoequiv_worlds.places import PlaceRecording, places
from egoequiv_worlds.turntable import TurntableRecording, turntable
from egoequiv_worlds.writers import write_class_folders, write_kitti_raw

__all__ = [
    "DriveRecording", "PlaceRecording", "TurntableRecording", "drive", "places", "turntable", "write_class_folders",
    "write_kitti_raw",
]  # fmt: skip
