"""The methods: each a sum of weighted losses, nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from egoequiv.errors import ConfigError
from egoequiv.files import is_number
from egoequiv.losses import (
    LOSSES,
    Classification,
    Equivariance,
    Gaussian,
    ImaginedViews,
    InvariantVariance,
    MotionContrast,
    MotionPrediction,
    MotionReading,
    MotionVariance,
    RecordingContrast,
    RelativeError,
    Separation,
    Slowness,
    StreamName,
    Term,
    VarianceViews,
    ViewContrast,
)
from egoequiv.names import FILE, Door, full_name, is_code, short_name, what_is
from egoequiv.user_code import is_built_in, user_code

TERM_NAME = re.compile(r"[A-Za-z][\w-]*")
MOST_UNITS = 8_192  # of a layer that a loss has, and of whatever else is counted
TAKEN = ("iteration", "loss", "auroc")  # keys of metrics that are no terms


@dataclass(frozen=True)
class Method:
    """A named sum of weighted loss terms."""

    name: str
    about: str
    terms: tuple[Term, ...]
    keeps: str | None = None  # a search keeps the weights it chose for this method
    defaults: Mapping[str, Any] = field(default_factory=dict)  # settings of its runs, where they are not given

    @property
    def streams(self) -> tuple[StreamName, ...]:
        """The streams of data it trains on."""
        return tuple(dict.fromkeys(term.stream for term in self.terms))

    def without_labels(self) -> Method:
        """The same method with its unsupervised terms alone."""
        return replace(self, terms=tuple(term for term in self.terms if term.stream != "labelled"))

    def with_settings(
        self,
        weight: Mapping[str, float],
        margin: Mapping[str, float],
        others: Mapping[str, Mapping[str, float]] | None = None,
    ) -> Method:
        """The same method with other numbers in its terms.

        Args:
            weight: by the names of terms.
            margin: by the names of terms.
            others: any other number that a term has, by its name and then by the name of the term.

        Returns:
            The method with these numbers.

        """
        changes: dict[str, dict[str, Any]] = {}
        for setting, values in {"weight": weight, "margin": margin, **(others or {})}.items():
            allowed = {term.name: term for term in self.terms if setting in numbers_of(term)}
            for name, value in values.items():
                if name not in allowed:
                    raise ConfigError(f"{setting}.{name} is not known: {self.name} has {', '.join(allowed) or 'none'}")
                if setting in ("weight", "margin") and not value >= 0:
                    raise ConfigError(f"{setting}.{name} must not be negative, found {value}")
                if is_built_in(allowed[name]):
                    _check_number(allowed[name], setting, value)
                changes.setdefault(name, {})[setting] = _like(numbers_of(allowed[name])[setting], value, setting, name)
        return replace(self, terms=tuple(replace(term, **changes.get(term.name, {})) for term in self.terms))


def numbers_of(term: Term) -> dict[str, float]:
    """The numbers that can be set in a term: those fields of its dataclass that are numbers."""
    values = {field.name: getattr(term, field.name) for field in fields(term) if field.init}
    return {name: value for name, value in values.items() if is_number(value)}


def _check_number(term: Term, setting: str, value: float) -> None:
    """Refuse a number with which a built-in loss cannot be computed."""
    counts = isinstance(numbers_of(term)[setting], int)
    if value < 0 or (value == 0 and (counts or setting == "temperature")):
        raise ConfigError(f"{setting}.{term.name} must be above zero, found {value:g}")
    if counts and value > MOST_UNITS:
        raise ConfigError(f"{setting}.{term.name} must be at most {MOST_UNITS:,}, found {value:g}")


def _like(number: float, value: float, setting: str, name: str) -> float:
    """A value of the kind that a field has: whole where the field is."""
    if isinstance(number, int):
        if value != int(value):
            raise ConfigError(f"{setting}.{name} must be a whole number, found {value}")
        return int(value)
    return value


# The settings of the methods that are not in the paper, the same for all of them, so that they can be compared.
MODERN: dict[str, Any] = {
    "encoder": "residual",
    "normalise": "image",
    "augment": "light",
    "optimizer": "adamw",
    "decay": "one-cycle",
    "learning_rate": 2e-3,
    "weight_decay": 0.05,
    "batch_size": 96,
    "iterations": 1_000,
}

DEFAULT = "recording+motion"  # where no method is named
WITHOUT_POSES = "recording"  # the same for frames without poses
FEW_CLIPS, SINGLE_PICTURES = "motion", "simclr"  # the same for few clips, and for pictures that are not video

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("random", "an untrained network", ()),
        Method("clsnet", "labels only", (Classification(),)),
        Method("supervised", "all labels, the ceiling", (Classification(),), defaults={**MODERN, "all_labels": True}),
        Method("temporal", "labels and slowness with the l1 distance", (Classification(), Slowness(norm=1))),
        Method("drlim", "labels and slowness with the l2 distance", (Classification(), Slowness(norm=2))),
        Method("equiv", "labels and equivariance to motion", (Classification(), Equivariance())),
        Method(
            "equiv+drlim",
            "labels, equivariance and slowness",
            (Classification(), Slowness(norm=2), Equivariance(margin=0.1)),
            keeps="drlim",
        ),
        Method(
            "equiv-narrow",
            "equiv with the margin that the paper uses beside drlim",
            (Classification(), Equivariance(margin=0.1)),
        ),
        Method(
            "equiv+views",
            "equiv-narrow that also classifies imagined views of labelled images (not in the paper)",
            (Classification(), Equivariance(margin=0.1), ImaginedViews()),
        ),
        Method(
            "equiv+apart",
            "equiv that keeps the two images of a pair apart (not in the paper)",
            (Classification(), Equivariance(), Separation()),
        ),
        Method(
            "recording",
            "frames of one clip have similar features; no motion",
            (Classification(), RecordingContrast()),
            defaults=MODERN,
        ),
        Method(
            "motion",
            "any motion has a map of the features, which finds the right image of a batch",
            (Classification(), MotionContrast(), RelativeError(weight=3.0)),
            defaults=MODERN,
        ),
        Method(
            "recording+motion",
            "one part of the features is the same in a clip, the other follows the motion",
            (
                Classification(),
                RecordingContrast(part="invariant"),
                MotionContrast(),
                RelativeError(weight=3.0),
            ),
            defaults=MODERN,
        ),
        Method(
            "simclr",
            "two views of an image are found among those of others; no motion",
            (Classification(), ViewContrast()),
            defaults=MODERN,
        ),
        Method(
            "vicreg",
            "two views of an image agree, without negatives; no motion",
            (Classification(), VarianceViews()),
            defaults=MODERN,
        ),
        Method(
            "moving",
            "the motion between two frames is read from their features",
            (Classification(), MotionReading()),
            defaults=MODERN,
        ),
        Method(
            "sie",
            "an invariant part and one that follows the motion, without negatives",
            (Classification(), InvariantVariance(), MotionVariance()),
            defaults={**MODERN, "motion_maps": "network"},
        ),
        Method(
            "lewm",
            "features after a motion are predicted, and kept Gaussian; no negatives",
            (Classification(), MotionPrediction(), Gaussian()),
            defaults=MODERN,
        ),
    )
}


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
    shown = display_name(name)
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


def display_name(name: str) -> str:
    """The name of a method for tables and folders: of code, what comes after the colon."""
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
