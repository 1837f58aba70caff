"""Forward maps: from the features of a view to those after a motion, fitted or as a network learned them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import DataError, TooFewPairsError
from egoequiv.evaluation.equivariance import fit_map
from egoequiv.evaluation.frame_features import FrameFeatures, groups_of
from egoequiv.evaluation.kept_apart import KeptApart
from egoequiv.models import EgoNet
from egoequiv.models.maps import RANK_TOLERANCE, rank_of
from egoequiv.models.network import ALL
from egoequiv.pairs import MotionPairs
from egoequiv.pairs.candidates import Indices
from egoequiv.pose import MotionSpace

Affine = NDArray[np.float64]  # (D + 1, D), the bias last, as `fit_map` has it


@dataclass(frozen=True, eq=False)
class FittedMaps:
    """Forward maps fitted on pairs of some recordings, and the pairs of the others."""

    maps: dict[str, Affine]
    held: MotionPairs  # pairs of the motions above, of recordings that no map was fitted on
    left_out: tuple[str, ...]  # motions with too few pairs to fit a map, or none to measure it on


def fit_forward_maps(
    features: FrameFeatures,
    pairs: MotionPairs,
    hold_out: str = "recording",
    seed: int = 0,
    apart: KeptApart | None = None,
) -> FittedMaps:
    """Fit z(x) -> z(gx) by least squares on one half of the recordings, for every motion g with enough pairs.

    The halves are of recordings, or of the values of the attribute `hold_out`, and not of pairs: in video a pair has
    nearly the same pairs a moment away, and a map that was fitted on those scores too well. `apart` names other groups.
    """
    apart = apart or KeptApart(groups_of(features.store, hold_out), hold_out)
    pairs = pairs.take(np.flatnonzero(apart.within(pairs.i, pairs.j)))
    groups = apart.groups[pairs.i]
    in_fit = np.isin(groups, one_half(groups[pairs.pattern >= 0], seed))
    maps: dict[str, Affine] = {}
    held, left_out = [], []
    for number, name in enumerate(pairs.names):
        own = pairs.pattern == number
        fit, rest = np.flatnonzero(own & in_fit), np.flatnonzero(own & ~in_fit)
        z_from = features.of(pairs.i[fit])
        if not len(fit) or not len(rest) or len(fit) < 2 * (rank_of(z_from) + 1):
            left_out.append(name)
            continue
        maps[name] = fit_map(z_from, features.of(pairs.j[fit]))
        held.append(rest)
    if not maps:
        counts = ", ".join(f"{name} {count}" for name, count in pairs.counts().items())
        raise TooFewPairsError(
            f"{features.store.path}: no motion has enough pairs to fit a map of {features.z.shape[1]} features on one "
            f"half of the frames and to measure it on another {apart.name} (found {counts}): measure on more frames"
        )
    return FittedMaps(maps, pairs.take(np.concatenate(held)), tuple(left_out))


def one_half(groups: Indices, seed: int) -> Indices:
    """Groups that hold about half of what is grouped (N,), drawn at random; neither none of them nor all."""
    names, counts = np.unique(groups, return_counts=True)
    order = np.random.default_rng([seed, 0xF0]).permutation(len(names))
    before = np.cumsum(counts[order]) - counts[order] / 2  # a group goes to the half that its middle is in
    taken = np.clip(int((before < counts.sum() / 2).sum()), 1, max(len(names) - 1, 1))
    half: Indices = names[order[:taken]]
    return half


def learned_forward_maps(net: EgoNet, space: MotionSpace, motions: Sequence[str], part: str = ALL) -> dict[str, Affine]:
    """The forward maps that a network has learned, of those motions that follow from the ones it knows.

    Its M_g leads back from z(gx) to z(x): forward is its inverse, M_g itself undoes the motion, and what is named as a
    sum of motions goes one after the other. Of a network with parts, the maps act on the equivariant one: on all
    features they leave the rest as it is, and other parts have no maps.
    """
    if net.maps is None or part not in (ALL, net.mapped_part):
        return {}
    weight, bias = (tensor.detach().double().cpu().numpy() for tensor in (net.maps.weight, net.maps.bias))
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise DataError("the equivariance maps of this network are not finite: it has diverged, train it again")
    steps: dict[str, Affine] = {}
    named = space.named_motions()
    for number, name in enumerate(net.spec.patterns):
        back = np.concatenate([weight[number].T, bias[number][None]])
        back = _on_all_features(net, back) if part == ALL else back
        steps[name] = _inverse(back)
        for other, motion in named.items():
            if name in named and np.allclose(motion, space.invert(named[name])):
                steps.setdefault(other, back)
    found: dict[str, Affine] = {}
    for motion_name in motions:
        parts = [motion_name] if motion_name in steps else motion_name.split("+")
        if all(part in steps for part in parts):
            found[motion_name] = reduce(_then, (steps[part] for part in parts))
    return found


def _on_all_features(net: EgoNet, affine: Affine) -> Affine:
    """The map of the mapped part, (E + 1, E), as one of all features, (D + 1, D): the other parts do not change."""
    own, dim = net.part(net.mapped_part), net.encoder.feature_dim
    whole = np.eye(dim + 1, dim)
    whole[own, own] = affine[:-1]
    whole[-1, own] = affine[-1]
    return whole


def _inverse(affine: Affine) -> Affine:
    """The map that undoes an affine one; directions that it has lost stay lost."""
    undo = np.linalg.pinv(affine[:-1], rcond=RANK_TOLERANCE)
    return np.concatenate([undo, -(affine[-1:] @ undo)])


def _then(first: Affine, second: Affine) -> Affine:
    return np.concatenate([first[:-1] @ second[:-1], first[-1:] @ second[:-1] + second[-1:]])
