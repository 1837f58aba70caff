"""Measures of features and motions against the obvious scikit-learn code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.held_frames import long_log
from benchmarks.measuring import Measured, compare, timed
from benchmarks.workbench import Workbench
from egoequiv.evaluation import equivariance_error
from egoequiv.evaluation.next_view import NEIGHBOURS
from egoequiv.evaluation.votes import NeighbourVotes
from egoequiv.pairs import mine_patterns
from egoequiv.store import FrameStore, ingest

Array = NDArray[np.float64]
CLUSTERS = 6
CLASSES = 25


def rho_vs_sklearn(bench: Workbench) -> Measured:
    """Rho of one motion, 100 features; ours also checks the features and gives an interval."""
    z_i, z_j, groups = feature_pairs(bench.scale.pairs)
    ours = timed(lambda: equivariance_error(z_i, z_j, groups), 3)
    return compare(ours, timed(lambda: sklearn_rho(z_i, z_j), 3), bench.scale.rounds)


def feature_pairs(count: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Features of pairs that a noisy linear map relates, and their recordings."""
    rng = np.random.default_rng(0)
    z_i = rng.normal(size=(count, 100)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(100, 100)))[0]
    z_j = (z_i @ turn + 0.3 * rng.normal(size=(count, 100))).astype(np.float32)
    return z_i, z_j, rng.integers(0, 150, count)


def sklearn_rho(z_i: NDArray[np.float32], z_j: NDArray[np.float32], seed: int = 0) -> float:
    """Eq. 9 as most people would write it."""
    order = np.random.default_rng([seed, 0xE9]).permutation(len(z_i))  # the halves of `equivariance_error`
    fit, held = order[: len(order) // 2], order[len(order) // 2 :]
    model = LinearRegression().fit(z_j[fit], z_i[fit])
    error = np.linalg.norm(z_i[held] - model.predict(z_j[held]), axis=1)
    return float((error / np.linalg.norm(z_i[held] - z_j[held], axis=1)).mean())


def k_means_vs_sklearn(bench: Workbench) -> Measured:
    """Mining the motions of a long log against k-means with ten starts on all of them."""
    store = ingest(long_log(3, bench.scale.log_frames), bench.new_folder() / "log")
    measured = compare(
        timed(lambda: mine_patterns(store)), timed(lambda: sklearn_centres(store)), bench.scale.few_rounds
    )
    ours, theirs = mine_patterns(store).patterns.centres, sklearn_centres(store)
    motions = all_motions(store)
    excess = inertia(motions, ours) / inertia(motions, theirs) - 1
    note = f"; {len(motions):,} motions, the squared distances {100 * excess:+.2f} % of theirs"
    return replace(measured, beside=measured.beside + note)


def all_motions(store: FrameStore) -> Array:
    """The motions of all pairs at most a second apart, at 30 Hz."""
    motions = []
    for number in range(len(store.recording_names)):
        poses = store.poses[store.recording == number]
        motions += [store.space.difference(poses[:-gap], poses[gap:]) for gap in range(1, 31)]
    return np.concatenate(motions)


def sklearn_centres(store: FrameStore) -> Array:
    """Centres of clusters as most would find them; (6, M)."""
    motions = all_motions(store)
    spread = motions.std(axis=0)
    centres: Array = KMeans(CLUSTERS, n_init=10, random_state=0).fit(motions / spread).cluster_centers_ * spread
    return centres


def inertia(motions: Array, centres: Array) -> float:
    """The sum of the squared distances to the nearest centre, in standard deviations."""
    spread = motions.std(axis=0)
    squares = [(((motions - centre) / spread) ** 2).sum(axis=1) for centre in centres]
    return float(np.min(squares, axis=0).sum())


def votes_vs_sklearn(bench: Workbench) -> Measured:
    """The votes of next-view on pairs of 2 x 100 features against the classifier that most would take."""
    vectors, classes, queries = voters(bench.scale.voters)

    def ours() -> object:
        return NeighbourVotes(vectors, classes, CLASSES, NEIGHBOURS)(queries)

    def theirs() -> object:
        return sklearn_votes(vectors, classes, queries)

    return compare(timed(ours), timed(theirs), bench.scale.few_rounds)


def voters(count: int) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    """Labelled vectors around a centre for each class, their classes, and a hundredth as many to be classified."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, 200))
    classes = rng.integers(0, CLASSES, count + count // 100)
    vectors = (centres[classes] + 2 * rng.normal(size=(len(classes), 200))).astype(np.float32)
    return vectors[:count], classes[:count], vectors[count:]


def sklearn_votes(vectors: NDArray[np.float32], classes: NDArray[np.int64], queries: NDArray[np.float32]) -> Array:
    """The share of the votes of each class, (Q, C)."""
    shares: Array = KNeighborsClassifier(NEIGHBOURS).fit(vectors, classes).predict_proba(queries)
    return shares
