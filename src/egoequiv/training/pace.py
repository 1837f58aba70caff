"""How long runs take to train: noted in their folders, and beside each other before they begin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import torch

from egoequiv.engines import Tick
from egoequiv.errors import EgoEquivError
from egoequiv.files import read_json, write_json
from egoequiv.models import build_encoder
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.names import is_code
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.jobs import Job
from egoequiv.training.objective import pieces

PACE = "pace.json"
LEAST_WORK = 10**7  # operations of a first pass of the encoder that take as long as the rest of an iteration


class Pace:
    """Passes iterations on, and measures how long one of them takes; what was done before a stop has no part in it."""

    def __init__(self, tick: Tick) -> None:
        self._tick = tick
        self._begun_s = self._last_s = monotonic()
        self._first_s: float | None = None  # when the first iterations were reported: opening the data is over
        self._first = self._after = 0

    def __call__(self, iterations: int) -> None:
        if iterations:
            self._last_s = monotonic()
            if self._first_s is None:
                self._first_s, self._first = self._last_s, iterations
            else:
                self._after += iterations
        self._tick(iterations)

    def seconds(self, iterations: int) -> float:
        """How long so many iterations of one run take."""
        if self._first_s is not None and self._after:
            return (self._last_s - self._first_s) / self._after * iterations
        return (self._last_s - self._begun_s) / max(self._first, 1) * iterations


def note_seconds(job: Job, seconds: float) -> None:
    """Write down how long the training of a run takes."""
    write_json(job.out / PACE, {"seconds": round(seconds, 3)})


def noted_seconds(job: Job) -> float | None:
    """How long the training of a run takes; None where that is not known."""
    try:
        found = read_json(job.out / PACE, RUN_KIND).get("seconds")
    except EgoEquivError:
        return None
    return float(found) if isinstance(found, int | float) else None


def work_of(jobs: Sequence[Job]) -> dict[Path, int]:
    """About how long an iteration of each run takes beside one of the others, by the folder of the run.

    One of a large encoder may take hundreds of times as long as one of the paper's.
    """
    if len({(job.config.encoder, job.config.batch_size) for job in jobs}) < 2:
        return dict.fromkeys((job.out for job in jobs), 1)
    known: dict[str, int] = {}
    found = {}
    for job in jobs:
        config = job.config
        images = config.batch_size * sum(pieces(stream) for stream in config.objective().streams)
        key = f"{config.data} {config.encoder} {config.encoder_settings}"
        if key not in known:
            known[key] = _operations(config)
        found[job.out] = 1 + images * known[key] // LEAST_WORK
    return found


def _operations(config: TrainConfig) -> int:
    """How many operations the encoder needs for one image; nothing is computed, and code of a user is not run."""
    if is_code(config.encoder) or config.encoder == BACKBONE:  # a head does little
        return 0
    from torch.utils.flop_counter import FlopCounterMode  # here, because the import takes a second

    shape = FrameStore.open(config.data).image_shape
    with torch.device("meta"), torch.no_grad(), FlopCounterMode(display=False) as counted:
        encoder = build_encoder(config.encoder, shape, config.encoder_settings).eval()
        encoder(torch.empty(1, shape[2], *shape[:2]))
    return int(counted.get_total_flops())
