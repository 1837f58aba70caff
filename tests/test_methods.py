"""Methods: sums of weighted losses."""

from __future__ import annotations

import math

import pytest

from egoequiv.errors import ConfigError
from egoequiv.losses import Classification, Equivariance, Separation, Slowness
from egoequiv.methods import METHODS, get_method, list_methods

PAPER = {
    "random": (),
    "clsnet": (Classification(),),
    "temporal": (Classification(), Slowness(margin=1.0, norm=1)),
    "drlim": (Classification(), Slowness(margin=1.0, norm=2)),
    "equiv": (Classification(), Equivariance(margin=1.0)),
    "equiv+drlim": (Classification(), Slowness(margin=1.0, norm=2), Equivariance(margin=0.1)),
}


@pytest.mark.parametrize("name", PAPER)
def test_the_methods_of_the_paper(name: str) -> None:
    assert get_method(name).terms == PAPER[name]


def test_every_method_is_listed_under_its_name() -> None:
    assert list_methods() == list(METHODS)
    assert set(PAPER) < set(METHODS)
    for name, method in METHODS.items():
        assert method.name == name
        assert method.about
        names = [term.name for term in method.terms]
        assert len(set(names)) == len(names)


def test_an_unknown_method_is_named_with_the_choices() -> None:
    with pytest.raises(
        ConfigError, match=r"method 'equivv' is not known; choose one of random, clsnet, .*equiv\+drlim"
    ):
        get_method("equivv")


@pytest.mark.parametrize(
    ("name", "streams"),
    [
        ("random", ()),
        ("clsnet", ("labelled",)),
        ("drlim", ("labelled", "neighbour")),
        ("equiv+drlim", ("labelled", "neighbour", "motion")),
        ("equiv+apart", ("labelled", "motion")),  # two terms over one stream
    ],
)
def test_streams(name: str, streams: tuple[str, ...]) -> None:
    assert get_method(name).streams == streams


def test_without_labels_only_the_unsupervised_terms_stay() -> None:
    assert get_method("equiv+drlim").without_labels().terms == PAPER["equiv+drlim"][1:]
    assert get_method("clsnet").without_labels().terms == ()
    assert "labelled" in get_method("equiv+drlim").streams  # the method itself is unchanged


def test_weights_and_margins_are_set_by_name() -> None:
    method = get_method("equiv+drlim").with_settings({"slowness": 0.3, "classification": 2.0}, {"equivariance": 0.7})
    assert method.terms == (
        Classification(weight=2.0),
        Slowness(weight=0.3, norm=2),
        Equivariance(weight=1.0, margin=0.7),
    )
    assert get_method("equiv+drlim").terms == PAPER["equiv+drlim"]


def test_the_term_that_keeps_images_apart_can_be_set() -> None:
    method = get_method("equiv+apart").with_settings({"separation": 0.0}, {"separation": 3.0})
    assert method.terms[2] == Separation(weight=0.0, margin=3.0)


def test_no_settings_change_nothing() -> None:
    for method in METHODS.values():
        assert method.with_settings({}, {}) == method


@pytest.mark.parametrize(
    ("method", "weight", "margin", "words"),
    [
        ("drlim", {"equivariance": 1.0}, {}, r"weight\.equivariance is not known: drlim has classification, slowness"),
        ("drlim", {}, {"classification": 1.0}, r"margin\.classification is not known: drlim has slowness"),
        ("clsnet", {}, {"slowness": 1.0}, r"margin\.slowness is not known: clsnet has none"),
        ("random", {"slowness": 1.0}, {}, r"weight\.slowness is not known: random has none"),
        ("drlim", {"slowness": -0.1}, {}, r"weight\.slowness must not be negative, found -0\.1"),
        ("drlim", {}, {"slowness": -1.0}, r"margin\.slowness must not be negative, found -1"),
        ("drlim", {"slowness": math.nan}, {}, r"weight\.slowness must not be negative, found nan"),
    ],
)
def test_bad_settings_are_named(method: str, weight: dict[str, float], margin: dict[str, float], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        get_method(method).with_settings(weight, margin)
