"""Files on disk as recordings."""

from egoequiv.sources.kitti import kitti
from egoequiv.sources.norb import norb
from egoequiv.sources.recording import Frame, Recording, Source

__all__ = ["Frame", "Recording", "Source", "kitti", "norb"]
