"""One run: its folder, its network and its optimiser, trained from the beginning or from its last checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from egoequiv.errors import EgoEquivError
from egoequiv.files import locked
from egoequiv.losses import StreamName
from egoequiv.models import EgoNet, load_model
from egoequiv.models.checkpoint import Which, save_spec
from egoequiv.models.devices import choose_device
from egoequiv.training.collapse import collapse_warning
from egoequiv.training.config import TrainConfig, import_code, make_config
from egoequiv.training.data import open_data, patterns_for_names
from egoequiv.training.defaults import as_begun, settings_for
from egoequiv.training.distributed import ALONE, Team, gathered, own_device, rank_here
from egoequiv.training.light import light_at, light_generator
from egoequiv.training.measurable import pairs_warning
from egoequiv.training.memory import check_memory
from egoequiv.training.network import Threads, build_net
from egoequiv.training.objective import Objective, Rows, gather_batch, risen
from egoequiv.training.optimizer import make_optimizer, set_learning_rate
from egoequiv.training.progress import LiveProgress
from egoequiv.training.rhythm import Course, Member
from egoequiv.training.run_folder import CONFIG, RunFolder
from egoequiv.training.streams import RunData, draw_streams
from egoequiv.user_code import is_built_in, user_code

OnMetrics = Callable[[dict[str, float]], None]
OnNote = Callable[[str], None]


LONGER = "; to train longer, begin another run, with another -o and more --iterations"


def silent(note: str) -> None:
    """Say nothing."""


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
    data: str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    on_metrics: OnMetrics | None = None,
    progress: bool = True,
    **settings: Any,
) -> TrainedRun:
    """Train a method on a store.

    Args:
        data: The store to learn from, a folder or a URL.
        out: The folder of the run.
        resume: Go on from the last checkpoint in `out`, if there is one.
        on_metrics: Called with each line of metrics, and `iterations_per_s`; nothing is then shown.
        progress: Show how far it is, on stderr: a bar on a terminal, a line at every tenth elsewhere.
        **settings: Those of `TrainConfig`, such as `method="equiv"` and `iterations=2000`.

    Returns:
        The finished run.

    Example:
        run = egoequiv.train("toys", "run", method="equiv", iterations=2000)
        print(run.result["metrics"]["validation_top1"])
    """
    given = {"data": str(data), **settings}
    chosen = settings_for(given)
    config = make_config({**{name: value for name, (value, _) in chosen.items()}, **given})
    if on_metrics is not None or not progress or rank_here():
        return run_training(config, out, resume=resume, in_team=True, on_metrics=on_metrics)
    with LiveProgress(config.iterations) as live:
        for name, (_, why) in chosen.items():
            if name not in given and why:
                live.say(why)
        return run_training(config, out, resume=resume, in_team=True, on_metrics=live.update, on_note=live.say)


def run_training(
    config: TrainConfig,
    out: str | Path,
    *,
    resume: bool = False,
    in_team: bool = False,
    on_metrics: OnMetrics | None = None,
    on_note: OnNote = silent,
) -> TrainedRun:
    """Train as the config says, in the folder `out`; with `resume`, go on from its last checkpoint.

    A run `in_team` is shared by the processes that `torchrun` started, if it did. `on_note` gets one line for each
    setting that the data decided, where the run goes on, and a warning if the features collapse.
    """
    folder = RunFolder(Path(out))
    device = own_device(choose_device(config.device))
    if resume and (folder.path / CONFIG).exists():
        # In a worker process, it is not imported yet.
        import_code(config.method, config.encoder, config.encoder_settings)
        config = as_begun(config, folder.config())
    with gathered(config, device) if in_team else nullcontext(ALONE) as team:
        opened = open_data(config)
        config = opened.config
        check_memory(config, opened.store)
        data = draw_streams(opened, folder.patterns() if resume else None)
        net = build_net(config, data).to(device)  # what cannot be built leaves no folder behind
        net.precision = config.precision
        with ExitStack() as held:
            problem: EgoEquivError | None = None
            if team.is_first:
                try:
                    folder.begin(config, data, resume)
                    if not folder.has_patterns:
                        folder.keep_patterns(data.patterns or patterns_for_names(data, net))
                    held.enter_context(locked(folder.path, "the run"))
                except EgoEquivError as found:
                    problem = found
            team.agree(problem, device)
            held.enter_context(Threads(config.threads))
            finished = folder.result
            if finished is None:
                for line in data.choices:
                    on_note(line)
                if on_note is not silent and (warning := pairs_warning(data, net)) is not None:
                    on_note(warning)
                finished = SingleRun(config, data, net, folder, team, on_metrics, on_note).finish()
            else:
                on_note(f"{folder.path} was finished already: nothing was trained{LONGER}")
            team.wait()
    return TrainedRun(folder.path, config, finished)


class SingleRun(Course):
    """The training of one network, by one process or by a team of them."""

    def __init__(
        self,
        config: TrainConfig,
        data: RunData,
        net: EgoNet,
        folder: RunFolder,
        team: Team,
        on_metrics: OnMetrics | None,
        on_note: OnNote,
    ) -> None:
        torch.manual_seed(config.seed)  # for encoders that draw random numbers while they train
        super().__init__(config, data, net, team)
        self._folder, self._on_metrics, self._on_note = folder, on_metrics, on_note
        self._optimizer = make_optimizer(net, config)
        self._network = net
        self._member = Member(config)
        self.iteration, self._member.best = folder.restore(net, self._optimizer)
        if team.is_first:
            save_spec(folder.path, net.spec)
            folder.keep_metrics(self.iteration)
        if self.iteration:
            self._member.last = next(reversed(folder.metrics()), {})
            on_note(f"training goes on at iteration {self.iteration:,} of {config.iterations:,}")
        self._objective = team.sharing(Objective(net, self._method))
        self._parameters = list(net.parameters())
        device = net.input_mean.device
        self._weights = torch.tensor([term.weight for term in self._method.terms], device=device)
        self._rises = torch.tensor([float(term.rise) for term in self._method.terms], device=device)
        self._has_warned = False
        terms = [term for term in self._method.terms if not is_built_in(term)]
        is_own = is_built_in(net.encoder) and not terms
        # Not in a team, where the loss of another process ends the step in the same way.
        what = f"the gradient of method {config.method_name} with encoder {config.encoder}"
        self._backward = partial(user_code, what) if team.size == 1 and not is_own else nullcontext
        self._begun_at, self._clock = self.iteration, time.perf_counter()

    def finish(self) -> dict[str, Any]:
        """Train to the end; what the finished run reports."""
        self.train()
        if not self.last_iteration:
            self._save("last")
            self._save("best")
        self._warn(again=True)
        result = self.summary(self._member)
        if self._team.is_first:
            self._folder.finish(result)
        return result

    def step(self, rows: dict[StreamName, Rows]) -> Tensor:
        set_learning_rate(self._optimizer, self.config, self.iteration)
        own = {name: self._team.part(chosen) for name, chosen in rows.items()}
        light = light_generator(self.config, self.iteration, self._team.rank)
        batch = gather_batch(self.data.train, own, self._net, self._net.input_mean.device, light)
        losses = self._objective(batch, light_at(self.config, self.iteration, self._team.rank, batch.labelled))
        for parameter in self._parameters:
            parameter.grad = None
        with self._backward():
            torch.autograd.backward(losses, risen(self._weights, self._rises, self.iteration / self.last_iteration))
        self._optimizer.step()
        return torch.stack(losses).detach()

    def log(self, losses: Tensor, values: dict[str, Tensor]) -> None:
        numbers = {name: float(value) for name, value in values.items()}
        if self._member.log(self._team.mean(losses), numbers, self.iteration):
            self._save("best")
        if self._team.is_first:
            self._folder.add_metrics(self._member.last)

    def save(self) -> None:
        self._save("last")

    def report(self) -> None:
        if self.iteration < self.last_iteration:
            self._warn()
        if self._on_metrics is not None:
            speed = (self.iteration - self._begun_at) / (time.perf_counter() - self._clock)
            self._on_metrics(self._member.last | {"iterations_per_s": speed})

    def _warn(self, again: bool = False) -> None:
        """Warn of features that have collapsed, once on the way and again at the end."""
        found = self._features.collapse(self._member.last)
        if found and (again or not self._has_warned):
            self._has_warned = True
            self._on_note(collapse_warning(found, self.config))

    def _save(self, which: Which) -> None:
        if self._team.is_first:
            self._folder.save(which, self._network, self._optimizer, self.iteration, self._member.best)
