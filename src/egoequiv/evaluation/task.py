"""What a task is: from a network and a store to numbers, tables and arrays for figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from egoequiv.blocks import Grid
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.features import OnProgress as OnProgress
from egoequiv.evaluation.features import embed, frozen_features
from egoequiv.evaluation.frame_features import FrameFeatures
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.metric import Value
from egoequiv.evaluation.traverses import Tolerance
from egoequiv.file_names import readable
from egoequiv.models import EgoNet
from egoequiv.models.network import ALL
from egoequiv.pairs import MinedPatterns, MotionPairs, MotionPatterns, Split, declare_patterns, find_motion_pairs
from egoequiv.pairs.candidates import Indices
from egoequiv.pose import MotionSpace
from egoequiv.store import FrameStore
from egoequiv.training.collapse import has_collapsed
from egoequiv.training.data import Recognition

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
AUTO = "auto"  # the part of the features that a task is meant for
# A random half of the pairs that are measured, as in the paper; pairs of training frames; or, by default, the first on
# a grid and the second in video, where nearly the same pairs would be in both halves.
FIT_ON = ("auto", "half", "training")


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


def counted(items: Collection[T], what: str, on_progress: OnProgress) -> Iterator[T]:
    """The items one after the other, with a report before each and at the end."""
    for done, item in enumerate(items):
        on_progress(what, done, len(items))
        yield item
    if items:
        on_progress(what, len(items), len(items))


@dataclass(frozen=True, eq=False)
class TaskData:
    """What all tasks look at: a network, the frames of a store, and which of them it was trained on.

    Args:
        net: The trained network.
        store: The frames.
        split: Which of them the network was trained on, and which are measured.
        patterns: The motions to measure; None where poses are unknown.
        untrained: The same network before training, as a baseline; None where it is not known.
        recognition: The labelled task of the run, perhaps on another store; None without labels.
        learned: The names of the patterns that the network has maps for.
        max_gap_s: Motion pairs are at most this far apart.
        neighbour_gap_s: Neighbours are at most this far apart.
        label_column: Which attribute is the class.
        labelled: The rows of the labelled store that the network learned from; None: all labelled training frames.
        shared: What was computed of these frames for other runs, by key; see `once`.
        part: The part of the features that is measured, by the name it has in the network; see `of_part`.
        whole: The same data with all features, where this is of a part.
        collapsed: The parts of the features that collapsed in training, by name.
    """

    net: EgoNet
    store: FrameStore
    split: Split
    patterns: MotionPatterns | None
    untrained: EgoNet | None = None
    recognition: Recognition | None = None
    learned: tuple[str, ...] = ()
    max_gap_s: float = 1.0
    neighbour_gap_s: float = 2.0
    label_column: str = "label"
    labelled: Indices | None = None
    shared: MutableMapping[tuple[Any, ...], Any] = field(default_factory=dict)
    part: str = ALL
    whole: TaskData | None = None
    collapsed: tuple[str, ...] = ()

    def has_collapsed(self, part: str) -> bool:
        """Whether a part of the features has collapsed; all features have where each of their parts has."""
        return has_collapsed(part, self.collapsed, self.net.spec.parts)

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Features of every frame of the store, (N, D), in its order; computed once for all tasks and all parts."""
        every = embed(self.net, self.store) if self.whole is None else self.whole.features
        return every if self.part == ALL else every[:, self.net.part(self.part)]

    @cached_property
    def untrained_features(self) -> NDArray[np.float32] | None:
        """The same by the network before training."""
        if self.whole is not None:
            every = self.whole.untrained_features
        else:
            every = None if self.untrained is None else self._embed_untrained(self.untrained)
        return every if self.part == ALL or every is None else every[:, self.net.part(self.part)]

    def _embed_untrained(self, net: EgoNet) -> NDArray[np.float32]:
        """Methods of one seed begin with one encoder, so that their runs share this."""
        spec, first = net.spec, [net.input_mean, net.input_std, *net.encoder.state_dict().values()]
        known = (spec.encoder, spec.encoder_settings, spec.parts, spec.normalisation, net.precision)
        weights = [array.float().numpy(force=True) for array in first]
        return self.once(("untrained features", *known, *weights), lambda: embed(net, self.store))

    @cached_property
    def frozen_features(self) -> NDArray[np.float32] | None:
        """The features of the backbone without the head, of every frame; None where there is no backbone."""
        return self.whole.frozen_features if self.whole is not None else frozen_features(self.net, self.store)

    def of_part(self, part: str) -> TaskData:
        """The same frames with one part of the features, from those of all that are computed once.

        Args:
            part: of the network, such as `equivariant`; `all` for every feature. An unknown one is an error.
        """
        if part == self.part:
            return self
        self.net.part(part)
        whole = self.whole or (self if self.part == ALL else replace(self, part=ALL))
        return whole if part == ALL else replace(whole, part=part, whole=whole)

    def look(self, frames: Indices) -> FrameFeatures:
        """The features of some frames (store rows)."""
        return FrameFeatures(self.store, frames, self.features[frames])

    def look_untrained(self, frames: Indices) -> FrameFeatures | None:
        """The same by the network before training."""
        before = self.untrained_features
        return None if before is None else FrameFeatures(self.store, frames, before[frames])

    @cached_property
    def validation(self) -> FrameFeatures:
        """The features of the validation frames."""
        return self.look(self.split.validation)

    def named_patterns(self, motions: Sequence[str] | MotionPatterns | None) -> MotionPatterns:
        """The motions of these names, or all that are measured; an error where none are known."""
        if isinstance(motions, MotionPatterns):
            return motions
        if self.patterns is None:
            raise DataError(
                f"{self.store.place}: no motions are known without poses and times: ingest frames that have them"
            )
        if motions is None:
            return self.patterns
        if isinstance(self.patterns, MinedPatterns):
            return self.patterns.only(motions)
        return declare_patterns(self.store.space, motions)

    @property
    def motions(self) -> dict[str, Any]:
        """What identifies the motions to measure: equal for runs whose numbers are of the same motions."""
        if self.patterns is None:
            return {}
        mined = self.patterns if isinstance(self.patterns, MinedPatterns) else None
        found = {"gap_s": self.max_gap_s} if self.store.times_s is not None else {}
        what = self.patterns.space.describe() if mined is None else mined.describe()
        return {"mined": [] if mined is None else list(mined.names), "digest": digest(what), **found}

    def pairs(
        self, frames: Indices | None = None, patterns: Sequence[str] | MotionPatterns | None = None
    ) -> MotionPairs:
        """All pairs of some frames that motions relate; found once for all tasks and all runs on these frames.

        Args:
            frames: Store rows; by default the validation frames.
            patterns: The motions, or their names; by default those of the run.
        """
        frames = self.split.validation if frames is None else frames
        named = self.named_patterns(patterns)
        parts = (value for _, value in sorted(vars(named).items()))
        return self.once(
            ("motion pairs", frames, self.max_gap_s, *parts),
            lambda: find_motion_pairs(self.store, frames, named, self.max_gap_s),
        )

    def classes(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """The class of every frame, -1 for none, and the names; an error where the store has no labels."""
        return self.store.classes(self.label_column)

    def once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What depends on the frames alone, not on the network: computed for the first run, shared with the others.

        The key is what it is, in words, and all that decides it but the store: arrays, plain values, motion spaces.
        """
        whole = (key[0], digest(str(self.store.path), self.store.space, *key[1:]))
        if whole not in self.shared:
            self.shared[whole] = make()
        return cast(T, self.shared[whole])


def digest(*parts: Any) -> str:
    """Short text that differs where arrays, plain values or motion spaces differ."""

    def plain(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return part.tobytes(), part.shape
        return part.describe() if isinstance(part, MotionSpace) else part

    return sha256(repr([plain(part) for part in parts]).encode()).hexdigest()[:16]


def _as_json(value: object) -> object:
    if isinstance(value, str):
        return readable(value)  # the place of a store may be any bytes
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class TaskOptions:
    """What a user may set; each task lists the options that concern it."""

    motions: tuple[str, ...] | None = None  # by name; None: the task's own choice
    steps: int | None = None  # further views of next-view (1 by default), steps of a chain of composition (5)
    neighbours: int = 25  # k of nearest neighbours
    hold_out: str = "recording"  # never both fitted and measured: recording, label, or an attribute
    seed: int = 0
    part: str = AUTO  # of the features; data are cut to it before a task sees them; auto: as the task is meant
    fit_on: str = "auto"  # what the maps behind rho are fitted on, see FIT_ON

    label_column: str | None = None  # of probe: a class or a number of each frame; None: what the run learned
    per_class: tuple[int, ...] = (6, 20)  # of probe: labels of each class
    labelled_frames: int = 200  # of probe: labels of a number
    draws: int = 5  # of probe: how often labels are drawn

    reference: str | None = None  # of places: the traverse that is searched, a recording or the place of a store
    query: str | None = None  # of places: the traverse whose places are looked for
    tolerance: str | None = None  # of places: how far a match may be off, such as 2 (frames) or 5m
    truth: str | None = None  # of places: a table that says which frames show one place
    revisit_s: float = 30.0  # of places: how much earlier a place of one drive was seen, where there is no query

    def __post_init__(self) -> None:
        least = min((*self.per_class, self.labelled_frames, self.draws), default=0)
        if least < 1 or not self.per_class:
            raise ConfigError(f"labels and draws of a probe must be 1 or more, found {least}")
        if self.fit_on not in FIT_ON:
            raise ConfigError(f"--fit-on {self.fit_on}: expected one of {', '.join(FIT_ON)}")
        if self.tolerance is not None:
            Tolerance.parse(self.tolerance)
        if not 0 <= self.revisit_s < inf:
            raise ConfigError(f"--revisit must be a number of seconds, 0 or more, found {self.revisit_s:g}")

    def only(self, names: Sequence[str]) -> dict[str, Any]:
        """The options of these names, as JSON holds them."""
        return {name: _as_json(getattr(self, name)) for name in names}


@dataclass(frozen=True, eq=False)
class Finding:
    """What a task found.

    Args:
        values: The numbers; the first says which of two runs does better.
        tables: The same for people, with more detail.
        details: A JSON object with everything else.
        arrays: What its figures are drawn from.
        notes: What a reader has to know, one line each.
        measured_on: The labelled task whose frames were measured; None for the validation frames of the store.
        frames: The store and the rows that were measured, where they are not a part of the split.
    """

    values: Sequence[Value]
    tables: Sequence[Grid] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    measured_on: Recognition | None = None
    frames: tuple[FrameStore, Indices] | None = None


Measure = Callable[[TaskData, TaskOptions, OnProgress], Finding]
Draw = Callable[[Measurement], Mapping[str, "Figure"]]  # figures by the names of their files


@dataclass(frozen=True)
class Task:
    """A task: what it is called, what it measures, and the function that does it.

    Args:
        name: As on the command line.
        title: As in a report.
        about: One or two sentences on what is measured.
        measure: The function.
        options: The names of the `TaskOptions` that concern it, beside the part of the features, which concerns all;
            others do not change its key.
        draw: Its figures, from a measurement alone; None where it has none, or `report` has them.
        of_motion: Whether it is about how features change with the motion: it then measures the equivariant part of
            the features, where there is one and no other is named.
    """

    name: str
    title: str
    about: str
    measure: Measure
    options: tuple[str, ...] = ()
    draw: Draw | None = None
    of_motion: bool = False
    code: str = ""  # the digest of a task that is not part of the program; part of the key of its measurements
