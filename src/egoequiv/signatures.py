"""Values checked by declared types: settings of a function that a user may name, and records of JSON files."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from egoequiv.errors import ConfigError, DataError

T = TypeVar("T")


def of_type(kind: type[T], value: Any) -> T:
    """A value of a JSON file as a record, or a line that says which part of it does not fit its type."""
    try:
        return TypeAdapter(kind).validate_json(json.dumps(value), strict=True)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = f"{'.'.join(map(str, first['loc']))}: " if first["loc"] else ""
        raise DataError(f"{where}{first['msg']}, found {first['input']!r:.80}") from None


def takes(function: Callable[..., Any], name: str) -> Literal["always", "if given"] | None:
    """Whether a function takes an argument of this name; None: it has no such argument."""
    one = inspect.signature(function).parameters.get(name)
    if one is None:
        return None
    return "always" if one.default is one.empty else "if given"


def checked_settings(
    what: str, function: Callable[..., Any], settings: Mapping[str, Any], taken: Collection[str], prefix: str = ""
) -> dict[str, Any]:
    """The settings with values of the types that the function declares, or a line that says what is wrong.

    Args:
        what: of whom they are settings, for messages, such as "encoder 'norb'".
        function: a function or a class; its keyword arguments are the settings.
        settings: their values, perhaps as text.
        taken: arguments that are not settings.
        prefix: what users write before the name of a setting.

    Returns:
        The same settings, converted.

    """
    parameters = inspect.signature(function).parameters
    known = {
        name: one
        for name, one in parameters.items()
        if name not in taken and one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
    }
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for name in settings:
        if name not in known and not takes_any:
            raise ConfigError(f"{what} has no setting {name!r}; it has {', '.join(known) or 'none'}")
    for name, one in known.items():
        if one.default is one.empty and name not in settings:
            raise ConfigError(f"{what} needs the setting {name!r}: give it as {prefix}{name}=VALUE")
    hints = _hints(function)
    checked: dict[str, Any] = {}
    for name, value in settings.items():
        default = known[name].default if name in known else None
        try:
            checked[name] = _adapter(hints.get(name), default).validate_python(value)
        except ValidationError as problem:
            first = problem.errors()[0]
            raise ConfigError(f"{what}, setting {prefix}{name}={first['input']!r}: {first['msg']}") from problem
    return checked


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types that a function declares; none where they are names that only a type checker knows."""
    declared = function.__init__ if inspect.isclass(function) else function
    try:
        return get_type_hints(declared, include_extras=True)
    except (NameError, TypeError):
        return {}


def _adapter(hint: Any, default: Any) -> TypeAdapter[Any]:
    """By the declared type; without one by the default's, or as a number where the text is one."""
    if hint is None or hint is Any:
        is_plain = isinstance(default, bool | int | float | str)
        hint = type(default) if is_plain else Annotated[Any, BeforeValidator(_read)]
    try:
        return TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True))
    except PydanticUserError:  # of a type that may not be configured from outside
        return TypeAdapter(hint)


def _read(value: Any) -> Any:
    """A number, true or false where a text is one."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        return {"true": True, "false": False}.get(value.lower(), value)
    return value
