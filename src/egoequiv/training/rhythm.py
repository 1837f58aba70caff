"""The rhythm of training: log, validate, keep the best, save; the same for one network and for a stack of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import torch
from torch import Tensor

from egoequiv.errors import DivergedError
from egoequiv.losses import StreamName
from egoequiv.methods import Method
from egoequiv.training.auroc import auroc_streams, aurocs
from egoequiv.training.batches import batch_orders
from egoequiv.training.collapse import FeatureCheck
from egoequiv.training.config import TrainConfig
from egoequiv.training.distributed import ALONE, Team
from egoequiv.training.light import VALIDATION, light_at
from egoequiv.training.objective import Rows
from egoequiv.training.streams import RunData
from egoequiv.training.validation import (
    Encodes,
    check_finite,
    evaluating,
    score,
    validate,
    validation_metrics,
    validation_rows,
)

Metrics = dict[str, float]


@dataclass
class Member:
    """One run on its way: its config, and how far it has come."""

    config: TrainConfig
    best: float | None = None
    best_at: int = 0  # the iteration of the best score
    last: Metrics = field(default_factory=dict)  # the newest line of metrics

    def log(self, losses: Tensor, values: Mapping[str, float], iteration: int) -> bool:
        """Note the metrics of the last iterations, from their losses (W, T) and perhaps a validation.

        Returns whether the network is the best so far; raises if anything is not finite.
        """
        method = self.config.objective()
        line = term_means(method, losses, iteration, self.config)
        if values:
            line |= validation_metrics(method, values)
            check_finite(line, iteration, self.config)
        self.last = line
        is_best = bool(values) and (self.best is None or score(line) > self.best)
        if is_best:
            self.best, self.best_at = score(line), iteration
        return is_best


class Course(ABC):
    """Networks that are trained together: one, or a stack; `net` has its initial weights when a course is made."""

    def __init__(self, config: TrainConfig, data: RunData, net: Encodes, team: Team = ALONE) -> None:
        self.config, self.data = config, data
        self.iteration = 0
        self._net, self._team = net, team
        self._method = config.objective()
        self._orders = batch_orders(config, data.train)
        self._held_out = validation_rows(data.validation)
        self._neighbours = auroc_streams(data, config)
        with evaluating(net):
            self._features = FeatureCheck(data, net)
        self.last_iteration = config.iterations if self._method.terms else 0

    def train(self) -> None:
        """Train to the end."""
        window: list[Tensor] = []
        while self.iteration < self.last_iteration and self.is_learning:
            rows = {name: order.batch(self.iteration) for name, order in self._orders.items()}
            window.append(self.step(rows))
            self.iteration += 1
            if not self._is_due(self.config.log_every):
                continue
            values = self.validated() if self._is_due(self.config.validate_every) else {}
            self.log(torch.stack(window), values)
            window.clear()
            if self._is_due(self.config.checkpoint_every):
                self.save()
            self.report()

    def validated(self) -> dict[str, Tensor]:
        """What is known of validation frames: losses, accuracy, AUROC and the spread of features; (...) of each."""
        with evaluating(self._net):
            change = light_at(self.config, VALIDATION)
            values = validate(self._net, self._method, self.data.validation, self._held_out, self._team, change)
            return values | aurocs(self._net, self._method, self._neighbours) | self._features(self._net)

    def summary(self, member: Member) -> dict[str, Any]:
        """What a finished run reports."""
        data, config = self.data, member.config
        collapsed = list(self._features.collapse(member.last))
        return {
            "method": config.method,
            "iterations": config.iterations,
            "metrics": member.last,
            "best_score": member.best,
            "collapsed": bool(collapsed),
            "collapsed_parts": collapsed,
            "split": data.split.kind,
            "train_frames": len(data.split.train),
            "validation_frames": len(data.split.validation),
            "leaked_validation_frames": data.leaked,
            "revisited_validation_frames": data.revisited,
            "near_copy_validation_frames": data.near_copies,
            "training_rows": {name: len(stream) for name, stream in data.train.items()},
            "patterns": list(data.patterns.names) if data.patterns else [],
        }

    def _is_due(self, every: int) -> bool:
        return self.iteration % every == 0 or self.iteration == self.last_iteration

    @property
    def is_learning(self) -> bool:
        """Whether there is still something to train."""
        return True

    @abstractmethod
    def step(self, rows: dict[StreamName, Rows]) -> Tensor:
        """Learn from one batch; the losses before it, (..., T)."""

    @abstractmethod
    def log(self, losses: Tensor, values: dict[str, Tensor]) -> None:
        """Note the losses (W, ..., T) of the last iterations and perhaps a validation; keep the best network."""

    @abstractmethod
    def save(self) -> None:
        """Write a checkpoint."""

    @abstractmethod
    def report(self) -> None:
        """Say how far it is."""


def term_means(method: Method, values: Tensor, iteration: int, config: TrainConfig) -> Metrics:
    """The mean of each term over the last iterations, (W, T); raise if any of it is not finite.

    To look only now and then spares a GPU from waiting in every iteration, and the first bad one is still named.
    """
    bad = torch.nonzero(~torch.isfinite(values).all(dim=1)).flatten()
    if len(bad):
        first = iteration - len(values) + int(bad[0]) + 1
        names = [t.name for t, value in zip(method.terms, values[bad[0]].tolist(), strict=True) if not isfinite(value)]
        which = f"the loss {' and '.join(names)}" if len(names) == 1 else f"the losses {' and '.join(names)}"
        change = (
            f"lower learning_rate (now {config.learning_rate:g})"
            f" or the weights ({', '.join(f'weight.{t.name}={t.weight:g}' for t in method.terms)})"
        )
        if first == 1:
            change = "nothing was learned yet, so look at how it is computed"
        raise DivergedError(f"{which} stopped being finite at iteration {first}: {change}", first)
    means = values.mean(dim=0).tolist()
    metrics: Metrics = {"iteration": iteration}
    metrics |= {term.name: mean for term, mean in zip(method.terms, means, strict=True)}
    metrics["loss"] = sum(term.weight * mean for term, mean in zip(method.terms, means, strict=True))
    return metrics
