"""The task `motions`: which motions lie between the training frames, mined or declared, and how many of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.evaluation.task import Finding, OnProgress, TaskData, TaskOptions
from egoequiv.pairs import DeclaredPatterns, MinedPatterns
from egoequiv.pairs.candidates import half_a_step_s, motion_candidates

SHOWN = 6_000  # motions of the scatter
Counted = tuple[NDArray[np.int64], dict[str, NDArray[Any]]]  # of each motion or cluster; and arrays to draw


def motions(data: TaskData, options: TaskOptions, _: OnProgress) -> Finding:
    """The task: no number, but how many pairs of training frames each motion has."""
    patterns = data.named_patterns(options.motions)
    names, mined = list(patterns.names), None
    if isinstance(patterns, MinedPatterns):
        names = patterns.cluster_names()
        counts, arrays = clustered(data, patterns, options.seed)
        mined = {"motions": int(counts.sum()), "kept": len(patterns.names)}
    else:
        counts = np.array(list(data.pairs(data.split.train, patterns).counts().values()))
        arrays = {"motions": patterns.motions} if isinstance(patterns, DeclaredPatterns) else {}
    total = max(1, int(counts.sum()))
    rows = [
        (name, int(count), f"{100 * count / total:.1f} %", "yes" if name in data.learned else "no")
        for name, count in zip(names, counts, strict=True)
    ]
    details = {
        "pairs": dict(zip(names, counts.tolist(), strict=True)),
        "learned": list(data.learned),
        "mined": mined,
        "axes": [f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in patterns.space.axes],
    }
    table = Grid.of("motions between training frames", ("motion", "pairs", "share", "learned by the run"), rows)
    return Finding([], [table], details, arrays)


def clustered(data: TaskData, patterns: MinedPatterns, seed: int = 0) -> Counted:
    """How many motions between training frames each cluster has, and some of them at random; found once."""
    store, frames = data.store, data.split.train

    def make() -> Counted:
        counts = np.zeros(len(patterns.centres), np.int64)
        rng = np.random.default_rng([seed, 0x5CA])
        sample, ranks = np.empty((0, len(patterns.space.axes))), np.empty(0)
        for i, j in motion_candidates(store, frames, data.max_gap_s + half_a_step_s(store)):
            motion = store.space.difference(store.poses[i], store.poses[j])
            counts += np.bincount(patterns.assign_cluster(motion), minlength=len(counts))
            # Each motion gets a random number, and those of the smallest are shown: an even sample in bounded memory.
            ranks = np.concatenate([ranks, rng.random(len(motion))])
            first = np.argsort(ranks, kind="stable")[:SHOWN]
            sample, ranks = np.concatenate([sample, motion])[first], ranks[first]
        arrays = {"motions": patterns.centres, "sample": sample, "sample_cluster": patterns.assign_cluster(sample)}
        return counts, arrays

    return data.once(("clustered motions", frames, patterns.describe(), data.max_gap_s, seed), make)
