"""Validation frames that are named: `by-lighting:4,5`, or `by-toy:3+lighting:4,5`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore

BY = "by-"
RECORDING = "recording"


@dataclass(frozen=True)
class HeldOut:
    """Attributes and the values of them that are held out, in the order in which they are named."""

    kind: str  # as it was written
    values: tuple[tuple[str, tuple[str, ...]], ...]  # of each attribute

    @classmethod
    def parse(cls, kind: str) -> HeldOut | None:
        """What a kind of split names: `by-ATTRIBUTE:VALUE,VALUE`, and more attributes behind a plus; None without.

        Example:
            >>> HeldOut.parse("by-toy:3+lighting:4,5").values
            (('toy', ('3',)), ('lighting', ('4', '5')))

        """
        if not kind.startswith(BY) or ":" not in kind:
            return None
        each = []
        for part in kind.removeprefix(BY).split("+"):
            name, _, listed = part.partition(":")
            values = tuple(value.strip() for value in listed.split(","))
            if not name or not all(values):
                raise ConfigError(
                    f"split {kind!r}: expected by-ATTRIBUTE:VALUE,VALUE, and further attributes behind a plus, such "
                    "as by-lighting:4,5 or by-toy:3+lighting:4,5"
                )
            each.append((name, values))
        return cls(kind, tuple(each))

    @property
    def groups(self) -> str:
        """The kind of split that divides by the first attribute, with which a training part is divided once more."""
        return f"{BY}{self.values[0][0]}"

    def divide(self, store: FrameStore) -> tuple[Indices, Indices]:
        """Training and validation rows: those without the values of the first attribute, and those that have all.

        Frames that have only the first are in neither part.
        """
        has = [self._has(store, name, values) for name, values in self.values]
        train, validation = np.flatnonzero(~has[0]), np.flatnonzero(np.logical_and.reduce(has))
        if not len(train) or not len(validation):
            empty = "training" if not len(train) else "validation"
            raise DataError(f"split {self.kind!r} leaves no {empty} frames of {store.place}")
        return train, validation

    def _has(self, store: FrameStore, name: str, values: tuple[str, ...]) -> NDArray[np.bool_]:
        """Whether each frame has one of the values of an attribute, (N,)."""
        if name == RECORDING:
            codes, names = store.recording, tuple(store.recording_names)
        else:
            codes, names = store.classes(name)
        unknown = [value for value in values if value not in names]
        if unknown:
            known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise ConfigError(f"split {self.kind!r}: {store.place} has no {name} {unknown[0]!r}; it has {known}")
        has: NDArray[np.bool_] = np.isin(codes, [names.index(value) for value in values])
        return has
