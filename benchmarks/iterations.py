"""Iterations of runs against the bare encoder's forward and backward, and against loops as others write them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from benchmarks.contrast_loop import PlainContrast, lightning_seconds
from benchmarks.measuring import Measured, Seconds, compare, timed
from benchmarks.metric_learning_loop import MetricLearningLoop
from benchmarks.plain_loop import PlainLoop
from benchmarks.workbench import Workbench
from egoequiv.models import EgoNet
from egoequiv.store import FrameStore
from egoequiv.training import RunData, TrainConfig, make_config, prepare_data, run_training
from egoequiv.training.jobs import Job
from egoequiv.training.network import build_net
from egoequiv.training.stacked_runs import run_stack

Step = Callable[[], object]


class _EnoughError(Exception):
    """Ends a run that has been timed."""


def versus_bare(bench: Workbench, network: str, networks: int = 1) -> Measured:
    """Runs against forward and backward of one encoder on as many images, which are normalised already."""
    config, _, net = prepared(bench, network)
    images = 3 * config.batch_size  # labelled ones, and the two of each pair
    return _compare(bench, config, networks, bare_step(net, images))


def versus_plain(bench: Workbench, network: str, networks: int = 1) -> Measured:
    """Runs against one in plain PyTorch."""
    config, data, net = prepared(bench, network)
    return _compare(bench, config, networks, PlainLoop(config, data, net).step)


def versus_metric_learning(bench: Workbench, network: str, networks: int = 1) -> Measured:
    """Runs against one with pytorch-metric-learning's contrastive loss."""
    config, data, net = prepared(bench, network)
    return _compare(bench, config, networks, MetricLearningLoop(config, data, net).step)


def contrast_versus_bare(bench: Workbench, size: int) -> Measured:
    """Runs of recording and motion contrast against forward and backward of their encoder on as many images."""
    config, _, net = contrast_prepared(bench, size)
    return _compare(bench, config, 1, bare_step(net, 2 * config.batch_size))


def contrast_versus_plain(bench: Workbench, size: int) -> Measured:
    """The same against plain PyTorch with a DataLoader."""
    config, data, net = contrast_prepared(bench, size)
    return _compare(bench, config, 1, PlainContrast(config, data, net).step)


def contrast_versus_lightning(bench: Workbench, size: int) -> Measured:
    """The same against PyTorch Lightning."""
    config, data, net = contrast_prepared(bench, size)
    other = partial(lightning_seconds, config, data, net, bench.new_folder())
    return compare(training(bench, config), other, bench.scale.few_rounds, what="iterations")


def contrast_prepared(bench: Workbench, size: int) -> tuple[TrainConfig, RunData, EgoNet]:
    """The config of a run of recording and motion contrast that logs once a round, its data and its network."""
    return _logging(
        bench.scale.contrast_iterations[size], data=bench.toys_of(size), method="recording+motion", use_labels=False
    )


def prepared(bench: Workbench, network: str) -> tuple[TrainConfig, RunData, EgoNet]:
    """The config of a run of `equiv` that logs once a round, its data and its network."""
    return _logging(
        bench.scale.iterations[network],
        data=bench.store_for(network),
        method="equiv",
        encoder=network,
        per_class=4,
    )


def _logging(count: int, *, data: FrameStore, **settings: Any) -> tuple[TrainConfig, RunData, EgoNet]:
    """A run that logs after every `count` iterations, and neither validates nor saves while it is timed."""
    long = 1_000 * count
    rhythm = {"iterations": long, "log_every": count, "checkpoint_every": long, "validate_every": long}
    config = make_config({"data": str(data.path), **settings, **rhythm})
    drawn = prepare_data(config)
    return config, drawn, build_net(config, drawn)


def bare_step(net: EgoNet, images: int) -> Step:
    """Forward and backward of an encoder on the images of one iteration, and nothing else."""
    height, width, channels = net.spec.image_shape
    pixels = torch.randn(images, height, width, channels).permute(0, 3, 1, 2)
    parameters = list(net.encoder.parameters())

    def step() -> object:
        features = net.encoder(pixels)
        return torch.autograd.grad(features, parameters, torch.ones_like(features))

    return step


def training(bench: Workbench, config: TrainConfig, networks: int = 1) -> Seconds:
    """The seconds of one iteration of the training loop as users run it, from the first line of its log to the second.

    What goes before (pairs, initial weights, the first iterations) and after (validation, checkpoints) is left out.
    Several networks are trained as one stack.
    """

    def measure() -> float:
        stamps: list[float] = []

        def on_log(_: object) -> None:
            stamps.append(perf_counter())
            if len(stamps) == 2:
                raise _EnoughError

        folder = bench.new_folder()
        with suppress(_EnoughError):
            if networks == 1:
                run_training(config, folder / "run", on_metrics=on_log)
            else:
                run_stack(stacked_jobs(config, networks, folder), on_log)
        return (stamps[1] - stamps[0]) / config.log_every

    return measure


def stacked_jobs(config: TrainConfig, networks: int, folder: Path) -> list[Job]:
    """Runs that differ in their seeds, as the repetitions of a table do."""
    return [Job(config.model_copy(update={"seed": seed}), folder / f"run-{seed}") for seed in range(networks)]


def _compare(bench: Workbench, config: TrainConfig, networks: int, step: Step) -> Measured:
    """How many times as fast; a stack's iteration counts once for each network."""
    ours, other = training(bench, config, networks), timed(step, config.log_every)
    return compare(ours, other, bench.scale.rounds, what="iterations", units=networks)
