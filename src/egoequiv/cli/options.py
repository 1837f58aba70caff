"""Options that several commands have: one name, one help text and one default for each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from egoequiv.errors import ConfigError

if TYPE_CHECKING:
    from egoequiv.engines import Engine
    from egoequiv.store.motion import MotionOptions


Checkpoint = Literal["last", "best"]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
CheckpointOption = Annotated[
    Checkpoint,
    typer.Option("--checkpoint", help="The last weights, or the best on validation frames (results are too good)."),
]
Device = Annotated[str, typer.Option("--device", help="Where torch computes: auto, cpu, cuda, cuda:1, mps.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, show_default="one for each core", help="Processes at a time.")
]
MethodNames = Annotated[list[str] | None, typer.Option("--methods", help="Only these methods, separated by commas.")]
PartOption = Annotated[
    str | None,
    typer.Option(
        "--part", show_default="by the task", help="The part of the features, such as equivariant, if it has parts."
    ),
]
SourceName = Annotated[
    str | None,
    typer.Option("--source", show_default="guessed", help="The format of a log: a source by name, or your own."),
]
ReadSettings = Annotated[
    list[str] | None,
    typer.Option("--read", help="How a log is read: a setting of its source, such as camera=/cam1 or offset_s=0.1."),
]
Out = Annotated[Path, typer.Option("-o", "--out", help="The folder for runs and tables.")]
MaxGap = Annotated[
    float, typer.Option("--max-gap", help="Pairs at most this many seconds apart, to the nearest frame.")
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses become one option for each of their fields.

    Example: `def report(folder: Path, where: Where) -> None` has the options --engine, --address and --workers.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            options.append((name, hints[name], parameter.default))
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        for one in fields(groups[name]):
            options.append(
                (one.name, kinds[one.name], inspect.Parameter.empty if one.default is MISSING else one.default)
            )

    @wraps(command)
    def with_options(**given: Any) -> None:
        built = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)}) for name, group in groups.items()
        }
        command(**given, **built)

    parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d, annotation=h) for n, h, d in options]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {name: hint for name, hint, _ in options}
    return with_options


@dataclass(frozen=True)
class Where:
    """Where a command computes."""

    engine: Annotated[
        str,
        typer.Option(
            "--engine", help="local: processes of this machine; ray: a Ray cluster that sees the same folders."
        ),
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(help="Address of a running Ray cluster; by default RAY_ADDRESS, or one is started here."),
    ] = None
    workers: Workers = None

    def open(self) -> Engine:
        """The engine, to be closed after the work."""
        from egoequiv.engines import engine_named

        return engine_named(self.engine, self.workers, self.address)


@dataclass(frozen=True)
class PosesFrom:
    """Whether poses are the log's own or found in its pictures."""

    poses: Annotated[
        str,
        typer.Option(
            "--poses",
            metavar="log|visual|sfm",
            show_default="log, for a log without poses visual",
            help="The log's own poses, or those that its pictures show: visual (needs OpenCV), or, for at most 300 key "
            "frames, sfm: structure from motion (needs COLMAP).",
        ),
    ] = "auto"
    fov: Annotated[
        float | None,
        typer.Option(
            "--fov",
            show_default="by the log, or guessed",
            help="For poses from pictures: the horizontal field of view of the camera in degrees.",
        ),
    ] = None
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale",
            show_default="no unit",
            help="For poses from pictures: the column with the speed or the distance, or "
            "log: the distances of the log's own poses.",
        ),
    ] = None

    def motion(self) -> MotionOptions:
        """The same for a store that is made."""
        from egoequiv.store.motion import MotionOptions

        return MotionOptions(self.poses, self.fov, self.scale)  # type: ignore[arg-type]


def check_max_gap(max_gap_s: float) -> None:
    """Refuse a gap that no pair of frames can have."""
    if not 0 < max_gap_s < inf:
        raise ConfigError(f"--max-gap must be a number of seconds above 0, found {max_gap_s:g}")


def numbers_in(text: str, option: str, kind: type[int] | type[float] = float) -> tuple[Any, ...]:
    """The numbers of an option that holds commas."""
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        example = "6,20" if kind is int else "0.1,0.01"
        words = "whole numbers" if kind is int else "numbers"
        raise ConfigError(
            f"{option} must be {words} with commas between them, such as {example}, found {text!r}"
        ) from None


def names_in(given: Sequence[str] | None) -> list[str]:
    """The names of an option that may be repeated and may hold commas, each once."""
    return list(dict.fromkeys(name.strip() for text in given or () for name in text.split(",") if name.strip()))
