"""Probes: simple models that read quantities from features, chosen and stopped by groups of their training part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from egoequiv.pairs.candidates import Indices

Array = NDArray[np.float64]
INNER_FOLDS = 3  # within the training part, for the choice of a penalty
ALPHAS = tuple(10.0**power for power in range(-2, 6))
HIDDEN, BATCH, EPOCHS, PATIENCE = 64, 200, 200, 10
STOP_SHARE = 0.2  # of the groups of the training part, to say when to stop
WORTH = 1e-4  # a smaller gain in squared error, of standardised values, is none


class Probe(Protocol):
    """Anything that can be fitted to values (N, T) of features (N, D), and read other features."""

    def fit(self, z: Array, values: Array) -> Any: ...

    def predict(self, z: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """What a probe may go by when it is made: the groups of the examples that it will be fitted on, and a seed."""

    groups: Indices  # (N,)
    seed: int


def folds_of(groups: Indices, most: int) -> int:
    """Into how many parts groups are divided."""
    return min(most, len(np.unique(groups)))


def linear_probe(part: TrainingPart) -> Probe:
    """Ridge regression of standardised features; its penalty is chosen within the training part, by groups too."""
    inner = list(GroupKFold(folds_of(part.groups, INNER_FOLDS)).split(part.groups, groups=part.groups))
    ridge = make_pipeline(StandardScaler(), RidgeCV(ALPHAS, cv=inner))
    probe: Probe = TransformedTargetRegressor(ridge, transformer=StandardScaler())
    return probe


class SmallNetwork:
    """One hidden layer on standardised features; it stops when some groups of its training part are read no better."""

    def __init__(self, part: TrainingPart) -> None:
        self._part = part
        self._inputs, self._outputs = StandardScaler(), StandardScaler()

    def fit(self, z: Array, values: Array) -> SmallNetwork:
        inputs, outputs = (
            torch.from_numpy(scaler.fit_transform(array)).float()
            for scaler, array in ((self._inputs, z), (self._outputs, values))
        )
        stops = torch.from_numpy(groups_that_stop(self._part))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._part.seed % 2**63)
            self._net = nn.Sequential(
                nn.Linear(inputs.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs.shape[1])
            )
            self._train(inputs[~stops], outputs[~stops], inputs[stops], outputs[stops])
        return self

    def predict(self, z: Array) -> Array:
        with torch.no_grad():
            read = self._net(torch.from_numpy(self._inputs.transform(z)).float())
        values: Array = self._outputs.inverse_transform(read.double().numpy())
        return values

    def _train(self, inputs: Tensor, outputs: Tensor, stop_inputs: Tensor, stop_outputs: Tensor) -> None:
        optimizer = torch.optim.AdamW(self._net.parameters(), lr=1e-3, weight_decay=1e-3)
        least, patience = float("inf"), PATIENCE
        best = {name: value.clone() for name, value in self._net.state_dict().items()}
        for _ in range(EPOCHS):
            for batch in torch.split(torch.randperm(len(inputs)), BATCH):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(self._net(inputs[batch]), outputs[batch])
                torch.autograd.backward(loss)
                optimizer.step()
            with torch.no_grad():
                error = float(nn.functional.mse_loss(self._net(stop_inputs), stop_outputs))
            patience = PATIENCE if error < least - WORTH else patience - 1
            if error < least:
                least = error
                best = {name: value.clone() for name, value in self._net.state_dict().items()}
            if not patience:
                break
        self._net.load_state_dict(best)


def groups_that_stop(part: TrainingPart) -> NDArray[np.bool_]:
    """Which examples are not fitted but tell when to stop: those of a fifth of the groups, one at the least; (N,)."""
    names = np.random.default_rng([part.seed, 0x570]).permutation(np.unique(part.groups))
    held = names[: max(1, round(STOP_SHARE * len(names)))]
    stops: NDArray[np.bool_] = np.isin(part.groups, held)
    return stops


PROBES: dict[str, Callable[[TrainingPart], Probe]] = {"linear": linear_probe, "small MLP": SmallNetwork}
