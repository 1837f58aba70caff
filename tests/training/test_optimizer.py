"""Optimisers, and the learning rate of each iteration."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.training import make_config
from egoequiv.training.config import TrainConfig
from egoequiv.training.optimizer import learning_rate, make_optimizer, set_learning_rate


def config_with(**settings: object) -> TrainConfig:
    return make_config({"data": "store", "method": "clsnet", "encoder": "norb", **settings})


def test_one_cycle_by_hand() -> None:
    config = config_with(decay="one-cycle", learning_rate=0.5, iterations=100)
    rates = [learning_rate(config, iteration) for iteration in range(101)]
    assert rates[0] == pytest.approx(0.5 / 25)
    assert rates[15] == pytest.approx(0.5 * (1 + 1 / 25) / 2)  # half of the way up
    assert rates[30] == pytest.approx(0.5)
    assert rates[65] == pytest.approx(0.25)  # half of the way down
    assert rates[100] == pytest.approx(0.0)
    assert max(rates) == rates[30]
    assert np.all(np.diff(rates[:31]) > 0)
    assert np.all(np.diff(rates[30:]) < 0)


def test_one_cycle_against_torch() -> None:
    count = 2_000
    config = config_with(decay="one-cycle", learning_rate=0.3, iterations=count)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.3, total_steps=count, cycle_momentum=False)
    expected = []
    for _ in range(count):
        expected.append(schedule.get_last_lr()[0])
        optimizer.step()
        if len(expected) < count:
            schedule.step()
    found = [learning_rate(config, iteration) for iteration in range(count)]
    np.testing.assert_allclose(
        found, expected, atol=0.3 * np.pi / 2 * 2 / (0.3 * count)
    )  # at most two iterations apart


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_short_cycle_has_rates_above_zero(count: int) -> None:
    config = config_with(decay="one-cycle", learning_rate=1.0, iterations=count)
    assert all(0 < learning_rate(config, iteration) <= 1 for iteration in range(count))


def test_cosine_and_none_by_hand() -> None:
    cosine = config_with(decay="cosine", learning_rate=0.4, iterations=8)
    assert [learning_rate(cosine, k) for k in (0, 4, 8)] == pytest.approx([0.4, 0.2, 0.0])
    none = config_with(learning_rate=0.4, iterations=8)
    assert {learning_rate(none, k) for k in range(9)} == {0.4}


def small_net() -> EgoNet:
    net = EgoNet(NetSpec("norb", (2, 3, 1), class_names=("a", "b")))
    initialise(net, torch.Generator().manual_seed(0))
    return net


def test_adamw_by_hand() -> None:
    net = small_net()
    config = config_with(optimizer="adamw", learning_rate=0.1, weight_decay=0.5)
    optimizer = make_optimizer(net, config)
    before = {name: value.detach().clone() for name, value in net.named_parameters()}
    for parameter in net.parameters():
        parameter.grad = torch.full_like(parameter, -3.0)
    optimizer.step()
    for name, value in net.named_parameters():
        # The first step is one rate against the sign of the gradient, from weights that were made smaller before.
        torch.testing.assert_close(value.detach(), before[name] * (1 - 0.1 * 0.5) + 0.1, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "kind"), [("sgd", torch.optim.SGD), ("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)]
)
def test_every_optimiser_gets_its_settings(name: str, kind: type[torch.optim.Optimizer]) -> None:
    config = config_with(optimizer=name, learning_rate=0.2, weight_decay=0.01, decay="one-cycle", iterations=10)
    optimizer = make_optimizer(small_net(), config)
    assert type(optimizer) is kind
    assert optimizer.param_groups[0]["weight_decay"] == 0.01
    set_learning_rate(optimizer, config, 3)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.2)
