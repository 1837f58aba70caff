"""What walks plan with: features of frames, the composed maps of every displacement, and how far these are off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError, TooFewPairsError
from egoequiv.evaluation.equivariance import apply_map, fit_change
from egoequiv.evaluation.fitted_on import MOST_FITTED
from egoequiv.evaluation.forward_maps import Affine, learned_forward_maps
from egoequiv.evaluation.frame_features import fold_groups, small_images
from egoequiv.evaluation.plan_walks import Errands
from egoequiv.evaluation.pose_grid import PoseGrid
from egoequiv.evaluation.run_model import RunModel
from egoequiv.evaluation.task import TaskData
from egoequiv.models.motion_model import Features, MotionModel
from egoequiv.models.network import ALL
from egoequiv.pairs import declare_patterns
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.planning.belief import STEP_COST, Floats
from egoequiv.planning.closed_loop import Places, Walks, walk_all
from egoequiv.pose import MotionSpace
from egoequiv.store import FrameStore

COMPONENTS = 64  # of pixels, at most
VIEWS = 50  # of a recording, at most: errors are measured of predictions from them
SHRUNK = 0.1  # towards equal weights of all features: the share of the covariance of errors that is not believed
OWN, FITTED = "own maps", "fitted maps"
Pairings = Sequence[tuple[int, int]]  # of recordings: where one walks, and where the goal was seen


class FittedModel(MotionModel):
    """Features with maps that were fitted to pairs of frames; it has no encoder."""

    def __init__(self, maps: dict[str, Affine], space: MotionSpace) -> None:
        dim = next(iter(maps.values())).shape[1]
        named = {name: motion for name, motion in space.named_motions().items() if name in maps}
        super().__init__((0, 0, 1), {"all": slice(0, dim)}, slice(0, dim), space, named, takes_any=False)
        self.maps = maps

    def embed(self, images: NDArray[np.uint8]) -> Features:
        raise NotImplementedError("only features of known frames are planned with")

    def _after_named(self, features: Features, name: str) -> Features:
        return apply_map(self.maps[name], features).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Planned:
    """Features of every frame, with composed maps."""

    z: Features  # (N, E), in the order of the store
    maps: NDArray[np.float64]  # (K, E + 1, E), the affine map of each displacement
    spread: Floats | None = None  # (K,) how far they are off, squared; from recordings that are not walked in
    step_cost: float | Floats = STEP_COST  # of a further step; one number, or one for each walk, (N,)

    def __post_init__(self) -> None:
        if not np.isfinite(self.maps).all():
            raise DataError("the composed maps of motions are not finite; the network has diverged, train it again")

    def weighted(self, weights: NDArray[np.float64]) -> Planned:
        """The same in other coordinates of the features, (E, E): maps take z W to z(gx) W."""
        back = np.linalg.inv(weights)
        maps = self.maps.copy()
        maps[:, :-1] = back @ self.maps[:, :-1] @ weights
        maps[:, -1] = self.maps[:, -1] @ weights
        return replace(self, z=(self.z @ weights).astype(np.float32), maps=maps)

    @cached_property
    def _table(self) -> tuple[Features, Features]:
        """All maps as one matrix, (E, K E), and their biases, (K, E)."""
        linear = self.maps[:, :-1].transpose(1, 0, 2).reshape(self.z.shape[1], -1)
        return linear.astype(np.float32), self.maps[:, -1].astype(np.float32)

    def predict(self, z: Features) -> Features:
        """Features after each displacement, (C, E) -> (C, K, E)."""
        linear, bias = self._table
        found: Features = (z @ linear).reshape(len(z), -1, z.shape[1])
        found += bias
        return found

    def walks(self, grid: PoseGrid, errands: Errands, told: Sequence[bool]) -> list[Walks]:
        """Walk all errands by plans: told where the goal is reached or not, once for each of `told`."""
        assert self.spread is not None, "the errors of predictions are measured first"
        predicted = self.predict(self.z[np.maximum(grid.rows[errands.walked], 0)])
        places = Places(grid.after_in(errands.walked), predicted)
        goals = self.z[grid.rows[errands.seen, errands.goal]]
        ends = (errands.start, errands.goal, goals, errands.most_moves)
        plan = partial(walk_all, grid.displacements, self.spread, places, *ends, step_cost=self.step_cost)
        return [plan(is_told=is_told) for is_told in told]


@dataclass(frozen=True, eq=False)
class Errors:
    """How far composed maps are off between recordings: squared for each displacement, and their covariance."""

    spread: Floats  # (K,)
    covariance: NDArray[np.float64] = field(repr=False)  # (E, E), of all errors, scaled to a mean variance of 1


def own_or_fitted(data: TaskData, grid: PoseGrid) -> tuple[Planned, str]:
    """The features of a run with its own maps where it has them, else with fitted ones; and which of the two."""
    net, space = data.net, data.store.space
    part, names = net.mapped_part, tuple(space.named_motions())
    has_own = net.motion_maps is not None or set(learned_forward_maps(net, space, names, part)) == set(names)
    if not has_own or data.part not in (ALL, part):
        return fitted(data, grid, data.features), FITTED
    maps = grid.displacements.composed_maps(RunModel(net, space, space.named_motions()))
    return Planned(data.of_part(part).features, maps), OWN


def fitted(data: TaskData, grid: PoseGrid, z: Features) -> Planned:
    """Features (N, E) with maps of single motions that are fitted on pairs of training frames, and composed."""
    space = data.store.space
    pairs = data.pairs(data.split.train, declare_patterns(space, tuple(space.named_motions())))
    maps: dict[str, Affine] = {}
    for name in pairs.names:
        own = pairs.of(name)
        chosen = thinned(np.arange(len(own.i)), MOST_FITTED, [0, 0x91A])
        if len(chosen) < 2 * z.shape[1] ** 0.5 + 2:
            raise TooFewPairsError(f"{data.store.place}: {len(chosen)} training pairs of {name} are too few for a map")
        i, j = own.i[chosen], own.j[chosen]
        maps[name] = fit_change(z[i], z[j], fold_groups(data.store, i))
    return Planned(z, grid.displacements.composed_maps(FittedModel(maps, space)))


def pixel_features(store: FrameStore, train: Indices) -> Features:
    """Pixels as features, (N, E): of small images with mean 0 and length 1, the main components of training frames."""
    z = np.asarray(small_images(store, np.arange(len(store))).z, np.float32)
    z = z - z.mean(axis=1, keepdims=True)
    z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-6)
    centre = z[train].mean(axis=0)
    centred = (z[train] - centre).astype(np.float64)
    _, directions = np.linalg.eigh(centred.T @ centred)
    found: Features = ((z - centre) @ directions[:, ::-1][:, :COMPONENTS]).astype(np.float32)
    return found


def measure_errors(planned: Planned, grid: PoseGrid, pairings: Pairings) -> Errors:
    """How far predictions from some views are from what another recording shows, or the same one, where they lead."""
    width, dim = planned.maps.shape[0], planned.z.shape[1]
    place = {int(number): k for k, number in enumerate(grid.recordings)}
    total, count = np.zeros(width), np.zeros(width)
    outer = np.zeros((dim, dim))
    for number, (walked, seen) in enumerate(pairings):
        views = thinned(np.flatnonzero(grid.rows[place[walked]] >= 0), VIEWS, [number, 0x91B])
        rows, goals, reached = grid.rows[place[walked], views], grid.rows[place[seen]], grid.reached[views]
        target = np.where(reached >= 0, goals[reached], -1)  # (V, K) frames
        is_known = target >= 0
        error = planned.predict(planned.z[rows]) - planned.z[np.maximum(target, 0)]
        error[~is_known] = 0
        total += np.square(error).sum(axis=(0, 2), dtype=np.float64)
        count += is_known.sum(axis=0)
        flat = error[:: max(1, len(error) // 16), 1:].reshape(-1, dim).astype(np.float64)
        outer += flat.T @ flat
    spread = np.where(count > 0, total / np.maximum(count, 1), np.inf)
    known = np.isfinite(spread)
    spread[~known] = spread[known].max(initial=1.0)
    return Errors(spread, outer / max(np.trace(outer), 1e-30) * dim)


def reliable(planned: Planned, errors: Errors) -> Planned:
    """The same features weighted by how reliable predictions of them are: the covariance of errors becomes about 1."""
    dim = len(errors.covariance)
    values, vectors = np.linalg.eigh((1 - SHRUNK) * errors.covariance + SHRUNK * np.eye(dim))
    return planned.weighted(vectors / np.sqrt(values) @ vectors.T)
