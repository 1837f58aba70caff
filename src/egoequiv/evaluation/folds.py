"""Folds that keep the frames of a group together."""

from __future__ import annotations

import numpy as np

from egoequiv.pairs.candidates import Indices


def group_folds(groups: Indices, most: int) -> list[tuple[Indices, Indices]]:
    """The rows to fit on and the rows held out, of up to so many folds with about equally many rows; (N,).

    The largest group comes first, each into the fold with the fewest rows: the folds of scikit-learn's GroupKFold,
    without the seconds that its import takes.
    """
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    rows_of, fold_of = np.zeros(min(most, len(sizes))), np.zeros(len(sizes), np.int64)
    for group in np.argsort(sizes, kind="stable")[::-1]:
        fold_of[group] = rows_of.argmin()
        rows_of[fold_of[group]] += sizes[group]
    folds = fold_of[codes]
    return [(np.flatnonzero(folds != one), np.flatnonzero(folds == one)) for one in range(len(rows_of))]
