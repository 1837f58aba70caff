"""What pictures show, in any order: each is looked at once, and each pair of neighbours is compared once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.doctor.glance import Glance, Glances, glance
from egoequiv.errors import BrokenFrameError
from egoequiv.files import replacing
from egoequiv.odometry.depth import length_ratio
from egoequiv.odometry.features import Features, find_features, gray, opencv
from egoequiv.odometry.steps import VisualSteps, compared, key_frames
from egoequiv.odometry.two_view import Step
from egoequiv.pose.camera import Lens
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.recording import Image, Recording

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

FLOW_PX = 96  # width of the pictures whose optical flow is computed


@dataclass(frozen=True, eq=False)
class Seen:
    """What the pictures of one recording show: the steps and glances of the doctor, and what simpler checks need."""

    steps: VisualSteps
    glances: Glances  # of its N frames
    flow: Array  # (S, 2) mean optical flow of each step to the right and down, in widths of the picture
    change: Array  # (S,) mean absolute difference of thumbnails of each step, in gray levels

    @classmethod
    def without_rivals(cls, steps: VisualSteps, glances: Glances) -> Seen:
        """The same without what simpler checks need."""
        return cls(steps, glances, np.full((len(steps), 2), np.nan), np.full(len(steps), np.nan))

    def at(self, rows: Rows) -> Seen:
        """Only these pictures, in order; steps from or to another one are left out."""
        place = np.full(len(self.glances), -1)
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero((place[self.steps.first] >= 0) & (place[self.steps.second] >= 0))
        steps = self.steps.part(kept)
        steps = replace(steps, first=place[steps.first], second=place[steps.second])
        glances = Glances(**{part.name: getattr(self.glances, part.name)[rows] for part in fields(Glances)})
        return Seen(steps, glances, self.flow[kept], self.change[kept])


class _Pair(NamedTuple):
    """What was found between two pictures."""

    step: Step
    matched: tuple[Rows, Rows]  # the points that both show
    flow: Array  # (2,)
    change: float


class Pictures:
    """The pictures of a recording, decoded once, and what was found between any two of them."""

    def __init__(self, recording: Recording, lens: Lens) -> None:
        self._lens = lens
        self._glances: list[Glance | None] = []
        self._grays: list[Image | None] = []
        self._features: dict[int, Features | None] = {}
        self._pairs: dict[tuple[int, int], _Pair] = {}
        for picture in decoded_frames(recording, range(len(recording))):
            if isinstance(picture, BrokenFrameError):
                self._glances.append(None)
                self._grays.append(None)
            else:
                self._glances.append(glance(picture))
                self._grays.append(gray(picture))

    def seen(self, recording: Recording, rows: Rows) -> Seen:
        """What a recording shows whose frames have these pictures."""
        keys = key_frames(recording)
        shown = [int(row) for row in rows[keys]]
        pairs = [self._pair(a, b) for a, b in pairwise(shown)]
        ratios = [self._ratio(*three) for three in zip(shown[:-2], shown[1:-1], shown[2:], strict=True)]
        return Seen(
            VisualSteps.of(keys, [pair.step for pair in pairs], [np.nan, *ratios][: len(pairs)]),
            Glances.of([self._glances[int(row)] for row in rows]),
            np.array([pair.flow for pair in pairs]).reshape(-1, 2),
            np.array([pair.change for pair in pairs], np.float64),
        )

    def _pair(self, a: int, b: int) -> _Pair:
        if (a, b) not in self._pairs:
            step, matched = compared(self._points(a), self._points(b), self._lens)
            self._pairs[a, b] = _Pair(step, matched, mean_flow(self._grays[a], self._grays[b]), self._change(a, b))
        return self._pairs[a, b]

    def _ratio(self, a: int, b: int, c: int) -> float:
        """How much longer the step from b to c is than that from a to b."""
        last, step, points = self._pair(a, b), self._pair(b, c), [self._points(row) for row in (a, b, c)]
        return length_ratio(last.step, last.matched, step.step, step.matched, points, self._lens)

    def _points(self, row: int) -> Features | None:
        if row not in self._features:
            image = self._grays[row]
            self._features[row] = None if image is None else find_features(image)
        return self._features[row]

    def _change(self, a: int, b: int) -> float:
        first, second = self._glances[a], self._glances[b]
        if first is None or second is None or first.thumbnail.shape != second.thumbnail.shape:
            return float("nan")
        return float(np.abs(second.thumbnail.astype(np.float64) - first.thumbnail).mean())


def mean_flow(first: Image | None, second: Image | None) -> Array:
    """The mean optical flow (Farneback) from one gray picture to another, right and down, in widths; NaN: broken."""
    if first is None or second is None:
        return np.full(2, np.nan)
    cv2 = opencv()
    height = max(round(first.shape[0] * FLOW_PX / first.shape[1]), 16)
    small = [
        np.asarray(PillowImage.fromarray(one).resize((FLOW_PX, height), PillowImage.Resampling.BOX))
        for one in (first, second)
    ]
    flow = cv2.calcOpticalFlowFarneback(*small, None, 0.5, 3, 15, 3, 5, 1.2, 0)
    return np.asarray(flow.mean(axis=(0, 1)) / FLOW_PX, np.float64)


def keep_seen(path: Path, seen: dict[str, Seen]) -> None:
    """Write what several arrangements of pictures show, whole or not at all."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in seen.items():
        for kind, part in (("steps", one.steps), ("glances", one.glances)):
            arrays |= {f"{name}|{kind}|{field.name}": getattr(part, field.name) for field in fields(part)}
        arrays |= {f"{name}|own|flow": one.flow, f"{name}|own|change": one.change}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, open(temporary, "wb") as opened:
        np.savez_compressed(opened, allow_pickle=False, **arrays)


def kept_seen(path: Path) -> dict[str, Seen] | None:
    """What `keep_seen` wrote; None if there is no file that can be read."""
    parts: dict[str, dict[str, dict[str, NDArray[Any]]]] = {}
    try:
        with np.load(path, allow_pickle=False) as found:
            for name in found.files:
                arrangement, kind, field = name.split("|")
                parts.setdefault(arrangement, {}).setdefault(kind, {})[field] = found[name]
        return {
            name: Seen(VisualSteps(**part["steps"]), Glances(**part["glances"]), **part["own"])
            for name, part in parts.items()
        }
    except (OSError, ValueError, EOFError, KeyError, TypeError, BadZipFile):
        return None
