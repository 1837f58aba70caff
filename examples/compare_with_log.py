"""How well the motion in pictures agrees with the poses of a log that has both.

    python compare_with_log.py KITTI_FOLDER TUM_FOLDER ...
    python compare_with_log.py --sfm TUM_FOLDER ...    # the first 150 frames of a log, by structure from motion too

Without a log, the embedded drive is compared.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_log, open_source
from egoequiv.odometry.sfm import sfm_poses
from egoequiv.odometry.steps import key_frames
from egoequiv.odometry.visual import CONFIDENCE
from egoequiv.odometry.watch import Watched, watch
from egoequiv.pose import CAMERA_POSES, SE3Space
from egoequiv.sources import Source
from egoequiv.sources.part import RecordingPart

SHORT = 150  # frames of a log for structure from motion
MOST_FRAMES = 1200  # of a log: recordings beyond are left out


def compare(source: Source, name: str) -> str:
    """One row of the table: the rotation of each step against that of the log's poses, and against its stated error."""
    off, stated, told, steps = [], [], 0, 0
    watched = watch(some_of(source), lens=81.4 if name == "embedded drive" else None)
    for seen in watched:
        truth = logged_rotations(seen, source.pose_columns)
        off.append(np.linalg.norm(seen.steps.rotation_deg - truth, axis=1)[seen.steps.rotation_known])
        stated.append(seen.steps.rotation_error_deg[seen.steps.rotation_known])
        told, steps = told + int(seen.steps.rotation_known.sum()), steps + len(seen.steps)
    error = np.concatenate(off)
    lens = watched[0].lens
    middle, most = np.percentile(error, [50, 90])
    times, most_times = np.percentile(error / np.concatenate(stated), [50, 90])
    return (
        f"| {name} | {lens.origin} | {steps:,} | {100 * told / steps:.0f} % | {middle:.2f}° | {most:.2f}° "
        f"| {times:.1f} | {most_times:.1f} |"
    )


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


def compare_both(source: Source, name: str) -> str:
    """Two rows: the steps of the first frames of a log, by comparing two pictures at a time and by one model of all."""
    first = source.recordings[0]
    count = min(SHORT, len(first))
    part = RecordingPart(first, range(count), first.name, np.asarray(first.poses)[:count], first.lens)
    short = replace(source, recordings=[part])
    logged = part.poses[:, [source.pose_columns.index(column) for column in CAMERA_POSES]]
    (seen,) = watch(short)
    told = seen.steps.rotation_known
    by_two = np.column_stack([seen.steps.direction, seen.steps.rotation_deg])
    stated = seen.steps.rotation_error_deg
    rows = [row_of(f"{name}, visual", by_two, logged, seen.steps.first, seen.steps.second, told, stated)]
    keys = key_frames(part)
    poses, stated = np.full((count, 7), np.nan), np.full(count, np.nan)
    by_model = sfm_poses(short)
    for one in by_model.recordings:
        assert isinstance(one, RecordingPart)
        poses[one.frames.start : one.frames.stop] = one.poses[:, :7]
        stated[one.frames.start : one.frames.stop] = one.poses[:, by_model.pose_columns.index(CONFIDENCE[0])]
    told = np.isfinite(poses[keys]).all(axis=1)
    told = told[:-1] & told[1:]
    filled = np.where(np.isnan(poses), [0, 0, 0, 0, 0, 0, 1], poses)
    by_all = SE3Space().difference(filled[keys[:-1]], filled[keys[1:]])
    return "\n".join([*rows, row_of(f"{name}, sfm", by_all, logged, keys[:-1], keys[1:], told, stated[keys[:-1]])])


def row_of(
    name: str,
    motion: np.ndarray,
    logged: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    told: np.ndarray,
    stated: np.ndarray,
) -> str:
    """Motions (S, 6) of steps against the poses (N, 7) of the log; directions where the log and the pictures move.

    The last column says how many times the stated error (S,), a standard error of each axis, the difference is.
    """
    true = SE3Space().difference(logged[first], logged[second])
    turn = Rotation.from_rotvec(true[told, 3:], degrees=True).inv() * Rotation.from_rotvec(
        motion[told, 3:], degrees=True
    )
    error = np.rad2deg(turn.magnitude())
    middle, most = np.percentile(error, [50, 90])
    times = np.median(error / stated[told])
    way, own = np.linalg.norm(true[:, :3], axis=1), np.linalg.norm(motion[:, :3], axis=1)
    moves = way > 0.2 * np.median(way[way > 0])
    known = moves & told & (own > 0)
    cosine = (true[known, :3] * motion[known, :3]).sum(axis=1) / (way[known] * own[known])
    off, far = np.percentile(np.rad2deg(np.arccos(np.clip(cosine, -1, 1))), [50, 90])
    shares = f"{len(first):,} | {100 * told.mean():.0f} % | {middle:.2f}° | {most:.2f}°"
    return f"| {name} | {shares} | {100 * known.sum() / moves.sum():.0f} % | {off:.1f}° | {far:.1f}° | {times:.1f} |"


def main() -> None:
    logs = sys.argv[1:]
    if logs[:1] == ["--sfm"]:
        print(
            "| log | steps | told | rotation error, median | 90 % | direction told | direction error, median | 90 % "
            "| rotation error over the stated one, median |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for path in logs[1:]:
            print(compare_both(open_log(path)[0], path.rstrip("/").rpartition("/")[2]))
        return
    print("| log | lens | steps | told | rotation error of a step, median | 90 % | over the stated, median | 90 % |")
    print("|---|---|---|---|---|---|---|---|")
    if not logs:
        print(compare(open_source("drive", drives_per_area=1, seconds=2.0), "embedded drive"))
    for path in logs:
        print(compare(open_log(path)[0], path.rstrip("/").rpartition("/")[2]))


if __name__ == "__main__":
    main()
