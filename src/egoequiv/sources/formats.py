"""Every format of files by what it looks like, and the guess which one a path is."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from egoequiv.errors import DataError
from egoequiv.sources.colmap import is_colmap
from egoequiv.sources.donkey import is_donkey
from egoequiv.sources.euroc import is_euroc
from egoequiv.sources.lerobot import is_lerobot
from egoequiv.sources.phone import is_phone
from egoequiv.sources.ros import is_ros
from egoequiv.sources.seven_scenes import is_seven_scenes
from egoequiv.sources.table import is_pictures, is_table
from egoequiv.sources.transforms import is_transforms
from egoequiv.sources.tum import is_tum
from egoequiv.sources.video import is_video

GENERAL = ("table", "video")
EXTEND_PAGE = "docs/extend/source.md"


@dataclass(frozen=True)
class Format:
    """How the files of one source are recognised: by names and first bytes alone, so that it takes no time."""

    source: str  # the name in the catalog
    title: str  # in words, such as "a TUM RGB-D folder"
    looks_for: str  # what must be there
    recognise: Callable[[Path], bool]


def _is_norb(path: Path) -> bool:
    return path.is_dir() and any(path.glob("smallnorb-*-dat.mat*"))


def _is_kitti_odometry(path: Path) -> bool:
    return (path / "sequences").is_dir() and (path / "poses").is_dir()


_DRIVE = re.compile(r"(\d{4}_\d{2}_\d{2})(_drive_\d{4}_(sync|extract))?")


def _is_kitti(path: Path) -> bool:
    """A drive, a date, or a folder of dates; or an archive named like one."""
    if path.suffix == ".zip":
        return path.stem == "kitti_oxts" or _DRIVE.fullmatch(path.stem) is not None
    if not path.is_dir():
        return False
    names = [path.resolve().name, *(entry.name for entry in path.iterdir() if entry.is_dir() or entry.suffix == ".zip")]
    return any(_DRIVE.fullmatch(name.removesuffix(".zip")) for name in names)


# In the order in which they are tried: what is more specific comes first.
FORMATS: tuple[Format, ...] = (
    Format("norb", "small NORB", "smallnorb-*-dat.mat files", _is_norb),
    Format("kitti", "KITTI raw", "drives such as 2011_09_26_drive_0001_sync, or their zip archives", _is_kitti),
    Format("kitti-odometry", "KITTI odometry", "the folders sequences and poses", _is_kitti_odometry),
    Format("lerobot", "a LeRobot data set", "meta/info.json with a codebase_version", is_lerobot),
    Format(
        "phone",
        "a Stray Scanner or Record3D export",
        "rgb.mp4 with odometry.csv, metadata.json with poses, or a .r3d file",
        is_phone,
    ),
    Format("ros", "bags of ROS 1 or ROS 2", ".bag, .db3 or .mcap files, or folders with their metadata.yaml", is_ros),
    Format("euroc", "EuRoC (ASL)", "mav0 with cam0 and state_groundtruth_estimate0, or its data.csv", is_euroc),
    Format("seven-scenes", "7-Scenes", "frame-000000.color.png and frame-000000.pose.txt", is_seven_scenes),
    Format("tum", "TUM RGB-D", "groundtruth.txt and rgb, or a file of time x y z qx qy qz qw", is_tum),
    Format("donkey", "a Donkeycar tub", "manifest.json and catalog_0.catalog", is_donkey),
    Format("transforms", "instant-ngp or nerfstudio", "transforms.json or transforms_train.json", is_transforms),
    Format("colmap", "a COLMAP model", "images.bin and cameras.bin, or .txt, such as in sparse/0", is_colmap),
    Format("table", "a table with pictures", "a .csv, .jsonl or .parquet with pictures or a video", is_table),
    Format("video", "plain videos", "a video file, or a folder with one", is_video),
    Format("table", "pictures without a table", "pictures or a video", is_pictures),
)


def other_formats(path: Path, taken: str) -> list[Format]:
    """What else a path that can be read looks like, but tables, videos and pictures, which are in most logs."""
    found: dict[str, Format] = {}
    with suppress(OSError):  # it can be read as the format that is taken
        for one in FORMATS:
            if one.source not in (taken, *GENERAL) and one.recognise(Path(path)):
                found.setdefault(one.source, one)
    return list(found.values())


def guess_format(path: Path) -> Format:
    """The format that a path looks like; an error lists those that are known."""
    path = Path(path)
    try:
        if not path.exists():
            raise DataError(f"{path} does not exist: give the path of a log, of pictures or of a video")
        for one in FORMATS:
            if one.recognise(path):
                return one
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror or problem}") from problem
    if path.is_dir() and not any(one.is_file() for one in path.rglob("[!.]*")):
        raise DataError(f"{path} is an empty folder: give a folder or a file that holds pictures, a video or a log")
    raise DataError(
        f"{path}: its format is not known; `egoequiv ingest --list` says which are and what each looks for, and "
        f"{EXTEND_PAGE} how to read one of your own"
    )
