"""A source checked before its first frame is decoded: what a user's code left out or got wrong is one line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

import numpy as np

from egoequiv.errors import DataError
from egoequiv.file_names import readable
from egoequiv.names import what_is
from egoequiv.pose.camera import Lens
from egoequiv.sources.recording import Recording, Source
from egoequiv.user_code import is_built_in, user_code

# What every recording has, and what to write where there is none of it.
FIELDS = {"name": "a name", "poses": "an array (N, P)", "times_s": "None", "labels": "None", "attributes": "{}"}


def check_source(source: Source) -> None:
    """Check all that can be checked without decoding a frame.

    Args:
        source: What is to be ingested. A recording of a user may have anything in the place of what it should have.

    """
    what = f"source {source.name!r}"
    if not isinstance(source.recordings, Sequence):
        raise DataError(f"{what}: expected a list of recordings, found {what_is(source.recordings)}")
    with nullcontext() if all(map(is_built_in, source.recordings)) else user_code(what):
        for recording in source.recordings:
            _check_kinds(what, recording)
        if not source.frame_count:
            raise DataError(f"{what} has no frames")
        _check_columns(what, source)
        _check_recordings(what, source)
        _check_settings(what, source)


def _check_kinds(what: str, recording: object) -> None:
    """Every part of a recording is there, and of the kind that it should be."""
    if not isinstance(recording, Recording):
        raise DataError(f"{what}: expected recordings that are egoequiv.Recording, found {what_is(recording)}")
    for name, instead in FIELDS.items():
        if not hasattr(recording, name):
            shown = getattr(recording, "name", type(recording).__name__)
            raise DataError(f"{what}, recording {shown!r} has no {name!r}: give it {name} = {instead}")
    if not isinstance(recording.name, str):
        raise DataError(f"{what}: the name of a recording must be text, found {recording.name!r}")
    what = f"{what}, recording {recording.name!r}"
    for name, wanted in (("poses", "an array (N, P) of numbers"), ("times_s", "seconds (N,) or None")):
        value = getattr(recording, name)
        if not (name == "times_s" and value is None) and np.asarray(value).dtype.kind not in "fiu":
            raise DataError(f"{what}: expected {name} to be {wanted}, found {np.asarray(value).dtype}")
    if not (recording.lens is None or isinstance(recording.lens, Lens)):
        raise DataError(
            f"{what}: expected lens to be egoequiv.pose.camera.Lens or None, found {what_is(recording.lens)}"
        )
    _check_texts(what, recording)


def _check_texts(what: str, recording: Recording) -> None:
    """Labels and attributes are text."""
    labels = recording.labels
    if isinstance(labels, str) or not (labels is None or hasattr(labels, "__len__")):
        raise DataError(f"{what}: expected a list of labels or None, found {what_is(labels)}")
    for frame, label in enumerate(() if labels is None else labels):
        if label is not None and not isinstance(label, str):
            raise DataError(f"{what}, frame {frame}: a label must be text or None, found {label!r}: use str({label!r})")
    if not isinstance(recording.attributes, Mapping):
        raise DataError(f"{what}: expected a dict of attributes, found {what_is(recording.attributes)}")
    for key, value in recording.attributes.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise DataError(f"{what}: names and values of attributes must be text, found {key!r}: {value!r}")


def _check_columns(what: str, source: Source) -> None:
    for name in source.space.pose_names:
        if name not in source.pose_columns:
            have = ", ".join(source.pose_columns) or "none"
            raise DataError(f"{what}: its space reads the pose column {name!r}; its columns are: {have}")


def _check_recordings(what: str, source: Source) -> None:
    """Names are distinct, numbers are finite, and there are as many of everything as there are frames."""
    seen: set[str] = set()
    row = 0
    for recording in source.recordings:
        if (name := readable(recording.name)) in seen:
            raise DataError(f"{what} has two recordings of the name {name!r}")
        seen.add(name)
        for kind, values in (("times", recording.times_s), ("labels", recording.labels)):
            if values is not None and len(values) != len(recording):
                raise DataError(f"{recording.name} has {len(recording)} frames but {len(values)} {kind}")
        if np.shape(recording.poses) != (len(recording), len(source.pose_columns)):
            wanted = f"{len(recording)} x {len(source.pose_columns)} ({', '.join(source.pose_columns)})"
            raise DataError(f"{recording.name}: expected poses of {wanted}, found {np.shape(recording.poses)}")
        if (recording.times_s is None) != (source.recordings[0].times_s is None):
            raise DataError(f"{recording.name}: either all recordings have times or none")
        if recording.times_s is not None and not np.isfinite(recording.times_s).all():
            raise DataError(f"{recording.name}: a time is not finite")
        bad = np.flatnonzero(~np.isfinite(recording.poses).all(axis=1))
        if len(bad):
            pose = np.asarray(recording.poses)[bad[0]].tolist()
            raise DataError(f"{what}: the pose of frame {row + int(bad[0])} is not finite: {pose}")
        row += len(recording)


def _check_settings(what: str, source: Source) -> None:
    """The settings are kept with the store, as JSON."""
    try:
        json.dumps(dict(source.settings), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{what}: its settings must be text, numbers, lists and dicts: {problem}") from problem
