"""One page about a store: where the camera was, how it moved, what is missing, and what it saw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from egoequiv.blocks import Block, Points, Section, Text
from egoequiv.files import write_text
from egoequiv.plurals import plural
from egoequiv.report.figures.drawing import as_picture
from egoequiv.report.figures.trajectory import (
    SHOWN_RECORDINGS,
    Track,
    frames_figure,
    longest_tracks,
    motions_figure,
    time_figure,
    way_figure,
)
from egoequiv.report.page import to_html
from egoequiv.report.sections import Report
from egoequiv.store import FrameStore


def write_store_view(store: FrameStore, path: Path, max_gap_s: float = 1.0) -> Path:
    """Write the page of a store: one file that needs nothing but itself.

    Args:
        store: the store.
        path: the file to write.
        max_gap_s: the largest time between two frames whose motion is shown.

    Returns:
        The file that was written.

    Example:
        >>> write_store_view(FrameStore.open("drives"), Path("view.html"))  # doctest: +SKIP

    """
    write_text(path, to_html(store_report(store, max_gap_s)))
    return path


def store_report(store: FrameStore, max_gap_s: float = 1.0) -> Report:
    """What a page about a store says and shows."""
    tracks = longest_tracks(store)
    drawn = {
        "The way of the camera, from above": (
            way_figure(store, tracks),
            "The dot is the first frame. A number is where its picture was taken. "
            "Up is the mean upward direction of the camera.",
            "The poses have no places, so there is no way to draw.",
        ),
        "Motion against time": (
            time_figure(store, tracks),
            "Red: frames are missing, because two are further apart than three usual steps; a row for each recording."
            if any(track.gaps for track in tracks)
            else "",
            "There are no times, or no poses.",
        ),
        "Motions between frames": (
            motions_figure(store, max_gap_s),
            f"Pairs of frames of one recording, at most {max_gap_s:g} s apart."
            if store.times_s is not None
            else "Pairs of frames of one recording.",
            "There are no poses, or the camera never moves.",
        ),
        "Frames along time": (frames_figure(store, tracks), "The longest recordings.", "The store has no images."),
    }
    sections = [
        Section(title, [as_picture(figure, title, caption) if figure is not None else Text(lacking, "missing")])
        for title, (figure, caption, lacking) in drawn.items()
    ]
    told = {"notes": "What was left out when the store was made", "remarks": "What was chosen when the store was made"}
    for key, title in told.items():
        if store.meta.get(key):
            sections.append(Section(title, [Points([str(text) for text in store.meta[key]])]))
    return Report(
        f"Store {Path(store.place).name}", _lead(store, tracks), _facts(store, tracks), [_findings(store), *sections]
    )


def _lead(store: FrameStore, tracks: Sequence[Track]) -> str:
    recordings = plural(len(store.recording_names), "recording")
    words = f"{plural(len(store), 'frame')} of {recordings}, from {store.meta['source']}."
    if len(store.recording_names) > len(tracks):
        words += f" The {SHOWN_RECORDINGS} longest recordings are drawn."
    return words


def _facts(store: FrameStore, tracks: Sequence[Track]) -> dict[str, str]:
    facts = {
        "place": store.place,
        "made from": str(store.meta["settings"].get("path", store.meta["source"])),
        "images": " x ".join(map(str, store.image_shape)) if store.has_images else "none",
        "motion space": str(store.space.describe()["kind"]),
    }
    if store.times_s is not None:
        steps = np.concatenate([np.diff(track.times_s) for track in tracks])
        usual = float(np.median(steps)) if len(steps) else 0.0
        facts["rate"] = f"{1 / usual:.3g} Hz" if usual > 0 else "unknown"
        facts["time"] = f"{sum(float(track.times_s[-1]) for track in tracks):,.1f} s"
    return facts


def _findings(store: FrameStore) -> Section:
    """What looks wrong, in one line each."""
    found: list[str] = []
    for track in longest_tracks(store, len(store.recording_names)):
        if track.gaps and store.times_s is not None:
            longest = max(end - begin for begin, end in track.gaps)
            found.append(f"{track.name}: {plural(len(track.gaps), 'gap')}, the longest {longest:.3g} s")
        if len(track.rows) > 1 and store.poses.shape[1] and not np.ptp(store.poses[track.rows], axis=0).any():
            found.append(f"{track.name}: the pose never changes")
        repeated = _repeated_images(store, track)
        if repeated:
            found.append(
                f"{track.name}: {repeated} of {len(track.rows)} frames show the same picture as the one before"
            )
    more = len(found) - 20
    shown = [*found[:20], *([f"{more} more"] if more > 0 else [])]
    blocks: list[Block] = [Points(shown)] if shown else [Text("No gaps, no frozen poses, no repeated pictures.")]
    return Section("What to look at", blocks)


def _repeated_images(store: FrameStore, track: Track, block: int = 256) -> int:
    """How many frames are the same picture, to the last pixel, as the one before; read a block at a time."""
    if not store.has_images:
        return 0
    count, last = 0, None
    for start in range(0, len(track.rows), block):
        images = store.images[track.rows[start : start + block]]
        flat = images.reshape(len(images), -1)
        count += int((flat[1:] == flat[:-1]).all(axis=1).sum())
        count += int(last is not None and (flat[0] == last).all())
        last = flat[-1].copy()
    return count
