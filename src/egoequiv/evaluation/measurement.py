"""The one record of what was measured: of which weights, on which frames, by which task, with which settings.

It is kept in the folder of the run, under a key that changes with any of these, so that nothing is measured twice and
nothing stale is shown. Tables, reports and comparisons read measurements and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from egoequiv.blocks import Grid
from egoequiv.errors import DataError
from egoequiv.evaluation.metric import Value
from egoequiv.file_names import named_in_utf8
from egoequiv.files import replacing, write_text
from egoequiv.models.network import ALL

FOLDER = "measurements"  # in the folder of a run
KEY_LETTERS = 16
Arrays = Mapping[str, NDArray[Any]]


class Subject(BaseModel):
    """What decides the numbers of a measurement; the key is the digest of all of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    weights: str  # digest of the checkpoint
    data: str  # fingerprint of the stores
    frames: str  # which frames of them: how the run splits them, or all
    settings: dict[str, Any] = {}  # of the task
    code: str  # the version of the program, or the digest of a user's own task

    @property
    def key(self) -> str:
        plain = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return sha256(plain.encode()).hexdigest()[:KEY_LETTERS]


class Measurement(BaseModel):
    """What one task measured of one run.

    Args:
        subject: What was measured; its digest is the key.
        title: Of the task, as in a report; empty in records of earlier versions.
        about: One or two sentences on what the task measures.
        of_motion: Whether the task is about how features change with the motion, and so by default of their
            equivariant part.
        run: The name of the run's folder, for people.
        store: The name of the store, for people.
        checkpoint: Which weights of the run.
        split: How frames were divided.
        frames: How many frames were measured on.
        recordings: How many recordings these are of.
        motions: What identifies the motions that it is of: the names of mined patterns, a digest, the longest gap.
        leaked: How many of the frames have a training frame close by (`count_leaked`).
        near_copies: How many others look nearly the same as a training frame (`count_near_copies`); None if not known.
        values: The numbers; the first says which of two runs does better.
        tables: The same for people, with more detail.
        details: A JSON object with everything else.
        notes: What a reader has to know, one line each.
        problem: Why nothing could be measured, where nothing could.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["egoequiv-measurement"] = "egoequiv-measurement"
    version: Literal[1] = 1
    subject: Subject
    title: str = ""
    about: str = ""
    of_motion: bool = False
    run: str
    store: str
    checkpoint: str
    split: str
    frames: int
    recordings: int
    leaked: int | None = None
    near_copies: int | None = None
    motions: dict[str, Any] = {}
    values: list[Value] = []
    tables: list[Grid] = []
    details: dict[str, Any] = {}
    notes: list[str] = []
    problem: str | None = None
    array_names: list[str] = []
    _arrays: dict[str, NDArray[Any]] = PrivateAttr(default_factory=dict)

    @property
    def task(self) -> str:
        return self.subject.task

    @property
    def part(self) -> str:
        """The part of the features that was measured; `all` in records that do not say it."""
        return str(self.subject.settings.get("part", ALL))

    @property
    def arrays(self) -> Arrays:
        """What figures are drawn from, by name."""
        return self._arrays

    def with_arrays(self, arrays: Arrays) -> Measurement:
        """The same with what its figures are drawn from."""
        found = self.model_copy(update={"array_names": sorted(arrays)})
        found._arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        return found

    def value(self, name: str) -> Value | None:
        """The value of a metric, if it was measured."""
        return next((value for value in self.values if value.name == name), None)


def measurement_path(run: Path, subject: Subject) -> Path:
    """Where the measurement of a subject is kept."""
    slug = "".join(sign if sign.isalnum() or sign in "+-" else "-" for sign in Path(subject.task).name)
    return run / FOLDER / f"{slug}-{subject.key}.json"


def read_measurement(run: Path, subject: Subject) -> Measurement | None:
    """The kept measurement of a subject; None where there is none that is whole, because it can be measured again."""
    path = measurement_path(run, subject)
    try:
        found = Measurement.model_validate_json(path.read_bytes())
        if found.subject != subject:
            return None
        if found.array_names:
            with named_in_utf8(path.with_suffix(".safetensors")) as named:
                arrays = load_file(named)
            if sorted(arrays) != found.array_names:
                return None
            found._arrays = arrays
    except (OSError, ValidationError, SafetensorError, ValueError, RecursionError):
        return None
    return found


def write_measurement(run: Path, measurement: Measurement) -> None:
    """Keep a measurement; a run on a read-only disk can be measured, but nothing is kept."""
    path = measurement_path(run, measurement.subject)
    with suppress(DataError, OSError, SafetensorError):
        if measurement.array_names:  # first, so that a record never names arrays that are not there
            with replacing(path.with_suffix(".safetensors")) as temporary:
                save_file(dict(measurement.arrays), temporary)
        write_text(path, measurement.model_dump_json(indent=2) + "\n")
