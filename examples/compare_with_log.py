"""How well the motion in pictures agrees with the poses of a log that has both.

    python compare_with_log.py KITTI_FOLDER TUM_FOLDER ...

Without a log, the embedded drive is compared.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_log, open_source
from egoequiv.odometry.watch import Watched, watch
from egoequiv.pose import CAMERA_POSES
from egoequiv.sources import Source

MOST_FRAMES = 1200  # of a log: recordings beyond are left out


def compare(source: Source, name: str) -> str:
    """One row of the table: the rotation of each step against that of the log's poses."""
    off, told, steps = [], 0, 0
    watched = watch(some_of(source), lens=81.4 if name == "embedded drive" else None)
    for seen in watched:
        truth = logged_rotations(seen, source.pose_columns)
        off.append(np.linalg.norm(seen.steps.rotation_deg - truth, axis=1)[seen.steps.rotation_known])
        told, steps = told + int(seen.steps.rotation_known.sum()), steps + len(seen.steps)
    error = np.concatenate(off)
    lens = watched[0].lens
    middle, most = np.percentile(error, [50, 90])
    return f"| {name} | {lens.origin} | {steps:,} | {100 * told / steps:.0f} % | {middle:.2f}° | {most:.2f}° |"


def some_of(source: Source) -> Source:
    """The first recordings of a source, as many as have not too many frames together."""
    ends = np.cumsum([len(recording) for recording in source.recordings])
    count = max(int((ends <= MOST_FRAMES).sum()), 1)
    return Source(source.name, source.space, source.recordings[:count], source.settings, pose_names=source.pose_columns)


def logged_rotations(seen: Watched, columns: tuple[str, ...]) -> np.ndarray:
    """The rotation vector of each step in degrees, by the log's own poses; (S, 3)."""
    places = [columns.index(name) for name in CAMERA_POSES[3:]]
    turned = Rotation.from_quat(seen.recording.poses[:, places])
    return (turned[seen.steps.first].inv() * turned[seen.steps.second]).as_rotvec(degrees=True)


def main() -> None:
    print("| log | lens | steps | told | rotation error of a step, median | 90 % |")
    print("|---|---|---|---|---|---|")
    logs = sys.argv[1:]
    if not logs:
        print(compare(open_source("drive", drives_per_area=1, seconds=2.0), "embedded drive"))
    for path in logs:
        print(compare(open_log(path)[0], path.rstrip("/").rpartition("/")[2]))


if __name__ == "__main__":
    main()
