"""Probes that are chosen and stopped by groups."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from egoequiv.evaluation.probes import ALPHAS, LinearProbe, SmallNetwork, TrainingPart, groups_that_stop, mean_r2


def test_the_penalty_is_chosen_within_the_training_part_by_groups() -> None:
    groups = np.repeat(np.arange(4), 5)
    parts = [set(groups[rows].tolist()) for rows in LinearProbe(TrainingPart(groups, 0)).folds]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 4


@pytest.mark.slow
@given(st.integers(0, 999), st.sampled_from([0.1, 1.0, 10.0]), st.integers(1, 3))
def test_the_linear_probe_is_that_of_scikit_learn(seed: int, noise: float, width: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 5, 60)
    z = rng.normal(size=(60, 8)) * rng.uniform(0.1, 10, 8) + rng.normal(size=8)
    z[:, 7] = 3.0  # says nothing
    values = 5 + z[:, :width] @ rng.normal(size=(width, width)) + noise * rng.normal(size=(60, width))
    inner = list(GroupKFold(min(3, len(np.unique(groups)))).split(z, groups=groups))
    ridge = make_pipeline(StandardScaler(), RidgeCV(ALPHAS, cv=inner))
    theirs = TransformedTargetRegressor(ridge, transformer=StandardScaler()).fit(z, values)
    ours = LinearProbe(TrainingPart(groups, 0)).fit(z, values)
    assert ours.alpha == theirs.regressor_[-1].alpha_
    others = rng.normal(size=(20, 8))
    np.testing.assert_allclose(ours.predict(others), theirs.predict(others).reshape(20, -1), atol=1e-8)


def test_a_line_by_hand() -> None:
    z = np.array([[0.0], [1.0], [2.0], [3.0]])
    read = LinearProbe(TrainingPart(np.arange(4), 0)).fit(z, 2 * z + 1).predict(np.array([[10.0]]))
    assert read[0, 0] == pytest.approx(21.0, abs=0.1)  # the least penalty pulls it to the mean by 1 / 400
    assert mean_r2(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]])) == pytest.approx(0.5)
    assert mean_r2(np.array([[1.0, 2.0], [1.0, 4.0]]), np.array([[1.0, 2.0], [1.0, 4.0]])) == 1.0
    assert mean_r2(np.ones((2, 1)), np.zeros((2, 1))) == 0.0


def test_the_network_learns_as_torch_would() -> None:
    rng = np.random.default_rng(4)
    groups = np.arange(300) % 5
    z, values = rng.normal(size=(300, 6)), rng.normal(size=(300, 2))
    part = TrainingPart(groups, 1)
    stops = groups_that_stop(part)
    inputs, outputs = (torch.tensor((a - a.mean(0)) / a.std(0), dtype=torch.float32) for a in (z, values))
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3)
    best, least, patience = 0.0, float("inf"), 10
    while patience:
        for batch in torch.split(torch.randperm(int((~stops).sum())), 200):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(inputs[~stops][batch]), outputs[~stops][batch]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        error = float(torch.nn.functional.mse_loss(net(inputs[stops]), outputs[stops]).detach())
        patience = 10 if error < least - 1e-4 else patience - 1
        if error < least:
            least, best = error, net(inputs).detach().double().numpy()
    read = SmallNetwork(part).fit(z, values).predict(z)
    np.testing.assert_allclose((read - values.mean(0)) / values.std(0), best, atol=1e-4)


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

    monkeypatch.setattr(torch, "randperm", interrupt)
    with pytest.raises(KeyboardInterrupt):
        SmallNetwork(TrainingPart(np.arange(40) % 4, 0)).fit(np.ones((40, 2)), np.ones((40, 1)))


def test_examples_of_one_group_choose_the_penalty_by_their_order() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 4))
    values = z[:, :1] * 2 + 1
    probe = LinearProbe(TrainingPart(np.zeros(30, np.int64), 0))
    assert [fold.tolist() for fold in sorted(probe.folds, key=lambda fold: fold[0])] == [
        list(range(start, start + 10)) for start in (0, 10, 20)
    ]
    np.testing.assert_allclose(probe.fit(z, values).predict(z), values, atol=0.01)
