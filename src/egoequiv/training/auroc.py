"""Slowness AUROC: how well the distance of features separates neighbours from strangers, whatever their scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoequiv.errors import DataError
from egoequiv.losses import Slowness
from egoequiv.methods import Method
from egoequiv.pairs import sample_neighbour_pairs
from egoequiv.pairs.candidates import Indices
from egoequiv.training.config import TrainConfig
from egoequiv.training.objective import gather
from egoequiv.training.streams import RunData, Stream
from egoequiv.training.validation import Encodes, evaluating

Norm = Literal[1, 2]
ROWS = 1_000  # pairs looked at: the standard error of an AUROC near 0.9 is then about 0.01
CHUNK = 500  # frames encoded at once
TRAINING, VALIDATION = "auroc", "validation_auroc"  # the keys in the metrics of a run


def slowness_auroc(
    z_i: NDArray[np.floating], z_j: NDArray[np.floating], is_neighbour: NDArray[np.bool_], norm: Norm = 2
) -> float:
    """The chance that neighbours are nearer to each other than strangers; (N, D), (N, D), (N,).

    0.5 is what features that say nothing would give, 1 a threshold that separates all neighbours from all strangers.
    """
    gap = np.asarray(z_j, np.float64) - np.asarray(z_i, np.float64)
    return _auroc(np.linalg.norm(gap, ord=norm, axis=1), is_neighbour)


def _auroc(distance: NDArray[np.floating], is_neighbour: NDArray[np.bool_]) -> float:
    if not np.isfinite(distance).all():
        raise DataError(
            "some features are not finite, so neighbours cannot be found by distance; train the network again"
        )
    if is_neighbour.all() or not is_neighbour.any():
        found = "neighbours" if len(is_neighbour) and is_neighbour.all() else "strangers"
        raise DataError(f"{len(is_neighbour)} pairs, all of them {found}: the AUROC needs both kinds")
    near, far = np.sort(distance[is_neighbour]), distance[~is_neighbour]
    nearer = sum(int(np.searchsorted(near, far, side).sum()) for side in ("left", "right")) / 2  # half for equal ones
    return nearer / (len(near) * len(far))


@torch.no_grad()
def stream_auroc(net: Encodes, stream: Stream, norm: Norm = 2, rows: int = ROWS) -> Tensor:
    """The AUROC of evenly spread rows of a stream of neighbour pairs, of each network; (...), a scalar for one.

    A network whose features are not finite has the AUROC NaN, so that a loop can say by itself what went wrong.
    """
    chosen = np.unique(np.linspace(0, len(stream) - 1, min(rows, len(stream))).astype(np.int64))
    distance = _distances(net, stream, chosen, norm).double().cpu()
    is_neighbour = stream.target[chosen] == 1
    values = [
        _auroc(one, is_neighbour) if np.isfinite(one).all() else float("nan")
        for one in distance.reshape(-1, len(chosen)).numpy()
    ]
    return torch.tensor(values, dtype=torch.float64).reshape(distance.shape[:-1])


def _distances(net: Encodes, stream: Stream, rows: Indices, norm: Norm) -> Tensor:
    """The distance of the features of each pair, (..., R); a frame of several pairs is encoded once."""
    if stream.j is None:
        raise DataError("labelled images are no pairs; the AUROC is of neighbour pairs and strangers")
    frames, place = np.unique(np.stack([stream.i[rows], stream.j[rows]]), return_inverse=True)
    device = net.input_mean.device
    with evaluating(net):
        parts = [net(gather(net, stream.store, frames[at : at + CHUNK], device)) for at in range(0, len(frames), CHUNK)]
    z = torch.cat(parts, dim=-2)
    i, j = torch.from_numpy(place.reshape(2, -1)).to(device)
    distance: Tensor = torch.linalg.vector_norm(z[..., j, :] - z[..., i, :], ord=norm, dim=-1)
    return distance


def auroc_streams(data: RunData, config: TrainConfig) -> dict[str, Stream]:
    """Neighbour pairs and strangers among training and among validation frames, by their key in the metrics.

    Those that a method trains on, or where it knows of no neighbours, some drawn for the purpose. None where frames
    have no neighbours, as pictures without poses, or no strangers.
    """
    streams: dict[str, Stream] = {}
    for key, own, frames in (
        (TRAINING, data.train, data.split.train),
        (VALIDATION, data.validation, data.split.validation),
    ):
        try:
            streams[key] = own["neighbour"] if "neighbour" in own else _drawn(data, frames, config)
        except DataError:
            continue
    return streams


def _drawn(data: RunData, frames: Indices, config: TrainConfig) -> Stream:
    pairs = sample_neighbour_pairs(
        data.store, frames, count=ROWS, max_gap_s=config.neighbour_gap_s, seed=config.pair_seed
    )
    return Stream(data.store, pairs.i, pairs.j, pairs.is_neighbour.astype(np.int64))


def aurocs(net: Encodes, method: Method, streams: Mapping[str, Stream]) -> dict[str, Tensor]:
    """The AUROC of each stream, of each network."""
    return {key: stream_auroc(net, stream, norm_of(method)) for key, stream in streams.items()}


def norm_of(method: Method) -> Norm:
    """The distance by which a method's neighbours are near: its own, or the Euclidean one."""
    return next((term.norm for term in method.terms if isinstance(term, Slowness)), 2)
