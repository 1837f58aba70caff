"""A model to load: which one, under which name, with which weights and preprocessing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from egoequiv.errors import ConfigError
from egoequiv.models.foreign.preprocessing import Preprocessing
from egoequiv.models.network import ALL

DECLARED = ("size", "channels", "mean", "std", "dtype", "layout")


@dataclass(frozen=True, eq=False)
class ModelSpec:
    """A model to load; `where` is a path, an import path, the name of a baseline, or the model itself."""

    name: str
    where: Any
    weights: Path | None = None
    declared: Mapping[str, Any] = field(default_factory=dict)  # of a Preprocessing, in place of the kind's default
    device: str = "cpu"
    part: str = ALL  # of the features, for a run that has parts

    def preprocessing(self, default: Preprocessing) -> Preprocessing:
        """The default of a kind of model, with what was declared in its place."""
        unknown = [name for name in self.declared if name not in DECLARED]
        if unknown:
            raise ConfigError(f"model {self.name}: {unknown[0]!r} is no preprocessing; declare {', '.join(DECLARED)}")
        if "channels" in self.declared and not {"mean", "std"} & set(self.declared):
            count = self.declared["channels"]
            if len(default.mean) not in (1, count) or len(default.std) not in (1, count):
                default = replace(default, mean=(0.0,), std=(1.0,))
        return replace(default, **self.declared)

    def refuse_declarations(self, what: str) -> None:
        """For models that bring their own preprocessing."""
        if self.declared:
            raise ConfigError(f"model {self.name}: {what}; {next(iter(self.declared))} cannot be declared for it")
