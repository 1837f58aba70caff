"""Methods: sums of weighted losses."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from egoequiv.errors import ConfigError
from egoequiv.losses import LOSSES, Classification, Equivariance, ImaginedViews, Separation, Slowness, StreamName, Term
from egoequiv.method_names import display_name, full_method_name, get_method, list_methods
from egoequiv.methods import METHODS, Method

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


@dataclass(frozen=True)
class Spread(Term):
    """Features have a spread.

    A second line.
    """

    name: ClassVar[str] = "spread"
    stream: ClassVar[StreamName] = "motion"
    margin: float = 1.0
    rounds: int = 2
    loud: bool = False

    def loss(self, net: object, batch: object) -> Tensor:
        return torch.zeros(())


class Labels(Spread):
    """Another loss of labelled images."""

    name = "labels"
    stream = "labelled"


SPREAD = Method("spread", "features with a spread", (Spread(margin=0.3),))
HERE = "test_methods"


def spread_method() -> Method:
    return SPREAD


def failing_method() -> Method:
    raise ValueError("not\ntoday")


class Needy(Spread):
    """A loss that cannot be made."""

    def __init__(self, size: int) -> None:
        pass


class Nameless(Spread):
    """A loss whose name cannot be a setting."""

    name = "a.b"


class Nowhere(Spread):
    """A loss of a stream that there is not."""

    stream = "video"  # type: ignore[assignment]


class NoLoss:
    """Has what a loss has, and is none."""

    name = "no-loss"


NOTHING = Method("nothing", "", (3,))  # type: ignore[arg-type]
NO_TERMS = Method("nothing", "", 3)  # type: ignore[arg-type]
TWICE = Method("twice", "", (Spread(), Spread(margin=2)))


def test_any_number_of_any_term_can_be_set() -> None:
    changed = SPREAD.with_settings({"spread": 2.0}, {"spread": 0.7}, {"rounds": {"spread": 3.0}})
    assert changed.terms == (Spread(weight=2.0, margin=0.7, rounds=3),)
    assert isinstance(changed.terms[0].rounds, int)  # type: ignore[attr-defined]
    views = get_method("equiv+views").with_settings({}, {}, {"steps": {"views": 1}})
    assert views.terms[2] == ImaginedViews(steps=1)
    with pytest.raises(ConfigError, match=r"rounds\.spread must be a whole number, found 2\.5"):
        SPREAD.with_settings({}, {}, {"rounds": {"spread": 2.5}})
    for setting in ("loud", "stream", "height"):
        with pytest.raises(ConfigError, match=rf"{setting}\.spread is not known: spread has none"):
            SPREAD.with_settings({}, {}, {setting: {"spread": 1.0}})


@pytest.mark.parametrize(
    ("method", "setting", "value", "words"),
    [
        ("simclr", "temperature.view", 0.0, "above zero, found 0"),
        ("simclr", "hidden.view", 0, "above zero"),
        ("simclr", "projected.view", 1e9, "at most 8,192"),
        ("lewm", "directions.gaussian", -3, "above zero, found -3"),
        ("lewm", "directions.gaussian", 2.5, "whole number"),
        ("vicreg", "covariance.variance", -1.0, "above zero"),
        ("equiv+views", "steps.views", 0, "above zero"),
    ],
)
def test_numbers_with_which_a_loss_cannot_be_computed(method: str, setting: str, value: float, words: str) -> None:
    name, term = setting.split(".")
    with pytest.raises(ConfigError, match=rf"{setting} must be .*{words}"):
        get_method(method).with_settings({}, {}, {name: {term: value}})


def test_numbers_of_losses_may_be_zero_where_that_leaves_them_out() -> None:
    method = get_method("vicreg").with_settings({}, {}, {"covariance": {"variance": 0.0}})
    assert method.terms[1].covariance == 0  # type: ignore[attr-defined]


def test_the_losses_are_listed_under_their_names() -> None:
    assert list(LOSSES)[:5] == ["classification", "equivariance", "separation", "slowness", "views"]
    used = {term.name for method in METHODS.values() for term in method.terms}
    assert set(LOSSES) - used == {"null"}  # for sums, such as recording+motion+null
    assert used < set(LOSSES)
    assert all(term.name == name for name, term in LOSSES.items())


@pytest.mark.parametrize(
    ("name", "terms", "shown"),
    [
        (f"{HERE}:SPREAD", (Spread(margin=0.3),), "SPREAD"),
        (f"{HERE}:spread_method", (Spread(margin=0.3),), "spread_method"),
        (f"{HERE}:Spread", (Classification(), Spread()), "Spread"),
        (f"{HERE}:Labels", (Labels(),), "Labels"),
        ("separation", (Classification(), Separation()), "separation"),
        (f"equiv+{HERE}:Spread", (Classification(), Equivariance(), Spread()), "equiv+Spread"),
        (f"slowness+{HERE}:SPREAD", (Slowness(), Spread(margin=0.3)), "slowness+SPREAD"),
        ("equiv+drlim", PAPER["equiv+drlim"], "equiv+drlim"),
        ("drlim+equiv", (Classification(), Slowness(), Equivariance()), "drlim+equiv"),
    ],
)
def test_methods_and_sums_of_ones_own(name: str, terms: tuple[Term, ...], shown: str) -> None:
    assert get_method(name).terms == terms
    assert display_name(name) == shown


def test_a_loss_as_a_method_is_described_by_its_first_line() -> None:
    assert get_method(f"{HERE}:Spread").about == "Features have a spread."
    assert get_method("equiv+separation").about == "the sum of equiv and separation"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("equiv+drlm", "method 'drlm' is not known; choose one of random, .*; did you mean 'drlim'?"),
        ("equiv+", "method '' is not known"),
        ("equiv+equiv-narrow", "'equivariance' is in it twice, as Equivariance(weight=1.0, margin=1.0) and as"),
        (
            f"{HERE}:PAPER",
            "expected a Method, a function that returns one, or a loss (a Term or a class of terms), f",
        ),
        (f"{HERE}:Path", "is part of Python itself, or a module"),
        (f"{HERE}:failing_method", "test_methods.py line 142: ValueError: not today"),
        (f"{HERE}:Needy", "missing 1 required positional argument: 'size'"),
        (f"equiv+{HERE}:Needy", "loss test_methods:Needy: "),
        (f"{HERE}:Nameless", "loss Nameless: its name must be a word such as 'triplet'"),
        (
            f"{HERE}:Nowhere",
            "its stream must be one of labelled, motion, neighbour, clip, view, place, coming: 'video'",
        ),
        (f"{HERE}:NoLoss", "the class NoLoss is no loss: let it inherit from egoequiv.losses.Term"),
        (f"{HERE}:NOTHING", "expected terms that are egoequiv.losses.Term, found a int"),
        (f"{HERE}:NO_TERMS", "expected a tuple of terms, found a int"),
        (f"{HERE}:TWICE", "two of its terms have the name 'spread'"),
    ],
)
def test_what_is_no_method_is_one_line(name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words).replace(r"\.\*", ".*")) as caught:
        get_method(name)
    assert "\n" not in str(caught.value)


def test_names_of_methods_for_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a+b.py").touch()
    assert full_method_name("equiv+drlim") == "equiv+drlim"
    assert full_method_name("equiv+losses.py:Mine") == f"equiv+{tmp_path}/losses.py:Mine"
    assert full_method_name("a+b.py:Mine") == f"{tmp_path}/a+b.py:Mine"
    assert full_method_name(spread_method) == f"{HERE}:spread_method"
    assert full_method_name(Spread) == f"{HERE}:Spread"
    for thing in (SPREAD, Spread()):
        with pytest.raises(ConfigError, match="cannot be kept with a run: define it at the top level of a file"):
            full_method_name(thing)
