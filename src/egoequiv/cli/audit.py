"""`egoequiv audit`: the equivariance of any vision model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, Device, MaxGap, PartOption, check_max_gap, grouped
from egoequiv.cli.settings import parse_size
from egoequiv.cli.stores import local_store
from egoequiv.errors import ConfigError
from egoequiv.files import check_writable

if TYPE_CHECKING:
    from egoequiv.auditing import AuditTable
    from egoequiv.pairs import MinedPatterns

FILES = ("audit.json", "audit.md", "audit.png")
NAMED = re.compile(r"([A-Za-z][\w+-]*)=(.+)")


@dataclass(frozen=True)
class Measuring:
    """How models are measured, as `auditing.audit` takes it."""

    layers: Annotated[
        list[str] | None,
        typer.Option("--layer", help="Also audit this layer, in all models that have it; may be repeated."),
    ] = None
    pooling: Annotated[
        Literal["mean", "flatten"],
        typer.Option("--pool", help="Feature maps and tokens: their mean over positions, or all values."),
    ] = "mean"
    frames: Annotated[
        Literal["auto", "validation", "all"],
        typer.Option(
            help="Which frames: validation, those that no run among the models was trained on; all; or auto, "
            "validation if a run was trained on this store, else all."
        ),
    ] = "auto"
    hold_out: Annotated[
        str, typer.Option(help="What separates fitting from measuring: recording, label, or an attribute.")
    ] = "recording"
    max_gap_s: MaxGap = 1.0
    limit: Annotated[int, typer.Option(min=1, help="The most pairs for each motion (at least 40).")] = 2_000
    baselines: Annotated[bool, typer.Option(help="Measure pixels and an untrained network beside the models.")] = True
    batch_size: Annotated[int, typer.Option(min=1, help="Images at a time.")] = 64
    seed: Annotated[int, typer.Option(min=0, help="The random seed.")] = 0


@grouped
def audit(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="A run, an export, a folder of transformers, efficientnet-lite0, a file .onnx, .pt2 or .pt "
            "(TorchScript), package.module:factory, path/to/file.py:factory, pixels, random, random:norb; as "
            "NAME=MODEL under a name of your choice.",
        ),
    ],
    store: Annotated[str, typer.Option(help="A store, a URL, or any log that `egoequiv inspect` understands.")],
    *,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[NAME.]KEY=VALUE",
            help="Preprocessing of a model, or of all but runs and baselines: size=224, channels=3, "
            "mean=0.485,0.456,0.406, std=..., dtype=uint8, layout=nhwc; layer=LAYER in place of what it returns; "
            "grid=3x8; NAME.weights=FILE; of a run or its export NAME.part=PART.",
        ),
    ] = None,
    part: PartOption = None,
    grid: Annotated[
        str | None,
        typer.Option(
            metavar="ROWSxCOLUMNS",
            show_default="their mean",
            help="Feature maps and tokens of all models but runs and baselines: averaged to so many cells, such as "
            "3x8, so that where things are is kept; for one model --set NAME.grid=3x8.",
        ),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="The weights of a model that a factory builds, a safetensors file.")
    ] = None,
    motions: Annotated[
        str | None, typer.Option(show_default="all steps, or mined patterns", help="These motions, such as up,right.")
    ] = None,
    patterns: Annotated[
        Path | None, typer.Option(help="The motions in patterns.json, as `egoequiv patterns` wrote it.")
    ] = None,
    measuring: Measuring,
    device: Device = "auto",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A folder for audit.json, audit.md and audit.png.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how equivariant the features of any vision models are, side by side on one store with poses.

    For each motion g a linear map is fitted that takes z(gx) back to z(x): on one part of the pairs; how it is
    regularised is chosen on a second part, and rho measured on a third. Nothing is fetched and nothing unpickled.

    Example: egoequiv audit my-run mine=package.module:factory --store toys -o my-audit
    """
    check_max_gap(measuring.max_gap_s)
    if out is not None:
        for name in FILES:  # before all the work
            check_writable(out / name)
    named = _named(models)
    if grid is not None and measuring.pooling == "flatten":
        raise ConfigError("--grid and --pool flatten both say what becomes of feature maps: give one of them")
    settings = _settings(named, [*([f"grid={grid}"] if grid else []), *(setting or [])], weights, part)
    given = asdict(measuring) | {"motions": _motions(motions, patterns), "layers": measuring.layers or ()}
    table = _measure(named, settings, store, device, given)
    files = _save(table, out) if out is not None else []
    if as_json:
        print_json(table.describe() | {"files": files})
    else:
        _show(table, files)


def _measure(
    named: Mapping[str, str],
    settings: Mapping[str, dict[str, Any]],
    store: str,
    device: str,
    given: Mapping[str, Any],
) -> AuditTable:
    """Load the models and audit them on a store."""
    from egoequiv.auditing import audit as run_audit
    from egoequiv.auditing import load_audited
    from egoequiv.models.devices import choose_device
    from egoequiv.store import FrameStore

    place = str(choose_device(device))
    store = local_store(store)
    opened = FrameStore.open(store)
    loaded = []
    for name, where in named.items():
        declared = dict(settings[name])
        others = {key: declared.pop(key) for key in ("weights", "part", "layer", "grid") if key in declared}
        loaded.append(load_audited(where, opened, name=name, declared=declared, device=place, **others))
    with progress_bar() as progress:
        return run_audit(loaded, opened, **given, device=place, on_progress=progress)


def _named(models: Sequence[str]) -> dict[str, str]:
    """Models by name: NAME=MODEL, or the end of its path; a number is added where two would have the same."""
    from egoequiv.auditing.loaders import name_of

    named: dict[str, str] = {}
    for model in models:
        given = NAMED.fullmatch(model) if not Path(model).exists() else None
        name, where = given.groups() if given else (name_of(model), model)
        if name in named and given:
            raise ConfigError(f"two models are named {name!r}")
        number = 2
        while name in named:
            name = f"{name_of(model)} ({number})"
            number += 1
        named[name] = where
    return named


def _settings(
    named: Mapping[str, str], assignments: Sequence[str], weights: Path | None, part: str | None
) -> dict[str, dict[str, Any]]:
    """What is declared for each model."""
    from egoequiv.models.foreign.loaders import is_of_run, kind_of

    kinds = {name: kind_of(where) for name, where in named.items()}
    runs = [name for name, where in named.items() if part is not None and is_of_run(where)]
    if part is not None and not runs:
        raise ConfigError(
            f"--part {part}: none of these models is a run or its export, and only those have parts of features"
        )
    settings: dict[str, dict[str, Any]] = {name: {"part": part} if name in runs else {} for name in named}
    takers = [name for name, kind in kinds.items() if kind not in ("run", "export", "random", "pixels")]
    # What is said of all models first, so that what is said of one wins.
    for owner, key, value in sorted(
        (_assigned(text, named) for text in assignments), key=lambda one: one[0] is not None
    ):
        if owner is None and not takers:
            how = f"--grid {value}" if key == "grid" else f"--set {key}={value}"
            raise ConfigError(f"{how}: none of these models takes it; name one, as in --set NAME.{key}={value}")
        for name in takers if owner is None else [owner]:
            settings[name][key] = _value(key, value)
    if weights is not None:
        built = [name for name, kind in kinds.items() if kind == "import path"]
        if len(built) != 1:
            raise ConfigError(
                f"--weights {weights}: {len(built)} models are given as package.module:factory, expected one; "
                "name the model, as in --set NAME.weights=FILE"
            )
        settings[built[0]]["weights"] = str(weights)
    return settings


def _assigned(text: str, named: Mapping[str, str]) -> tuple[str | None, str, str]:
    """The model that a setting is for, None for all, with key and value; a name may have dots in it."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigError(f"--set {text!r}: expected KEY=VALUE or NAME.KEY=VALUE")
    owner, dot, own_key = key.rpartition(".")
    if dot and owner not in named:
        raise ConfigError(f"--set {text}: no model is named {owner!r}; they are {', '.join(named)}")
    return owner if dot else None, own_key, value


def _value(key: str, value: str) -> Any:
    """A declared value, from text."""
    if key not in READ:
        *known, last = READ
        raise ConfigError(f"--set {key}={value}: no such setting; choose {', '.join(known)} or {last}")
    try:
        return READ[key](value)
    except ValueError:
        raise ConfigError(f"--set {key}={value}: expected numbers") from None


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _grid(text: str) -> tuple[int, int]:
    from egoequiv.models.foreign.cells import sides_in

    return sides_in(text, "grid")


READ: dict[str, Callable[[str], Any]] = {  # from text, what may be declared of a model
    "size": parse_size,
    "channels": int,
    "mean": _numbers,
    "std": _numbers,
    "grid": _grid,
    **dict.fromkeys(("dtype", "layout", "weights", "part", "layer"), str),
}


def _motions(names: str | None, patterns: Path | None) -> Sequence[str] | MinedPatterns | None:
    """The chosen motions, by name or as mined; None for those of the store."""
    from egoequiv.files import read_json
    from egoequiv.pairs import MinedPatterns

    if patterns is None:
        return None if names is None else [name.strip() for name in names.split(",")]
    if names is not None:
        raise ConfigError("--motions and --patterns both say which motions: give one of them")
    return MinedPatterns.from_description(read_json(patterns, "a file of patterns"), str(patterns))


def _save(table: AuditTable, out: Path) -> list[str]:
    from egoequiv.files import write_json, write_text
    from egoequiv.report.audit import audit_figure, audit_markdown
    from egoequiv.report.figures.drawing import save_figure

    write_json(out / "audit.json", table.describe())
    write_text(out / "audit.md", audit_markdown(table))
    save_figure(audit_figure(table), out / "audit.png")
    return [str(out / name) for name in FILES]


def _show(table: AuditTable, files: Sequence[str]) -> None:
    from egoequiv.report.audit import audit_blocks

    show(audit_blocks(table))
    if files:
        say(f"saved: {', '.join(files)}")
