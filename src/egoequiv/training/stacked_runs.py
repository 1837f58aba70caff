"""Runs that are trained as a stack: one checkpoint for all of them on the way, a folder for each at the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from egoequiv.engines import Tick
from egoequiv.errors import DataError, DivergedError
from egoequiv.files import locked
from egoequiv.losses import StreamName, Term
from egoequiv.models import NetSpec, can_stack, get_encoder
from egoequiv.models.checkpoint import load_tensors, save_spec, save_tensors
from egoequiv.models.devices import choose_device
from egoequiv.models.network import ALL
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import open_data
from egoequiv.training.jobs import Job, Outcome, note_divergence, settled
from egoequiv.training.memory import check_memory
from egoequiv.training.network import Threads, build_net
from egoequiv.training.objective import Rows
from egoequiv.training.optimizer import PREFIX
from egoequiv.training.rhythm import Course, Member, Metrics
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.stack import MOMENTUM, Stack
from egoequiv.training.stack_files import in_order, stack_file
from egoequiv.training.streams import RunData, Stream, draw_streams, labelled_stream

# What members of a stack may have otherwise than the others.
OWN_SETTINGS = frozenset({"seed", "learning_rate", "weight"})


def stack_key(config: TrainConfig) -> str | None:
    """What runs must have in common to be one stack, None for a run that cannot be in one."""
    method = config.objective()
    fits = can_stack(get_encoder(config.encoder)) and config.optimizer == "sgd" and config.precision == "float32"
    changes = config.augment != "none" or config.augment_labelled != "none"
    if not fits or not method.terms or changes or any(map(_is_alone, method.terms)):
        return None
    return json.dumps(config.model_dump(mode="json", exclude=set(OWN_SETTINGS)))


def _is_alone(term: Term) -> bool:
    """Whether a loss needs what networks of a stack do not have: random numbers, clips, views, parts or layers."""
    has_own = term.part != ALL or term.maps_motion or type(term).layers is not Term.layers
    return term.draws or has_own or term.stream in ("clip", "view", "place", "coming")


def run_stack(jobs: Sequence[Job], tick: Tick) -> list[Outcome]:
    """Train the runs of all jobs as one computation, or go on with it; their outcomes in the order of the jobs."""
    ordered = in_order([settled(job) for job in jobs])
    opened = open_data(ordered[0].config)
    check_memory(opened.config, opened.store, networks=len(ordered))
    data = draw_streams(opened, RunFolder(ordered[0].out).patterns())
    outcomes = {outcome.job.out: outcome for outcome in StackedRuns(ordered, data, tick).finish()}
    return [outcomes[job.out] for job in jobs]


@dataclass
class _StackMember(Member):
    """One run of a stack: its job, and what became of it."""

    job: Job = field(kw_only=True)
    diverged: DivergedError | None = None
    lines: list[Metrics] = field(default_factory=list)

    def noted(self) -> dict[str, Any]:
        """What a checkpoint says of it."""
        diverged = self.diverged
        return {
            "name": self.job.out.name,
            "best": self.best,
            "best_at": self.best_at,
            "diverged": None if diverged is None else {"reason": str(diverged), "iteration": diverged.iteration},
        }


class StackedRuns(Course):
    """The training of one stack, in the order of its learning rates."""

    def __init__(self, jobs: Sequence[Job], data: RunData, tick: Tick) -> None:
        self._members = [_StackMember(job.config, job=job) for job in jobs]
        self._folders = [RunFolder(job.out) for job in jobs]
        self._file = stack_file(jobs)
        self._tick = tick
        self._ticked = 0
        self._stack, self._spec = _build([job.config for job in jobs], data)
        self._best: dict[str, Tensor] = {}
        super().__init__(jobs[0].config, data, self._stack.net)
        for member, folder in zip(self._members, self._folders, strict=True):
            folder.begin(member.config, data, resume=True)
            if not folder.has_patterns:
                folder.keep_patterns(data.patterns)

    def finish(self) -> list[Outcome]:
        """Train to the end, and write the folder of each run."""
        with ExitStack() as held:
            for folder in self._folders:
                held.enter_context(locked(folder.path, "the run"))
            held.enter_context(Threads(self.config.threads))
            self._restore()
            self.train()
            outcomes = self._write_folders()
            self._file.unlink(missing_ok=True)
        return outcomes

    @property
    def is_learning(self) -> bool:
        return any(member.diverged is None for member in self._members)

    def step(self, rows: dict[StreamName, Rows]) -> Tensor:
        return self._stack.step(self.iteration, rows)

    def log(self, losses: Tensor, values: dict[str, Tensor]) -> None:
        for k, member in enumerate(self._members):
            if member.diverged is not None:
                continue
            try:
                numbers = {name: float(value[k]) for name, value in values.items()}
                if member.log(losses[:, k], numbers, self.iteration):
                    for name, whole in self._stack.tensors().items():
                        self._best.setdefault(name, torch.zeros_like(whole))[k] = whole[k]
            except DivergedError as problem:
                member.diverged = problem
                self._stack.freeze(k)
                continue
            member.lines.append(member.last)

    def report(self) -> None:
        done = self.iteration if self.is_learning else self.last_iteration
        self._tick((done - self._ticked) * len(self._members))
        self._ticked = done

    def save(self) -> None:
        tensors = {f"model.{name}": tensor for name, tensor in self._stack.tensors().items()}
        tensors |= {f"momentum.{name}": tensor for name, tensor in self._stack.momentum().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self._best.items()}
        # As text, because the order in a line is kept; as a tensor, because the JSON beside tensors has a limit.
        text = json.dumps([member.lines for member in self._members]).encode()
        tensors["metrics"] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        members = [member.noted() for member in self._members]
        meta = {"iteration": self.iteration, "fingerprint": self.data.fingerprint(), "members": members}
        save_tensors(self._file, tensors, meta)

    def _restore(self) -> None:
        if not self._file.exists():
            return
        tensors, meta = load_tensors(self._file)
        if meta.get("fingerprint") != self.data.fingerprint():
            raise DataError(f"{self._file} began on other data than {self.config.data} has: remove it to begin again")
        try:
            lines = json.loads(tensors.pop("metrics").numpy().tobytes())
            self._put_back(tensors, lines, meta)
        except (KeyError, TypeError, ValueError, RuntimeError) as problem:
            raise DataError(f"{self._file} does not fit its runs ({problem}): remove it to begin again") from problem
        self.report()

    def _put_back(self, tensors: dict[str, Tensor], lines: list[list[Metrics]], meta: dict[str, Any]) -> None:
        shapes = {name: tensor.shape for name, tensor in self._stack.tensors().items()}
        self.iteration = int(meta["iteration"])
        parts: dict[str, dict[str, Tensor]] = {}
        for part in ("model", "momentum", "best"):
            own = {n.removeprefix(f"{part}."): t for n, t in tensors.items() if n.startswith(f"{part}.")}
            optional = (part == "momentum" and not self.config.momentum) or (part == "best" and not own)
            if {name: tensor.shape for name, tensor in own.items()} != shapes and not optional:
                raise ValueError(f"its {part} tensors are of other networks")
            parts[part] = own
        self._stack.restore(parts["model"], parts["momentum"])
        device = self._stack.net.input_mean.device
        self._best = {name: tensor.to(device) for name, tensor in parts["best"].items()}
        for k, (member, noted, own_lines) in enumerate(zip(self._members, meta["members"], lines, strict=True)):
            member.best, member.best_at, member.lines = noted["best"], noted["best_at"], own_lines
            member.last = own_lines[-1] if own_lines else {}
            if noted["diverged"] is not None:
                member.diverged = DivergedError(noted["diverged"]["reason"], noted["diverged"]["iteration"])
                self._stack.freeze(k)

    def _write_folders(self) -> list[Outcome]:
        whole, momentum, net = self._stack.tensors(), self._stack.momentum(), self._stack.net
        normalisation = {"model.input_mean": net.input_mean, "model.input_std": net.input_std}
        outcomes = []
        for k, (member, folder) in enumerate(zip(self._members, self._folders, strict=True)):
            save_spec(folder.path, self._spec)
            folder.write_metrics(member.lines)
            if member.diverged is not None:
                outcomes.append(note_divergence(member.job, member.diverged))
                continue
            seeded = torch.Generator().manual_seed(member.config.seed).get_state()  # of a run that draws nothing
            own = {f"{PREFIX}{MOMENTUM}:{name}": tensor[k] for name, tensor in momentum.items()} | {"rng.torch": seeded}
            best, last = (_of_member(k, tensors) | normalisation for tensors in (self._best, whole))
            folder.save_tensors("best", best, member.best_at, member.best)
            folder.save_tensors("last", last | own, self.iteration, member.best)
            result = self.summary(member)
            folder.finish(result)
            outcomes.append(Outcome(member.job, result))
        return outcomes


def _build(configs: Sequence[TrainConfig], data: RunData) -> tuple[Stack, NetSpec]:
    """The stack of these configs with its initial weights, and the description that its networks share."""
    device = choose_device(configs[0].device)
    first = build_net(configs[0], data)
    statistics = first.input_mean.tolist(), first.input_std.tolist()  # of the frames, the same for all
    nets = [first.to(device), *(build_net(config, data, statistics).to(device) for config in configs[1:])]
    labelled: list[Stream] = []
    if "labelled" in data.train and data.recognition is not None:
        labelled = [labelled_stream(data.recognition, config, is_training=True) for config in configs]
    pairs: dict[StreamName, Stream] = {name: s for name, s in data.train.items() if name != "labelled"}
    return Stack(nets, configs, pairs, labelled), first.spec


def _of_member(k: int, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"model.{name}": tensor[k] for name, tensor in tensors.items()}
