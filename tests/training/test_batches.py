"""The order of batches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.training.batches import BatchOrder


@given(rows=st.integers(1, 40), batch=st.integers(1, 50), seed=st.integers(0, 5))
def test_each_pass_visits_every_row_once(rows: int, batch: int, seed: int) -> None:
    order = BatchOrder(rows, batch, (seed,))
    seen = np.concatenate([order.batch(t) for t in range(3 * rows)])
    for number in range(len(seen) // rows):
        assert sorted(seen[number * rows : (number + 1) * rows]) == list(range(rows))


def test_a_batch_depends_on_seed_and_iteration_only() -> None:
    walked, jumped = BatchOrder(10, 4, (7,)), BatchOrder(10, 4, (7,))
    batches = [walked.batch(t) for t in range(20)]
    assert np.array_equal(jumped.batch(13), batches[13])
    assert np.array_equal(jumped.batch(2), batches[2])
    assert not np.array_equal(
        np.concatenate(batches), np.concatenate([BatchOrder(10, 4, (8,)).batch(t) for t in range(20)])
    )
