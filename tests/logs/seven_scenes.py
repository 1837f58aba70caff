"""Sequences of 7-Scenes, written by the tests."""

from pathlib import Path

from logs.motion import Array, camera_to_world, save_picture


def pose_text(pose: Array) -> str:
    return "".join("\t ".join(f"{value: .7e}" for value in row) + "\t \n" for row in pose)


def write(folder: Path, poses: Array | None = None, ending: str = "png") -> None:
    """One sequence."""
    for k, pose in enumerate(camera_to_world() if poses is None else poses):
        save_picture(folder / f"frame-{k:06d}.color.{ending}", k)
        (folder / f"frame-{k:06d}.pose.txt").write_text(pose_text(pose))


def prepare(folder: Path) -> None:
    """A scene `kitchen` with two sequences, one for training and one for test."""
    for number in (1, 2):
        write(folder / "kitchen" / f"seq-{number:02d}", camera_to_world(60, 0.02 * number, 2.0))
    (folder / "kitchen" / "TrainSplit.txt").write_text("sequence1\r\n")
    (folder / "kitchen" / "TestSplit.txt").write_text("sequence2\r\n")
