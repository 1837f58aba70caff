"""TUM RGB-D sequences of the tests."""

from pathlib import Path

from logs.motion import Array, camera_to_world, save_picture, tum_row

START_S = 1_305_031_102.0


def write(folder: Path, poses: Array | None = None, *, every: int = 2, step_s: float = 0.05) -> None:
    """Poses every `step_s`, and a picture at every second of them."""
    poses = camera_to_world() if poses is None else poses
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{START_S + step_s * k:.4f} {tum_row(pose)}\n" for k, pose in enumerate(poses)]
    (folder / "groundtruth.txt").write_text(
        "# ground truth trajectory\n# timestamp tx ty tz qx qy qz qw\n" + "".join(rows)
    )
    names = [f"rgb/{START_S + step_s * k:.6f}.png" for k in range(0, len(poses), every)]
    for k, name in enumerate(names):
        save_picture(folder / name, k)
    lines = [f"{name[4:-4]} {name}\n" for name in names]
    (folder / "rgb.txt").write_text("# color images\n# timestamp filename\n" + "".join(lines))


def prepare(folder: Path) -> None:
    """A folder `desk` with 60 pictures, and the trajectory alone as trajectory.txt."""
    write(folder / "desk", camera_to_world(120, 0.05, 1.5))
    (folder / "trajectory.txt").write_text((folder / "desk" / "groundtruth.txt").read_text())
