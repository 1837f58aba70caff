"""Runs that are trained as a stack: one checkpoint for all of them on the way, a folder for each at the end."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from egoequiv.engines import Tick
from egoequiv.errors import DataError, DivergedError
from egoequiv.files import locked
from egoequiv.losses import StreamName
from egoequiv.models import NetSpec, build_encoder, can_stack, get_encoder
from egoequiv.models.checkpoint import load_meta, load_tensors, save_spec, save_tensors
from egoequiv.pairs import count_leaked
from egoequiv.store import FrameStore
from egoequiv.training.auroc import auroc_streams, aurocs
from egoequiv.training.batches import BatchOrder, batch_orders
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import Stream, labelled_stream, prepare_data
from egoequiv.training.jobs import Job, Outcome, note_divergence
from egoequiv.training.loop import Threads, build_net, choose_device, summary, term_means
from egoequiv.training.optimizer import PREFIX
from egoequiv.training.run_folder import FREE_TO_CHANGE, RunFolder
from egoequiv.training.stack import MOMENTUM, Stack
from egoequiv.training.validation import check_finite, score, validate, validation_metrics, validation_rows

# What members of a stack may have otherwise than the others.
OWN_SETTINGS = frozenset({"seed", "learning_rate", "weight"})


def stack_key(config: TrainConfig) -> str | None:
    """What runs must have in common to be one stack, None for a run that cannot be in one."""
    method = config.objective()
    fits = can_stack(get_encoder(config.encoder)) and config.optimizer == "sgd" and config.precision == "float32"
    if not fits or not config.iterations or not method.terms or any(term.draws for term in method.terms):
        return None
    return config.model_dump_json(exclude=set(OWN_SETTINGS))


@dataclass
class _Member:
    """One run of a stack: its job, and how far it has come."""

    job: Job
    best: float | None = None
    best_at: int = 0  # the iteration of the best score
    diverged: DivergedError | None = None
    metrics: list[dict[str, float]] = field(default_factory=list)


def stack_file(jobs: Sequence[Job]) -> Path:
    """Where a stack of these jobs keeps its checkpoint: beside the folders of its runs."""
    free = set(FREE_TO_CHANGE)
    names = "\n".join(f"{job.out.name} {job.config.model_dump_json(exclude=free)}" for job in _in_order(jobs))
    return jobs[0].out.parent / f".stack-{sha256(names.encode()).hexdigest()[:16]}.safetensors"


def left_stacks(jobs: Sequence[Job], left: Collection[Job]) -> list[list[Job]]:
    """The stacks of such jobs that were begun and not finished, from the checkpoints they left.

    `left` are the jobs still to do. Where two checkpoints share a job, the further one goes on. Checkpoints that are of
    no use any more are removed: of jobs that are all done, or overtaken by another.
    """
    found: list[list[Job]] = []
    taken: set[Path] = set()
    for iteration, path, names in sorted(_checkpoints(jobs), key=lambda one: (-one[0], one[1])):
        by_name = {job.out.name: job for job in jobs if job.out.parent == path.parent}
        stack = [by_name[name] for name in names if name in by_name]
        if not stack or len(stack) < len(names) or stack_file(stack) != path:
            continue  # of other jobs or other settings
        undone = [job for job in stack if job in left]
        is_being_finished = iteration == stack[0].config.iterations
        overtaken = any(job.out in taken for job in stack) or (len(undone) < len(stack) and not is_being_finished)
        if not undone or overtaken:
            path.unlink()
            continue
        found.append(stack)
        taken |= {job.out for job in stack}
    return found


def _checkpoints(jobs: Sequence[Job]) -> Iterator[tuple[int, Path, list[str]]]:
    """Iteration, file and names of the members of all stack checkpoints beside the folders of jobs."""
    for folder in dict.fromkeys(job.out.parent for job in jobs):
        for path in folder.glob(".stack-*.safetensors"):
            meta = load_meta(path)
            try:
                yield int(meta["iteration"]), path, [str(member["name"]) for member in meta["members"]]
            except (KeyError, TypeError, ValueError) as problem:
                raise DataError(f"{path} is not the checkpoint of a stack ({problem!r}): remove it") from problem


def member_bytes(config: TrainConfig) -> int:
    """About how much memory one more network takes: weights, gradient, momentum and best, and its labelled images."""
    shape = FrameStore.open(config.data).image_shape
    with torch.device("meta"):
        encoder = build_encoder(config.encoder, shape, config.encoder_settings)
        weights = sum(parameter.numel() for parameter in encoder.parameters())
    return 4 * 4 * 2 * weights + (1 + 2 * 4) * config.batch_size * prod(shape)  # twice the encoder, for maps and head


def run_stack(jobs: Sequence[Job], tick: Tick) -> list[Outcome]:
    """Train the runs of all jobs as one computation, or go on with it; their outcomes in the order of the jobs."""
    runs = StackedRuns(_in_order(jobs), tick)
    outcomes = {outcome.job.out: outcome for outcome in runs.train()}
    return [outcomes[job.out] for job in jobs]


def _in_order(jobs: Sequence[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: (job.config.learning_rate, job.out.name))


class StackedRuns:
    """The training of one stack, in the order of its learning rates."""

    def __init__(self, jobs: Sequence[Job], tick: Tick) -> None:
        self._members = [_Member(job) for job in jobs]
        self._folders = [RunFolder(job.out) for job in jobs]
        self._config = jobs[0].config
        self._method = self._config.objective()
        self._file = stack_file(jobs)
        self._tick = tick
        self._data = prepare_data(self._config, self._folders[0].patterns())
        self._stack, self._spec = self._build()
        self._iteration = 0
        self._best: dict[str, Tensor] = {}
        for member, folder in zip(self._members, self._folders, strict=True):
            folder.begin(member.job.config, self._data.fingerprint(), resume=True)
            folder.keep_patterns(self._data.patterns)

    def train(self) -> list[Outcome]:
        """Train to the end, and write the folder of each run."""
        with ExitStack() as held:
            for folder in self._folders:
                held.enter_context(locked(folder.path, "the run"))
            held.enter_context(Threads(self._config.threads))
            self._restore()
            self._go()
            self._tick((self._config.iterations - self._iteration) * len(self._members))  # if all of them diverged
            outcomes = self._finish()
            self._file.unlink(missing_ok=True)
        return outcomes

    def _build(self) -> tuple[Stack, NetSpec]:
        data, device = self._data, choose_device(self._config.device)
        configs = [member.job.config for member in self._members]
        first = build_net(configs[0], data)
        statistics = first.input_mean.tolist(), first.input_std.tolist()  # of the frames, the same for all
        nets = [first.to(device), *(build_net(config, data, statistics).to(device) for config in configs[1:])]
        labelled: list[Stream] = []
        if "labelled" in data.train and data.recognition is not None:
            labelled = [labelled_stream(data.recognition, config, is_training=True) for config in configs]
        pairs: dict[StreamName, Stream] = {name: s for name, s in data.train.items() if name != "labelled"}
        return Stack(nets, configs, pairs, labelled), nets[0].spec

    def _go(self) -> None:
        config, last = self._config, self._config.iterations
        orders: dict[StreamName, BatchOrder] = batch_orders(config, {n: len(s) for n, s in self._data.train.items()})
        held_out, neighbours = validation_rows(self._data.validation), auroc_streams(self._data, config)
        window: list[Tensor] = []
        while self._iteration < last and any(member.diverged is None for member in self._members):
            rows = {name: order.batch(self._iteration) for name, order in orders.items()}
            window.append(self._stack.step(self._iteration, rows))
            self._iteration += 1
            done = self._iteration
            if done % config.log_every and done != last:
                continue
            values: dict[str, Tensor] = {}
            if done % config.validate_every == 0 or done == last:
                values = validate(self._stack.net, self._method, self._data.validation, held_out)
                values |= aurocs(self._stack.net, self._method, neighbours)
            self._log(torch.stack(window), values)
            self._tick(len(window) * len(self._members))
            window.clear()
            if done % config.checkpoint_every == 0 or done == last:
                self._save()

    def _log(self, losses: Tensor, values: dict[str, Tensor]) -> None:
        """Note the metrics of each run from its losses (W, S, T) and validation; take out those that diverged."""
        for k, member in enumerate(self._members):
            if member.diverged is not None:
                continue
            config = member.job.config
            method = config.objective()
            try:
                line = term_means(method, losses[:, k], self._iteration, config)
                if values:
                    line |= validation_metrics(method, {name: float(value[k]) for name, value in values.items()})
                    check_finite(line, self._iteration, config)
                    self._keep_best(k, member, score(line))
            except DivergedError as problem:
                member.diverged = problem
                self._stack.freeze(k)
                continue
            member.metrics.append(line)

    def _keep_best(self, k: int, member: _Member, reached: float) -> None:
        if member.best is not None and reached <= member.best:
            return
        member.best, member.best_at = reached, self._iteration
        for name, whole in self._stack.tensors().items():
            self._best.setdefault(name, torch.zeros_like(whole))[k] = whole[k]

    def _save(self) -> None:
        tensors = {f"model.{name}": tensor for name, tensor in self._stack.tensors().items()}
        tensors |= {f"momentum.{name}": tensor for name, tensor in self._stack.momentum().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self._best.items()}
        # As text, for the order in a line is kept; as a tensor, for the JSON beside tensors has a limit.
        text = json.dumps([member.metrics for member in self._members]).encode()
        tensors["metrics"] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        members = [_noted(member) for member in self._members]
        meta = {"iteration": self._iteration, "fingerprint": self._data.fingerprint(), "members": members}
        save_tensors(self._file, tensors, meta)

    def _restore(self) -> None:
        if not self._file.exists():
            return
        tensors, meta = load_tensors(self._file)
        if meta.get("fingerprint") != self._data.fingerprint():
            raise DataError(f"{self._file} began on other data than {self._config.data} has: remove it to begin anew")
        try:
            lines = json.loads(tensors.pop("metrics").numpy().tobytes())
            self._put_back(tensors, lines, meta)
        except (KeyError, TypeError, ValueError, RuntimeError) as problem:
            raise DataError(f"{self._file} does not fit its runs ({problem}): remove it to begin anew") from problem
        self._tick(self._iteration * len(self._members))

    def _put_back(self, tensors: dict[str, Tensor], lines: list[list[dict[str, float]]], meta: dict[str, Any]) -> None:
        shapes = {name: tensor.shape for name, tensor in self._stack.tensors().items()}
        self._iteration = int(meta["iteration"])
        parts: dict[str, dict[str, Tensor]] = {}
        for part in ("model", "momentum", "best"):
            own = {n.removeprefix(f"{part}."): t for n, t in tensors.items() if n.startswith(f"{part}.")}
            optional = (part == "momentum" and not self._config.momentum) or (part == "best" and not own)
            if {name: tensor.shape for name, tensor in own.items()} != shapes and not optional:
                raise ValueError(f"its {part} tensors are of other networks")
            parts[part] = own
        self._stack.restore(parts["model"], parts["momentum"])
        device = self._stack.net.input_mean.device
        self._best = {name: tensor.to(device) for name, tensor in parts["best"].items()}
        for k, (member, noted, own_lines) in enumerate(zip(self._members, meta["members"], lines, strict=True)):
            member.best, member.best_at, member.metrics = noted["best"], noted["best_at"], own_lines
            if noted["diverged"] is not None:
                member.diverged = DivergedError(noted["diverged"]["reason"], noted["diverged"]["iteration"])
                self._stack.freeze(k)

    def _finish(self) -> list[Outcome]:
        leaked = count_leaked(self._data.store, self._data.split, self._config.max_gap_s)
        whole, momentum = self._stack.tensors(), self._stack.momentum()
        net = self._stack.net
        normalisation = {"model.input_mean": net.input_mean, "model.input_std": net.input_std}
        outcomes = []
        for k, (member, folder) in enumerate(zip(self._members, self._folders, strict=True)):
            config = member.job.config
            save_spec(folder.path, self._spec)
            folder.write_metrics(member.metrics)
            if member.diverged is not None:
                outcomes.append(note_divergence(member.job, member.diverged))
                continue
            seeded = torch.Generator().manual_seed(config.seed).get_state()  # the state of a run that draws nothing
            own = {f"{PREFIX}{MOMENTUM}:{name}": tensor[k] for name, tensor in momentum.items()} | {"rng.torch": seeded}
            best, last = (_of_member(k, tensors) | normalisation for tensors in (self._best, whole))
            folder.save_tensors("best", best, member.best_at, member.best)
            folder.save_tensors("last", last | own, self._iteration, member.best)
            result = summary(config, self._data, leaked, member.metrics[-1] if member.metrics else {}, member.best)
            folder.finish(result)
            outcomes.append(Outcome(member.job, result))
        return outcomes


def _of_member(k: int, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"model.{name}": tensor[k] for name, tensor in tensors.items()}


def _noted(member: _Member) -> dict[str, Any]:
    diverged = member.diverged
    return {
        "name": member.job.out.name,
        "best": member.best,
        "best_at": member.best_at,
        "diverged": None if diverged is None else {"reason": str(diverged), "iteration": diverged.iteration},
    }
