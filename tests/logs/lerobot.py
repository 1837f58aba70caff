"""Small LeRobot data sets, in the layouts of versions 2.1 and 3.0."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from logs.video import moving_pictures, write_video

CAMERA = "observation.images.front"
JOINTS = ("shoulder", "elbow", "grip")
RATE_HZ = 30


def levels(count: int, first: int = 0) -> np.ndarray:
    """Pictures (N, 32, 48, 3), each 4 gray levels brighter than the one before it, so that a level names its frame."""
    return np.stack([np.full((32, 48, 3), 20 + 4 * (first + k), np.uint8) for k in range(count)])


def frame_of(image: Any, first: int = 0) -> int:
    """The number of the frame that a picture of `levels` shows."""
    return round((float(np.asarray(image).mean()) - 20) / 4) - first


def joints(count: int, episode: int = 0) -> np.ndarray:
    """States (N, 3): row k of episode e is (k, 100 e + sin k, 7)."""
    k = np.arange(count)
    return np.stack([k, 100 * episode + np.sin(k), np.full(count, 7.0)], axis=1).astype(np.float32)


def table(
    count: int, episode: int, first: int = 0, more: Mapping[str, Any] | None = None, **changed: Any
) -> dict[str, Any]:
    """The columns of an episode's table; `changed` replaces some of them, None leaves one out."""
    columns = {
        "observation.state": list(joints(count, episode)),
        "action": list(joints(count, episode) + 1),
        "timestamp": (np.arange(count) / RATE_HZ).astype(np.float32),
        "frame_index": np.arange(count),
        "episode_index": np.full(count, episode),
        "index": first + np.arange(count),
        "task_index": np.zeros(count, np.int64),
        **(more or {}),
        **changed,
    }
    return {name: values for name, values in columns.items() if values is not None}


def write_table(file: Path, columns: Mapping[str, Any], row_group_size: int = 1000) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), file, row_group_size=row_group_size)


def write_info(root: Path, version: str, episodes: int, more: Mapping[str, Any] | None = None, **changed: Any) -> None:
    """`meta/info.json`; `more` are further features."""
    split = version == "v3.0"
    info = {
        "codebase_version": version,
        "total_episodes": episodes,
        "fps": RATE_HZ,
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
        if split
        else "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
        if split
        else "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        "features": {
            "observation.state": {"dtype": "float32", "shape": [3], "names": [list(JOINTS)]},
            "action": {"dtype": "float32", "shape": [3], "names": {"motors": list(JOINTS)}},
            CAMERA: {"dtype": "video", "shape": [32, 48, 3], "info": {"video.codec": "h264"}},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            **(more or {}),
        },
        **changed,
    }
    (root / "meta").mkdir(parents=True, exist_ok=True)
    (root / "meta" / "info.json").write_text(json.dumps(info))


def write_v21(root: Path, counts: Sequence[int] = (12, 9), **changed: Any) -> None:
    """Episodes 0, 1, ...: a table and a video each."""
    write_info(root, "v2.1", len(counts), **changed)
    lines = [{"episode_index": e, "tasks": ["lift the cup"], "length": count} for e, count in enumerate(counts)]
    (root / "meta" / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for episode, count in enumerate(counts):
        write_table(data_file(root, episode), table(count, episode))
        file = video_file(root, episode)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_video(file, levels(count), gop=4)


def data_file(root: Path, episode: int) -> Path:
    return root / "data" / "chunk-000" / f"episode_{episode:06d}.parquet"


def video_file(root: Path, episode: int, camera: str = CAMERA) -> Path:
    return root / "videos" / "chunk-000" / camera / f"episode_{episode:06d}.mp4"


def shared_data_file(root: Path) -> Path:
    return root / "data" / "chunk-000" / "file-000.parquet"


def shared_video_file(root: Path, camera: str = CAMERA) -> Path:
    return root / "videos" / camera / "chunk-000" / "file-000.mp4"


def write_episodes(root: Path, counts: Sequence[int], edges_s: np.ndarray) -> None:
    """`meta/episodes` of version 3: where episodes begin and end in the one video."""
    write_table(
        root / "meta" / "episodes" / "chunk-000" / "file-000.parquet",
        {
            "episode_index": np.arange(len(counts)),
            "tasks": [["lift the cup"]] * len(counts),
            "length": np.array(counts),
            f"videos/{CAMERA}/chunk_index": np.zeros(len(counts), np.int64),
            f"videos/{CAMERA}/file_index": np.zeros(len(counts), np.int64),
            f"videos/{CAMERA}/from_timestamp": edges_s[:-1],
            f"videos/{CAMERA}/to_timestamp": edges_s[1:],
            "stats/action/mean": [[0.0]] * len(counts),
        },
    )


def write_v3(root: Path, counts: Sequence[int] = (12, 9, 15), meta: bool = True) -> None:
    """Episodes 0, 1, ... in one table and one video."""
    write_info(root, "v3.0", len(counts))
    starts = np.cumsum([0, *counts])
    tables = [pa.table(table(count, e, int(starts[e]))) for e, count in enumerate(counts)]
    shared_data_file(root).parent.mkdir(parents=True)
    pq.write_table(pa.concat_tables(tables), shared_data_file(root))
    shared_video_file(root).parent.mkdir(parents=True)
    write_video(shared_video_file(root), levels(int(starts[-1])), gop=7)
    if meta:
        write_episodes(root, counts, starts / RATE_HZ)


def png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "png")
    return file.getvalue()


def prepare(folder: Path) -> None:
    """A data set whose camera moves with its joints, for the page on LeRobot."""
    root = folder / "my-robot"
    write_v21(root, (40, 30, 40))
    for episode, count in enumerate((40, 30, 40)):
        turn = np.arange(count) / 6
        state = np.stack([np.sin(turn), np.cos(turn), np.full(count, 0.5)], axis=1).astype(np.float32)
        write_table(data_file(root, episode), table(count, episode, **{"observation.state": list(state)}))
        write_video(video_file(root, episode), moving_pictures(count, 32, 48))
