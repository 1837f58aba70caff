"""Collapse: whether a part of the features of all frames has become nearly one point, or lies on one line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
import torch
from torch import Tensor

from egoequiv.errors import DataError
from egoequiv.losses import RatioOfMeans, RelativeError
from egoequiv.models.head import BackboneHead
from egoequiv.models.network import ALL, EQUIVARIANT, INVARIANT
from egoequiv.pairs.clips import clip_numbers
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
# Of parts, whose features have length 1: the cosines of all frames are then above 0.99, and a contrast of them is at
# chance. Untrained features of a log, whose pictures resemble each other, begin so near to it that a share of it
# says little. Nearer than before training, they have collapsed.
LEAST_APART = 0.1
SMALLEST = 0.05  # of the length of untrained features: shorter ones count as this long
CALM_WEIGHT = 0.5  # of the relative error, with which the contrast beside it won on all logs that were tried
FEWEST_CLIPS = 3  # that features which are the same in a clip are judged on
Metrics = Mapping[str, float]


@dataclass(frozen=True)
class _Part:
    """One part of the features: on which frames it is judged, and what it was before training."""

    name: str
    where: slice
    places: Rows  # among the frames that are looked at
    may_be_line: bool
    length: Tensor
    spread: Tensor

    @classmethod
    def of(cls, name: str, where: slice, places: Rows, z: Tensor, may_be_line: bool) -> _Part:
        """A part of untrained features of all frames that are looked at, (..., N, D)."""
        z = z[..., places, where]
        centred, length = z - z.mean(dim=-2, keepdim=True), _root_mean_square(z)
        is_line = bool((effective_rank(centred) < 2).any())
        return cls(name, where, places, may_be_line or is_line, length, _root_mean_square(centred) / length)

    def key(self, what: str) -> str:
        """What a metric of this part is called."""
        return what if self.name == ALL else f"{what}_{self.name}"

    def measure(self, z: Tensor) -> dict[str, Tensor]:
        """Spread and effective rank of this part of features, (..., N, D) -> (...)."""
        z = z[..., self.places, self.where]
        centred = torch.nan_to_num(z - z.mean(dim=-2, keepdim=True), 0.0, 0.0, 0.0)
        length = torch.maximum(_root_mean_square(z), SMALLEST * self.length)
        spread = _root_mean_square(centred) / (length * self.spread)
        return {self.key(SPREAD): torch.nan_to_num(spread, 0.0), self.key(RANK): effective_rank(centred)}

    def collapse(self, metrics: Metrics) -> str | None:
        """In a few words how this part has collapsed; None where it has not."""
        spread, rank = metrics.get(self.key(SPREAD)), metrics.get(self.key(RANK))
        if spread is None or rank is None:
            return None
        which = "the features" if self.name == ALL else f"the {self.name} features"
        if spread < LEAST_SPREAD or (self.name != ALL and spread < 1 and spread * float(self.spread) < LEAST_APART):
            return f"{which} of all frames are nearly equal (spread {spread:.2g}, 1 before training)"
        if rank < LEAST_RANK and not self.may_be_line:
            return f"{which} of all frames lie nearly on one line (effective rank {rank:.2f})"
        return None


class FeatureCheck:
    """Measures the spread and the effective rank of features of some frames, compared with the untrained network.

    The spread is the distance of features from their mean relative to their length, 1 for the untrained network: it
    falls to 0 as all features become one point, whatever their scale. Features that shrink towards 0 become one point
    too, so lengths below a small part of the untrained ones do not count as shorter. Where features have parts, each
    part is judged by itself.
    """

    def __init__(self, data: RunData, untrained: Encodes) -> None:
        split, has_parts = data.split, untrained.mapped_part != ALL
        usual = some_of(split.validation if len(split.validation) > 1 else split.train)
        rows = dict.fromkeys((INVARIANT, EQUIVARIANT) if has_parts else (ALL,), usual)
        if has_parts and len(np.unique(clip_numbers(data.store, data.config.clip_s)[usual])) < FEWEST_CLIPS:
            rows[INVARIANT] = some_of(split.train)  # in few clips, what is the same in a clip is few points
        self._store, self._rows = data.store, np.unique(np.concatenate(list(rows.values())))
        z = features_of_rows(untrained, self._store, self._rows)
        if not torch.isfinite(z).all():
            raise DataError("the encoder gives features that are not finite before any training")
        two_classes = "labelled" in data.train and data.recognition and len(data.recognition.class_names) == 2
        # Two classes need no more than a line, nor do a few clips; what began on a line has not collapsed to it.
        self._parts = [
            _Part.of(
                name,
                _learned(untrained, name),
                np.searchsorted(self._rows, own),
                z,
                may_be_line=bool(two_classes) or name == INVARIANT,
            )
            for name, own in rows.items()
        ]

    def __call__(self, net: Encodes) -> dict[str, Tensor]:
        """Spread and effective rank of each part of the features of each network, (...); NaN where not finite."""
        z = features_of_rows(net, self._store, self._rows)
        is_finite = torch.isfinite(z).flatten(-2).all(dim=-1)
        found = {key: value for part in self._parts for key, value in part.measure(z).items()}
        return {key: torch.where(is_finite, value, torch.full_like(value, nan)) for key, value in found.items()}

    def collapse(self, metrics: Metrics) -> dict[str, str]:
        """The parts of the features that have collapsed, each with how, in a few words.

        Args:
            metrics: Of a validation.
        """
        return {part.name: how for part in self._parts if (how := part.collapse(metrics)) is not None}


def _learned(net: Encodes, name: str) -> slice:
    """Where a part of the features is, without those that a head keeps as they are: these cannot collapse."""
    part, encoder = net.part(name), getattr(net, "encoder", None)
    if isinstance(encoder, BackboneHead) and name == INVARIANT:
        return slice(part.start, part.stop - encoder.kept)
    return part


def some_of(frames: Rows) -> Rows:
    """Some frames at even distances, in order."""
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), FRAMES)).astype(int))
    some: Rows = np.sort(frames)[chosen]
    return some


def has_collapsed(part: str, collapsed: Collection[str], parts: Collection[str]) -> bool:
    """Whether a part of the features has collapsed; all features have where each of their parts has."""
    return part in collapsed or (part == ALL and bool(parts) and set(parts) <= set(collapsed))


def effective_rank(centred: Tensor) -> Tensor:
    """The exponential of the entropy of the singular values, (..., N, D) -> (...): D features of equal size have D.

    0 where all features are equal.
    """
    values = torch.linalg.svdvals(centred)
    total = values.sum(dim=-1, keepdim=True)
    share = values / total.clamp_min(torch.finfo(values.dtype).tiny)
    rank = torch.special.entr(share).sum(dim=-1).exp()
    return torch.where(total.squeeze(-1) > 0, rank, torch.zeros_like(rank))


def collapse_warning(found: Mapping[str, str], config: TrainConfig) -> str:
    """One line that says how parts of the features have collapsed, and what to change."""
    changes = [] if config.map_init == "identity" else ["set map_init=identity"]
    terms = config.objective().terms
    for term in terms:
        if hasattr(term, "margin"):
            changes.append(f"raise margin.{term.name} (now {term.margin:g}) or lower weight.{term.name}")
        elif isinstance(term, RelativeError) and term.weight > CALM_WEIGHT:
            # Its minimum is a single point, and no learning rate keeps it from winning against the contrast.
            changes.append(f"--set weight.{term.name}={CALM_WEIGHT:g} (now {term.weight:g})")
        elif isinstance(term, RatioOfMeans):
            changes.append(f"lower weight.{term.name} (now {term.weight:g})")
    if not any(isinstance(term, RelativeError | RatioOfMeans) for term in terms):
        changes.append(f"lower learning_rate (now {config.learning_rate:g})")
        changes += [] if config.use_labels else ["train with labels"]
    advice = ", or ".join([*filter(None, [", ".join(changes)]), f"choose another method than {config.method_name}"])
    return f"warning: {'; '.join(found.values())}: {advice}"


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
