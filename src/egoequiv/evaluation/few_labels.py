"""What few labels are worth: probes of frozen features, fitted on drawn training frames, asked of validation frames.

What is read is a class or a number. Either way the answers are scored frame by frame and draw by draw, so that means
over draws, intervals over recordings and tests follow in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.evaluation.findings import estimated
from egoequiv.evaluation.frame_features import fold_groups, groups_of
from egoequiv.evaluation.metric import Metric, Value
from egoequiv.evaluation.probes import LinearProbe, TrainingPart, scaler_of
from egoequiv.evaluation.statistics import GroupEstimate, group_mean, group_r2
from egoequiv.evaluation.votes import NeighbourVotes
from egoequiv.pairs import Split
from egoequiv.pairs.candidates import Indices, thinned
from egoequiv.store import FrameStore

Array = NDArray[np.float64]
Look = Callable[[Indices], NDArray[Any]]  # from store rows (M,) to features (M, D)
LINEAR, VOTERS = "linear", (5, 1)  # of k nearest neighbours
CHANCE = "chance"
PENALTY = 1.0  # C of the logistic regression, on standardised features; fixed, so that nothing is chosen
MOST = 10_000  # frames that the standardisation is computed from, and frames that are measured, at most


@dataclass(frozen=True)
class Reading:
    """One thing that a probe is asked: of how many labels, and by which probe."""

    name: str  # of the metric
    title: str
    labels: int
    probe: str
    is_detail: bool = False


Scores = Mapping[Reading, Array]  # (draws, V), of each draw of labels and each frame that is asked


@dataclass(frozen=True, eq=False)
class Asked:
    """The frames that probes are asked about, fitted on draws of labelled training frames."""

    store: FrameStore
    asked: Indices  # (V,) store rows, of validation

    @property
    def recordings(self) -> Indices:
        """The recording of each frame that is asked, (V,)."""
        found: Indices = groups_of(self.store, "recording")[self.asked]
        return found


@dataclass(frozen=True, eq=False)
class ClassTarget(Asked):
    """The class of a frame, from so many labels a class: scores are 1 for the right class and 0 for another."""

    known: Indices  # training frames, labelled or not, that features are standardised by
    classes: NDArray[np.int64]  # of every frame of the store
    class_names: tuple[str, ...]
    drawn: Mapping[int, tuple[Indices, ...]]  # by labels a class, the labelled frames of each draw

    def read(self, look: Look) -> Scores:
        """All draws; features are standardised by the training frames."""
        scaler = scaler_of(np.asarray(look(self.known), np.float64))
        asked = scaler.transform(np.asarray(look(self.asked), np.float64))
        found: dict[Reading, list[Array]] = {}
        for labels, draws in self.drawn.items():
            for rows in draws:
                labelled = scaler.transform(np.asarray(look(rows), np.float64))
                answers = class_answers(labelled, self.classes[rows], asked, len(self.class_names))
                for probe, answer in answers.items():
                    right = (answer == self.classes[self.asked]).astype(np.float64)
                    found.setdefault(self._reading(labels, probe), []).append(right)
        return {reading: np.stack(scores) for reading, scores in found.items()}

    def _reading(self, labels: int, probe: str) -> Reading:
        name = "probe" if probe == LINEAR else f"knn{probe.partition('-')[0]}"
        title = "probe" if probe == LINEAR else probe
        is_detail = probe == f"{VOTERS[-1]}-NN"
        return Reading(f"{name}_{labels}", f"{title}, {labels} labels %", labels, probe, is_detail)

    def figure(self, scores: Array) -> float:
        """The number that scores (draws, V) come to, or those of one draw, (1, V)."""
        return 100 * float(scores.mean())

    def value(self, reading: Reading, part: str, scores: Array, baselines: Mapping[str, Array]) -> Value:
        """The number with its interval over recordings, beside what baselines score; `part` is empty for all."""
        metric = _metric(reading, part, digits=2, is_percent=True, family="top")
        known = {CHANCE: 100 / len(self.class_names)}
        known |= {name: self.figure(one) for name, one in baselines.items()}
        return estimated(metric, group_mean(scores.mean(axis=0), self.recordings), self.recordings, baselines=known)

    def key(self) -> tuple[Any, ...]:
        """All that decides the scores but the features."""
        rows = [row for draws in self.drawn.values() for row in draws]
        return "classes", self.known, self.asked, self.classes, *rows


def class_answers(
    labelled: Array, classes: NDArray[np.int64], asked: Array, class_count: int
) -> dict[str, NDArray[np.int64]]:
    """The class that each probe says of frames, (V,), from labelled ones; (L, D), (L,), (V, D), all standardised.

    A logistic regression, and the k nearest by the cosine of the angle between features; among equal numbers of votes,
    the nearer voters win. A k larger than the number of labelled frames is left out.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    linear = LogisticRegression(C=PENALTY, max_iter=5_000).fit(labelled, classes)
    answers: dict[str, NDArray[np.int64]] = {LINEAR: linear.predict(asked)}
    own, others = (normalize(z).astype(np.float32) for z in (labelled, asked))  # the nearest by the cosine
    for k in VOTERS:
        if k <= len(own):
            answers[f"{k}-NN"] = NeighbourVotes(own, classes, class_count, k)(others).guess
    return answers


@dataclass(frozen=True, eq=False)
class NumberTarget(Asked):
    """A number of each frame, from so many labelled frames: scores are squared errors."""

    name: str
    numbers: Array  # of every frame of the store
    drawn: tuple[Indices, ...]  # the labelled frames of each draw
    seed: int

    def read(self, look: Look) -> Scores:
        """All draws, by ridge regression whose penalty is chosen among the labelled frames."""
        asked, errors = np.asarray(look(self.asked), np.float64), []
        for rows in self.drawn:
            probe = LinearProbe(TrainingPart(fold_groups(self.store, rows), self.seed))
            probe.fit(np.asarray(look(rows), np.float64), self.numbers[rows, None])
            errors.append((probe.predict(asked).reshape(-1) - self.numbers[self.asked]) ** 2)
        labels = len(self.drawn[0])
        title = f"R2 of {self.name}, {labels} labels"
        return {Reading(title, title, labels, LINEAR): np.stack(errors)}

    def figure(self, scores: Array) -> float:
        return self._estimate(scores).value

    def _estimate(self, scores: Array) -> GroupEstimate:
        """The mean R2 of the draws: they have the variance of the true numbers in common."""
        return group_r2(self.numbers[self.asked], scores.mean(axis=0), self.recordings)

    def value(self, reading: Reading, part: str, scores: Array, baselines: Mapping[str, Array]) -> Value:
        metric = _metric(reading, part, family="R2", within=(None, 1.0), baselines={"mean": 0.0})
        found = self._estimate(scores)
        known = {name: self.figure(one) for name, one in baselines.items()}
        note = "" if np.isfinite(found.value) else "the number never changes in the validation frames"
        return estimated(metric, found, self.recordings, baselines=known, note=note)

    def key(self) -> tuple[Any, ...]:
        return "numbers", self.asked, self.numbers, self.seed, *self.drawn


Target = ClassTarget | NumberTarget  # what is read from features


def _metric(reading: Reading, part: str, **more: Any) -> Metric:
    """The metric of a reading; of a part of the features beside all, it is a detail."""
    ending = f" ({part})" if part else ""
    is_detail = reading.is_detail or bool(part)
    return Metric(name=reading.name + ending, title=reading.title + ending, is_detail=is_detail, **more)


def some_validation(split: Split, has_label: NDArray[np.bool_], seed: int) -> Indices:
    """The validation frames that have a label, in order, at most so many."""
    return np.sort(thinned(split.validation[has_label[split.validation]], MOST, [seed, 0x9A]))


def some_training(split: Split, seed: int) -> Indices:
    """The training frames that features are standardised by, labelled or not, at most so many."""
    return np.sort(thinned(split.train, MOST, [seed, 0x9B]))
