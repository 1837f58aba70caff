"""Runs to do, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError, DivergedError
from egoequiv.files import read_json, write_json
from egoequiv.models.checkpoint import RUN_KIND
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import open_data
from egoequiv.training.defaults import as_begun, is_settled
from egoequiv.training.run_folder import CONFIG, RunFolder

DIVERGED = "diverged.json"


@dataclass(frozen=True)
class Job:
    """A run to do: its config and its folder."""

    config: TrainConfig
    out: Path


@dataclass(frozen=True)
class Outcome:
    """What became of a job: the summary of the finished run, or the iteration at which it diverged."""

    job: Job
    result: dict[str, Any] | None
    diverged_at: int | None = None


def settled(job: Job) -> Job:
    """The job with all that its config leaves to the data decided: as when its run began, if it did."""
    config = job.config
    if not is_settled(config) and (job.out / CONFIG).exists():
        config = as_begun(config, RunFolder(job.out).config())
    return job if is_settled(job.config) else replace(job, config=open_data(config).config)


def past_outcome(job: Job) -> Outcome | None:
    """What became of a job earlier, None if it is still to do; a folder with other settings or data is refused."""
    folder = RunFolder(job.out)
    failed, finished = job.out / DIVERGED, folder.result
    if not failed.exists() and finished is None:
        return None
    folder.begin(job.config, open_data(job.config), resume=True)
    if failed.exists():
        noted = read_json(failed, RUN_KIND).get("iteration")
        if not isinstance(noted, int):
            raise DataError(f"{failed} does not say when the run diverged: remove it to train again")
        return Outcome(job, None, noted)
    return Outcome(job, finished)


def note_divergence(job: Job, problem: DivergedError) -> Outcome:
    """Write down that a run has diverged, so that it is not tried again."""
    write_json(job.out / DIVERGED, {"iteration": problem.iteration, "reason": str(problem)})
    return Outcome(job, None, problem.iteration)
