"""One step's worth of losses: gather the images of all streams, encode them in one pass, one loss a term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from egoequiv.errors import ConfigError
from egoequiv.losses import StreamBatch, StreamName, Term
from egoequiv.methods import Method
from egoequiv.models import EgoNet, Heads, StackedNet
from egoequiv.models.network import Change
from egoequiv.models.stored import inputs_of
from egoequiv.names import what_is
from egoequiv.store import FrameStore
from egoequiv.training.streams import Stream
from egoequiv.user_code import is_built_in, user_code

Rows = NDArray[np.int64]
Targets = dict[StreamName, Tensor]


@dataclass(frozen=True)
class Batch:
    """The images of one step: of each stream the labelled images, or the first and then the second of each pair."""

    images: Tensor  # (B, H, W, C) uint8
    targets: Targets  # of each stream, in the order of its images
    motions: Targets  # (B, M) of the streams that have motions
    places: Targets = field(default_factory=dict)  # (2 B, P) of the stream that has places

    @property
    def labelled(self) -> slice | None:
        """Where the labelled images are among all; None without."""
        start = 0
        for name, target in self.targets.items():
            if name == "labelled":
                return slice(start, start + len(target))
            start += pieces(name) * len(target)
        return None


class Objective(nn.Module):
    """The losses of one network; its parameters are those of the network."""

    def __init__(self, net: EgoNet, method: Method) -> None:
        super().__init__()
        self.net = net
        self.method = method

    def forward(self, batch: Batch, change: Change | None = None) -> list[Tensor]:
        """The unweighted loss of each term, a scalar each; `change` changes the normalised pixels."""
        features = split_features(self.net(batch.images, change), batch.targets, batch.motions, batch.places)
        return term_losses(self.net, self.method, features)


def gather_batch(
    streams: Mapping[StreamName, Stream],
    rows: Mapping[StreamName, Rows],
    net: nn.Module | Heads,
    device: torch.device,
    light: np.random.Generator | None = None,
) -> Batch:
    """Copy what a network takes of the given rows of all streams out of memory maps, with one gather a store.

    `light` draws under which light each stored frame is seen, where the network learns from stored cells.
    """
    by_store: dict[int, list[StreamName]] = {}
    for name, stream in streams.items():
        by_store.setdefault(id(stream.store), []).append(name)
    images: list[Tensor] = []
    targets: Targets = {}
    motions: Targets = {}
    places: Targets = {}
    for names in by_store.values():
        frames: list[Rows] = []
        for name in names:
            stream, chosen = streams[name], rows[name]
            frames.append(stream.i[chosen])
            if stream.j is not None:
                frames.append(stream.j[chosen])
            targets[name] = torch.from_numpy(stream.target[chosen]).to(device)
            if stream.motion is not None:
                motions[name] = torch.from_numpy(stream.motion[chosen]).to(device)
            if stream.place is not None:
                both = stream.place[:, chosen]
                places[name] = torch.from_numpy(both.reshape(-1, both.shape[-1])).to(device)
        images.append(gather(net, streams[names[0]].store, np.concatenate(frames), device, light))
    return Batch(images[0] if len(images) == 1 else torch.cat(images), targets, motions, places)


def gather(
    net: nn.Module | Heads,
    store: FrameStore,
    frames: Rows,
    device: torch.device,
    light: np.random.Generator | None = None,
) -> Tensor:
    """Copy frames out of the memory map: (B, H, W, C) uint8, or components (B, K) of the cells of a backbone."""
    inputs = inputs_of(net, store)[frames]
    variants = getattr(getattr(net, "encoder", None), "variants", 0)
    if light is not None and variants and inputs.ndim == 2:
        drawn = light.integers(variants + 1, size=len(frames))
        for variant in range(1, variants + 1):
            own = drawn == variant
            inputs[own] = inputs_of(net, store, variant)[frames[own]]
    return torch.from_numpy(inputs).to(device)


def split_features(
    features: Tensor, targets: Targets, motions: Targets | None = None, places: Targets | None = None
) -> dict[StreamName, StreamBatch]:
    """The features (..., B, D) of a batch, stream by stream."""
    sizes = [target.shape[-1] for name, target in targets.items() for _ in range(pieces(name))]
    parts = torch.split(features, sizes, dim=-2)
    batches: dict[StreamName, StreamBatch] = {}
    place = 0
    for name, target in targets.items():
        z_i, z_j = parts[place], parts[place + pieces(name) - 1]
        batches[name] = StreamBatch(z_i, z_j, target, (motions or {}).get(name), (places or {}).get(name))
        place += pieces(name)
    return batches


def risen(weights: Tensor, rises: Tensor, done: float) -> list[Tensor]:
    """The weights (..., T) of the terms when a share of the run is done, one tensor (...) a term."""
    return list((weights * torch.where(rises > 0, done / rises, 1.0).clamp_max(1.0)).unbind(-1))


def pieces(stream: StreamName) -> int:
    """How many images a row of the stream has."""
    return 1 if stream == "labelled" else 2


def term_losses(net: Heads, method: Method, batches: Mapping[StreamName, StreamBatch]) -> list[Tensor]:
    """The unweighted loss of each term, in the order of the method's terms."""
    losses = [_loss(net, term, batches[term.stream]) for term in method.terms]
    if torch.is_grad_enabled():
        for term, loss in zip(method.terms, losses, strict=True):
            if not loss.requires_grad:
                raise ConfigError(_why_no_gradient(term, batches[term.stream]))
    return losses


def _why_no_gradient(term: Term, batch: StreamBatch) -> str:
    """Why nothing can be learned from a loss: the encoder gives constants, or the loss loses what it is given."""
    if not (batch.z_i.requires_grad or batch.z_j.requires_grad):
        return (
            f"loss {term.name!r} has no gradient, because the features of the encoder have none: its parameters must "
            "have requires_grad, and it must not compute under torch.no_grad or detach"
        )
    return (
        f"loss {term.name!r} returns a tensor without a gradient: compute it from batch.z_i and batch.z_j by torch, "
        "without detach, item, numpy or torch.no_grad"
    )


def _loss(net: Heads, term: Term, batch: StreamBatch) -> Tensor:
    """The loss of a term, a scalar, or one for each network of a stack, (S,); one of a user is checked."""
    if is_built_in(term):
        return term.loss(net, batch)
    what = f"loss {term.name!r}"
    with user_code(what):
        loss = _of_stack(net, term, batch) if isinstance(net, StackedNet) else term.loss(net, batch)
    expected = batch.z_i.shape[:-2]
    if not isinstance(loss, Tensor) or loss.shape != expected:
        found = f"a tensor {tuple(loss.shape)}" if isinstance(loss, Tensor) else what_is(loss)
        wanted = (
            "a scalar tensor" if not expected else f"a tensor {tuple(expected)}, one loss a network (or stacks=False)"
        )
        raise ConfigError(f"{what} must return {wanted}, the mean over the batch; it returns {found}")
    return loss


def _of_stack(net: StackedNet, term: Term, batch: StreamBatch) -> Tensor:
    """The loss of each network, (S,); at first sight, what a term gives for all at once is compared."""
    if not term.stacks:
        return _one_by_one(net, term, batch)
    if term.name not in net.compared:
        _compare(net, term, batch)
        net.compared.add(term.name)
    return term.loss(net, batch)


def _one_by_one(net: StackedNet, term: Term, batch: StreamBatch) -> Tensor:
    """The loss of each network, (S,), computed for one after the other; one that draws random numbers is refused."""
    before = torch.get_rng_state()
    losses = [term.loss(heads, _of_one(batch, k)) for k, heads in enumerate(net.members())]
    if not torch.equal(before, torch.get_rng_state()):
        raise ConfigError(
            f"loss {term.name!r} draws random numbers, which a stack of networks cannot repeat: write draws = True "
            "into its class, and its runs are trained one by one"
        )
    return torch.stack(losses)


def _compare(net: StackedNet, term: Term, batch: StreamBatch) -> None:
    """Refuse a term that gives other losses for all networks at once than one by one.

    The losses of new networks are nearly equal. So each gets features of another size and pairs of other frames, which
    makes them differ.
    """
    size = torch.linspace(0.5, 1.5, len(batch.z_i), device=batch.z_i.device)[:, None, None]
    z_i, z_j = batch.z_i.detach() * size, batch.z_j.detach() * size
    z_j = torch.stack([one.roll(k, dims=0) for k, one in enumerate(z_j)])
    odd = StreamBatch(z_i, z_j, batch.target)
    one_by_one = _one_by_one(net, term, odd)
    at_once = term.loss(net, odd)
    if at_once.shape == one_by_one.shape and not torch.allclose(at_once, one_by_one, rtol=1e-3, atol=1e-5):
        raise ConfigError(
            f"loss {term.name!r} stacks, but gives {at_once.tolist()} for networks that one by one have "
            f"{one_by_one.tolist()}: let it take features (..., B, D), or write stacks = False into its class"
        )


def _of_one(batch: StreamBatch, k: int) -> StreamBatch:
    """The batch of one network of a stack."""
    return StreamBatch(batch.z_i[k], batch.z_j[k], batch.target if batch.target.dim() == 1 else batch.target[k])
