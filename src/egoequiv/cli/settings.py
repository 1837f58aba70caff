"""`egoequiv settings`: every setting of a run; and settings as they come from a command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from egoequiv.cli.console import print_json, show
from egoequiv.cli.options import AsJson
from egoequiv.errors import ConfigError


def settings(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/settings.md.")] = False,
    as_json: AsJson = False,
) -> None:
    """List every setting of a run, for --set KEY=VALUE, with its default and what it means.

    Example: egoequiv settings
    """
    from egoequiv.blocks import Grid

    if as_json:
        print_json({name: dict(zip(COLUMNS[1:], rest, strict=True)) for name, *rest in _rows()})
    elif markdown:
        print(_page())
    else:
        show([Grid.of("Settings of a run", COLUMNS, _rows())])


COLUMNS = ("setting", "kind", "default", "meaning")
PAGE = """# Settings of a run

`egoequiv train STORE --set KEY=VALUE` and `egoequiv.train(..., KEY=VALUE)` take every setting below. A run keeps them
in its `config.json`. A method may have other defaults, and `train` says what it chose. This page is the
output of `egoequiv settings --markdown`.

"""


def _page() -> str:
    """The page as Markdown, with names and defaults as code."""
    from egoequiv.markdown import code_span, markdown_table, paragraph

    heads = markdown_table(COLUMNS, [])
    rows = [f"| {code_span(n)} | {kind} | {code_span(d)} | {paragraph(meaning)} |" for n, kind, d, meaning in _rows()]
    return PAGE + "\n".join([*heads, *rows])


def _rows() -> list[tuple[str, str, str, str]]:
    """Name, kind, default and meaning of each setting."""
    from egoequiv.training.config import TrainConfig

    rows = []
    for name, field in TrainConfig.model_fields.items():
        default = "required" if field.is_required() else str(field.get_default(call_default_factory=True))
        rows.append((name, _kind(field.annotation), default, field.description or ""))
    return rows


def _kind(annotation: Any) -> str:
    """The kind of a setting in a word or two."""
    from types import NoneType, UnionType
    from typing import Literal, Union, get_args, get_origin

    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin in (Union, UnionType):
        return " or ".join(_kind(one) for one in inner if one is not NoneType)
    if origin is tuple:
        return "names"
    if origin is dict:
        return "numbers by name"
    names = {str: "text", bool: "true or false", int: "whole number", float: "number"}
    return names.get(annotation, str(getattr(annotation, "__name__", annotation)))


EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        show_default="auto",
        help="norb, kitti, residual, vit, efficientnet-lite0, auto (by the images), or your own as file.py:name.",
    ),
]

# What is written GROUP.KEY=VALUE and kept under another name, because GROUP=VALUE is a setting too.
GROUPS = {"encoder": "encoder_settings"}


def parse_settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Turn `key=value` and `group.key=value` strings into nested values."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key:
            raise ConfigError(f"setting {assignment!r}: expected key=value")
        group, dot, name = key.partition(".")
        group = GROUPS.get(group, group) if dot else group
        place = values.setdefault(group, {}) if dot else values
        if not isinstance(place, dict) or isinstance(place.get(name if dot else key), dict):
            raise ConfigError(f"setting {group!r} is given both as {group}=VALUE and as {group}.NAME=VALUE")
        place[name if dot else key] = value
    return values


def parse_size(text: str | None) -> tuple[int, int] | None:
    """`96` or `94x310` (height x width)."""
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdecimal() and 0 < int(part) <= 65_536 for part in parts):
        raise ConfigError(f"size {text!r}: expected a number such as 96, or HEIGHTxWIDTH such as 94x310")
    return int(parts[0]), int(parts[-1])
