"""Costs of action sequences, in the form that solvers of stable-worldmodel ask for: `model.get_cost(info, actions)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoequiv.errors import DataError
from egoequiv.models.motion_model import Features

if TYPE_CHECKING:
    from egoequiv.planning.planner import Planner

VIEW, GOAL = "pixels", "goal"  # the keys of what is seen and of what is wanted


def cost_of_actions(planner: Planner, info: dict[str, Any], actions: Tensor) -> Tensor:
    """The squared distance to the goal at the end of each candidate, (B, S).

    Args:
        planner: Its model and motions.
        info: `pixels`, the view now, and `goal`: images (B, S, ..., H, W, C) or (B, S, ..., C, H, W), of uint8 or
            between 0 and 1, the last one in time counts; or mapped features (B, S, ..., E). All candidates S of an
            environment have the same.
        actions: Candidates (B, S, T, A). If the model takes any motion, A numbers are one motion vector or several
            after each other; otherwise each of the planner's motions has a number, and the largest is made.

    Returns:
        Costs as a tensor on the device of the actions.
    """
    if actions.ndim != 4:
        raise DataError(f"expected actions (environments, candidates, steps, numbers), found {tuple(actions.shape)}")
    batch, count = actions.shape[:2]
    view, goal = (_features(planner, info, key, batch) for key in (VIEW, GOAL))
    features = np.repeat(view, count, axis=0)
    width = len(next(iter(planner.model.motions.values()))) if planner.model.takes_any else len(planner.motions)
    if actions.shape[3] % width:
        raise DataError(f"expected actions of {width} numbers, or several of them, found {actions.shape[3]}")
    steps = actions.detach().double().cpu().numpy().reshape(batch * count, -1, width)
    for step in range(steps.shape[1]):
        features = _step(planner, features, steps[:, step])
    squared = np.square(features.astype(np.float64) - np.repeat(goal, count, axis=0)).sum(axis=1)
    return torch.from_numpy(squared.reshape(batch, count)).to(actions.device, torch.float32)


def _step(planner: Planner, features: Features, actions: NDArray[np.float64]) -> Features:
    """Features after one action each, (N, E), (N, A) -> (N, E)."""
    if planner.model.takes_any:
        return planner.model.after(features, actions)
    after, chosen = features.copy(), actions.argmax(axis=1)
    for g in np.unique(chosen):
        after[chosen == g] = planner.model.after(features[chosen == g], planner.motions[g])
    return after


def _features(planner: Planner, info: dict[str, Any], key: str, batch: int) -> Features:
    """The mapped features of each environment, (B, E)."""
    if key not in info:
        raise DataError(f"expected {key!r} beside the actions, found {', '.join(map(str, info)) or 'nothing'}")
    found = info[key]
    looks = found.detach().cpu().numpy() if isinstance(found, Tensor) else np.asarray(found)
    if looks.ndim < 3 or len(looks) != batch:
        raise DataError(f"{key!r}: expected one look for each of {batch} environments, found {looks.shape}")
    looks = looks[:, 0]  # the same for all candidates
    shape = tuple(planner.model.image_shape)
    dim = planner.model.mapped.stop - planner.model.mapped.start
    if looks.shape[-1] == dim and looks.dtype.kind == "f" and looks.shape[-3:] != shape:
        last: Features = looks.reshape(batch, -1, dim)[:, -1].astype(np.float32)
        return last
    if looks.shape[-3:] == (shape[2], *shape[:2]):
        looks = np.moveaxis(looks, -3, -1)
    if looks.shape[-3:] != shape:
        raise DataError(f"{key!r}: expected images of {' x '.join(map(str, shape))}, found {looks.shape[-3:]}")
    images = looks.reshape(batch, -1, *shape)[:, -1]
    if images.dtype != np.uint8:
        if not (np.isfinite(images).all() and images.min() >= 0 and images.max() <= 1):
            raise DataError(f"{key!r}: expected images of uint8, or between 0 and 1: leave out the normalisation")
        images = np.rint(255 * images).astype(np.uint8)
    return planner.model.embed(images)[:, planner.model.mapped]
