"""The frame store: images decoded once and memory-mapped, beside a Parquet index of all that is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import parquet_file
from egoequiv.files import read_json
from egoequiv.plurals import plural
from egoequiv.pose import MotionSpace, space_from_description
from egoequiv.pose.camera import Lens
from egoequiv.store.lenses import check_lenses, lens_in

FORMAT = "egoequiv-store"
VERSION = 1
META, INDEX, IMAGES = "store.json", "index.parquet", "frames.npy"
POSE_PREFIX, ATTRIBUTE_PREFIX, FILE, LOG_FRAME = "pose_", "attr_", "file", "log_frame"
NO_IMAGES = [0, 0, 1]  # the image shape of a store of poses alone
KIND = "a frame store (made by `egoequiv ingest`)"
LARGEST = 1e100  # of a pose or a time: the square of a larger number is none


@dataclass(frozen=True)
class FrameStore:
    """Frames of many recordings in one memory-mapped array, with poses, times, labels and attributes."""

    path: Path
    images: NDArray[np.uint8]  # (N, H, W, C), memory-mapped
    recording: NDArray[np.int64]  # (N,) index into recording_names
    recording_names: tuple[str, ...]
    frame: NDArray[np.int64]  # (N,) place within the recording
    times_s: NDArray[np.float64] | None  # (N,)
    poses: NDArray[np.float64]  # (N, P), the columns that the motion space reads
    labels: NDArray[np.int64]  # (N,) index into class_names, -1 where there is none
    class_names: tuple[str, ...]
    attributes: Mapping[str, NDArray[np.str_]]
    space: MotionSpace
    meta: Mapping[str, Any]
    pose_columns: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # all of them, (N,) each
    url: str | None = None  # where it was fetched from, if `path` is a copy in the cache
    files: NDArray[np.str_] | None = None  # (N,) names of picture files, empty for frames that come from none
    known_fingerprint: str | None = None  # of a copy, which a newer one may replace while this one is in use, or a view
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # labels that are numbers, (N,), or NaN
    log_frame: NDArray[np.int64] | None = None  # (N,) the number of the frame in the log, of which some were left out
    label_notes: tuple[str, ...] = ()  # of a table of labels: what could not be matched

    @classmethod
    def open(cls, path: str | Path) -> FrameStore:
        """Open the store in a folder, or at a URL; every file is checked against the others, no image is read.

        A URL is anything that fsspec reads, such as s3://bucket/store; the store is copied to a local cache first.
        """
        from egoequiv.store.remote import fetch_store, is_url  # here, because copies are checked by opening them

        if is_url(path):
            copy = fetch_store(str(path))
            try:
                opened = cls.open(copy)
                return replace(opened, url=str(path), known_fingerprint=opened.fingerprint())
            except DataError as problem:
                raise DataError(f"the copy of {path} is broken ({problem}): remove {copy} and try again") from problem
        path = Path(path)
        if not path.exists():
            hint = "; a URL is given as text, not as a Path" if ":/" in str(path) else ""
            raise DataError(f"{path} does not exist: make a store with `egoequiv ingest`{hint}")
        meta = read_json(path / META, KIND)
        _check_meta(path / META, meta)
        table = _read_index(path / INDEX)
        images = _open_images(path / IMAGES, table.num_rows, meta.get("image_shape"))
        if [meta.get("frames"), meta.get("image_shape")] != [len(images), list(images.shape[1:])]:
            raise DataError(f"{path / META} and {IMAGES} disagree on number or size of images; ingest the data again")
        try:
            space = space_from_description(meta.get("space"))
        except (ConfigError, DataError) as problem:
            raise DataError(f"{path / META}: {problem}; ingest the data again") from problem
        names, recording = _codes(table, "recording")
        class_names, labels = _codes(table, "label")
        columns = [name for name in table.column_names if name.startswith(POSE_PREFIX)]
        poses = {name.removeprefix(POSE_PREFIX): _numbers(table, name) for name in columns}
        return cls(
            path=path,
            images=images,
            recording=recording,
            recording_names=names,
            frame=_integers(table, "frame"),
            times_s=None if _column(table, "time_s").null_count else _numbers(table, "time_s"),
            poses=_poses(str(path), space, poses, table.num_rows),
            labels=labels,
            class_names=class_names,
            attributes={
                name.removeprefix(ATTRIBUTE_PREFIX): _texts(table, name)
                for name in table.column_names
                if name.startswith(ATTRIBUTE_PREFIX)
            },
            space=space,
            meta=meta,
            pose_columns=poses,
            files=_texts(table, FILE) if FILE in table.column_names else None,
            log_frame=_integers(table, LOG_FRAME) if LOG_FRAME in table.column_names else None,
        )

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        """One line: where it is, frames and their size, recordings, motion space, classes."""
        shape = " x ".join(map(str, self.image_shape)) if self.has_images else "poses alone"
        moves = ", ".join(axis.name for axis in self.space.axes)
        space = f"motion space {self.space.describe()['kind']}{f' ({moves})' if moves else ''}"
        counts = f"{plural(len(self), 'frame')} ({shape}) in {plural(len(self.recording_names), 'recording')}"
        return f"FrameStore({self.place}: {counts}, {space}, {plural(len(self.class_names), 'class', 'classes')})"

    @property
    def place(self) -> str:
        """Where the store is, in the user's words: its URL, or its path."""
        return self.url or str(self.path)

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        height, width, channels = self.images.shape[1:]
        return height, width, channels

    @property
    def has_images(self) -> bool:
        """Whether there are pictures, or the poses alone."""
        return bool(self.images.size)

    def in_space(self, space: MotionSpace) -> FrameStore:
        """The same frames, with their motions seen in another space."""
        return replace(self, space=space, poses=_poses(self.place, space, self.pose_columns, len(self)))

    def fingerprint(self) -> str:
        """What identifies this store among others at the same place: a digest of its description and its index.

        The description has a digest of the pictures, but for a store that was written before there was one.
        """
        files = (self.path / META, self.path / INDEX)
        return self.known_fingerprint or sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

    def classes(self, column: str = "label") -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Class numbers (N,) and their names, from the labels or from an attribute such as `category`.

        A frame without a label, or without a value of the attribute, has the number -1.
        """
        if column == "label":
            if not self.class_names:
                raise DataError(f"{self.place} has no labels: ingest labelled frames, or do without (--no-labels)")
            return self.labels, self.class_names
        values = self.attribute(column)
        names = np.unique(values[values != ""])
        codes = np.where(values == "", -1, np.searchsorted(names, values))
        return codes.astype(np.int64), tuple(str(name) for name in names)

    def lens(self, recording: str) -> Lens | None:
        """The lens of a recording's camera; None where the log does not say it."""
        if recording not in self.recording_names:
            raise ConfigError(f"{self.place} has no recording {recording!r}")
        return lens_in(self.meta, recording, str(self.path / META))

    def attribute(self, name: str) -> NDArray[np.str_]:
        """One attribute of every frame, (N,); empty for frames that do not have it."""
        if name not in self.attributes:
            have = ", ".join(self.attributes) or "none"
            raise ConfigError(f"{self.place} has no attribute {name!r}; its attributes are: {have}")
        return self.attributes[name]


def _check_meta(path: Path, meta: Mapping[str, Any]) -> None:
    """Refuse a description that is not that of a store, or of another version."""
    if (meta.get("format"), meta.get("version")) != (FORMAT, VERSION):
        raise DataError(f"{path}: expected {FORMAT} version {VERSION}; ingest the data again")
    if not isinstance(meta.get("settings"), dict) or not isinstance(meta.get("source"), str):
        raise DataError(f"{path} does not say where the frames come from; ingest the data again")
    for key in ("notes", "remarks"):
        texts = meta.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise DataError(f"{path}: expected a list of texts under {key!r}; ingest the data again")
    check_lenses(meta, str(path))


def _read_index(path: Path) -> pa.Table:
    try:
        with parquet_file(path) as stored:
            table = stored.read()
        table.validate(full=True)  # a text may hold anything
        if len(set(table.column_names)) < table.num_columns:
            raise ValueError("two columns have the same name")
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {path.parent} is not {KIND}") from None
    except (pa.ArrowException, OSError, ValueError, MemoryError) as problem:  # broken metadata ends in any of these
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise DataError(f"{path} is damaged ({reason}); ingest the data again") from problem
    return table


def _poses(
    place: str, space: MotionSpace, columns: Mapping[str, NDArray[np.float64]], count: int
) -> NDArray[np.float64]:
    """The columns that a space reads, (N, P)."""
    for name in space.pose_names:
        if name not in columns:
            have = ", ".join(columns) or "none"
            raise DataError(
                f"{place}: this motion space reads the pose column {name!r}, but the store's pose columns are: {have}"
            )
    return np.stack([columns[name] for name in space.pose_names], axis=1) if space.pose_names else np.empty((count, 0))


def _open_images(path: Path, count: int, shape: Any) -> NDArray[np.uint8]:
    if shape == NO_IMAGES:
        return np.empty((count, *NO_IMAGES), np.uint8)
    try:
        images = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {path.parent} is not {KIND}") from None
    except (ValueError, SyntaxError, TokenError, OverflowError) as problem:  # a broken header ends in any of these
        raise DataError(f"{path} is damaged or cut short ({problem}); ingest the data again") from problem
    if images.ndim != 4 or images.dtype != np.uint8:
        raise DataError(f"{path}: expected uint8 images (N, H, W, C), found {images.dtype} {images.shape}")
    if len(images) != count:
        raise DataError(f"{path} has {len(images)} images but {INDEX} has {count} rows; ingest the data again")
    plain: NDArray[np.uint8] = images.view(np.ndarray)  # the same memory without a memmap's bookkeeping at each gather
    return plain


def _numbers(table: pa.Table, column: str) -> NDArray[np.float64]:
    found = _column(table, column)
    if not (pa.types.is_integer(found.type) or pa.types.is_floating(found.type)) or found.null_count:
        raise _not(column, "numbers", found)
    values = np.asarray(found.to_numpy(), dtype=np.float64)
    if not (are_sane := np.abs(values) < LARGEST).all():
        row = int(np.flatnonzero(~are_sane)[0])
        raise DataError(f"{INDEX}, row {row}: column {column!r} is {values[row]}; ingest the data again")
    return values


def _integers(table: pa.Table, column: str) -> NDArray[np.int64]:
    found = _column(table, column)
    if not pa.types.is_integer(found.type) or found.null_count:
        raise _not(column, "whole numbers", found)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _texts(table: pa.Table, column: str) -> NDArray[np.str_]:
    """A column of text, empty where it is null."""
    values = _text_column(table, column).to_pylist()
    return np.array(["" if value is None else value for value in values], dtype=np.str_)


def _text_column(table: pa.Table, column: str) -> pa.ChunkedArray:
    """A column of text; a store that was not made here may have numbers in their place."""
    found = _column(table, column)
    try:
        return found if pa.types.is_string(found.type) else found.cast(pa.string())
    except pa.ArrowException as problem:
        raise _not(column, "text", found) from problem


def _not(column: str, what: str, found: pa.ChunkedArray) -> DataError:
    holds = f"{plural(found.null_count, 'row')} without a value" if found.null_count else str(found.type)
    return DataError(f"{INDEX}: expected {what} in column {column!r}, found {holds}; ingest the data again")


def _column(table: pa.Table, column: str) -> pa.ChunkedArray:
    if column not in table.column_names:
        raise DataError(f"{INDEX} has no column {column!r}; ingest the data again")
    return table[column]


def _codes(table: pa.Table, column: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct strings of a column and each row's number among them, -1 where it is null."""
    texts = _text_column(table, column)
    if column != "label" and texts.null_count:
        raise _not(column, "text", texts)
    values = texts.combine_chunks().dictionary_encode()
    names: list[str] = values.dictionary.to_pylist()
    order = np.argsort(names, kind="stable") if column == "label" else np.arange(len(names))
    rank = np.empty(len(names) + 1, np.int64)
    rank[order] = np.arange(len(names))
    rank[-1] = -1
    codes = np.asarray(values.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    return tuple(names[k] for k in order), rank[codes]
