"""The folder of a run: config, checkpoints and metrics, always in a state from which it can go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.files import cannot_write, read_json, write_json, write_text
from egoequiv.method_names import parts_of
from egoequiv.models.checkpoint import (
    MODEL,
    RUN_KIND,
    Which,
    load_meta,
    load_spec,
    load_tensors,
    put_weights,
    save_tensors,
)
from egoequiv.models.encoders import code_of
from egoequiv.models.network import ALL, EgoNet
from egoequiv.names import check_recorded
from egoequiv.pairs import MinedPatterns, MotionPatterns
from egoequiv.pose import MotionSpace
from egoequiv.pose.spaces import space_from_description
from egoequiv.store import FrameStore
from egoequiv.store.frame_store import META
from egoequiv.training.config import TrainConfig, make_config
from egoequiv.training.optimizer import optimizer_tensors, restore_optimizer

if TYPE_CHECKING:
    from egoequiv.training.data import OpenedData

CONFIG, DATA, METRICS, RESULT = "config.json", "data.json", "metrics.jsonl", "result.json"
PATTERNS = "patterns.json"
SPACE = "space"  # in data.json
LARGEST = 1e300  # a number in a line of metrics; JSON knows integers that no float can hold

# Settings that may differ when a run is resumed: they say where it is computed, not what.
FREE_TO_CHANGE = frozenset({"device"})


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run; a config.json alone is no sign, because other programs write one too."""
    return (folder / CONFIG).exists() and any((folder / name).exists() for name in (DATA, MODEL))


def runs_in(folder: Path) -> list[Path]:
    """The runs in a folder and in the folders it holds; those of a search, which hold frames back, are not wanted."""
    if is_run(folder):
        return [folder]
    paths = sorted(path.parent for pattern in (f"*/{CONFIG}", f"*/*/{CONFIG}") for path in folder.glob(pattern))
    runs = [path for path in paths if is_run(path)]
    return [run for run in runs if not read_json(run / CONFIG, RUN_KIND).get("holdout_fraction")]


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, config: TrainConfig, data: OpenedData, resume: bool) -> None:
        """Claim the folder for a config; with `resume`, check that config and data are those the run began with."""
        self.check_free(resume)
        if (self.path / CONFIG).exists():
            self.check_same(config)
            self._check_data(data.fingerprint(), config)
            if SPACE not in read_json(self.path / DATA, RUN_KIND):  # begun by an early version
                self._keep_data(data)
            return
        self.path.mkdir(parents=True, exist_ok=True)
        self._keep_data(data)
        write_json(self.path / CONFIG, config.model_dump())

    def _keep_data(self, data: OpenedData) -> None:
        write_json(self.path / DATA, {"fingerprint": data.fingerprint(), SPACE: data.store.space.describe()})

    def check_free(self, resume: bool) -> None:
        """Refuse a folder in which no run can begin, or with `resume` go on."""
        if (self.path / CONFIG).exists():
            if not resume:
                raise DataError(
                    f"{self.path} holds a run already: pass --resume to go on with it, or choose another -o"
                )
            return
        if self.path.exists() and not self.path.is_dir():
            raise DataError(f"{self.path} is a file: choose another folder for the run")
        if self.path.exists() and not resume and any(self.path.iterdir()):
            raise DataError(f"{self.path} is not empty and holds no run: choose another -o")

    def config(self) -> TrainConfig:
        """The config the run began with."""
        values = read_json(self.path / CONFIG, RUN_KIND)
        if not {"data", "method"} <= values.keys():
            raise DataError(f"{self.path / CONFIG} is not the config of a run: {self.path} is not {RUN_KIND}")
        check_recorded("method", parts_of(str(values["method"])), self.path)
        settings = values.get("encoder_settings")
        named = code_of(str(values.get("encoder", "")), settings if isinstance(settings, dict) else {})
        check_recorded("encoder", named, self.path)
        try:
            return make_config(values)
        except ConfigError as problem:
            raise ConfigError(f"{self.path / CONFIG}: {problem}") from problem

    def trained_on(self, store: FrameStore) -> Literal["this store", "a copy"] | None:
        """Whether the run has learned from frames of this store, or of the same store at another place."""
        config = self.config()
        if not config.objective().terms:
            return None  # the untrained method has learned from none
        if config.data == store.url or Path(config.data).resolve() == store.path.resolve():
            return "this store"
        if not (self.path / DATA).exists() or not (store.path / META).exists():
            return None
        begun = str(read_json(self.path / DATA, RUN_KIND).get("fingerprint")).split()
        return "a copy" if store.fingerprint() in begun else None

    def space(self) -> MotionSpace | None:
        """The motion space that the run learned in; None of runs that were begun before it was kept."""
        found = read_json(self.path / DATA, RUN_KIND).get(SPACE) if (self.path / DATA).exists() else None
        try:
            return None if found is None else space_from_description(found)
        except EgoEquivError as problem:
            raise DataError(f"{self.path / DATA}: {problem}") from problem

    def keep_patterns(self, patterns: MotionPatterns | None) -> None:
        """Keep mined patterns with the run: they are what its maps mean, or what its motions are called."""
        if isinstance(patterns, MinedPatterns):
            write_json(self.path / PATTERNS, patterns.describe())

    @property
    def has_patterns(self) -> bool:
        """Whether patterns are kept with the run."""
        return (self.path / PATTERNS).exists()

    def patterns(self) -> MinedPatterns | None:
        """The patterns that the run has mined, if it has."""
        path = self.path / PATTERNS
        return MinedPatterns.from_description(read_json(path, RUN_KIND), str(path)) if path.exists() else None

    @property
    def result(self) -> dict[str, Any] | None:
        """The summary of a finished run, None while it is not finished."""
        path = self.path / RESULT
        if not path.exists():
            return None
        result = read_json(path, RUN_KIND)
        kinds = ("train", "validation", "leaked_validation", "revisited_validation")
        counts = [result.get(f"{kind}_frames", 0) for kind in kinds]
        counts.append(result.get("near_copy_validation_frames") or 0)  # null where they cannot be counted
        patterns = result.get("patterns", [])
        if not all(isinstance(count, int) for count in counts) or not _are_names(patterns):
            raise DataError(f"{path} is damaged (frames or patterns are of another kind): remove it, and train again")
        return result

    @property
    def collapsed_parts(self) -> tuple[str, ...]:
        """The parts of the features that have collapsed, by name; of runs that do not say which, all features."""
        result = self.result or {}
        named = result.get("collapsed_parts", [ALL] if result.get("collapsed") else [])
        return tuple(named) if _are_names(named) else ()

    @property
    def collapsed_features(self) -> str:
        """Which features have collapsed, such as `equivariant features`; empty where none have."""
        return f"{' and '.join(self.collapsed_parts)} features" if self.collapsed_parts else ""

    def unfinished(self) -> str | None:
        """In words how far a run has come that is not finished; None of one that is."""
        if self.result is not None:
            return None
        path = self.path / "last.safetensors"
        done = int(load_meta(path).get("iteration", 0)) if path.exists() else 0
        return f"not finished: iteration {done:,} of {self.config().iterations:,}"

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
        self._check_backbone(net)
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
        try:
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            found = [json.loads(line) for line in lines if line.endswith("\n")]
        except (ValueError, RecursionError) as problem:
            raise DataError(f"{path} is damaged ({problem}): correct that line, or train again") from problem
        for number, line in enumerate(found, 1):
            if not _is_line(line):
                raise DataError(
                    f"{path} line {number} is damaged (not an object of numbers with an iteration): correct that line, "
                    "or train again"
                )
        return found

    def keep_metrics(self, iteration: int) -> None:
        """Drop the metrics written after the checkpoint, because they will be written again."""
        self.write_metrics([line for line in self.metrics() if line["iteration"] <= iteration])

    def _check_data(self, fingerprint: str, config: TrainConfig) -> None:
        begun = read_json(self.path / DATA, RUN_KIND).get("fingerprint")
        if begun != fingerprint:
            raise DataError(f"{config.data} has changed since {self.path} began: bring it back, or choose another -o")

    def _check_backbone(self, net: EgoNet) -> None:
        """Refuse other weights of the backbone than those the run began with."""
        begun, now = load_spec(self.path).encoder_settings, net.spec.encoder_settings
        if begun.get("digest") != now.get("digest"):
            raise ConfigError(
                f"backbone {now['backbone']} has other weights than when {self.path} began ({now['digest']}, then "
                f"{begun.get('digest')}): put those back, or choose another -o"
            )

    def check_same(self, config: TrainConfig) -> None:
        """Refuse a config other than the one the run began with."""
        begun, asked = self.config().model_dump(), config.model_dump()
        for key, value in begun.items():
            if key not in FREE_TO_CHANGE and asked[key] != value:
                raise ConfigError(
                    f"{self.path} began with {key}={value!r}, now {key}={asked[key]!r} is given: "
                    "resume with the same settings, or choose another -o"
                )


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_line(line: Any) -> bool:
    """Whether a line of metrics is one: names and numbers, or null for what is not defined."""
    if not isinstance(line, dict) or not isinstance(line.get("iteration"), int):
        return False
    return all(
        value is None or (isinstance(value, int | float) and not abs(value) > LARGEST) for value in line.values()
    )


def _lay_out_like_weights(optimizer: torch.optim.Optimizer) -> None:
    """Give state the memory layout of its weights: fused steps go through both in memory order, as if they had one."""
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if value.shape == parameter.shape:
                state[key] = torch.empty_like(parameter, dtype=value.dtype).copy_(value)
