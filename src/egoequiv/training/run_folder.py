"""The folder of a run: config, checkpoints and metrics, always in a state from which it can go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from egoequiv.errors import ConfigError, DataError
from egoequiv.files import cannot_write, read_json, write_json, write_text
from egoequiv.models.checkpoint import RUN_KIND, Which, load_tensors, put_weights, save_tensors
from egoequiv.models.network import EgoNet
from egoequiv.pairs import MinedPatterns, MotionPatterns
from egoequiv.training.config import TrainConfig, make_config
from egoequiv.training.optimizer import optimizer_tensors, restore_optimizer

CONFIG, DATA, METRICS, RESULT = "config.json", "data.json", "metrics.jsonl", "result.json"
PATTERNS = "patterns.json"

# Settings that may differ when a run is resumed: they say where it is computed, not what.
FREE_TO_CHANGE = frozenset({"device"})


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, config: TrainConfig, fingerprint: str, resume: bool) -> None:
        """Claim the folder for a config; with `resume`, check that config and data are those the run began with."""
        if (self.path / CONFIG).exists():
            if not resume:
                raise DataError(
                    f"{self.path} holds a run already: pass --resume to go on with it, or choose another -o"
                )
            self.check_same(config)
            self._check_data(fingerprint, config)
            return
        if self.path.exists() and not self.path.is_dir():
            raise DataError(f"{self.path} is a file: choose another folder for the run")
        if self.path.exists() and not resume and any(self.path.iterdir()):
            raise DataError(f"{self.path} is not empty and holds no run: choose another -o")
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / DATA, {"fingerprint": fingerprint})
        write_json(self.path / CONFIG, config.model_dump())

    def config(self) -> TrainConfig:
        """The config the run began with."""
        return make_config(read_json(self.path / CONFIG, RUN_KIND))

    def keep_patterns(self, patterns: MotionPatterns | None) -> None:
        """Keep mined patterns with the run: they are what its maps mean."""
        if isinstance(patterns, MinedPatterns) and not (self.path / PATTERNS).exists():
            write_json(self.path / PATTERNS, patterns.describe())

    def patterns(self) -> MinedPatterns | None:
        """The patterns that the run has mined, if it has."""
        path = self.path / PATTERNS
        return MinedPatterns.from_description(read_json(path, RUN_KIND), str(path)) if path.exists() else None

    @property
    def result(self) -> dict[str, Any] | None:
        """The summary of a finished run, None while it is not finished."""
        return read_json(self.path / RESULT, RUN_KIND) if (self.path / RESULT).exists() else None

    def finish(self, result: dict[str, Any]) -> None:
        """Mark the run as finished."""
        write_json(self.path / RESULT, result)

    def save(
        self, which: Which, net: EgoNet, optimizer: torch.optim.Optimizer, iteration: int, best: float | None
    ) -> None:
        """Write a checkpoint: weights, optimiser state, the random state and how far the run has come."""
        tensors: dict[str, Tensor] = {f"model.{name}": tensor for name, tensor in net.state_dict().items()}
        if which == "last":
            tensors |= optimizer_tensors(net, optimizer)
            tensors["rng.torch"] = torch.get_rng_state()
        self.save_tensors(which, tensors, iteration, best)

    def save_tensors(self, which: Which, tensors: dict[str, Tensor], iteration: int, best: float | None) -> None:
        """Write a checkpoint from its tensors."""
        save_tensors(self.path / f"{which}.safetensors", tensors, {"iteration": iteration, "best": best})

    def restore(self, net: EgoNet, optimizer: torch.optim.Optimizer) -> tuple[int, float | None]:
        """Load the last checkpoint, if there is one; return the iteration to go on with and the best score so far."""
        path = self.path / "last.safetensors"
        if not path.exists():
            return 0, None
        tensors, meta = load_tensors(path)
        put_weights(net, tensors, path)
        restore_optimizer(net, optimizer, tensors)
        _lay_out_like_weights(optimizer)
        if "rng.torch" not in tensors or "iteration" not in meta:
            raise DataError(
                f"{path} is not a checkpoint to go on from (is it a copy of best.safetensors?): train again"
            )
        torch.set_rng_state(tensors["rng.torch"])
        return int(meta["iteration"]), meta.get("best")

    def add_metrics(self, line: dict[str, float]) -> None:
        """Append one line of metrics."""
        try:
            with open(self.path / METRICS, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as problem:
            raise cannot_write(self.path / METRICS, problem) from problem

    def write_metrics(self, lines: list[dict[str, float]]) -> None:
        """Write all lines of metrics."""
        write_text(self.path / METRICS, "".join(json.dumps(line) + "\n" for line in lines))

    def metrics(self) -> list[dict[str, float]]:
        """All lines of metrics; a line cut short by a kill is left out."""
        path = self.path / METRICS
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        try:
            return [json.loads(line) for line in lines if line.endswith("\n")]
        except json.JSONDecodeError as problem:
            raise DataError(f"{path} is damaged ({problem}): mend that line, or train again") from problem

    def keep_metrics(self, iteration: int) -> None:
        """Drop the metrics written after the checkpoint, for they will be written again."""
        self.write_metrics([line for line in self.metrics() if line["iteration"] <= iteration])

    def _check_data(self, fingerprint: str, config: TrainConfig) -> None:
        begun = read_json(self.path / DATA, RUN_KIND).get("fingerprint")
        if begun != fingerprint:
            raise DataError(f"{config.data} has changed since {self.path} began: bring it back, or choose another -o")

    def check_same(self, config: TrainConfig) -> None:
        """Refuse a config other than the one the run began with."""
        begun, asked = self.config().model_dump(), config.model_dump()
        for key, value in begun.items():
            if key not in FREE_TO_CHANGE and asked[key] != value:
                raise ConfigError(
                    f"{self.path} began with {key}={value!r}, now {key}={asked[key]!r} was asked for: "
                    "resume with the same settings, or choose another -o"
                )


def _lay_out_like_weights(optimizer: torch.optim.Optimizer) -> None:
    """Give state the memory layout of its weights: fused steps go through both in memory order, as if they had one."""
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if value.shape == parameter.shape:
                state[key] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
