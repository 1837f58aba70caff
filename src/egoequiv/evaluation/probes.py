"""Probes: simple models that read quantities from features, chosen and stopped by groups of their training part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import solve
from torch import nn

from egoequiv.evaluation.equivariance import apply_map
from egoequiv.evaluation.folds import group_folds
from egoequiv.pairs.candidates import Indices

if TYPE_CHECKING:
    from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]
Single = NDArray[np.float32]
INNER_FOLDS = 3  # within the training part, for the choice of a penalty
ALPHAS = tuple(10.0**power for power in range(-2, 6))
HIDDEN, BATCH, EPOCHS, PATIENCE = 64, 200, 200, 10
RATE, DECAY, MOMENTS, TINY = 1e-3, 1e-3, (0.9, 0.999), 1e-8  # of AdamW
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


def scaler_of(values: Array) -> StandardScaler:
    """What standardises values, (N, T), and takes it back."""
    from sklearn.preprocessing import StandardScaler  # here, because the import takes seconds

    return StandardScaler().fit(values)


class LinearProbe:
    """Ridge regression of standardised features; its penalty is chosen within the training part, by groups too.

    Sums of products of each inner fold are computed once; those of any folds together follow by adding them up, so
    that all penalties cost little more than one.
    """

    def __init__(self, part: TrainingPart) -> None:
        count = len(part.groups)
        is_one = len(np.unique(part.groups)) < 2  # then the penalty is chosen by examples that follow each other
        groups = np.arange(count) * INNER_FOLDS // count if is_one else part.groups
        self.folds = [rest for _, rest in group_folds(groups, INNER_FOLDS)]

    def fit(self, z: Array, values: Array) -> LinearProbe:
        self._inputs, self._outputs = scaler_of(z), scaler_of(values)
        inputs, outputs = self._inputs.transform(z), self._outputs.transform(values)
        together = np.column_stack([inputs, np.ones(len(inputs)), outputs])
        products = [together[rows].T @ together[rows] for rows in self.folds]
        whole, scores = np.sum(products, axis=0), np.zeros(len(ALPHAS))
        for rows, own in zip(self.folds, products, strict=True):
            for number, alpha in enumerate(ALPHAS):
                affine = _ridge(whole - own, inputs.shape[1], alpha)
                scores[number] += mean_r2(outputs[rows], apply_map(affine, inputs[rows]))
        self.alpha = ALPHAS[int(scores.argmax())]
        self._map = _ridge(whole, inputs.shape[1], self.alpha)
        return self

    def predict(self, z: Array) -> Array:
        values: Array = self._outputs.inverse_transform(apply_map(self._map, self._inputs.transform(z)))
        return values


def _ridge(products: Array, size: int, alpha: float) -> Array:
    """The affine map (D + 1, T), the bias last, from products of [z, 1, y]; its linear part is penalised by alpha."""
    count, sums = products[size, size], products[size]
    centred = products - np.outer(sums, sums) / count
    linear = solve(centred[:size, :size] + alpha * np.eye(size), centred[:size, size + 1 :], assume_a="pos")
    return np.concatenate([linear, (sums[size + 1 :] - sums[:size] @ linear)[None] / count])


def mean_r2(true: Array, guess: Array) -> float:
    """R^2, the mean over columns; (N, T). Of a column that never changes it is 1 where that is read, else 0."""
    error, variation = np.square(true - guess).sum(axis=0), np.square(true - true.mean(axis=0)).sum(axis=0)
    flat = variation == 0
    return float(np.where(flat, error == 0, 1 - error / np.where(flat, 1.0, variation)).mean())


class SmallNetwork:
    """One hidden layer on standardised features; it stops when some groups of its training part are read no better.

    It is trained by AdamW, written out: on so small a network, most time of a general program is spent on its calls.
    """

    def __init__(self, part: TrainingPart) -> None:
        self._part = part

    def fit(self, z: Array, values: Array) -> SmallNetwork:
        self._inputs, self._outputs = scaler_of(z), scaler_of(values)
        scaled = self._inputs.transform(z), self._outputs.transform(values)
        inputs, outputs = (array.astype(np.float32) for array in scaled)
        stops = groups_that_stop(self._part)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._part.seed % 2**63)
            layers = nn.Linear(inputs.shape[1], HIDDEN), nn.Linear(HIDDEN, outputs.shape[1])
            self._weights = [
                parameter.detach().numpy().T.copy() for layer in layers for parameter in (layer.weight, layer.bias)
            ]
            self._train(inputs[~stops], outputs[~stops], inputs[stops], outputs[stops])
        return self

    def predict(self, z: Array) -> Array:
        read = self._read(self._inputs.transform(z).astype(np.float32))
        values: Array = self._outputs.inverse_transform(read.astype(np.float64))
        return values

    def _read(self, inputs: Single) -> Single:
        first, first_bias, second, second_bias = self._weights
        read: Single = np.maximum(inputs @ first + first_bias, 0) @ second + second_bias
        return read

    def _gradients(self, inputs: Single, outputs: Single) -> list[Single]:
        """Of the mean squared error, for each of the weights."""
        first, first_bias, second, second_bias = self._weights
        hidden = np.maximum(inputs @ first + first_bias, 0)
        error = (hidden @ second + second_bias - outputs) * np.float32(2 / outputs.size)
        back = (error @ second.T) * (hidden > 0)
        return [inputs.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]

    def _train(self, inputs: Single, outputs: Single, stop_inputs: Single, stop_outputs: Single) -> None:
        optimizer = _AdamW(self._weights)
        least, patience = float("inf"), PATIENCE
        best = [weight.copy() for weight in self._weights]
        for _ in range(EPOCHS):
            order = torch.randperm(len(inputs)).numpy()
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                optimizer.step(self._gradients(inputs[batch], outputs[batch]))
            error = float(np.square(self._read(stop_inputs) - stop_outputs).mean())
            patience = PATIENCE if error < least - WORTH else patience - 1
            if error < least:
                least, best = error, [weight.copy() for weight in self._weights]
            if not patience:
                break
        self._weights = best


class _AdamW:
    """AdamW as torch has it, on arrays that are changed in place."""

    def __init__(self, weights: list[Single]) -> None:
        self._weights, self._steps = weights, 0
        self._mean, self._square = ([np.zeros_like(weight) for weight in weights] for _ in range(2))

    def step(self, gradients: list[Single]) -> None:
        self._steps += 1
        first, second = (1 - moment**self._steps for moment in MOMENTS)
        for weight, gradient, mean, square in zip(self._weights, gradients, self._mean, self._square, strict=True):
            weight *= np.float32(1 - RATE * DECAY)
            mean += np.float32(1 - MOMENTS[0]) * (gradient - mean)
            square *= np.float32(MOMENTS[1])
            square += np.float32(1 - MOMENTS[1]) * gradient * gradient
            weight -= np.float32(RATE / first) * mean / (np.sqrt(square) / np.float32(second**0.5) + np.float32(TINY))


def groups_that_stop(part: TrainingPart) -> NDArray[np.bool_]:
    """Which examples are not fitted but say when to stop: those of a fifth of the groups, at least one; (N,)."""
    names = np.random.default_rng([part.seed, 0x570]).permutation(np.unique(part.groups))
    held = names[: max(1, round(STOP_SHARE * len(names)))]
    stops: NDArray[np.bool_] = np.isin(part.groups, held)
    return stops


Probes = Mapping[str, Callable[[TrainingPart], Probe]]
LINEAR = "linear"
PROBES: Probes = {LINEAR: LinearProbe, "small MLP": SmallNetwork}
