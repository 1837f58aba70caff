"""Methods by name: built in, registered by packages, a user's own, and sums of methods and losses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.losses import LOSSES, Classification, StreamName, Term
from egoequiv.methods import METHODS, Method
from egoequiv.names import FILE, Door, full_name, is_code, short_name, what_is
from egoequiv.user_code import user_code

TERM_NAME = re.compile(r"[A-Za-z][\w-]*")
TAKEN = ("iteration", "loss", "auroc")  # keys of metrics that are no terms


def _is_loss(found: Any) -> bool:
    return isinstance(found, Term) or (isinstance(found, type) and issubclass(found, Term))


LOSS_DOOR: Door[type[Term]] = Door(
    "loss",
    LOSSES,
    "egoequiv.losses",
    "a Term, or a class of terms",
    _is_loss,
)
DOOR: Door[Method] = Door(
    "method",
    METHODS,
    "egoequiv.methods",
    "a Method, a function that returns one, or a loss (a Term or a class of terms)",
    lambda found: isinstance(found, Method | Term) or callable(found),
)


def get_method(name: str) -> Method:
    """A method by name.

    Args:
        name: of a built-in or registered method; `package.module:name` or `path/to/file.py:name` of a `Method`, of a
            function that returns one, or of a loss, which is then added to that of the labels; or a sum of methods
            and losses, such as `equiv+losses.py:Triplet`.

    Returns:
        The method.

    """
    parts = parts_of(name)
    if len(parts) == 1:
        return _checked(name, _as_method(name, _find(name)))
    terms: dict[str, Term] = {}
    defaults: dict[str, Any] = {}
    for part in parts:
        found = _find(part)
        alone = Method(part, "", (_as_term(part, found),)) if _is_loss(found) else _as_method(part, found)
        defaults |= alone.defaults
        for term in _checked(part, alone).terms:
            if terms.setdefault(term.name, term) != term:
                raise ConfigError(f"method {name}: {term.name!r} is in it twice, as {terms[term.name]} and as {term}")
    shown = declared_name(name)
    about = f"the sum of {' and '.join(shown.split('+'))}"
    return _checked(name, Method(shown, about, tuple(terms.values()), defaults=defaults))


def parts_of(name: str) -> list[str]:
    """The parts of a sum; a name that is known as a whole is one part, also if it holds a plus."""
    file = FILE.fullmatch(name)
    known = DOOR.names()
    if "+" not in name or name in known or (file is not None and Path(file["place"]).exists()):
        return [name]
    words, parts = name.split("+"), []
    while words:  # the longest known name first: `recording+motion+gaussian` is the method and a loss
        count = next((n for n in range(len(words), 1, -1) if "+".join(words[:n]) in known), 1)
        parts.append("+".join(words[:count]))
        words = words[count:]
    return parts


def full_method_name(value: object) -> object:
    """The name of a method under which it is found from every folder; a function or class by where it is defined."""
    if isinstance(value, Method | Term):
        raise ConfigError(
            f"method: a {type(value).__name__} cannot be kept with a run: define it at the top level of a file and "
            "give path/to/file.py:NAME, or give the function that returns it, or the class"
        )
    if isinstance(value, str):
        return "+".join(str(full_name(part)) for part in parts_of(value))
    return full_name(value)


def declared_name(name: str) -> str:
    """The name of a method for tables: of code, the name that it declares, where it can still be read."""
    return "+".join(_declared(part) for part in parts_of(name))


def _declared(part: str) -> str:
    try:
        found = get_method(part).name if is_code(part) else part
    except EgoEquivError:
        found = ""
    return found or short_name(part)


def display_name(name: str) -> str:
    """The name of a method for folders: of code, what comes after the colon."""
    return "+".join(short_name(part) for part in parts_of(name))


def list_methods() -> list[str]:
    """The names of all methods, built in and registered by packages."""
    return DOOR.names()


def _find(name: str) -> Any:
    """A method or a loss."""
    is_loss = name not in METHODS and not is_code(name) and LOSS_DOOR.has(name)
    return (LOSS_DOOR if is_loss else DOOR).find(name)


def _as_method(name: str, found: Any) -> Method:
    """A method from what was found under a name."""
    if isinstance(found, Method):
        return found
    if _is_loss(found):
        term = _as_term(name, found)
        terms = (term,) if getattr(term, "stream", "") == "labelled" else (Classification(), term)
        return Method(short_name(name), _first_line(found), terms)
    # A run may name any function that can be imported, so only those that say so are called.
    declared = getattr(found, "__annotations__", {}).get("return")
    if isinstance(found, type):
        raise ConfigError(f"method {name}: {what_is(found)} is no loss: let it inherit from egoequiv.losses.Term")
    if declared is not Method and str(declared).rpartition(".")[2] != "Method":
        raise ConfigError(f"method {name}: {what_is(found)} must declare that it returns one: def f() -> Method")
    with user_code(f"method {name}"):
        made = found()
    if not isinstance(made, Method):
        raise ConfigError(
            f"method {name}: expected {DOOR.wanted}, found {what_is(found)}, which returns {what_is(made)}"
        )
    return made


def _as_term(name: str, found: Any) -> Term:
    if isinstance(found, Term):
        return found
    with user_code(f"loss {name}"):
        term: Term = found()
    return term


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _checked(name: str, method: Method) -> Method:
    """Refuse a method whose terms cannot be trained, in one line that says why."""
    names: set[str] = set()
    if not isinstance(method.name, str) or not method.name.isprintable():
        raise ConfigError(f"method {name}: its name must be a text of one line, found {method.name!r}")
    if not isinstance(method.terms, tuple | list):
        raise ConfigError(f"method {name}: expected a tuple of terms, found {what_is(method.terms)}")
    for term in method.terms:
        if not isinstance(term, Term):
            raise ConfigError(f"method {name}: expected terms that are egoequiv.losses.Term, found {what_is(term)}")
        what = f"method {name}, loss {type(term).__name__}"
        own = getattr(term, "name", None)
        if not isinstance(own, str) or not TERM_NAME.fullmatch(own) or own in TAKEN or own.startswith("validation_"):
            raise ConfigError(f"{what}: its name must be a word such as 'triplet', but not {', '.join(TAKEN)}: {own!r}")
        if getattr(term, "stream", None) not in get_args(StreamName):
            streams = ", ".join(get_args(StreamName))
            raise ConfigError(f"{what}: its stream must be one of {streams}: {getattr(term, 'stream', None)!r}")
        if own in names:
            raise ConfigError(f"method {name}: two of its terms have the name {own!r}")
        names.add(own)
    return method
