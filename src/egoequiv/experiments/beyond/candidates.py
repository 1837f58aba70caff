"""The rows of the tables: methods with their settings, each under its own name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.experiments import driving, norb
from egoequiv.experiments.beyond.worlds import World
from egoequiv.experiments.options import Settings
from egoequiv.methods import MODERN, get_method
from egoequiv.models import get_encoder

Labels = Literal["no", "few", "all"]
FEW_LABELS = 6  # a class
WINNER, NO_MAPS = "recording+motion", "recording"
PAPER = ("clsnet", "temporal", "drlim", "equiv", "equiv+drlim")
RIVALS = ("simclr", "vicreg", "moving", "sie", "lewm")
DENSE_ITERATIONS, CONV_ITERATIONS = 15_000, 2_000  # of the paper's two networks
UNTRAINED: Settings = {"iterations": 0, "normalise": "image"}


@dataclass(frozen=True)
class Candidate:
    """A row: a method, what its runs have otherwise than the method's defaults, and which labels they learn from."""

    name: str
    method: str
    settings: Settings = field(default_factory=dict)
    labels: Labels = "no"
    is_papers: bool = False  # with the paper's network and the settings that were chosen for it

    def lacks(self) -> str | None:
        """Why it cannot be trained with what is installed; None where it can."""
        try:
            get_method(self.method)
            if "encoder" in self.settings:
                get_encoder(self.settings["encoder"])
        except EgoEquivError as problem:
            return str(problem)
        return None

    def labels_in(self, world: World) -> Labels | None:
        """Which labels it learns from there: where there are no classes none; None where nothing would be left."""
        if world.has_classes or self.labels == "no":
            return self.labels
        return "no" if get_method(self.method).without_labels().terms else None

    def settings_in(self, world: World) -> Settings:
        """Its settings on the frames of a world."""
        if not self.is_papers:
            return dict(self.settings)
        recipe, encoder, iterations = (
            (norb, "norb", DENSE_ITERATIONS) if world.is_grid else (driving, "kitti", CONV_ITERATIONS)
        )
        chosen: Settings = dict(recipe.CHOSEN[self.method, True])
        if "weight" in chosen and self.labels_in(world) == "no":
            del chosen["weight"]  # they were chosen beside the loss of the labels
        return {"encoder": encoder, "iterations": iterations, **chosen, **self.settings}


def _all() -> list[Candidate]:
    modern: dict[str, Any] = dict(MODERN)
    return [
        Candidate("pixels", "random", {**UNTRAINED, "encoder": "pixels"}),
        Candidate("untrained", "random", {**UNTRAINED, "encoder": modern["encoder"]}),
        Candidate(WINNER, WINNER),
        Candidate(NO_MAPS, NO_MAPS),
        Candidate("motion", "motion"),
        *(Candidate(name, name) for name in RIVALS),
        Candidate("efficientnet-lite0", "random", {**UNTRAINED, "encoder": "efficientnet-lite0"}),
        Candidate(f"{WINNER}, labels", WINNER, labels="few"),
        *(Candidate(name, name, labels="few", is_papers=True) for name in PAPER),
        *(Candidate(f"{name}, residual", name, modern, labels="few") for name in PAPER),
        Candidate("all labels", "clsnet", modern, labels="all"),
    ]


CANDIDATES: dict[str, Candidate] = {one.name: one for one in _all()}
QUICK = ("pixels", "untrained", WINNER, NO_MAPS, "motion", f"{WINNER}, labels", "equiv, residual")


def choose_candidates(names: Sequence[str] | None, *, quick: bool) -> tuple[list[Candidate], list[str]]:
    """The rows of these names, in their own order, and a line on each that cannot be trained.

    A name stands for all rows of its method too: `equiv` for both networks.
    """
    usual = QUICK if quick else tuple(CANDIDATES)
    known = dict.fromkeys([*CANDIDATES, *(one.method for one in CANDIDATES.values())])
    if unknown := [name for name in names or () if name not in known]:
        raise ConfigError(f"method {unknown[0]!r} is not in this table; choose from {', '.join(known)}")
    wanted = [
        one for one in CANDIDATES.values() if (one.name in usual if names is None else {one.name, one.method} & {*names})
    ]
    reasons = {one.name: one.lacks() for one in wanted}
    notes = [f"method {name} is left out: {reason}" for name, reason in reasons.items() if reason is not None]
    chosen = [one for one in wanted if reasons[one.name] is None]
    if not chosen:
        raise ConfigError(f"no method is left: {'; '.join(notes)}")
    return chosen, notes
