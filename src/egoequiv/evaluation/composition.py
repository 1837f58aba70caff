"""The task `composition`: whether the maps of motions multiply as the motions do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from egoequiv.evaluation.motion_chains import MotionChains, Motions, find_motion_chains, name_of
from egoequiv.evaluation.task import OnProgress, TaskData, TaskOptions, TaskTable, silent
from egoequiv.files import plain

LONGEST = 5  # steps of a chain
MOST_NAMED = 5  # of what has too few pairs, in words
TOLD = (3, 5)  # lengths of the chains that stand for the others
Map = NDArray[np.float64]  # (D + 1, D), as `fit_map` gives it


@dataclass(frozen=True)
class ComposedError:
    """The error of a sequence of motions: by the product of their maps, and by one map fitted to the whole of it."""

    motions: Motions
    composed: MotionError
    fitted: MotionError

    @property
    def name(self) -> str:
        """Such as `up+right`, or `up x 3`."""
        return name_of(self.motions)


@dataclass(frozen=True)
class CompositionResult:
    """What putting maps together gives: for composite motions, for growing chains, and for a way there and back."""

    composites: list[ComposedError]
    chains: dict[str, list[ComposedError]]  # by what is repeated, from one step on
    returns: list[MotionError]  # from z(x) to z(gx) and back
    too_few: dict[str, int]  # sequences that have too few pairs, and how many

    def describe(self) -> dict[str, Any]:
        return {
            "composites": [_describe(error) for error in self.composites],
            "chains": {
                name: [{"steps": len(error.motions), **_describe(error)} for error in errors]
                for name, errors in self.chains.items()
            },
            "there_and_back": plain([asdict(error) for error in self.returns]),
            "too_few_pairs": self.too_few,
        }

    def headline(self) -> dict[str, float]:
        """Rho of some long chains, all motions in turn first, of composites, and the error of there and back."""
        chains = [(f"{name}, {len(e.motions)} steps", e) for name, steps in self.chains.items() for e in steps]
        told = [(name, error) for name, error in reversed(chains) if len(error.motions) in TOLD]
        numbers: dict[str, float] = {}
        for name, error in [*told, *((error.name, error) for error in self.composites)]:
            numbers |= {f"rho of {name}, product": error.composed.rho, f"rho of {name}, own map": error.fitted.rho}
        return numbers | {f"error of {error.motion}": error.rho for error in self.returns}

    def tables(self) -> list[TaskTable]:
        heads = ("rho of the product", "95 % interval", "rho of its own map", "95 % interval", "pairs scored")
        # One step of a chain in turn is one step of its first motion, which has a row of its own.
        chains = [
            (name, error)
            for name, errors in self.chains.items()
            for error in errors
            if len(error.motions) > 1 or error.name == name
        ]
        tables = []
        if self.composites:
            rows = [(error.name, *_cells(error)) for error in self.composites]
            tables.append(TaskTable("composite motions: the product of the atomic maps", ("motion", *heads), rows))
        if chains:
            rows = [(name, str(len(error.motions)), *_cells(error)) for name, error in chains]
            tables.append(TaskTable("chains of steps: the product of their maps", ("chain", "steps", *heads), rows))
        if self.returns:
            rows = [(e.motion, _number(e.rho), _interval(e), str(e.pairs_scored)) for e in self.returns]
            notes = (
                "rho is 0 for a perfect product and 1 for the copy baseline (a map that changes nothing);",
                "there and back, a map that changes nothing gives 0 as well: read it beside the rho of one step.",
                "halves are of pairs, as for rho: in video a pair has near-twins in the other half, which flatters.",
                *self._missing(),
            )
            title = "there and back: the product of a motion's map and of the map that undoes it"
            tables.append(
                TaskTable(title, ("motion", "error, of one step", "95 % interval", "pairs scored"), rows, notes)
            )
        return tables

    def _missing(self) -> list[str]:
        if not self.too_few:
            return []
        counts = _some([f"{name} ({pairs})" for name, pairs in self.too_few.items()])
        return [f"too few pairs to fit and measure a map, so left out: {counts}"]


@dataclass(frozen=True)
class MotionFeatures:
    """Features of the pairs of one sequence, x_j = g x_i, and the recordings they are from."""

    z_i: Features
    z_j: Features
    groups: NDArray[np.int64]


def composition(data: TaskData, options: TaskOptions, on_progress: OnProgress = silent) -> CompositionResult:
    """Measure on validation frames: every map is fitted on one half of its pairs, every error is of the other half."""
    longest = LONGEST if options.steps is None else options.steps
    if longest < 1:
        raise ConfigError(f"--steps must be at least 1, found {longest}")
    chains = find_motion_chains(data.store, data.split.validation, data.patterns, data.max_gap_s)
    composites = chains.composites if options.motions is None else [chains.parse(name) for name in options.motions]
    growing = _growing(chains, composites, longest, everything=options.motions is None)
    wanted = [*composites, *(sequence for steps in growing.values() for sequence in steps)]
    single = [(motion,) for sequence in wanted for motion in sequence]
    sequences = list(dict.fromkeys([*single, *wanted]))  # single motions first: the others need their maps
    pairs = _pairs_of(data, chains, sequences)
    errors, too_few = _measure(pairs, options.seed, on_progress)
    lacking = [name_of(sequence) for sequence in composites if sequence not in errors]
    if not errors or (options.motions is not None and lacking):
        counts = _some([f"{name} has {count}" for name, count in too_few.items()])
        raise TooFewPairsError(
            f"{data.store.path}: too few pairs of validation frames to fit and measure maps ({counts}): take more or "
            "longer recordings, or other motions"
        )
    return CompositionResult(
        composites=[errors[sequence] for sequence in composites if sequence in errors],
        chains={
            name: [errors[sequence] for sequence in steps if sequence in errors] for name, steps in growing.items()
        },
        returns=[
            return_error(pairs[motion,], chains.there_and_back(motion), options.seed)
            for motion in growing
            if (motion,) in errors
        ],
        too_few=too_few,
    )


def _measure(
    pairs: Mapping[Motions, MotionFeatures], seed: int, on_progress: OnProgress
) -> tuple[dict[Motions, ComposedError], dict[str, int]]:
    """The error of each sequence, and those that have too few pairs; what lacks a map is not listed once more."""
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
            errors[motions] = ComposedError(motions, product, fitted)
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
    score = score_mapped(mapped, pairs.z_i[held], pairs.z_j[held], pairs.groups[held])
    return score.of(name_of(motions), len(fit))


def return_error(pairs: MotionFeatures, motion: str, seed: int = 0) -> MotionError:
    """How far z(x) lands from itself by way of z(gx), as a share of how far it is from z(gx).

    The map there is that of the inverse motion, for maps point back; it is fitted on the same pairs, turned round.
    """
    fit, held = halves(len(pairs.z_i), seed)
    there, back = fit_map(pairs.z_i[fit], pairs.z_j[fit]), fit_map(pairs.z_j[fit], pairs.z_i[fit])
    returned = apply_map(back, apply_map(there, pairs.z_i[held]))
    score = score_mapped(returned, pairs.z_i[held], pairs.z_j[held], pairs.groups[held])
    return score.of(motion, len(fit))


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


def _pairs_of(data: TaskData, chains: MotionChains, sequences: list[Motions]) -> dict[Motions, MotionFeatures]:
    z, recording = data.features, data.store.recording
    ends = chains.ends(sequences)
    return {s: MotionFeatures(z[i], z[j], recording[i]) for s, (i, j) in zip(sequences, ends, strict=True)}


def _describe(error: ComposedError) -> dict[str, Any]:
    errors: dict[str, Any] = plain({"composed": asdict(error.composed), "fitted": asdict(error.fitted)})
    return {"motion": error.name, **errors}


def _some(words: Sequence[str]) -> str:
    """The first few of them, and how many more there are."""
    more = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cells(error: ComposedError) -> tuple[str, ...]:
    product, own = error.composed, error.fitted
    return _number(product.rho), _interval(product), _number(own.rho), _interval(own), str(own.pairs_scored)


def _number(value: float) -> str:
    return f"{value:.4f}" if isfinite(value) else "-"


def _interval(error: MotionError) -> str:
    low, high = error.interval
    return f"{low:.4f} to {high:.4f}" if isfinite(low) else "-"  # one recording has none
