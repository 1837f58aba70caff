"""Steering as a number to be read from features: a few labelled training frames, and all validation frames."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from egoequiv.errors import DataError
from egoequiv.files import write_text
from egoequiv.pairs import make_split
from egoequiv.store import FrameStore

STEERING = "steering"
LABELLED = 200  # training frames, or all if there are fewer


def steering_labels(store: FrameStore, split: str, repetition: int, folder: Path) -> str:
    """Write the steering of the frames of one repetition, which draws other training frames; return the place.

    Args:
        store: The frames; steering is one of their columns.
        split: How they are divided.
        repetition: Draws the labelled training frames.
        folder: Where the table goes.

    """
    if STEERING not in store.pose_columns:
        raise DataError(f"{store.place} has no column {STEERING!r}; its columns are {', '.join(store.pose_columns)}")
    parts = make_split(store, split)
    rng = np.random.default_rng([repetition, 0x57EE])
    drawn = rng.choice(parts.train, min(LABELLED, len(parts.train)), replace=False)
    values = store.pose_columns[STEERING]
    frames = store.frame if store.log_frame is None else store.log_frame
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["recording", "frame", STEERING])
    for row in np.sort(np.concatenate([drawn, parts.validation])):
        writer.writerow([store.recording_names[store.recording[row]], int(frames[row]), float(values[row])])
    path = folder / f"{STEERING}-{repetition}.csv"
    write_text(path, out.getvalue())
    return f"{path}:{STEERING}"
