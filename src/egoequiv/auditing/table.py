"""What an audit found: rho of every model, layer and motion, with all that is needed to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan, nan
from typing import Any

from egoequiv.files import plain

COLLAPSED = "collapsed run"  # the kind of a model
NORM = "Euclidean norm of the features as the model gives them, none of them rescaled"
COPY = "1.00 is the copy baseline: a map that changes nothing; 0 is perfectly equivariant"

CONSTANT = (
    "constant: rho of a map that ignores z(gx) and predicts the mean of z(x) over the pairs to fit; for "
    "many features that have nothing to do with each other it is 0.71"
)
MARK = (
    "asterisk (*): not below copying, a constant, and the baselines pixels and random where they are in the table, to "
    "two decimals, or of a run whose features collapsed: no evidence that these features answer to this motion"
)


@dataclass(frozen=True)
class MotionAudit:
    """Rho of one motion, by the map whose fit was chosen on pairs of its own; not a number where it is not defined."""

    motion: str
    rho: float  # mean over pairs of |z(x) - M'z(gx)| / |z(x) - z(gx)|
    interval: tuple[float, float]  # 95 %, over recordings
    ratio_of_means: float  # mean |z(x) - M'z(gx)| / mean |z(x) - z(gx)|, which leaves no pair out
    fit: str  # the fit that was chosen, in words
    pairs_excluded: int  # measured pairs left out of rho because both images have the same features
    constant: float = nan  # rho of the mean of z(x) over the pairs to fit, whatever z(gx) is
    ratio_interval: tuple[float, float] = (nan, nan)  # 95 %, over recordings
    ratio_constant: float = nan  # the ratio of means of that mean
    baselines: Mapping[str, float] = field(default_factory=dict)  # rho of pixels and random, where they are other rows
    ratio_baselines: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_below_references(self) -> bool:
        """Whether rho is below that of every baseline, at two decimals."""
        return _is_below(self.rho, (self.constant, *self.baselines.values()))

    @property
    def is_ratio_below_references(self) -> bool:
        """The same of the ratio of means."""
        return _is_below(self.ratio_of_means, (self.ratio_constant, *self.ratio_baselines.values()))

    @property
    def is_marked(self) -> bool:
        """Whether there is a rho, and it or the ratio of means is not below its references."""
        return not isnan(self.rho) and not (self.is_below_references and self.is_ratio_below_references)


def _is_below(value: float, references: Sequence[float]) -> bool:
    """Whether a value is below copying and all references that are defined, at two decimals."""
    least = min([1.0, *(one for one in references if not isnan(one))])
    return not isnan(value) and round(value, 2) < round(least, 2)


@dataclass(frozen=True)
class MotionPairCounts:
    """How many pairs of a motion were used for what, the same for all models."""

    motion: str
    fitted: int
    chosen_on: int
    measured: int
    groups_measured: int  # recordings, or what else was kept apart
    divided_by: str  # groups, such as recordings; or time or frames, so that the parts share recordings


@dataclass(frozen=True)
class AuditRow:
    """One model, or one layer of it."""

    model: str
    kind: str
    layer: str
    dimension: int
    preprocessing: str
    motions: tuple[MotionAudit, ...]

    @property
    def is_collapsed(self) -> bool:
        """Whether these features collapsed in training."""
        return self.kind == COLLAPSED and self.layer == "output"

    @property
    def name(self) -> str:
        """The model, and its layer if it is not what the model returns."""
        return self.model if self.layer == "output" else f"{self.model} / {self.layer}"

    @property
    def has_marks(self) -> bool:
        """Whether some of its numbers are no evidence."""
        return self.is_collapsed or any(found.is_marked for found in self.motions)

    def of(self, motion: str) -> MotionAudit:
        """What was found for one motion."""
        return next(found for found in self.motions if found.motion == motion)


@dataclass(frozen=True)
class AuditTable:
    """Several models on one store, measured on the same pairs."""

    store: str
    frames: int  # of which features were computed
    hold_out: str  # what is never both fitted and measured: recording, label, or an attribute
    pooling: str
    pairs: tuple[MotionPairCounts, ...]
    rows: tuple[AuditRow, ...]
    notes: tuple[str, ...]

    @property
    def motions(self) -> tuple[str, ...]:
        return tuple(counts.motion for counts in self.pairs)

    def describe(self) -> dict[str, Any]:
        """A JSON object; what is not defined is null."""
        return {
            "store": self.store,
            "norm": NORM,
            "baseline": COPY,
            "constant_baseline": CONSTANT,
            "frames": self.frames,
            "hold_out": self.hold_out,
            "pooling": self.pooling,
            "pairs": [asdict(counts) for counts in self.pairs],
            "rows": [_described(row) for row in self.rows],
            "notes": list(self.notes),
        }


def _described(row: AuditRow) -> dict[str, Any]:
    values = asdict(row)
    values["motions"] = [
        {
            **plain(asdict(found)),
            "is_below_references": found.is_below_references,
            "is_ratio_below_references": found.is_ratio_below_references,
        }
        for found in row.motions
    ]
    return values
