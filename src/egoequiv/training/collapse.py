"""Collapse: whether the features of all frames have become nearly one point, or lie on one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
import torch
from torch import Tensor

from egoequiv.errors import DataError
from egoequiv.store import FrameStore
from egoequiv.training.config import TrainConfig
from egoequiv.training.objective import Rows, gather
from egoequiv.training.streams import RunData
from egoequiv.training.validation import CHUNK, Encodes, evaluating

SPREAD, RANK = "validation_spread", "validation_effective_rank"  # the keys in the metrics of a run
FRAMES = 256  # looked at
# Healthy runs of all methods on the embedded worlds keep a spread above 0.4 and an effective rank above 1.4; those
# whose features no longer separate neighbours from strangers have a spread below 0.03 or a rank below 1.2.
LEAST_SPREAD, LEAST_RANK = 0.05, 1.25
SMALLEST = 0.05  # of the length of untrained features: shorter ones count as this long


@dataclass(frozen=True)
class _Reference:
    """What the features of a part were before training."""

    where: slice
    length: Tensor
    spread: Tensor
    is_line: bool

    @classmethod
    def of(cls, z: Tensor, where: slice) -> _Reference:
        centred, length = z - z.mean(dim=-2, keepdim=True), _root_mean_square(z)
        is_line = bool((effective_rank(centred) < 2).any())
        return cls(where, length, _root_mean_square(centred) / length, is_line)

    def measure(self, z: Tensor) -> dict[str, Tensor]:
        """Spread and effective rank of the features of a part, (..., N, D) -> (...)."""
        centred = torch.nan_to_num(z - z.mean(dim=-2, keepdim=True), 0.0, 0.0, 0.0)
        length = torch.maximum(_root_mean_square(z), SMALLEST * self.length)
        spread = _root_mean_square(centred) / (length * self.spread)
        return {SPREAD: torch.nan_to_num(spread, 0.0), RANK: effective_rank(centred)}


class FeatureCheck:
    """Measures the spread and the effective rank of features of some frames, compared with the untrained network.

    The spread is the distance of features from their mean relative to their length, 1 for the untrained network: it
    falls to 0 as all features become one point, whatever their scale. Features that shrink towards 0 become one point
    too, so lengths below a small part of the untrained ones do not count as shorter. Where maps act
    on a part of the features, that part is measured too, and the worse of both counts.
    """

    def __init__(self, data: RunData, untrained: Encodes) -> None:
        frames = data.split.validation if len(data.split.validation) > 1 else data.split.train
        self._store = data.store
        self._rows = np.sort(frames)[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), FRAMES)).astype(int))]
        z = features_of_rows(untrained, self._store, self._rows)
        if not torch.isfinite(z).all():
            raise DataError("the encoder gives features that are not finite before any training")
        mapped = untrained.part(untrained.mapped_part)
        # The other part is the same in a clip, so that in few clips it is few points.
        is_part = len(range(*mapped.indices(z.shape[-1]))) < z.shape[-1]
        parts = (slice(None), mapped) if is_part else (slice(None),)
        self._parts = [_Reference.of(z[..., part], part) for part in parts]
        two_classes = "labelled" in data.train and data.recognition and len(data.recognition.class_names) == 2
        # Two classes need no more than a line, and features that began on one have not collapsed to it.
        self._may_be_line = bool(two_classes) or any(part.is_line for part in self._parts)

    def __call__(self, net: Encodes) -> dict[str, Tensor]:
        """Spread and effective rank of the features of each network, (...); NaN where features are not finite."""
        z = features_of_rows(net, self._store, self._rows)
        is_finite = torch.isfinite(z).flatten(-2).all(dim=-1)
        found = [part.measure(z[..., part.where]) for part in self._parts]
        worst = {key: torch.stack([each[key] for each in found]).amin(dim=0) for key in (SPREAD, RANK)}
        return {key: torch.where(is_finite, value, torch.full_like(value, nan)) for key, value in worst.items()}

    def collapse(self, metrics: Mapping[str, float]) -> str | None:
        """In a few words how features have collapsed, from the metrics of a validation; None where they have not."""
        spread, rank = metrics.get(SPREAD), metrics.get(RANK)
        if spread is None or rank is None:
            return None
        if spread < LEAST_SPREAD:
            return f"the features of all frames are nearly equal (spread {spread:.2g}, 1 before training)"
        if rank < LEAST_RANK and not self._may_be_line:
            return f"the features of all frames lie nearly on one line (effective rank {rank:.2f})"
        return None


def effective_rank(centred: Tensor) -> Tensor:
    """The exponential of the entropy of the singular values, (..., N, D) -> (...): D features of equal size have D.

    0 where all features are equal.
    """
    values = torch.linalg.svdvals(centred)
    total = values.sum(dim=-1, keepdim=True)
    share = values / total.clamp_min(torch.finfo(values.dtype).tiny)
    rank = torch.special.entr(share).sum(dim=-1).exp()
    return torch.where(total.squeeze(-1) > 0, rank, torch.zeros_like(rank))


def collapse_warning(found: str, config: TrainConfig) -> str:
    """One line that says how features have collapsed, and what to change."""
    changes = [] if config.map_init == "identity" else ["set map_init=identity"]
    changes.append(f"lower learning_rate (now {config.learning_rate:g})")
    for term in config.objective().terms:
        if hasattr(term, "margin"):
            changes.append(f"raise margin.{term.name} (now {term.margin:g}) or lower weight.{term.name}")
    changes += [] if config.use_labels else ["train with labels"]
    return f"warning: {found}: {', '.join(changes)}, or choose another method than {config.method_name}"


@torch.no_grad()
def features_of_rows(net: Encodes, store: FrameStore, rows: Rows) -> Tensor:
    """Features of frames in double precision, (..., N, D)."""
    device = net.input_mean.device
    with evaluating(net):
        chunks = [net(gather(net, store, rows[at : at + CHUNK], device)) for at in range(0, len(rows), CHUNK)]
    return torch.cat(chunks, dim=-2).double().cpu()


def _root_mean_square(z: Tensor) -> Tensor:
    """The root mean square length of vectors, (..., N, D) -> (...)."""
    length: Tensor = torch.linalg.vector_norm(z, dim=(-2, -1)) / z.shape[-2] ** 0.5
    return length
