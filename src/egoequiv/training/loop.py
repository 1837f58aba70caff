"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from egoequiv.errors import ConfigError, DivergedError, EgoEquivError
from egoequiv.files import locked
from egoequiv.methods import Method
from egoequiv.models import EgoNet, NetSpec, initialise, load_model
from egoequiv.models.checkpoint import Which, save_spec
from egoequiv.pairs import count_leaked
from egoequiv.store import FrameStore
from egoequiv.training.auroc import auroc_streams, aurocs
from egoequiv.training.batches import batch_orders
from egoequiv.training.config import TrainConfig, make_config
from egoequiv.training.data import RunData, prepare_data
from egoequiv.training.distributed import ALONE, Team, gathered, own_device
from egoequiv.training.objective import Objective, Rows, gather_batch
from egoequiv.training.optimizer import make_optimizer, set_learning_rate
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.validation import check_finite, score, validate, validation_metrics, validation_rows

Statistics = tuple[list[float], list[float]]  # mean and scale of each channel
OnMetrics = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class TrainedRun:
    """A finished run: its folder, config and summary."""

    path: Path
    config: TrainConfig
    result: dict[str, Any]

    def model(self, which: Which = "last") -> EgoNet:
        """The trained network."""
        return load_model(self.path, which)


def train(
    data: str | Path, out: str | Path, *, resume: bool = False, on_metrics: OnMetrics | None = None, **settings: Any
) -> TrainedRun:
    """Train a method on a store; settings are those of `TrainConfig` (method="equiv", iterations=..., ...)."""
    config = make_config({"data": str(data), **settings})
    return run_training(config, out, resume=resume, in_team=True, on_metrics=on_metrics)


def run_training(
    config: TrainConfig,
    out: str | Path,
    *,
    resume: bool = False,
    in_team: bool = False,
    on_metrics: OnMetrics | None = None,
) -> TrainedRun:
    """Train as the config says, in the folder `out`; with `resume`, go on from its last checkpoint.

    A run `in_team` is shared by the processes that `torchrun` started, if it did.
    """
    folder = RunFolder(Path(out))
    device = own_device(choose_device(config.device))
    with gathered(config, device) if in_team else nullcontext(ALONE) as team:
        data = prepare_data(config, folder.patterns() if resume else None)
        net = build_net(config, data).to(device)  # what cannot be built leaves no folder behind
        net.precision = config.precision
        with ExitStack() as held:
            problem: EgoEquivError | None = None
            if team.is_first:
                try:
                    folder.begin(config, data.fingerprint(), resume)
                    folder.keep_patterns(data.patterns)
                    held.enter_context(locked(folder.path, "the run"))
                except EgoEquivError as found:
                    problem = found
            team.agree(problem, device)
            held.enter_context(Threads(config.threads))
            finished = folder.result or _train(config, data, net, folder, team, on_metrics)
            team.wait()
    return TrainedRun(folder.path, config, finished)


class Threads:
    """Use this many threads inside the block."""

    def __init__(self, count: int | None) -> None:
        self._count = count or torch.get_num_threads()

    def __enter__(self) -> None:
        self._before = torch.get_num_threads()
        torch.set_num_threads(self._count)

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self._before)


def build_net(config: TrainConfig, data: RunData, statistics: Statistics | None = None) -> EgoNet:
    """The network of a config with its initial weights, and the normalisation of the training frames.

    The statistics are those of `pixel_statistics`; they may be given where many networks share them.
    """
    spec = NetSpec(
        encoder=config.encoder,
        image_shape=data.store.image_shape,
        patterns=data.patterns.names if data.patterns else (),
        class_names=data.recognition.class_names if data.recognition else (),
        encoder_settings=config.encoder_settings,
    )
    net = EgoNet(spec)
    initialise(net, torch.Generator().manual_seed(config.seed), config.map_init)
    found = statistics or pixel_statistics(data.store, data.split.train, net.encoder.unit_length)
    net.set_normalisation(*found)
    return net


def pixel_statistics(store: FrameStore, frames: Rows, unit_length: bool = True) -> Statistics:
    """Mean and scale of each channel over the given frames, at most 4,000 of them, evenly spread.

    The scale is the standard deviation; for unit length it is multiplied by the root of the number of values in an
    image, so that an image has length about 1 and one grid of learning rates serves full layers of every size.
    """
    chosen = np.sort(frames)[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), 4_000)).astype(np.int64))]
    total, squares, count = 0.0, 0.0, 0
    for start in range(0, len(chosen), 256):
        pixels = store.images[chosen[start : start + 256]].astype(np.float64)
        total = total + pixels.sum(axis=(0, 1, 2))
        squares = squares + (pixels**2).sum(axis=(0, 1, 2))
        count += pixels[..., 0].size
    mean = np.asarray(total) / count
    std = np.sqrt(np.maximum(np.asarray(squares) / count - mean**2, 1e-6))
    return mean.tolist(), (std * np.sqrt(np.prod(store.image_shape) if unit_length else 1.0)).tolist()


def choose_device(name: str) -> torch.device:
    """The device of that name; `auto` is the GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise ConfigError(f"device {name!r} cannot be used here: {str(problem).splitlines()[0]}") from problem
    return device


def _train(
    config: TrainConfig, data: RunData, net: EgoNet, folder: RunFolder, team: Team, on_metrics: OnMetrics | None
) -> dict[str, Any]:
    torch.manual_seed(config.seed)  # for encoders that draw random numbers while they train
    method = config.objective()
    optimizer = make_optimizer(net, config)
    start, best = folder.restore(net, optimizer)
    if team.is_first:
        save_spec(folder.path, net.spec)
        folder.keep_metrics(start)
    last_iteration = config.iterations if method.terms else 0
    orders = batch_orders(config, {name: len(stream) for name, stream in data.train.items()})
    held_out, neighbours = validation_rows(data.validation), auroc_streams(data, config)
    device = net.input_mean.device
    parameters = list(net.parameters())
    objective = team.sharing(Objective(net, method))
    weights = [torch.tensor(term.weight, device=device) for term in method.terms]
    window: list[Tensor] = []
    metrics: dict[str, float] = {}
    clock = time.perf_counter()
    for iteration in range(start, last_iteration):
        set_learning_rate(optimizer, config, iteration)
        rows = {name: team.part(order.batch(iteration)) for name, order in orders.items()}
        batch = gather_batch(data.train, rows, device)
        losses = objective(batch.images, batch.targets)
        for parameter in parameters:
            parameter.grad = None
        torch.autograd.backward(losses, weights)
        optimizer.step()
        window.append(torch.stack(losses).detach())
        done = iteration + 1
        if done % config.log_every and done != last_iteration:
            continue
        metrics = term_means(method, team.mean(torch.stack(window)), done, config)
        window.clear()
        if done % config.validate_every == 0 or done == last_iteration:
            values = validate(net, method, data.validation, held_out, team) | aurocs(net, method, neighbours)
            metrics |= validation_metrics(method, {key: float(value) for key, value in values.items()})
            check_finite(metrics, done, config)
            if best is None or score(metrics) > best:
                best = score(metrics)
                if team.is_first:
                    folder.save("best", net, optimizer, done, best)
        if team.is_first:
            folder.add_metrics(metrics)
            if done % config.checkpoint_every == 0 or done == last_iteration:
                folder.save("last", net, optimizer, done, best)
        if on_metrics is not None:
            on_metrics(metrics | {"iterations_per_s": (done - start) / (time.perf_counter() - clock)})
    if last_iteration == 0 and team.is_first:
        folder.save("last", net, optimizer, 0, None)
        folder.save("best", net, optimizer, 0, None)
    leaked = count_leaked(data.store, data.split, config.max_gap_s)
    result = summary(config, data, leaked, metrics or _last(folder), best)
    if team.is_first:
        folder.finish(result)
    return result


def term_means(method: Method, values: Tensor, iteration: int, config: TrainConfig) -> dict[str, float]:
    """The mean of each term over the last iterations, (W, T); raise if any of it is not finite.

    Looking only now and then spares a GPU from waiting in every iteration, and the first bad one is still named.
    """
    bad = torch.nonzero(~torch.isfinite(values).all(dim=1)).flatten()
    if len(bad):
        first = iteration - len(values) + int(bad[0]) + 1
        raise DivergedError(
            f"the loss stopped being finite at iteration {first}: lower learning_rate (now {config.learning_rate:g})"
            f" or the weights ({', '.join(f'weight.{t.name}={t.weight:g}' for t in method.terms)})",
            first,
        )
    means = values.mean(dim=0).tolist()
    metrics: dict[str, float] = {"iteration": iteration}
    metrics |= {term.name: mean for term, mean in zip(method.terms, means, strict=True)}
    metrics["loss"] = sum(term.weight * mean for term, mean in zip(method.terms, means, strict=True))
    return metrics


def _last(folder: RunFolder) -> dict[str, float]:
    lines = folder.metrics()
    return lines[-1] if lines else {}


def summary(
    config: TrainConfig, data: RunData, leaked: int, metrics: dict[str, float], best: float | None
) -> dict[str, Any]:
    """What a finished run says of itself."""
    return {
        "method": config.method,
        "iterations": config.iterations,
        "metrics": metrics,
        "best_score": best,
        "train_frames": len(data.split.train),
        "validation_frames": len(data.split.validation),
        "leaked_validation_frames": leaked,
        "training_rows": {name: len(stream) for name, stream in data.train.items()},
        "patterns": list(data.patterns.names) if data.patterns else [],
    }
