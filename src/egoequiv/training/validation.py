"""Validation during training: the losses and the accuracy on frames the run does not train on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from egoequiv.errors import DivergedError
from egoequiv.losses import StreamName
from egoequiv.methods import Method
from egoequiv.models import Heads
from egoequiv.models.network import Change
from egoequiv.training.config import TrainConfig
from egoequiv.training.distributed import ALONE, Team
from egoequiv.training.objective import Rows, gather_batch, split_features, term_losses
from egoequiv.training.streams import Stream

ROWS = 4_000  # of each stream: the standard error of an accuracy is then below one per cent
CHUNK = 250


class Encodes(Heads, Protocol):
    """A network, or many at once: features (..., B, D) of images (B, H, W, C)."""

    input_mean: Tensor

    def __call__(self, images: Tensor, change: Change | None = None) -> Tensor:
        """Features of images, whose normalised pixels may be changed."""


@contextmanager
def evaluating(net: Encodes) -> Iterator[None]:
    """Inside the block, layers that learn from what they see or draw random numbers do neither."""
    modules = [module for module in net.modules() if module.training] if isinstance(net, nn.Module) else []
    for module in modules:
        module.training = False
    try:
        yield
    finally:
        for module in modules:
            module.training = True


def validation_rows(streams: dict[StreamName, Stream]) -> dict[StreamName, Rows]:
    """The same evenly spread rows of each stream at every call; those of clips so that a chunk has about all clips."""
    found = {
        name: np.unique(np.linspace(0, len(s) - 1, min(ROWS, len(s))).astype(np.int64)) for name, s in streams.items()
    }
    if "clip" in found:
        rows = found["clip"]
        chunks = -(-len(rows) // CHUNK)
        found["clip"] = rows[np.argsort(np.arange(len(rows)) % chunks, kind="stable")]
    return found


@torch.no_grad()
def validate(
    net: Encodes,
    method: Method,
    streams: dict[StreamName, Stream],
    rows: dict[StreamName, Rows],
    team: Team = ALONE,
    change: Change | None = None,
) -> dict[str, Tensor]:
    """`validation_TERM` for each term, and `validation_top1` with labels; of each network, (...).

    Each process of a team looks at its part of the rows, and all get the same figures. `change` makes the two views of
    one image differ; other images are seen as they are.
    """
    metrics: dict[str, Tensor] = {}
    for name, stream in streams.items():
        terms = replace(method, terms=tuple(term for term in method.terms if term.stream == name))
        own = team.part(rows[name])
        sums = _zeros(net, terms, name)
        with evaluating(net):
            for start in range(0, len(own), CHUNK):
                chunk = own[start : start + CHUNK]
                for key, value in _of_rows(net, terms, name, stream, chunk, change).items():
                    sums[key] = sums[key] + value
        metrics |= {key: (team.sum(total) / len(rows[name])).cpu() for key, total in sums.items()}
    return metrics


def _zeros(net: Encodes, terms: Method, name: StreamName) -> dict[str, Tensor]:
    keys = [f"validation_{term.name}" for term in terms.terms]
    keys += ["validation_top1"] if name == "labelled" and net.head is not None else []
    return {key: torch.zeros((), dtype=torch.float64, device=net.input_mean.device) for key in keys}


def _of_rows(
    net: Encodes, terms: Method, name: StreamName, stream: Stream, rows: Rows, change: Change | None
) -> dict[str, Tensor]:
    """Sums over the rows, in double precision: of each loss, and of right answers."""
    batch = gather_batch({name: stream}, {name: rows}, net, net.input_mean.device)
    z = net(batch.images, change) if name == "view" else net(batch.images)
    features = split_features(z, batch.targets, batch.motions, batch.places)
    losses = term_losses(net, terms, features)
    sums = {f"validation_{t.name}": loss * len(rows) for t, loss in zip(terms.terms, losses, strict=True)}
    if name == "labelled" and net.head is not None:
        sums["validation_top1"] = (net.head(features[name].z_i).argmax(-1) == batch.targets[name]).sum(-1)
    return {key: value.double() for key, value in sums.items()}


def validation_metrics(method: Method, values: Mapping[str, float]) -> dict[str, float]:
    """The values of one network, with `validation_loss`, the weighted sum of its losses."""
    total = sum(term.weight * values[f"validation_{term.name}"] for term in method.terms)
    return {**values, "validation_loss": total}


def check_finite(metrics: Mapping[str, float], iteration: int, config: TrainConfig) -> None:
    """The last step before a validation may have spoilt the weights although its loss was finite."""
    if not all(isfinite(value) for value in metrics.values()):
        raise DivergedError(
            f"the validation loss is not finite at iteration {iteration}: lower learning_rate"
            f" (now {config.learning_rate:g}) or the weights",
            iteration,
        )


def score(metrics: Mapping[str, float]) -> float:
    """The figure by which checkpoints and settings are chosen; higher is better."""
    return metrics.get("validation_top1", -metrics.get("validation_loss", 0.0))
