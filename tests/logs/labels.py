"""A robot's drives, and two tables of labels for some of their pictures."""

from pathlib import Path

import numpy as np

from logs.table import write_csv, write_pictures

RECORDINGS, FRAMES = 8, 24


def prepare(folder: Path) -> None:
    files = [f"day{r}/{r}_{k:02d}.png" for r in range(RECORDINGS) for k in range(FRAMES)]
    write_pictures(folder / "robot", files, (16, 16))
    k = np.arange(len(files))
    columns = {"file": files, "time": 0.1 * k, "x": 0.1 * k, "y": 0 * k, "yaw_deg": 3 * (k % FRAMES)}
    write_csv(folder / "robot" / "poses.csv", columns)
    write_csv(folder / "rooms.csv", {"file": files[::2], "room": ["hall", "kitchen"] * (len(files) // 4)})
    write_csv(folder / "distance.csv", {"file": files, "distance_m": 2 + np.sin(k / 5)})
