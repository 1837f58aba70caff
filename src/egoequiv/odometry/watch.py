"""All frames of a source looked at once: the steps that they show, and what else the caller wants of each frame.

Recordings are watched in pieces on an engine. Every finished piece is kept in the cache folder, so that work that was
stopped goes on where it was, and commands that need the same steps share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from egoequiv.cache import cache_folder
from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import BrokenFrameError
from egoequiv.odometry.kept import Arrays, keep_arrays, kept_arrays, recording_digest
from egoequiv.odometry.lens_guess import lenses_of
from egoequiv.odometry.looks import Looker, packed, unpacked
from egoequiv.odometry.steps import Look, VisualSteps, key_frames, visual_steps
from egoequiv.pose.camera import Lens
from egoequiv.progress import Progress, silent
from egoequiv.sources.decoded import cut, decoded_frames
from egoequiv.sources.recording import Decoded, Recording, Source

_FRAMES_A_PIECE = 48  # at least, where decoding can begin so often: the two frames read twice cost little then


@dataclass(frozen=True, eq=False)
class Watched:
    """What the frames of one recording show."""

    recording: Recording
    lens: Lens
    steps: VisualSteps
    looks: list[Any | None]  # of each frame what `look` returned (attributes or an array), None of a broken one


@dataclass(frozen=True)
class _Piece:
    """Some frames of a recording, and the files that keep what they show."""

    number: int  # of the recording
    frames: range
    steps_file: Path | None
    looks_file: Path | None  # None also if there is no `look`


def watch(
    source: Source,
    *,
    lens: Lens | float | None = None,
    engine: Engine | None = None,
    on_progress: Progress | None = None,
    cache: Path | None = None,
    look: Looker | None = None,
) -> list[Watched]:
    """Look at every frame of every recording once.

    Args:
        source: with pictures in order.
        lens: of the camera, or its horizontal field of view in degrees; by default that of each recording, or a guess
            from the pictures.
        engine: where the work is done; by default in this process.
        on_progress: gets frames done and frames in all.
        cache: the folder for finished pieces; by default below the cache folder of the user.
        look: gets every decoded image and returns a dataclass of numbers and arrays, or one array; it must be a
            function of a module, because it is sent to worker processes.

    Returns:
        The steps and looks of each recording, in the order of the source.

    Example:
        >>> watch(open_source("video", "drive.mp4"), lens=78)  # doctest: +SKIP

    """
    folder = cache or cache_folder() / "visual"
    report, total = on_progress or silent, source.frame_count
    report(0, total)  # before the lens is guessed, which takes a while
    lenses = lenses_of(source, lens, folder)
    pieces: list[_Piece] = []
    for number, (recording, own) in enumerate(zip(source.recordings, lenses, strict=True)):
        pieces += _pieces(source, recording, number, own, look, folder)
    work = partial(_watch_piece, source.recordings, lenses, look)
    found = (engine or LocalEngine(1)).run(work, pieces, lambda done: report(done, total), short=False)
    report(total, total)
    return [
        _joined(recording, own, [arrays for piece, arrays in zip(pieces, found, strict=True) if piece.number == number])
        for number, (recording, own) in enumerate(zip(source.recordings, lenses, strict=True))
    ]


def _pieces(
    source: Source, recording: Recording, number: int, lens: Lens, look: Looker | None, folder: Path
) -> list[_Piece]:
    identity = recording_digest(source, recording)
    pieces = []
    for frames in cut(recording.starts(), len(recording), _FRAMES_A_PIECE):
        if identity is None:
            pieces.append(_Piece(number, frames, None, None))
            continue
        span = f"{frames.start:07d}-{frames.stop:07d}"
        place = folder / identity[:32]
        lens_digest = sha256(repr(replace(lens, origin="")).encode()).hexdigest()[:16]
        looks_file = None if look is None else place / f"{span}-{_look_digest(look)}.npz"
        pieces.append(_Piece(number, frames, place / f"{span}-{lens_digest}.npz", looks_file))
    return pieces


def _look_digest(look: Looker) -> str:
    """A function by its name and by the source of the file it is in."""
    import inspect

    file = inspect.getsourcefile(look)
    content = Path(file).read_bytes() if file is not None else b""
    return sha256(f"{look.__module__}:{look.__qualname__}".encode() + content).hexdigest()[:16]


def _watch_piece(
    recordings: Sequence[Recording], lenses: Sequence[Lens], look: Looker | None, piece: _Piece, tick: Tick
) -> tuple[Arrays, Arrays]:
    """The steps that begin in a piece, and the looks of its frames; read where they were kept before."""
    recording, lens = recordings[piece.number], lenses[piece.number]
    steps = kept_arrays(piece.steps_file)
    if steps is not None and not VisualSteps.can_be(steps):  # of another program, or damaged
        steps = None
    looks = kept_arrays(piece.looks_file) if look is not None else {}
    if steps is not None and looks is not None:
        tick(len(piece.frames))
        return steps, looks
    seen: list[Any | None] = []

    def looked(frame: int, image: Decoded) -> None:
        if frame in piece.frames:
            if look is not None and looks is None:
                seen.append(None if isinstance(image, BrokenFrameError) else look(image))
            tick(1)

    if steps is None:
        steps = _steps_of(recording, lens, piece.frames, looked)
        keep_arrays(piece.steps_file, steps)
    else:
        for frame, image in zip(piece.frames, decoded_frames(recording, piece.frames), strict=True):
            looked(frame, image)
    if looks is None:
        looks = packed(seen)
        keep_arrays(piece.looks_file, looks)
    return steps, looks


def _steps_of(recording: Recording, lens: Lens, frames: range, look: Look) -> Arrays:
    """The steps whose first frame is one of `frames`, and one more, whose length is compared with the last of them."""
    keys = key_frames(recording)
    own = np.flatnonzero((keys >= frames.start) & (keys < frames.stop))
    keys = keys[own[0] : own[-1] + 3] if len(own) else keys[:0]
    stop = max(frames.stop, int(keys[-1]) + 1 if len(keys) else 0)
    found = visual_steps(recording, lens, keys, look, range(frames.start, stop))
    return {part.name: getattr(found, part.name) for part in fields(found)}


def _joined(recording: Recording, lens: Lens, pieces: Sequence[tuple[Arrays, Arrays]]) -> Watched:
    """Steps of pieces in order. The last step of a piece is the first of the next: its length ratio is taken over."""
    parts: list[VisualSteps] = []
    looks: list[Any | None] = []
    ratio = np.nan  # of the first step of the next piece
    for number, (arrays, kept) in enumerate(pieces):
        steps = VisualSteps(**arrays)
        if len(steps):
            steps.length_ratio[0] = ratio
            is_last = number == len(pieces) - 1 or not any(len(later["first"]) for later, _ in pieces[number + 1 :])
            if not is_last:
                ratio = float(steps.length_ratio[-1])
                steps = steps.part(slice(-1))
        parts.append(steps)
        looks += unpacked(kept) if kept else []
    steps = VisualSteps.joined(parts) if parts else visual_steps(recording, lens, np.empty(0, np.int64))
    return Watched(recording, lens, steps, looks)
