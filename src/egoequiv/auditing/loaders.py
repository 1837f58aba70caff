"""Every kind of model that can be audited: those of others, and what the program itself has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from egoequiv.auditing.own_models import load_pixels, load_random, load_run, load_saved, with_training
from egoequiv.errors import ConfigError
from egoequiv.file_names import readable
from egoequiv.models.foreign.cells import Sides
from egoequiv.models.foreign.layers import OUTPUT, check_layer
from egoequiv.models.foreign.loaders import WITH_PARTS, kind_of, load_foreign
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.network import ALL
from egoequiv.names import is_code, short_name
from egoequiv.store import FrameStore

OWN: dict[str, Callable[[ModelSpec, FrameStore], AuditedModel]] = {
    "pixels": load_pixels,
    "random": load_random,
    "run": load_run,
    "export": load_saved,
}


def load_audited(
    where: Any,
    store: FrameStore,
    *,
    name: str | None = None,
    weights: str | Path | None = None,
    declared: Mapping[str, Any] | None = None,
    device: str = "cpu",
    part: str = ALL,
    layer: str = OUTPUT,
    grid: Sides | None = None,
) -> AuditedModel:
    """Load a model of any kind to be audited on a store; `declared` holds size, channels, mean and std.

    Of a run or an export that has parts, `part` is the part of its features that is measured. In place of what
    a model returns, a `layer` inside may be measured; `grid` says to how many rows and columns of cells maps and tokens
    are averaged, which are pooled by default.
    """
    kind = kind_of(where)
    own_weights = Path(weights) if weights else None
    spec = ModelSpec(name or name_of(where), where, own_weights, dict(declared or {}), device, part)
    if part != ALL and kind not in WITH_PARTS:
        raise ConfigError(
            f"model {spec.name}: only runs and their exports have parts of features; measure all of this one"
        )
    if spec.weights is not None and kind != "import path":
        raise ConfigError(
            f"model {spec.name}: weights are for package.module:factory and file.py:factory; this one has its own"
        )
    model = OWN[kind](spec, store) if kind in OWN else load_foreign(spec, kind)
    if model.exported is not None:
        model = with_training(model, model.exported, store)
    if layer != OUTPUT:
        check_layer(layer, model.layer_names, f"model {spec.name}")
        model = replace(model, layer=layer)
    return model if grid is None else model.in_cells(grid)


def name_of(where: Any) -> str:
    """A short name: of a path its end, of an import path what comes after the colon."""
    if not isinstance(where, str | Path):
        return str(getattr(where, "__name__", type(where).__name__))
    if is_code(str(where)) and kind_of(where) == "import path":
        return short_name(str(where))
    return readable(Path(where).name or str(where))
