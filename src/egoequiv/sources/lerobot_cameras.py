"""The cameras of a LeRobot data set: as its metadata lists them, and as they are on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egoequiv.errors import ConfigError, DataError
from egoequiv.plurals import plural
from egoequiv.sources.lerobot_files import LeRobotFiles
from egoequiv.sources.video_frames import VideoIndex

if TYPE_CHECKING:
    import pyarrow as pa

_CODECS = {"264": "h264", "265": "hevc", "hevc": "hevc", "av1": "av1", "vp9": "vp9", "mpeg4": "mpeg4"}


@dataclass(frozen=True)
class Camera:
    """A camera: a column of pictures in the tables, or a folder of videos."""

    name: str  # its key in the metadata, or else its folder
    folder: str = ""  # where its videos are
    in_table: bool = False
    videos: int = 0
    described: Mapping[str, Any] = field(default_factory=dict)  # by info.json

    @property
    def is_there(self) -> bool:
        return self.in_table or self.videos > 0

    @property
    def details(self) -> str:
        if self.in_table:
            return "pictures in the tables"
        return plural(self.videos, "video file") if self.videos else "listed, but no file is there"

    @property
    def is_depth(self) -> bool:
        said = self.described.get("info")
        marks = [value for key, value in said.items() if "is_depth_map" in key] if isinstance(said, dict) else []
        return True in marks or re.search(r"depth", self.name, re.IGNORECASE) is not None


def find_cameras(files: LeRobotFiles, schema: pa.Schema) -> list[Camera]:
    """Every camera, those of info.json first and in its order."""
    counts: dict[str, int] = {}
    for folder, _, _ in files.videos:
        counts[folder] = counts.get(folder, 0) + 1
    columns = [one.name for one in schema if _holds_pictures(one.type)]
    found: list[Camera] = []
    for name, described in files.features.items():
        if name in columns:
            found.append(Camera(name, in_table=True, described=described))
        elif described.get("dtype") in ("video", "image"):
            folder = _folder(name, list(counts))
            found.append(Camera(name, folder, videos=counts.get(folder, 0), described=described))
    known = {one.name for one in found} | {one.folder for one in found if one.videos}
    found += [Camera(name, in_table=True) for name in columns if name not in known]
    found += [Camera(name, name, videos=count) for name, count in counts.items() if name not in known]
    return found


def _holds_pictures(kind: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return "bytes" in [kind.field(k).name for k in range(kind.num_fields)]
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _folder(name: str, folders: Sequence[str]) -> str:
    """The folder of a camera's videos: named like it, or like the last part of it."""
    last = [folder for folder in folders if folder.rpartition(".")[2] == name.rpartition(".")[2]]
    return name if name in folders or len(last) != 1 else last[0]


def choose_camera(cameras: Sequence[Camera], wanted: str, root: Path) -> Camera:
    """The camera that a user names, or the first that is there and is not depth."""
    there = [one for one in cameras if one.is_there]
    if not there:
        said = f"; info.json lists {', '.join(one.name for one in cameras)}" if cameras else ""
        raise DataError(f"{root} has no pictures: no videos below it, and none in its tables{said}")
    if not wanted:
        return next((one for one in there if not one.is_depth), there[0])
    matching = [one for one in cameras if one.name == wanted] or [
        one for one in cameras if one.name.rpartition(".")[2] == wanted
    ]
    if len(matching) != 1:
        raise ConfigError(f"camera {wanted!r}: expected one of {', '.join(one.name for one in there)}")
    if not matching[0].is_there:
        raise DataError(f"{root}: camera {wanted!r} is listed, but no file of it is there")
    return matching[0]


def disagreements(camera: Camera, index: VideoIndex) -> Iterator[str]:
    """Where a video is not what info.json says."""
    said = camera.described.get("info")
    codec = str(said.get("video.codec", "")).lower() if isinstance(said, dict) else ""
    expected = next((name for mark, name in _CODECS.items() if mark in codec), "")
    if expected and expected != index.codec:
        yield f"info.json says that videos of {camera.name} are {codec}, they are {index.codec}"
    shape = camera.described.get("shape")
    height, width = index.size
    if (
        isinstance(shape, list)
        and len(shape) == 3
        and not {height, width} <= {one for one in shape if isinstance(one, int)}
    ):
        sides = " x ".join(map(str, shape))
        yield f"info.json says that pictures of {camera.name} are {sides}, they are {height} x {width}"
