"""The task `composition`: whether the maps of motions multiply as the motions do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from egoequiv.blocks import Cell, Grid
from egoequiv.errors import ConfigError, TooFewPairsError
from egoequiv.evaluation.chains import MotionChains, Motions, find_motion_chains, name_of
from egoequiv.evaluation.equivariance import Features, MotionError, MotionFeatures, apply_map, score_mapped
from egoequiv.evaluation.equivariance_task import rho_metric, rho_value
from egoequiv.evaluation.findings import LEAKED_PAIRS, cell, notes_of, some_of
from egoequiv.evaluation.fitted_on import MOST_FITTED, fitted_apart_notes, halved_notes, training_frames
from egoequiv.evaluation.forward_maps import Affine
from egoequiv.evaluation.frame_features import fold_groups
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, counted, silent
from egoequiv.files import plain
from egoequiv.pairs.candidates import Indices, thinned

Rows = dict[Motions, tuple[tuple[Indices, Indices], tuple[Indices, Indices] | None]]  # measured, and fitted on
LONGEST = 5  # steps of a chain
SHOWN = (3, 5)  # lengths of the chains that are shown for all
NOTES = (
    "rho is 0 for a perfect product and 1 for the copy baseline (a map that changes nothing)",
    "there and back, a map that changes nothing gives 0 as well: read it beside the rho of one step",
)


@dataclass(frozen=True)
class ComposedError:
    """The error of a sequence of motions: by the product of their maps, and by one map fitted to the whole of it."""

    motions: Motions
    composed: MotionError
    fitted: MotionError
    untrained: ComposedError | None = None  # the same before training

    @property
    def name(self) -> str:
        """Such as `up+right`, or `up x 3`."""
        return name_of(self.motions)

    def values(self, name: str, is_detail: bool = True) -> list[Value]:
        """Rho of the product and of the map of its own."""
        before = self.untrained
        values = []
        for way, error, own in (
            ("product", self.composed, None if before is None else before.composed),
            ("own map", self.fitted, None if before is None else before.fitted),
        ):
            baselines = {"constant": self.fitted.constant} | ({} if own is None else {"untrained": own.rho})
            metric = rho_metric(f"rho of {name}, {way}", f"rho of {name}, {way}", is_detail=is_detail)
            values.append(rho_value(error, metric, baselines))
        return values

    def cells(self) -> Sequence[Cell | int]:
        """Of a table: both errors, and the pairs that they were measured on."""
        return *map(cell, self.values(self.name)), self.fitted.pairs_scored

    def describe(self) -> dict[str, Any]:
        """Both errors as a JSON object."""
        return {"motion": self.name, "composed": plain(asdict(self.composed)), "fitted": plain(asdict(self.fitted))}


@dataclass(frozen=True)
class CompositionResult:
    """What putting maps together gives: for composite motions, for growing chains, and for a way there and back."""

    composites: list[ComposedError]
    chains: dict[str, list[ComposedError]]  # by what is repeated, from one step on
    returns: list[MotionError]  # from z(x) to z(gx) and back
    too_few: dict[str, int]  # sequences that have too few pairs, and how many

    def values(self) -> list[Value]:
        """Rho of some long chains, all motions in turn first, of composites, and the error of there and back.

        What is of one motion or of a composite is a detail.
        """
        values: list[Value] = []
        summary = None  # the first chain of which something is shown
        for name, steps in reversed(self.chains.items()):
            for error in (error for error in reversed(steps) if len(error.motions) in SHOWN):
                summary = summary or name
                values += error.values(f"{name}, {len(error.motions)} steps", is_detail=name != summary)
        for error in self.composites:
            values += error.values(error.name)
        return values + [_return_value(error) for error in self.returns]

    def finding(self, fitted: Sequence[str] = ()) -> Finding:
        """The values, a table of each kind, and the errors of all chains; `fitted` says what maps are fitted on."""
        values, missing = self.values(), []
        if self.too_few:
            counts = some_of([f"{name} ({pairs})" for name, pairs in self.too_few.items()])
            missing = [f"too few pairs to fit and measure a map, so left out: {counts}"]
        notes = [*missing, *notes_of(values[:1]), *fitted]
        chains = {
            name: [{"steps": len(error.motions), **error.describe()} for error in errors]
            for name, errors in self.chains.items()
        }
        details = {
            "composites": [error.describe() for error in self.composites],
            "chains": chains,
            "there_and_back": plain([asdict(error) for error in self.returns]),
            "too_few_pairs": self.too_few,
        }
        return Finding(values, self._tables(missing), details, notes=notes)

    def _tables(self, missing: Sequence[str]) -> list[Grid]:
        heads = ("rho of the product", "rho of its own map", "pairs scored")
        composites = [(error.name, *error.cells()) for error in self.composites]
        # One step of a chain in turn is one step of its first motion, which has a row of its own.
        chains = [
            (name, len(error.motions), *error.cells())
            for name, errors in self.chains.items()
            for error in errors
            if len(error.motions) > 1 or error.name == name
        ]
        returns = [(error.motion, cell(_return_value(error)), error.pairs_scored) for error in self.returns]
        back = "there and back: the product of a motion's map and of the map that undoes it"
        tables = [
            Grid.of("composite motions: the product of the atomic maps", ("motion", *heads), composites),
            Grid.of("chains of steps: the product of their maps", ("chain", "steps", *heads), chains),
            Grid.of(back, ("motion", "error, of one step", "pairs scored"), returns, [*NOTES, *missing]),
        ]
        return [table for table in tables if table.rows]


def composition(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the validation frames of a run."""
    if options.fit_on == "training":
        notes = fitted_apart_notes(data)
    else:
        notes = [LEAKED_PAIRS] if data.store.times_s is not None else halved_notes(data)
    return compose_maps(data, options, on_progress).finding(notes)


def compose_maps(data: TaskData, options: TaskOptions, on_progress: OnProgress = silent) -> CompositionResult:
    """Measure on validation frames: every map is fitted on one half of its pairs, every error is of the other half.

    With `fit_on` training, maps are fitted on pairs of training frames, and all pairs of validation frames measured.
    """
    longest = LONGEST if options.steps is None else options.steps
    if longest < 1:
        raise ConfigError(f"--steps must be at least 1, found {longest}")
    chains = find_motion_chains(data)
    composites = chains.composites if options.motions is None else [chains.parse(name) for name in options.motions]
    growing = _growing(chains, composites, longest, everything=options.motions is None)
    wanted = [*composites, *(sequence for steps in growing.values() for sequence in steps)]
    single = [(motion,) for sequence in wanted for motion in sequence]
    sequences = list(dict.fromkeys([*single, *wanted]))  # single motions first: the others need their maps
    rows = _rows_of(data, options, chains, sequences)
    pairs = _pairs_of(data, data.features, rows)
    errors, too_few = _measure(pairs, options.seed, on_progress)
    if (z := data.untrained_features) is not None:
        frames = (data.split.train, data.split.validation, data.motions, data.max_gap_s)
        key = ("untrained compositions", z, *frames, sequences, options.seed, options.fit_on)
        before, _ = data.once(key, lambda: _measure(_pairs_of(data, z, rows), options.seed, silent))
        errors = {motions: replace(error, untrained=before.get(motions)) for motions, error in errors.items()}
    lacking = [name_of(sequence) for sequence in composites if sequence not in errors]
    if not errors or (options.motions is not None and lacking):
        counts = some_of([f"{name} has {count}" for name, count in too_few.items()])
        raise TooFewPairsError(
            f"{data.store.path}: too few pairs of validation frames to fit and measure maps ({counts}): take more or "
            "longer recordings, or other motions"
        )

    def known(sequences: Sequence[Motions]) -> list[ComposedError]:
        return [errors[sequence] for sequence in sequences if sequence in errors]

    back = [
        return_error(pairs[motion,], chains.there_and_back(motion), options.seed)
        for motion in growing
        if (motion,) in errors
    ]
    steps = {name: known(sequences) for name, sequences in growing.items()}
    return CompositionResult(known(composites), steps, back, too_few)


def _rows_of(data: TaskData, options: TaskOptions, chains: MotionChains, sequences: Sequence[Motions]) -> Rows:
    """The pairs of each sequence as store rows, with those of training frames where maps are fitted on these."""
    fitted: list[tuple[Indices, Indices] | None] = [None] * len(sequences)
    if options.fit_on == "training":
        frames = training_frames(data)
        trained = find_motion_chains(replace(data, split=replace(data.split, validation=frames))).ends(sequences)
        for number, (i, j) in enumerate(trained):
            chosen = thinned(np.arange(len(i)), MOST_FITTED, options.seed)
            fitted[number] = i[chosen], j[chosen]
    return dict(zip(sequences, zip(chains.ends(sequences), fitted, strict=True), strict=True))


def _pairs_of(data: TaskData, z: Features, rows: Rows) -> dict[Motions, MotionFeatures]:
    """The features (N, D) of the pairs of each sequence."""
    recording, pairs = data.store.recording, {}
    for motions, ((i, j), fitted) in rows.items():
        other = None
        if fitted is not None:
            other = MotionFeatures(z[fitted[0]], z[fitted[1]], fold_groups(data.store, fitted[0]))
        pairs[motions] = MotionFeatures(z[i], z[j], recording[i], other)
    return pairs


def _measure(
    pairs: Mapping[Motions, MotionFeatures], seed: int, on_progress: OnProgress
) -> tuple[dict[Motions, ComposedError], dict[str, int]]:
    """The error of each sequence, and those that have too few pairs; what lacks a map is not listed again."""
    maps: dict[str, Affine] = {}
    counts: dict[str, int] = {}  # of the pairs that they are fitted on
    errors: dict[Motions, ComposedError] = {}
    too_few: dict[str, int] = {}
    for motions, own in counted(pairs.items(), "composing maps", on_progress):
        if own.lacking is not None:
            if not too_few.keys() & set(motions):
                too_few[name_of(motions)] = len(own)
            continue
        back = own.fit_back(seed)
        fitted = own.error(name_of(motions), seed, back)
        if len(motions) == 1:
            maps[motions[0]], counts[motions[0]] = back, fitted.pairs_fitted
        if all(motion in maps for motion in motions):
            fewest = min(counts[motion] for motion in motions)
            product = replace(product_error(own, motions, maps, seed), pairs_fitted=fewest)
            errors[motions] = ComposedError(motions, product, fitted)
    return errors, too_few


def product_error(pairs: MotionFeatures, motions: Motions, maps: Mapping[str, Affine], seed: int = 0) -> MotionError:
    """The error of the product of the maps of some motions, made one after the other, on the held half of the pairs.

    Maps point back, so z(g_n ... g_1 x) goes through the map of the last motion first.
    """
    fit, held = pairs.divided(seed)
    mapped = np.asarray(held.z_j, np.float64)
    for motion in reversed(motions):
        mapped = apply_map(maps[motion], mapped)
    return score_mapped(mapped, held.z_i, held.z_j, held.groups, name_of(motions), len(fit))


def return_error(pairs: MotionFeatures, motion: str, seed: int = 0) -> MotionError:
    """How far z(x) lands from itself by way of z(gx), as a share of how far it is from z(gx).

    The map there is that of the inverse motion, for maps point back; it is fitted on the same pairs, turned round.
    """
    fit, held = pairs.divided(seed)
    there, back = pairs.turned().fit_back(seed), pairs.fit_back(seed)
    returned = apply_map(back, apply_map(there, held.z_i))
    return score_mapped(returned, held.z_i, held.z_j, held.groups, motion, len(fit))


def _growing(
    chains: MotionChains, composites: Sequence[Motions], longest: int, everything: bool
) -> dict[str, list[Motions]]:
    """Sequences of 1, 2, ... steps: each elementary motion again and again, and all of them in turn."""
    used = {motion for sequence in composites for motion in sequence}
    motions = chains.elementary if everything else tuple(motion for motion in chains.known if motion in used)
    growing = {motion: [(motion,) * steps for steps in range(1, longest + 1)] for motion in motions}
    if len(motions) > 1:
        turns = (motions * longest)[:longest]
        growing[", ".join(motions) + " in turn"] = [turns[:steps] for steps in range(1, longest + 1)]
    return growing


def _return_value(error: MotionError) -> Value:
    name = f"error of {error.motion}"
    metric = Metric(name=name, title=name, better="lower", within=(0.0, None), family="error")
    return Value(metric=metric, value=error.rho, interval=error.interval)
