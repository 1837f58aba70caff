"""Next-best view: which move would best show what is seen (Sec. 4.4 of the paper, and its supplement)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError, TooFewPairsError
from egoequiv.evaluation.chains import find_chains
from egoequiv.evaluation.equivariance import apply_map, fit_map
from egoequiv.evaluation.features import embed
from egoequiv.evaluation.votes import Matrix, NeighbourVotes, Votes
from egoequiv.models import EgoNet, load_model
from egoequiv.models.network import ALL
from egoequiv.pairs import MotionPairs, MotionPatterns, declare_patterns, find_motion_pairs, make_split
from egoequiv.pairs.candidates import Indices
from egoequiv.pairs.mining import Mining
from egoequiv.pose import MotionSpace
from egoequiv.store import FrameStore

NEIGHBOURS = 25
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Suggestion:
    """A move, and how uncertain the class is expected to be after it."""

    move: str
    uncertainty_bits: float  # the entropy of the votes on the pair of this view and the predicted one
    guess: str  # the class expected then


@dataclass(frozen=True)
class Guess:
    """What the views so far are taken for."""

    guess: str
    uncertainty_bits: float
    votes: dict[str, int]  # of the nearest neighbours, most first; classes without a vote are left out


class NextViewSelector:
    """Ranks moves by how certain the class is expected to be after each of them.

    For each move g there is a classifier C_g of pairs: the k training pairs (x, gx) nearest to [z(x), z(gx)] vote.
    Before moving, z(gx) is predicted by the map of g, and the best move is the one whose votes have the least entropy.
    After moving, C_g looks at the real pair. With more views, pairs become tuples.
    """

    def __init__(
        self,
        features: Matrix,
        classes: NDArray[np.int64],
        class_names: Sequence[str],
        frames: Indices,
        pairs: MotionPairs,
        *,
        k: int = NEIGHBOURS,
        net: EgoNet | None = None,
        part: str = ALL,
    ) -> None:
        """Take features (N, D) and classes (N,) of a store, its training frames and the pairs among them.

        With a network, `part` is the part of its features that these are, and that new images get.
        """
        self.features, self.class_names, self.k = features, tuple(class_names), k
        self.moves = pairs.names
        self._net, self._part = net, part
        self._classes = classes
        self._pairs = pairs.take(classes[pairs.i] >= 0)
        known = frames[classes[frames] >= 0]
        if len(known) < k:
            raise DataError(f"{len(known)} training frames with a label are fewer than the {k} neighbours that vote")
        # Those of no move and of one are kept; longer sequences are many, and each is needed rarely.
        self._classifiers: dict[tuple[str, ...], NeighbourVotes | None] = {(): self._classifier(known[:, None])}
        self._maps = {}
        for move in self.moves:
            own = self._pairs.of(move)
            if len(own) < k:
                raise TooFewPairsError(
                    f"motion {move!r}: {len(own)} training pairs with a label are fewer than the {k} neighbours that "
                    "vote: take more frames or fewer neighbours, or leave this motion out"
                )
            self._maps[move] = fit_map(features[own.i], features[own.j])
            self._classifiers[move,] = self._classifier(find_chains(self._pairs, (move,)))

    @classmethod
    def fit(
        cls,
        model: EgoNet | str | Path,
        store: FrameStore | str | Path,
        frames: Indices | None = None,
        motions: Sequence[str] | MotionPatterns | Mining | None = None,
        *,
        k: int = NEIGHBOURS,
        max_gap_s: float = 1.0,
        label_column: str = "label",
        features: Matrix | None = None,
        part: str = ALL,
    ) -> NextViewSelector:
        """Fit on training frames of a labelled store (by default those of `make_split`).

        The moves are names of motions, or patterns (such as `mine_patterns` finds), by default `default_moves`;
        features of the whole store are computed unless given, all of them or the part of this name. Model and store
        may be given by the folders they are in.
        """
        if k < 1:
            raise ConfigError(f"the number of neighbours must be at least 1, found {k}")
        store = store if isinstance(store, FrameStore) else FrameStore.open(store)
        model = model if isinstance(model, EgoNet) else load_model(model)
        classes, class_names = store.classes(label_column)
        named = motions.patterns if isinstance(motions, Mining) else motions
        patterns = named if isinstance(named, MotionPatterns) else declare_moves(store, named)
        rows = make_split(store).train if frames is None else frames
        return cls(
            embed(model, store, part=part) if features is None else features,
            classes,
            class_names,
            rows,
            find_motion_pairs(store, rows, patterns, max_gap_s),
            k=k,
            net=model,
            part=part,
        )

    def suggest(self, image: Image, then: Sequence[tuple[str, Image]] = ()) -> list[Suggestion]:
        """All moves, the most promising first, from a uint8 image (H, W, C), or from the last of several.

        `then` are the moves made since, each with the image seen after it. Among equally promising moves the one named
        first comes first.
        """
        made, views = self._encode(image, then)
        return self.suggest_after(views, made)

    def suggest_after(self, views: Matrix, made: tuple[str, ...] = ()) -> list[Suggestion]:
        """The same from the features of the views so far, (len(made) + 1, D), with the moves between them."""
        suggestions = []
        for move in self.moves:
            tuples = np.concatenate([views, self.predict(views[-1:], move)])
            votes = self.look(tuples[None], (*made, move))
            if votes is not None:
                guess = self.class_names[votes.guess[0]]
                suggestions.append(Suggestion(move, float(votes.uncertainty_bits[0]), guess))
        return sorted(suggestions, key=lambda suggestion: suggestion.uncertainty_bits)

    def classify(self, image: Image, then: Sequence[tuple[str, Image]] = ()) -> Guess:
        """The class of what is seen in an image, or in several with the moves between them."""
        made, views = self._encode(image, then)
        return self.classify_after(views, made)

    def classify_after(self, views: Matrix, made: tuple[str, ...] = ()) -> Guess:
        """The same from the features of the views, (len(made) + 1, D), with the moves between them."""
        votes = self.look(views[None], made)
        if votes is None:
            raise TooFewPairsError(
                f"{', '.join(made)}: fewer than {self.k} training frames can be followed so: make fewer moves, or take "
                "fewer neighbours"
            )
        counts = {self.class_names[c]: int(votes.counts[0, c]) for c in np.argsort(-votes.counts[0], kind="stable")}
        return Guess(
            self.class_names[votes.guess[0]],
            float(votes.uncertainty_bits[0]),
            {name: count for name, count in counts.items() if count},
        )

    def predict(self, features: Matrix, move: str) -> Matrix:
        """The features after a move, M_g z(x) by the map from x to gx; (Q, D)."""
        return apply_map(self._maps[move], features).astype(np.float32)

    def look(self, views: Matrix, made: tuple[str, ...]) -> Votes | None:
        """Votes on tuples of views with the moves between them; None where fewer than k training tuples are like them.

        views: (Q, len(made) + 1, D).
        """
        kept = made in self._classifiers
        classifier = self._classifiers[made] if kept else self._classifier(find_chains(self._pairs, made))
        return None if classifier is None else classifier(views.reshape(len(views), -1))

    def look_once(self, features: Matrix, made: tuple[str, ...]) -> Votes | None:
        """Votes on single views (Q, D) by those training frames alone from which these moves lead on."""
        if not made:
            return self.look(features[:, None], ())
        classifier = self._classifier(np.unique(find_chains(self._pairs, made)[:, :1], axis=0))
        return None if classifier is None else classifier(features)

    @property
    def training_pairs(self) -> dict[str, int]:
        """How many training pairs each move has."""
        return self._pairs.counts()

    def _classifier(self, chains: Indices) -> NeighbourVotes | None:
        if len(chains) < self.k:
            return None
        vectors = self.features[chains].reshape(len(chains), -1)
        return NeighbourVotes(vectors, self._classes[chains[:, 0]], len(self.class_names), self.k)

    def _encode(self, image: Image, then: Sequence[tuple[str, Image]]) -> tuple[tuple[str, ...], Matrix]:
        if self._net is None:
            raise ConfigError("this selector was made without a network: make it with NextViewSelector.fit")
        for move, _ in then:
            if move not in self.moves:
                raise ConfigError(f"move {move!r} is not known here; choose from {', '.join(self.moves)}")
        seen = (image, *(after for _, after in then))
        views = [embed(self._net, np.asarray(one)[None], part=self._part) for one in seen]
        return tuple(move for move, _ in then), np.concatenate(views)


def declare_moves(store: FrameStore, motions: Sequence[str] | None) -> MotionPatterns:
    """The moves of these names, or the default ones of the store's motion space."""
    if not store.space.axes:
        raise DataError(f"{store.path} has no poses, so no motions to choose from: ingest frames with poses")
    if not store.space.named_motions():
        raise ConfigError(
            f"{store.place}: motions have no names here as on a grid: mine patterns of them, and give these, as in "
            "motions=mine_patterns(store)"
        )
    return declare_patterns(store.space, default_moves(store.space) if motions is None else motions)


def default_moves(space: MotionSpace) -> tuple[str, ...]:
    """On a grid of two axes the paper's choices (up, down, up+right, up+left); on others one step along each axis."""
    names = tuple(space.named_motions())
    if len(names) == 4:
        plus_a, minus_a, plus_b, minus_b = names
        return plus_a, minus_a, f"{plus_a}+{plus_b}", f"{plus_a}+{minus_b}"
    return names
