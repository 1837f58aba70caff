"""Whether the poses of a damaged log are those of the log before: frame by frame, known by their pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from egoequiv.store import FrameStore

CLOCK_S = 0.002  # videos have whole milliseconds
MOST_LOST = 4  # frames from one to the next: further apart, a note may call the way between them a guess
TELLABLE = (
    "reorder", "repeat", "lose_rows", "no_rows", "odd_cell", "cut_row", "swap_columns", "milliseconds", "encoding",
    "parquet", "scene", "scan", "bag", "delete", "empty", "folder_in_place", "loop", "dangling", "huge", "empty_folder",
    "no_permission",
)  # fmt: skip
# Rows that are there and cannot be used: whoever leaves them out has to say so.
SPOILED = (
    "odd_cell", "parquet:nan", "parquet:null", "scene:nan", "scene:mirror", "scene:scale", "scene:short", "scene:zero",
    "bag:nan", "bag:zero", "scan:nan", "scan:zero",
)  # fmt: skip


def is_tellable(damaged: tuple[str, ...]) -> bool:
    """Whether a reader can know of the damage: other digits in place of digits are as good as the first.

    What is cut off a table whose rows are in any order is lost anywhere, so that the usual step is a longer one.
    """
    ways = {one.split()[0].split(":")[0] for one in damaged}
    return ways <= set(TELLABLE) and not {"reorder", "cut_row"} <= ways


def wrong_poses(store: Path, whole: Path, damaged: tuple[str, ...], most: float) -> str:
    """What is wrong with the motion or the times of a store beside that of the log without damage; empty if nothing.

    A pose that was lost is interpolated from those around it, at most three steps of the motion apart. Over so long
    the cameras of `fuzz.logs` leave the curve between their poses by less than `most` (metres, or degrees). Steps from
    frame to frame differ from each other by more, so that the pose of a neighbour is no answer. The way of a car is
    the integral of its speed, which a lost packet changes by as much as the speed changes there.
    """
    found, right = FrameStore.open(store), FrameStore.open(whole)
    told = [*found.meta["notes"], *found.meta["remarks"]]
    if found.space.describe() != right.space.describe():
        return "" if told else f"another motion, and nothing said: {found.space.describe()}"
    if any("the camera turns and never moves" in note for note in told):
        return ""
    if not found.has_images:
        return "" if told else "no pictures, and nothing said"
    known = {right.images[k].tobytes(): k for k in range(len(right))}
    place = np.array([known.get(found.images[k].tobytes(), -1) for k in range(len(found))])
    rows = np.flatnonzero((place[:-1] >= 0) & (place[1:] >= 0) & (found.recording[:-1] == found.recording[1:]))
    if not len(rows):
        return ""
    spoiled = all(one.split()[0] in SPOILED for one in damaged)
    if spoiled and len(found) < len(right) and not found.meta["notes"]:
        return f"{len(right) - len(found)} of {len(right)} frames are lost, and nothing said"
    if any("is a guess" in note for note in told):  # the integral over a gap, and the note says so
        rows = rows[place[rows + 1] - place[rows] <= MOST_LOST]
    before, after = place[rows], place[rows + 1]
    of_two = any("stamps are repeated" in note for note in told)  # which of two frames has its own, nobody knows
    if len(rows) and not of_two and found.times_s is not None and right.times_s is not None:
        off = np.diff(found.times_s)[rows] - (right.times_s[after] - right.times_s[before])
        if np.abs(off).max() > CLOCK_S:
            return f"times are wrong by {np.abs(off).max():.3g} s"
    motion = found.space.difference(found.poses[rows], found.poses[rows + 1])
    expected = right.space.difference(right.poses[before], right.poses[after])
    off = np.abs(motion - expected)
    if off.size and not off.max() <= most:
        at = int(off.max(axis=1).argmax())
        return f"wrong pose: from frame {before[at]} to {after[at]} {motion[at].round(4)}, not {expected[at].round(4)}"
    return ""
