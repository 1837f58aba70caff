"""Folds by groups are those of scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from egoequiv.evaluation.folds import group_folds


@given(
    st.lists(st.integers(-3, 6), min_size=2, max_size=40).filter(lambda groups: len(set(groups)) > 1), st.integers(2, 6)
)
def test_folds_are_those_of_scikit_learn(groups: list[int], most: int) -> None:
    codes = np.array(groups)
    theirs = list(GroupKFold(min(most, len(set(groups)))).split(codes, groups=codes))
    ours = group_folds(codes, most)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        for a, b in zip(own, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_scikit_learn_is_not_imported_before_it_is_needed() -> None:
    """Its import takes longer than that of torch where pandas is installed."""
    script = "import egoequiv.evaluation, egoequiv.training.loop, sys"
    script += "; sys.exit('sklearn' in sys.modules or 'scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
