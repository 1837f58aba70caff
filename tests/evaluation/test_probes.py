"""Probes that are chosen and stopped by groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from egoequiv.evaluation.probes import SmallNetwork, TrainingPart, groups_that_stop, linear_probe


def test_the_penalty_is_chosen_within_the_training_part_by_groups() -> None:
    groups = np.repeat(np.arange(4), 5)
    probe: Any = linear_probe(TrainingPart(groups, 0))
    for fit, rest in probe.regressor[-1].cv:
        assert not set(groups[fit].tolist()) & set(groups[rest].tolist())


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 9))
def test_whole_groups_say_when_to_stop(groups: list[int], seed: int) -> None:
    own = np.array([*groups, 7, 8])
    stops = groups_that_stop(TrainingPart(own, seed))
    assert not set(own[stops].tolist()) & set(own[~stops].tolist())
    assert stops.any()
    assert not stops.all()


def test_a_network_that_only_knows_its_groups_by_heart_stops_at_once() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 60)
    z, values = rng.normal(size=(10, 20))[groups], rng.normal(size=(10, 1))[groups]  # says nothing of other groups
    others = rng.normal(size=(50, 20))
    read = SmallNetwork(TrainingPart(groups, 0)).fit(z, values).predict(others)
    assert np.abs(read - values.mean()).max() < 2 * values.std()


def test_the_network_reads_what_is_there_the_same_each_time_whatever_was_drawn_before() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, (900, 2))
    values, groups = 100 + 50 * z[:, :1] * z[:, 1:], np.arange(900) % 6
    first = SmallNetwork(TrainingPart(groups, 3)).fit(z, values).predict(z)
    state = torch.random.get_rng_state()
    torch.rand(3)
    again = SmallNetwork(TrainingPart(groups, 3)).fit(z, values).predict(z)
    np.testing.assert_array_equal(first, again)
    assert np.corrcoef(first[:, 0], values[:, 0])[0, 1] > 0.95
    torch.random.set_rng_state(state)


def test_ctrl_c_ends_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(torch.nn.functional, "mse_loss", interrupt)
    with pytest.raises(KeyboardInterrupt):
        SmallNetwork(TrainingPart(np.arange(40) % 4, 0)).fit(np.ones((40, 2)), np.ones((40, 1)))
