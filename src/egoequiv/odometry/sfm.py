"""A source whose poses come from structure from motion: for short recordings, all of whose pictures make one model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from egoequiv.cache import cache_folder
from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.odometry.chain import FEWEST_KEYS, LONGEST_BRIDGE, Chain, chain_between
from egoequiv.odometry.features import gray, opencv
from egoequiv.odometry.kept import Arrays, keep_arrays, kept_arrays, recording_digest
from egoequiv.odometry.lens_guess import lenses_of
from egoequiv.odometry.reconstruction import STAGES, models_of, pycolmap
from egoequiv.odometry.scale import check_scale, lengths_in_log
from egoequiv.odometry.steps import STEP_S, key_frames
from egoequiv.odometry.visual import parts_of, seen_source
from egoequiv.pose.camera import Lens
from egoequiv.progress import Progress, silent
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.part import RecordingPart
from egoequiv.sources.recording import Recording, Source

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_KEYS = 300  # pictures of a recording: the work grows faster than their number
_MOVES = 0.2  # of the usual step of the log: shorter ones say little about the scale of a model


def sfm_poses(
    source: Source,
    *,
    lens: Lens | float | None = None,
    scale: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    on_progress: Progress | None = None,
    cache: Path | None = None,
) -> Source:
    """The same frames with the poses that structure from motion gives them.

    Key frames about 0.1 s apart are brought into one model of the scene; frames between them are interpolated. A
    stretch without a place in the model is left out, and the recording is cut there.

    Args:
        source: with pictures in order, or photographs without times; poses that it has are replaced.
        lens: of the camera, or its horizontal field of view in degrees; by default that of the log, or a guess.
        scale: as of `visual_poses`; the log gives one scale for each model.
        seed: of what is drawn at random.
        engine: where the work is done, a recording at a time; by default in this process.
        on_progress: gets how much is done, and of how much.
        cache: the folder for finished recordings; by default below the cache folder of the user.

    Returns:
        A source as `visual_poses` returns it.

    Example:
        >>> sfm_poses(open_source("video", "clip.mp4"), lens=78).space  # doctest: +SKIP
        ScaleFreeSpace()

    """
    pycolmap()  # says which package is missing before anything is read
    opencv()
    if not source.has_images:
        raise ConfigError(f"poses from pictures: source {source.name!r} has no pictures")
    if scale is not None:
        check_scale(source, scale)
    keys = [_keys(recording) for recording in source.recordings]
    folder = cache or cache_folder() / "visual"
    report, total = on_progress or silent, STAGES * sum(map(len, keys))
    report(0, total)  # before the lens is guessed, which takes a while
    lenses = lenses_of(source, lens, folder)
    work = partial(_registered, source, lenses, keys, seed, folder)
    found = (engine or LocalEngine(1)).run(work, range(len(keys)), lambda done: report(done, total))
    recordings: list[RecordingPart] = []
    notes: list[str] = []
    for recording, own, these, rows in zip(source.recordings, lenses, keys, found, strict=True):
        chains = _chains(source, recording, these, rows, scale)
        recordings += parts_of(recording, own, chains)
        notes += _notes(recording, chains)
    return seen_source(source, recordings, notes, lenses, scale, "structure from motion")


def _keys(recording: Recording) -> Rows:
    """The frames that are brought into a model; a recording with too many is refused."""
    keys = key_frames(recording)
    if len(keys) <= MOST_KEYS:
        return keys
    clip = "give fewer photographs" if recording.times_s is None else f"cut it to {MOST_KEYS * STEP_S:.0f} s"
    raise ConfigError(
        f"--poses sfm: recording {recording.name} has {len(keys):,} key frames, and structure from motion takes "
        f"at most {MOST_KEYS}: {clip}, or use --poses visual"
    )


def _registered(
    source: Source, lenses: Sequence[Lens], keys: Sequence[Rows], seed: int, folder: Path, number: int, tick: Tick
) -> Arrays:
    """The rows of `models_of` for one recording, read where they were kept before."""
    recording, lens = source.recordings[number], lenses[number]
    identity = recording_digest(source, recording)
    decides = repr((lens.focal_x, lens.focal_y, lens.center_x, lens.center_y, lens.distortion, seed))
    digest = sha256(decides.encode()).hexdigest()[:16]
    file = None if identity is None else folder / identity[:32] / f"sfm-{digest}.npz"
    kept = kept_arrays(file)
    if kept is not None and (not kept or "picture" in kept):
        tick(STAGES * len(keys[number]))
        return kept
    with TemporaryDirectory(prefix="egoequiv-sfm-") as temporary:
        try:
            rows = _model(recording, lens, keys[number], Path(temporary), seed, tick)
        except (RuntimeError, ValueError) as problem:
            why = (str(problem).splitlines() or [""])[0]
            raise DataError(f"recording {recording.name}: structure from motion failed: {why}") from problem
    keep_arrays(file, rows)
    return rows


def _model(recording: Recording, lens: Lens, keys: Rows, folder: Path, seed: int, tick: Tick) -> Arrays:
    """Write the key frames as pictures of the size of the first, and find their places."""
    wanted, size = set(keys.tolist()), None
    names: dict[str, int] = {}
    (folder / "pictures").mkdir()
    for frame, image in enumerate(decoded_frames(recording, range(int(keys[-1]) + 1 if len(keys) else 0))):
        if frame not in wanted or isinstance(image, BrokenFrameError):
            continue
        picture = gray(image)
        size = size or picture.shape
        if picture.shape == size:
            names[f"{frame:08d}.png"] = frame
            PillowImage.fromarray(picture).save(folder / "pictures" / f"{frame:08d}.png", compress_level=1)
    tick(STAGES * (len(keys) - len(names)))
    if size is None or len(names) < FEWEST_KEYS:
        return {}
    rows = models_of(
        folder, list(names), lens, (size[0], size[1]), tick, all_pairs=recording.times_s is None, seed=seed
    )
    if rows:
        rows["picture"] = np.array(list(names.values()), np.int64)[rows["picture"]]  # frames of the recording
    return rows


def _chains(source: Source, recording: Recording, keys: Rows, rows: Arrays, scale: str | None) -> list[Chain]:
    """A chain for each stretch of frames with places in one model; a frame belongs to the largest model that has it."""
    chains: list[Chain] = []
    free = np.ones(len(recording), bool)
    bridge = 1 if recording.times_s is None else 1 + LONGEST_BRIDGE  # key frames from one with a place to the next
    for model in np.unique(rows["model"]) if rows else ():
        own = np.flatnonzero((rows["model"] == model) & free[rows["picture"]])
        place = np.searchsorted(keys, rows["picture"][own])
        for stretch in np.split(own, np.flatnonzero(np.diff(place) > bridge) + 1):
            frames = rows["picture"][stretch]
            if len(frames) < FEWEST_KEYS or not free[frames[0] : frames[-1] + 1].all():
                continue
            free[frames[0] : frames[-1] + 1] = False
            position, quaternion = _from_first(rows["position"][stretch], rows["quaternion"][stretch])
            position = position * _unit(source, recording, frames, position, scale)
            error, inliers = rows["error_deg"][stretch[:-1]], rows["inliers"][stretch[:-1]]
            chains.append(chain_between(frames, position, quaternion, error, inliers, recording.times_s))
    return sorted(chains, key=lambda chain: chain.frames.start)


def _from_first(position: Array, quaternion: Array) -> tuple[Array, Array]:
    """Poses in the axes of the first of them."""
    from scipy.spatial.transform import Rotation

    back = Rotation.from_quat(quaternion[0]).inv()
    return back.apply(position - position[0]), (back * Rotation.from_quat(quaternion)).as_quat()


def _unit(source: Source, recording: Recording, frames: Rows, position: Array, scale: str | None) -> float:
    """What lengths in a model are multiplied by: metres by the log, or else the usual step becomes 1."""
    length = np.linalg.norm(np.diff(position, axis=0), axis=1)
    moving = length > 0
    if not moving.any():
        return 1.0
    if scale is None:
        return float(1 / np.median(length[moving]))
    logged = lengths_in_log(source, recording, frames[:-1], frames[1:], scale)
    moving &= logged > _MOVES * np.median(logged)
    return float(np.median(logged[moving] / length[moving])) if moving.any() else 0.0


def _notes(recording: Recording, chains: Sequence[Chain]) -> list[str]:
    """What was left out of a recording."""
    lost = len(recording) - sum(len(chain.frames) for chain in chains)
    if not chains:
        why = "pictures have too few points in common, or the camera only turns"
        return [f"recording {recording.name} left out: structure from motion finds no model ({why})"]
    if not lost and len(chains) == 1:
        return []
    parts = f"; it is cut into {len(chains)}" if len(chains) > 1 else ""
    return [
        f"recording {recording.name}: {lost} of {len(recording)} frames have no place in the model and are left out"
        f"{parts}"
    ]
