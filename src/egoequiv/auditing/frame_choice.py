"""Which frames an audit measures: training frames of a run only with a note."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal, get_args

import numpy as np

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.pairs import closeness, count_leaked, count_near_copies, near_copies_in_words
from egoequiv.pairs.candidates import Indices
from egoequiv.plurals import plural
from egoequiv.store import FrameStore

FramesOf = Literal["auto", "validation", "all"]

# The difference between two numbers of one run that a reader may hold side by side.
UNLIKE_EVALUATE = (
    "`egoequiv evaluate` gives another rho of the same run: there the map is plain least squares, fitted on a "
    "random half of the validation pairs and measured on the other half; here the fit is regularised, and a {hold_out} "
    "is either fitted or measured, as far as there are enough"
)


def choose_frames(
    store: FrameStore, models: Sequence[AuditedModel], which: FramesOf, hold_out: str, max_gap_s: float
) -> tuple[Indices, list[str]]:
    """The rows that are measured, and what is to be known of them, a line each.

    With "auto", the validation frames of the runs that were trained on this store, if there are any, else all frames.
    """
    if which not in get_args(FramesOf):
        raise ConfigError(f"frames must be {', '.join(get_args(FramesOf))}, found {which!r}")
    splits = {model.name: model.split for model in models if model.split is not None}
    names = ", ".join(splits)
    if which == "validation" and not splits:
        raise ConfigError(
            f"--frames validation: none of these models is a run that was trained on {store.place}, so there are no "
            "validation frames; leave --frames out"
        )
    if not splits:
        return np.arange(len(store)), [f"frames: all {len(store):,} of {store.place}"]
    notes = [UNLIKE_EVALUATE.format(hold_out=hold_out)]
    if which == "all":
        seen = f"{names} was trained on frames of this store" if len(splits) == 1 else f"{names} were trained on them"
        return np.arange(len(store)), [f"frames: all {len(store):,}, training frames too: {seen}", *notes]
    frames: Indices = reduce(np.intersect1d, [split.validation for split in splits.values()])
    if not len(frames):
        raise DataError(f"{names} have no validation frame in common: audit them one by one, or with --frames all")
    said = f"frames: {plural(len(frames), 'validation frame')} of {names}, of {len(store):,} in the store"
    leaked = {name: count_leaked(store, split, max_gap_s) for name, split in splits.items()}
    notes += [
        f"leakage: {count:,} of {len(splits[name].validation):,} validation frames of {name} have "
        f"{closeness(splits[name].kind)} (split {splits[name].kind}){', so its rho may be too low' if count else ''}"
        for name, count in leaked.items()
    ]
    for name, split in splits.items():
        if copies := count_near_copies(store, split, max_gap_s):
            words = near_copies_in_words(copies, len(split.validation))
            notes.append(f"leakage of {name}: {words}, so its rho may be too low")
    return frames, [said, *notes]
