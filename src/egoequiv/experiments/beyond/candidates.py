"""The rows of the tables: methods with their settings, each under its own name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.experiments import driving, norb
from egoequiv.experiments.beyond.worlds import World
from egoequiv.experiments.options import Settings
from egoequiv.method_names import get_method, list_methods
from egoequiv.methods import DEFAULT, MODERN, ON_BACKBONE
from egoequiv.models.encoders import DOOR, build_encoder
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.pretrained import NAME as LITE

Labels = Literal["no", "few", "all"]
FEW_LABELS = 6  # a class
WINNER, NO_MAPS = DEFAULT, "recording"
PAPER = ("clsnet", "temporal", "drlim", "equiv", "equiv+drlim")
RIVALS = ("simclr", "vicreg", "moving", "sie", "lewm")
DENSE_ITERATIONS, CONV_ITERATIONS = 15_000, 2_000  # of the paper's two networks
# Weights of the losses beside the labels. That of equiv was tried on scenes that no table reports, the others were not.
JOINT: dict[str, dict[str, float]] = {
    "clsnet": {},
    NO_MAPS: {"recording": 0.1},
    "motion": {"motion": 0.1, "relative": 0.3},
    WINNER: {"recording": 0.1, "motion": 0.1, "relative": 0.3},
    "equiv": {"equivariance": 1.0},
}
# Of training with few labels: without these changes their images are soon known by heart.
JOINT_SETTINGS: Settings = {"augment_labelled": "shift+mirror", "batch_size": 48, "iterations": 300}
# Chosen on small NORB; the default of `train` is lower, because logs are learned from too.
ON_GRIDS: Settings = {"weight": {"relative": 10.0}}
# Of the residual encoder: its last two stages are there once for each half of the features.
OWN_STAGES: Settings = {"own_stages": 2}
# For walks to a goal in another light; chosen on lightings 0 to 3 of small NORB.
FAR: Settings = {
    "motions": (
        *("up", "right", "up+up", "right+right", "up+up+right+right", "up+up+left+left"),
        *("+".join(["up"] * 4), "+".join(["up"] * 6)),
        *("+".join(["right"] * steps) for steps in (3, 6, 9)),
        *("+".join(["up"] * 4 + [side] * 4) for side in ("right", "left")),
    ),
    "augment": "strong-light",
    "weight": {"relative": 1.0},
    "encoder_settings": {"feature_dim": 256},
}
SMALL = (32, 32, 1)  # images with which an encoder is tried


@dataclass(frozen=True)
class Candidate:
    """A row: a method, what its runs have otherwise than the method's defaults, and which labels they learn from."""

    name: str
    method: str
    settings: Settings = field(default_factory=dict)
    labels: Labels = "no"
    on: Literal["all", "grids", "video"] = "all"  # the settings that it is for
    is_papers: bool = False  # with the paper's network and the settings that were chosen for it

    def lacks(self) -> str | None:
        """Why it cannot be trained with what is installed; None where it can."""
        encoder = self.settings.get("encoder")
        if self.method not in list_methods():
            return "there is no such method here"
        if encoder is not None and encoder not in DOOR.names():
            return f"there is no encoder {encoder} here"
        try:
            if encoder is not None:
                build_encoder(encoder, SMALL, {})
        except EgoEquivError as problem:  # a package that is not installed
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
        Candidate("pixels", "random", {"iterations": 0, "encoder": "pixels"}),
        Candidate("untrained", "random", {"iterations": 0, "encoder": "residual", "normalise": "image"}),
        Candidate(WINNER, WINNER, ON_GRIDS),
        Candidate(NO_MAPS, NO_MAPS),
        Candidate(f"{WINNER}-own-stages", WINNER, {**ON_GRIDS, "encoder_settings": OWN_STAGES}),
        Candidate(f"{NO_MAPS}-own-stages", NO_MAPS, {"encoder_settings": OWN_STAGES}),
        Candidate(f"{WINNER}-far", WINNER, FAR, on="grids"),
        Candidate(f"{WINNER}-far-across", WINNER, {**FAR, "pairs_across": "toy"}, on="grids"),
        Candidate("motion", "motion", ON_GRIDS),
        *(Candidate(name, name) for name in RIVALS),
        Candidate(f"{LITE}-head", ON_BACKBONE, {"encoder": BACKBONE}, on="video"),
        Candidate(LITE, "random", {"iterations": 0, "encoder": LITE}),
        Candidate(f"{WINNER}-labels", WINNER, ON_GRIDS, labels="few"),
        *(Candidate(name, name, labels="few", is_papers=True) for name in PAPER),
        *(Candidate(f"{name}-residual", name, modern, labels="few") for name in PAPER),
        *(
            Candidate(f"{name}-joint", name, modern | JOINT_SETTINGS | {"weight": dict(weights)}, labels="few")
            for name, weights in JOINT.items()
        ),
        Candidate("supervised", "supervised", labels="all"),
    ]


CANDIDATES: dict[str, Candidate] = {one.name: one for one in _all()}
QUICK = ("pixels", "untrained", WINNER, NO_MAPS, "motion", f"{WINNER}-labels", "equiv-residual")


def choose_candidates(names: Sequence[str] | None, *, quick: bool) -> tuple[list[Candidate], list[str]]:
    """The rows of these names, in the order of the table, and a line on each that cannot be trained."""
    if unknown := [name for name in names or () if name not in CANDIDATES]:
        raise ConfigError(f"method {unknown[0]!r} is not in this table; choose from {', '.join(CANDIDATES)}")
    asked = names if names is not None else QUICK if quick else tuple(CANDIDATES)
    wanted = [one for one in CANDIDATES.values() if one.name in asked]
    reasons = {one.name: one.lacks() for one in wanted}
    notes = [f"method {name} is left out: {reason}" for name, reason in reasons.items() if reason is not None]
    chosen = [one for one in wanted if reasons[one.name] is None]
    if not chosen:
        raise ConfigError(f"no method is left: {'; '.join(notes)}")
    return chosen, notes
