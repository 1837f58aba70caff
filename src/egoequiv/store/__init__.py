"""Frames decoded once, then memory-mapped."""

from egoequiv.store.frame_store import FrameStore
from egoequiv.store.writer import fit_image, ingest

__all__ = ["FrameStore", "fit_image", "ingest"]
