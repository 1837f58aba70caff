"""The methods: each a sum of weighted losses, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from egoequiv.errors import ConfigError
from egoequiv.losses import Classification, Equivariance, ImaginedViews, Separation, Slowness, StreamName, Term


@dataclass(frozen=True)
class Method:
    """A named sum of weighted loss terms."""

    name: str
    about: str
    terms: tuple[Term, ...]
    keeps: str | None = None  # a search keeps the weights it chose for this method

    @property
    def streams(self) -> tuple[StreamName, ...]:
        """The streams of data it trains on."""
        return tuple(dict.fromkeys(term.stream for term in self.terms))

    def without_labels(self) -> Method:
        """The same method with its unsupervised terms alone."""
        return replace(self, terms=tuple(term for term in self.terms if term.stream != "labelled"))

    def with_settings(self, weight: Mapping[str, float], margin: Mapping[str, float]) -> Method:
        """The same method with other weights and margins, by the names of its terms."""
        for setting, values in (("weight", weight), ("margin", margin)):
            allowed = [t.name for t in self.terms if setting in {field.name for field in fields(t)}]
            for name, value in values.items():
                if name not in allowed:
                    raise ConfigError(f"{setting}.{name} is not known: {self.name} has {', '.join(allowed) or 'none'}")
                if not value >= 0:
                    raise ConfigError(f"{setting}.{name} must not be negative, found {value}")
        return replace(self, terms=tuple(_changed(term, weight, margin) for term in self.terms))


def _changed(term: Term, weight: Mapping[str, float], margin: Mapping[str, float]) -> Term:
    if term.name in weight:
        term = replace(term, weight=weight[term.name])
    if term.name in margin and isinstance(term, Equivariance | Separation | Slowness):
        term = replace(term, margin=margin[term.name])
    return term


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("random", "an untrained network", ()),
        Method("clsnet", "labels only", (Classification(),)),
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
    )
}


def get_method(name: str) -> Method:
    """A method by name."""
    if name not in METHODS:
        raise ConfigError(f"method {name!r} is not known; choose one of {', '.join(METHODS)}")
    return METHODS[name]


def list_methods() -> list[str]:
    """The names of all methods."""
    return list(METHODS)
