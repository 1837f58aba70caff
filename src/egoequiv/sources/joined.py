"""Several logs as one: the recordings of all of them, some of which are only measured on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError
from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Decoded, Image, Recording, Source

TRAIN, TEST = "train", "test"  # values of the attribute `part`
WORLD = "world"  # the attribute of the map that poses are in


@dataclass(frozen=True, eq=False)
class NamedRecording(Recording):
    """A recording under another name, with other attributes."""

    whole: Recording
    name: str
    attributes: Mapping[str, str]

    @property
    def poses(self) -> NDArray[np.float64]:  # type: ignore[override]
        return self.whole.poses

    @property
    def times_s(self) -> NDArray[np.float64] | None:  # type: ignore[override]
        return self.whole.times_s

    @property
    def labels(self) -> Sequence[str] | None:  # type: ignore[override]
        return self.whole.labels

    @property
    def lens(self) -> Lens | None:  # type: ignore[override]
        return self.whole.lens

    def __len__(self) -> int:
        return len(self.whole)

    def image(self, frame: int) -> Image:
        return self.whole.image(frame)

    def images(self, frames: range) -> Iterator[Decoded]:
        return self.whole.images(frames)

    def starts(self) -> Sequence[int]:
        return self.whole.starts()

    def file_name(self, frame: int) -> str | None:
        return self.whole.file_name(frame)

    def files_read(self) -> Collection[Path] | None:
        return self.whole.files_read()

    def log_frames(self) -> NDArray[np.int64] | None:
        return self.whole.log_frames()


def join(logs: Sequence[tuple[str, Source, bool]], same_map: bool) -> Source:
    """The recordings of several logs, each named after its log.

    Args:
        logs: Of each log its name, its source, and whether it is only measured on. If one is, every recording gets an
            attribute `part`, which divides training frames from others.
        same_map: Whether the poses of all logs are in one map; otherwise each log has maps of its own.

    Returns:
        One source.
    """
    first_name, first, _ = logs[0]
    for name, source, _ in logs[1:]:
        if (source.space, source.pose_columns) != (first.space, first.pose_columns):
            raise DataError(
                f"{name} has poses with the columns {', '.join(source.pose_columns) or 'none'}, and {first_name} "
                f"{', '.join(first.pose_columns) or 'none'}: logs of one run need the same columns and motions"
            )
    if len({name for name, _, _ in logs}) < len(logs):
        raise DataError(f"{first_name} is given twice: give each log once")
    is_divided = any(is_test for _, _, is_test in logs)
    names = _distinct([name for name, _, _ in logs])
    recordings: list[Recording] = []
    for log, (_, source, is_test) in zip(names, logs, strict=True):
        for recording in source.recordings:
            attributes = dict(recording.attributes)
            if not same_map:
                attributes[WORLD] = f"{log}/{attributes.get(WORLD, '')}"
            if is_divided:
                attributes["part"] = TEST if is_test else TRAIN
            recordings.append(NamedRecording(recording, f"{log}/{recording.name}", attributes))
    return Source(
        name=first.name,
        space=first.space,
        recordings=recordings,
        settings={"logs": [name for name, _, _ in logs], "same_map": same_map},
        pose_names=first.pose_names,
        has_images=all(source.has_images for _, source, _ in logs),
        notes=tuple(f"{log}: {note}" for log, (_, source, _) in zip(names, logs, strict=True) for note in source.notes),
        remarks=tuple(
            f"{log}: {text}" for log, (_, source, _) in zip(names, logs, strict=True) for text in source.remarks
        ),
        convention=first.convention,
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """The last part of each path; the whole path where two have the same."""
    short = [
        Path(name).name if Path(name).suffix not in (".csv", ".txt", ".json") else _with_folder(name) for name in names
    ]
    return [one if short.count(one) == 1 else whole for one, whole in zip(short, names, strict=True)]


def _with_folder(name: str) -> str:
    """A table is often called poses.csv: its folder tells it from others."""
    path = Path(name).absolute()
    return f"{path.parent.name}/{path.stem}"
