"""Files on disk, read as recordings of frames with poses."""

from egoequiv.sources.norb import norb
from egoequiv.sources.recording import Frame, Recording, Source

__all__ = ["Frame", "Recording", "Source", "norb"]
