"""Folders with pictures and a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from logs.video import write_video


def write_pictures(folder: Path, names: Sequence[str], size: tuple[int, int] = (24, 32)) -> None:
    """Smooth pictures, all different."""
    x, y = np.meshgrid(np.arange(size[1]), np.arange(size[0]))
    for k, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = 127 + 100 * np.sin(x / 6 + k / 5) * np.cos(y / 7 - k / 9)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / name)


def write_csv(path: Path, columns: Mapping[str, Sequence[object]], delimiter: str = ",") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    path.write_text("".join(delimiter.join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


def prepare(folder: Path) -> None:
    """A robot's drive with poses in the plane, a car's video with speed and yaw rate, and a turntable."""
    k = np.arange(60)
    names = [f"{n:03d}.png" for n in k]
    write_pictures(folder / "robot" / "images", names)
    turn = 0.04 * k
    columns = {"file": names, "time": 0.1 * k, "x": np.sin(turn) / 0.08, "y": (1 - np.cos(turn)) / 0.08, "yaw": turn}
    write_csv(folder / "robot" / "poses.csv", columns)
    (folder / "car").mkdir()
    images = np.stack([np.full((24, 32), 3 * n, np.uint8) for n in k])
    write_video(folder / "car" / "clip.mkv", images, codec="ffv1", rate=10)
    write_csv(
        folder / "car" / "can.csv", {"t": 0.05 * np.arange(130), "speed [km/h]": [36] * 130, "yaw_rate_dps": [5] * 130}
    )
    angles = np.arange(0, 360, 10)
    write_pictures(folder / "toy", [f"view{n}.png" for n in angles])
    write_csv(folder / "toy" / "angles.csv", {"file": [f"view{n}.png" for n in angles], "azimuth_deg": angles})
