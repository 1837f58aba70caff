"""All frames of a source looked at once: the steps that they show, and what else the caller wants of each frame.

Recordings are watched in pieces on an engine. Every finished piece is kept in the cache folder, so that work that was
stopped goes on where it was, and commands that need the same steps share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from egoequiv.cache import cache_folder, file_states, program_digest
from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import BrokenFrameError
from egoequiv.files import replacing
from egoequiv.odometry.lens_guess import lenses_of
from egoequiv.odometry.looks import Looker, packed, unpacked
from egoequiv.odometry.steps import Look, VisualSteps, key_frames, visual_steps
from egoequiv.pose.camera import Lens
from egoequiv.progress import Progress, silent
from egoequiv.sources.decoded import cut, decoded_frames
from egoequiv.sources.recording import Decoded, Recording, Source

Arrays = dict[str, NDArray[Any]]

_OF_MOTION = ("axes", "columns", "interpolation", "max_gap_s", "mount", "offset_s", "quaternion", "rates", "rule")
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
    looks_file: Path | None  # None also where nobody wants to look


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
    lenses = lenses_of(source, lens)
    pieces: list[_Piece] = []
    for number, (recording, own) in enumerate(zip(source.recordings, lenses, strict=True)):
        pieces += _pieces(source, recording, number, own, look, folder)
    report, total = on_progress or silent, source.frame_count
    report(0, total)
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


def recording_digest(source: Source, recording: Recording) -> str | None:
    """What identifies the pictures of a recording; None if that is not known, as of a world that is rendered."""
    files = recording.files_read()
    if files is None:
        return None
    settings = sorted((name, str(value)) for name, value in source.settings.items() if name not in _OF_MOTION)
    digest = sha256(repr((source.name, settings, recording.name, len(recording))).encode("utf-8", "replace"))
    digest.update(program_digest("pose", "sources", "odometry").encode())
    for numbers in (recording.log_frames(), recording.times_s):
        digest.update(b"-" if numbers is None else np.ascontiguousarray(numbers).tobytes())
    digest.update(file_states(files))
    return digest.hexdigest()


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
    steps = _kept(piece.steps_file)
    looks = _kept(piece.looks_file) if look is not None else {}
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
        _keep(piece.steps_file, steps)
    else:
        for frame, image in zip(piece.frames, decoded_frames(recording, piece.frames), strict=True):
            looked(frame, image)
    if looks is None:
        looks = packed(seen)
        _keep(piece.looks_file, looks)
    return steps, looks


def _steps_of(recording: Recording, lens: Lens, frames: range, look: Look) -> Arrays:
    """The steps whose first frame is one of `frames`, and one more, whose length is compared with the last of them."""
    keys = key_frames(recording)
    own = np.flatnonzero((keys >= frames.start) & (keys < frames.stop))
    if len(own):
        keys = keys[own[0] : own[-1] + 3]
    else:
        keys = keys[:0]
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


def _kept(file: Path | None) -> Arrays | None:
    """The arrays of a file; None if there is none that can be read."""
    if file is None:
        return None
    try:
        with np.load(file, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None


def _keep(file: Path | None, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, whole or not at all."""
    if file is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as temporary, open(temporary, "wb") as opened:
        np.savez(opened, allow_pickle=False, **arrays)
