"""The task `composition`: whether the maps of motions multiply as the motions do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Cell, Grid
from egoequiv.errors import ConfigError, TooFewPairsError
from egoequiv.evaluation.equivariance import (
    Features,
    MotionError,
    apply_map,
    equivariance_error,
    fit_map,
    halves,
    score_mapped,
)
from egoequiv.evaluation.equivariance_task import rho_metric
from egoequiv.evaluation.findings import LEAKED_PAIRS, cell, measured, notes_of, some_of
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.motion_chains import MotionChains, Motions, find_motion_chains, name_of
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions, silent
from egoequiv.files import plain

LONGEST = 5  # steps of a chain
SHOWN = (3, 5)  # lengths of the chains that are shown for all
NOTES = (
    "rho is 0 for a perfect product and 1 for the copy baseline (a map that changes nothing)",
    "there and back, a map that changes nothing gives 0 as well: read it beside the rho of one step",
)
Map = NDArray[np.float64]  # (D + 1, D), as `fit_map` gives it


@dataclass(frozen=True)
class ComposedError:
    """The error of a sequence of motions: by the product of their maps, and by one map fitted to the whole of it."""

    motions: Motions
    composed: MotionError
    fitted: MotionError
    recordings: int

    @property
    def name(self) -> str:
        """Such as `up+right`, or `up x 3`."""
        return name_of(self.motions)

    def values(self, name: str, is_detail: bool = True) -> list[Value]:
        """Rho of the product and of the map of its own."""
        return [
            measured(
                rho_metric(f"rho of {name}, {way}", f"rho of {name}, {way}", is_detail=is_detail),
                error.rho,
                error.interval,
                groups=self.recordings,
                baselines={"constant": self.fitted.constant},
            )
            for way, error in (("product", self.composed), ("own map", self.fitted))
        ]

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

    def finding(self, *, is_video: bool) -> Finding:
        """The values, a table of each kind, and the errors of all chains."""
        values, missing = self.values(), []
        if self.too_few:
            counts = some_of([f"{name} ({pairs})" for name, pairs in self.too_few.items()])
            missing = [f"too few pairs to fit and measure a map, so left out: {counts}"]
        notes = [*missing, *notes_of(values[:1]), *([LEAKED_PAIRS] if is_video else [])]
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


@dataclass(frozen=True)
class MotionFeatures:
    """Features of the pairs of one sequence, x_j = g x_i, and the recordings they are from."""

    z_i: Features
    z_j: Features
    groups: NDArray[np.int64]


def composition(data: TaskData, options: TaskOptions, on_progress: OnProgress) -> Finding:
    """The task: on the validation frames of a run."""
    return compose_maps(data, options, on_progress).finding(is_video=data.store.times_s is not None)


def compose_maps(data: TaskData, options: TaskOptions, on_progress: OnProgress = silent) -> CompositionResult:
    """Measure on validation frames: every map is fitted on one half of its pairs, every error is of the other half."""
    longest = LONGEST if options.steps is None else options.steps
    if longest < 1:
        raise ConfigError(f"--steps must be at least 1, found {longest}")
    chains = find_motion_chains(data)
    composites = chains.composites if options.motions is None else [chains.parse(name) for name in options.motions]
    growing = _growing(chains, composites, longest, everything=options.motions is None)
    wanted = [*composites, *(sequence for steps in growing.values() for sequence in steps)]
    single = [(motion,) for sequence in wanted for motion in sequence]
    sequences = list(dict.fromkeys([*single, *wanted]))  # single motions first: the others need their maps
    ends = zip(sequences, chains.ends(sequences), strict=True)
    z, recording = data.features, data.store.recording
    pairs = {sequence: MotionFeatures(z[i], z[j], recording[i]) for sequence, (i, j) in ends}
    errors, too_few = _measure(pairs, options.seed, on_progress)
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


def _measure(
    pairs: Mapping[Motions, MotionFeatures], seed: int, on_progress: OnProgress
) -> tuple[dict[Motions, ComposedError], dict[str, int]]:
    """The error of each sequence, and those that have too few pairs; what lacks a map is not listed again."""
    maps: dict[str, Map] = {}
    errors: dict[Motions, ComposedError] = {}
    too_few: dict[str, int] = {}
    for done, (motions, own) in enumerate(pairs.items()):
        on_progress("composing maps", done + 1, len(pairs))
        try:
            fitted = equivariance_error(own.z_i, own.z_j, own.groups, motion=name_of(motions), seed=seed)
        except TooFewPairsError:
            if not too_few.keys() & set(motions):
                too_few[name_of(motions)] = len(own.z_i)
            continue
        if len(motions) == 1:
            maps[motions[0]] = fit_back(own, seed)
        if all(motion in maps for motion in motions):
            fewest = min(len(pairs[motion,].z_i) // 2 for motion in motions)
            product = replace(product_error(own, motions, maps, seed), pairs_fitted=fewest)
            errors[motions] = ComposedError(motions, product, fitted, len(np.unique(own.groups)))
    return errors, too_few


def fit_back(pairs: MotionFeatures, seed: int = 0) -> Map:
    """The map of a motion, from z(gx) to z(x), fitted on the half of its pairs that its rho is not measured on."""
    fit, _ = halves(len(pairs.z_i), seed)
    return fit_map(pairs.z_j[fit], pairs.z_i[fit])


def product_error(pairs: MotionFeatures, motions: Motions, maps: Mapping[str, Map], seed: int = 0) -> MotionError:
    """The error of the product of the maps of some motions, made one after the other, on the held half of the pairs.

    Maps point back, so z(g_n ... g_1 x) goes through the map of the last motion first.
    """
    fit, held = halves(len(pairs.z_i), seed)
    mapped = np.asarray(pairs.z_j[held], np.float64)
    for motion in reversed(motions):
        mapped = apply_map(maps[motion], mapped)
    return score_mapped(mapped, pairs.z_i[held], pairs.z_j[held], pairs.groups[held], name_of(motions), len(fit))


def return_error(pairs: MotionFeatures, motion: str, seed: int = 0) -> MotionError:
    """How far z(x) lands from itself by way of z(gx), as a share of how far it is from z(gx).

    The map there is that of the inverse motion, for maps point back; it is fitted on the same pairs, turned round.
    """
    fit, held = halves(len(pairs.z_i), seed)
    there, back = fit_map(pairs.z_i[fit], pairs.z_j[fit]), fit_map(pairs.z_j[fit], pairs.z_i[fit])
    returned = apply_map(back, apply_map(there, pairs.z_i[held]))
    return score_mapped(returned, pairs.z_i[held], pairs.z_j[held], pairs.groups[held], motion, len(fit))


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
