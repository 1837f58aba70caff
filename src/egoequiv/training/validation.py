"""Validation during training: the losses and the accuracy on frames the run does not train on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from egoequiv.errors import ConfigError
from egoequiv.losses import StreamName
from egoequiv.methods import Method
from egoequiv.models import EgoNet
from egoequiv.training.data import Stream
from egoequiv.training.objective import Rows, gather, loss_terms

ROWS = 4_000  # of each stream: the standard error of an accuracy is then below one per cent
CHUNK = 250


def validation_rows(streams: dict[StreamName, Stream]) -> dict[StreamName, Rows]:
    """The same evenly spread rows of each stream at every call."""
    return {
        name: np.unique(np.linspace(0, len(s) - 1, min(ROWS, len(s))).astype(np.int64)) for name, s in streams.items()
    }


@torch.no_grad()
def validate(
    net: EgoNet, method: Method, streams: dict[StreamName, Stream], rows: dict[StreamName, Rows]
) -> dict[str, float]:
    """`validation_TERM` for each term, `validation_loss` for their weighted sum, `validation_top1` with labels."""
    metrics: dict[str, float] = {}
    total = 0.0
    for term in method.terms:
        stream, chosen = streams[term.stream], rows[term.stream]
        alone = replace(method, terms=(term,))
        summed = 0.0
        for start in range(0, len(chosen), CHUNK):
            piece = chosen[start : start + CHUNK]
            summed += float(loss_terms(net, alone, {term.stream: stream}, {term.stream: piece})) * len(piece)
        metrics[f"validation_{term.name}"] = summed / len(chosen)
        total += term.weight * metrics[f"validation_{term.name}"]
    metrics["validation_loss"] = total
    if "labelled" in streams:
        metrics["validation_top1"] = _top1(net, streams["labelled"], rows["labelled"])
    return metrics


def _top1(net: EgoNet, stream: Stream, rows: Rows) -> float:
    if net.head is None:
        raise ConfigError("accuracy needs a network with a classifier head")
    right = 0
    for start in range(0, len(rows), CHUNK):
        piece = rows[start : start + CHUNK]
        features = net(gather(stream.store, stream.i[piece], net.input_mean.device))
        right += int((net.head(features).argmax(1).cpu().numpy() == stream.target[piece]).sum())
    return right / len(rows)


def score(metrics: Mapping[str, float]) -> float:
    """The figure by which checkpoints and settings are chosen; higher is better."""
    return metrics.get("validation_top1", -metrics.get("validation_loss", 0.0))
