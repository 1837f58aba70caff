"""Motion read-out: how much of pose and motion a simple probe can read from features, on recordings it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.findings import baseline_texts, cell, measured, notes_of
from egoequiv.evaluation.folds import group_folds
from egoequiv.evaluation.frame_features import SIDE, FrameFeatures, groups_of, small_images
from egoequiv.evaluation.kept_apart import BLOCK, keep_apart
from egoequiv.evaluation.label_probe import label_findings
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.probes import LINEAR, PROBES, Probes, TrainingPart
from egoequiv.evaluation.read_targets import Targets, motion_targets, pose_targets
from egoequiv.evaluation.statistics import group_r2
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.files import plain
from egoequiv.pairs import sample_neighbour_pairs
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
FOLDS = 5
FEWEST_GROUPS = 3
MOST_FRAMES, MOST_PAIRS = 10_000, 20_000
FEWEST = 60
FRAME, PAIR = "z", "z_i, z_j"  # what is read from
Scores = Mapping[tuple[str, str, str], float]  # R^2 of a baseline: what it is read from, the quantity, the probe


@dataclass(frozen=True)
class ReadOut:
    """How well a probe reads one quantity: R^2 of 1 is all of it, 0 is no better than its mean."""

    read_from: str  # "z" or "z_i, z_j"
    quantity: str  # with its unit
    probe: str
    r2: float
    interval: tuple[float, float]  # 95 %, over groups
    rmse: float  # in the unit of the quantity
    spread: float  # the standard deviation of the quantity, in its unit

    @property
    def key(self) -> tuple[str, str, str]:
        """What is read, from what, by which probe."""
        return self.read_from, self.quantity, self.probe

    def value(self, groups: int, kind: str, baselines: Mapping[str, Scores]) -> Value:
        """Such as `R2 of azimuth_deg from z, linear`; what another probe than the linear one reads is a detail."""
        name = f"R2 of {self.quantity} from {self.read_from}, {self.probe}"
        metric = Metric(
            name=name,
            title=name,
            family="R2",
            within=(None, 1.0),
            is_detail=self.probe != LINEAR,
            baselines={"mean": 0.0},
        )
        known = {baseline: scores[self.key] for baseline, scores in baselines.items()}
        note = "" if isfinite(self.r2) else "the quantity never changes"
        return measured(metric, self.r2, self.interval, groups=groups, kind=kind, baselines=known, note=note)


@dataclass(frozen=True)
class ReadOutResult:
    """What probes read from features."""

    rows: tuple[ReadOut, ...]
    hold_out: str  # what training and test have none of in common: recordings, blocks of time, values of an attribute
    groups: int
    folds: int
    frames: int
    pairs: int
    units: int  # that intervals are over: recordings, also where blocks of time are held out
    unit: str = "recording"
    notes: tuple[str, ...] = ()

    def scores(self) -> Scores:
        """R^2 by each probe: what this is as a baseline of others, which are compared by the same probe."""
        return {row.key: row.r2 for row in self.rows}

    def finding(self, baselines: Mapping[str, Scores] | None = None) -> Finding:
        """R2 of every quantity; motion, which is read from two frames, first. Baselines by name."""
        baselines = baselines or {}
        each = [(row, row.value(self.units, self.unit, baselines)) for row in self.rows]
        table = [
            (
                *(row.read_from, row.quantity, row.probe, cell(value)),
                *baseline_texts(value, list(baselines)),
                *(f"{number:.3g}" for number in (row.rmse, row.spread)),
            )
            for row, value in each
        ]
        columns = ("read from", "quantity", "probe", "R2", *baselines, "rms error", "spread")
        notes = [
            f"{self.frames:,} frames and {self.pairs:,} pairs; every {self.hold_out} is read by a probe fitted on "
            f"others ({self.folds} folds of {self.groups})",
            *self.notes,
            "R2 is 1 for a perfect reading, 0 for always predicting the mean, and below 0 where that would be better",
        ]
        known = {
            "pixels": f"pixels: of images of at most {SIDE} x {SIDE}, larger ones made smaller",
            "untrained": "untrained: of the features of the same network before training",
        }
        words = [known[name] for name in baselines if name in known]
        notes += [f"{'; '.join(words)}; each by the probe of its row"] if words else []
        values = [value for _, value in sorted(each, key=lambda pair: pair[0].read_from == FRAME)]
        details = {name: getattr(self, name) for name in ("hold_out", "groups", "folds", "frames", "pairs")}
        details |= {"rows": plain([asdict(row) for row in self.rows])}
        title = "read-out of pose and motion"
        return Finding(values, [Grid.of(title, columns, table, notes)], details, notes=notes_of(values))


def read_out(
    read_from: str,
    z: NDArray[Any],
    targets: Targets,
    groups: Indices,
    seed: int = 0,
    probes: Probes | None = None,
    units: Indices | None = None,
) -> tuple[ReadOut, ...]:
    """Fit every probe on some groups and read the others, until each has been read; (N, D), (N, T), (N,).

    Intervals are over `units` (N,), by default the groups.
    """
    if len(z) < FEWEST:
        raise DataError(
            f"{len(z)} examples are too few to fit and test a probe of {read_from}: at least {FEWEST} are needed"
        )
    if len(np.unique(groups)) < FEWEST_GROUPS:
        raise DataError(
            f"what is read covers {len(np.unique(groups))} recordings or other parts, and probes need {FEWEST_GROUPS}: "
            "two to be fitted and chosen on, one to be read"
        )
    rows, z = [], np.asarray(z, np.float64)
    splits = group_folds(groups, FOLDS)
    for name, make in (probes or PROBES).items():
        read = np.empty_like(targets.values)
        for fit, rest in splits:
            probe = make(TrainingPart(groups[fit], seed))
            probe.fit(z[fit], targets.values[fit])
            read[rest] = probe.predict(z[rest]).reshape(len(rest), -1)
        for quantity, true, guess in zip(targets.names, targets.values.T, read.T, strict=True):
            squared = (true - guess) ** 2
            r2, rmse = group_r2(true, squared, groups if units is None else units), float(np.sqrt(np.mean(squared)))
            interval = r2.interval(within=(-np.inf, 1.0))
            rows.append(ReadOut(read_from, quantity, name, r2.value, interval, rmse, float(true.std())))
    return tuple(sorted(rows, key=lambda row: targets.names.index(row.quantity)))


def read_features(
    features: FrameFeatures,
    *,
    max_gap_s: float = 1.0,
    hold_out: str = "recording",
    seed: int = 0,
    pairs: tuple[Indices, Indices] | None = None,
) -> ReadOutResult:
    """Read poses from features, and motions from the features of pairs (by default those of `draw_pairs`).

    Cyclic coordinates are read as sine and cosine.
    """
    store, frames = features.store, features.frames
    if not store.space.axes:
        raise DataError(f"{store.path} has no poses to be read from features: ingest frames with poses")
    apart = keep_apart(store, frames, hold_out, fewest=FEWEST_GROUPS, max_gap_s=max_gap_s)
    units = groups_of(store, hold_out)
    frames = apart.only(frames) if apart.name == BLOCK else frames
    count = len(np.unique(apart.groups[frames]))
    if count < FEWEST_GROUPS:
        raise DataError(
            f"{store.path}: the frames have {count} values of {hold_out}, and probes need three or more: "
            "two to be fitted and chosen on, one to be read"
        )
    i, j = draw_pairs(store, frames, max_gap_s, seed) if pairs is None else pairs
    is_kept = apart.within(i, j)
    i, j = i[is_kept], j[is_kept]
    some = thinned(frames, MOST_FRAMES, [seed, 0x5A])
    poses = pose_targets(store.space, store.poses[some])
    motions = motion_targets(store.space, store.space.difference(store.poses[i], store.poses[j]))
    both = np.concatenate([features.of(i), features.of(j)], axis=1)
    groups = apart.groups
    rows = read_out(FRAME, features.of(some), poses, groups[some], seed, units=units[some])
    rows += read_out(PAIR, both, motions, groups[i], seed, units=units[i])
    measured_units = len(np.unique(units[frames]))
    folds = min(FOLDS, count)
    return ReadOutResult(rows, apart.name, count, folds, len(some), len(i), measured_units, hold_out, apart.notes)


def draw_pairs(store: FrameStore, frames: Indices, max_gap_s: float, seed: int) -> tuple[Indices, Indices]:
    """Pairs of one recording at most `max_gap_s` apart, or where frames have no times, one step of the grid."""
    drawn = sample_neighbour_pairs(
        store, frames, count=MOST_PAIRS, positive_fraction=1.0, max_gap_s=max_gap_s, seed=seed
    )
    if store.times_s is not None:
        return drawn.i, drawn.j
    # On a grid there is no before and after: half of the pairs are turned round.
    turned = np.random.default_rng([seed, 0x7B]).random(len(drawn)) < 0.5
    return np.where(turned, drawn.j, drawn.i), np.where(turned, drawn.i, drawn.j)


def readout(data: TaskData, options: TaskOptions, _: OnProgress) -> Finding:
    """The task: pose and motion on the validation frames of a run, and the labels of a table if one is given."""
    labels = label_findings(data, options.seed)
    if labels is None:
        return _read_run(data, options)
    try:
        motion = _read_run(data, options)
    except DataError as problem:  # such as too few recordings, or no poses
        return replace(labels, notes=[*labels.notes, f"pose and motion are not read: {problem}"])
    return Finding(
        [*labels.values, *motion.values],
        [*labels.tables, *motion.tables],
        motion.details,
        notes=[*labels.notes, *motion.notes],
    )


def _read_run(data: TaskData, options: TaskOptions) -> Finding:
    """Beside pixels and the network before training."""
    store, frames = data.store, data.split.validation
    key = (frames, data.max_gap_s, options.hold_out, options.seed)
    pairs: tuple[Indices, Indices] | None = None
    if store.space.axes:
        pairs = data.once(("read pairs", *key), lambda: draw_pairs(store, frames, data.max_gap_s, options.seed))

    def read(features: FrameFeatures) -> ReadOutResult:
        gap_s, hold_out = data.max_gap_s, options.hold_out
        return read_features(features, max_gap_s=gap_s, hold_out=hold_out, seed=options.seed, pairs=pairs)

    result = read(data.validation)
    baselines: dict[str, Scores] = {}
    if store.has_images:
        baselines["pixels"] = data.once(
            ("read-out of pixels", *key), lambda: read(small_images(store, frames)).scores()
        )
    untrained = data.look_untrained(frames)
    if untrained is not None:
        seen = ("read-out of untrained", *key, untrained.z)  # the same for all methods of one seed
        baselines["untrained"] = data.once(seen, lambda: read(untrained).scores())
    return result.finding(baselines)
