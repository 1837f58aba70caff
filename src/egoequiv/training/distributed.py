"""One run on many processes: each reads its part of every batch, and gradients are averaged over all of them.

`torchrun` starts the processes; without it a run is a team of one, which costs nothing.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from egoequiv.errors import ConfigError, EgoEquivError, LostProcessError
from egoequiv.training.config import TrainConfig
from egoequiv.training.objective import Objective, Rows


@dataclass(frozen=True)
class Team:
    """The processes of one run, seen from one of them."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes the run's folder."""
        return self.rank == 0

    def part(self, rows: Rows) -> Rows:
        """The part of the rows of a batch that this process reads."""
        return rows if self.size == 1 else rows[self.rank :: self.size]

    def sharing(self, objective: Objective) -> Objective:
        """The objective with gradients averaged over all processes."""
        if self.size == 1:
            return objective
        shared = DistributedDataParallel(objective, broadcast_buffers=False, gradient_as_bucket_view=True)
        return cast(Objective, shared)

    def sum(self, values: Tensor) -> Tensor:
        """The sum of a tensor over all processes."""
        if self.size == 1:
            return values
        total = values.clone()
        dist.all_reduce(total)
        return total

    def mean(self, values: Tensor) -> Tensor:
        """The mean of a tensor over all processes."""
        return self.sum(values) / self.size

    def wait(self) -> None:
        """Wait until all processes have come here."""
        if self.size > 1:
            dist.barrier()

    def agree(self, problem: EgoEquivError | None, device: torch.device) -> None:
        """Raise what the first process has found wrong, in all processes; the others know of it only that it is."""
        if float(self.sum(torch.tensor(float(problem is not None), device=device))):
            raise problem or ConfigError("the first process of this run says what is wrong")


ALONE = Team()


def is_started_by_torchrun() -> bool:
    """Whether `torchrun` started this process; variables such as RANK alone may have been set for something else."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def rank_here() -> int:
    """The number of this process among those that `torchrun` started, 0 without it."""
    return int(os.environ["RANK"]) if is_started_by_torchrun() else 0


@contextmanager
def gathered(config: TrainConfig, device: torch.device) -> Iterator[Team]:
    """The team of this process; the loss of another process ends this one with a clear line."""
    size = int(os.environ["WORLD_SIZE"]) if is_started_by_torchrun() else 1
    if size == 1:
        yield ALONE
        return
    if config.batch_size % size:
        raise ConfigError(f"batch_size={config.batch_size} cannot be shared by {size} processes: choose a multiple")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    is_lost = False
    try:
        with warnings.catch_warnings():  # of DDP, on the layout of one small weight and on a setting with no other name
            warnings.filterwarnings("ignore", "Grad strides do not match")
            warnings.filterwarnings("ignore", ".*broadcast_buffers")
            yield Team(dist.get_rank(), size)
    except RuntimeError as problem:
        if not _is_lost_peer(problem):
            raise
        is_lost = True
        # The group is kept: its end joins a thread that may wait for the lock of Python, which is held meanwhile.
        raise LostProcessError(
            f"process {rank_here()} of {size} lost another process of this run; go on from the last checkpoint by the "
            "same command with --resume"
        ) from problem
    finally:
        if not is_lost:
            dist.destroy_process_group()


def own_device(device: torch.device) -> torch.device:
    """The accelerator of this process: each of a machine takes one of its own."""
    if str(device) == "cuda" and is_started_by_torchrun():
        return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    return device


def _is_lost_peer(problem: RuntimeError) -> bool:
    words = ("gloo", "nccl", "connection closed", "connection reset", "broken pipe")
    return type(problem).__name__.startswith("Dist") or any(word in str(problem).lower() for word in words)
