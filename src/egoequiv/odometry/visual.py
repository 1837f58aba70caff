"""A source whose poses are those that its pictures show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import ConfigError, DataError
from egoequiv.odometry.chain import Chain, bridged, chains, gaps
from egoequiv.odometry.features import opencv
from egoequiv.odometry.scale import check_scale, lengths_in_log
from egoequiv.odometry.steps import compared, features_of
from egoequiv.odometry.two_view import Step
from egoequiv.odometry.watch import Watched, watch
from egoequiv.plurals import plural
from egoequiv.pose import CAMERA_POSES, ScaleFreeSpace, SE3Space
from egoequiv.pose.camera import Lens
from egoequiv.progress import Progress
from egoequiv.remarks import Remark
from egoequiv.sources.decoded import decoded_frames
from egoequiv.sources.part import RecordingPart
from egoequiv.sources.recording import Recording, Source

CONFIDENCE = ("visual_rotation_error_deg", "visual_inliers")  # of the step that a frame lies in


def visual_poses(
    source: Source,
    *,
    lens: Lens | float | None = None,
    scale: str | None = None,
    engine: Engine | None = None,
    on_progress: Progress | None = None,
    cache: Path | None = None,
) -> Source:
    """The same frames with the poses that the pictures themselves show.

    A step that the pictures do not tell is bridged if it is short; otherwise the recording is cut there.

    Args:
        source: with pictures in order; poses that it has are replaced.
        lens: of the camera, or its horizontal field of view in degrees; by default that of the log, or a guess.
        scale: how long steps are: a column of the source (a speed or a distance), or `log` for the distances of its own
            poses; by default nothing says it, and motions are directions and turns.
        engine: where the work is done; by default in this process.
        on_progress: gets frames done and frames in all.
        cache: the folder for finished pieces; by default below the cache folder of the user.

    Returns:
        A source in the space `scale-free`, or SE(3) with a scale. Its poses have two more columns: the standard error
        of the rotation, and the number of points that agree, of the step that each frame lies in.

    Example:
        >>> visual_poses(open_source("video", "drive.mp4"), lens=78).space  # doctest: +SKIP
        ScaleFreeSpace()

    """
    opencv()  # says which package is missing before anything is read
    if not source.has_images:
        raise ConfigError(f"poses from pictures: source {source.name!r} has no pictures")
    if scale is not None:
        check_scale(source, scale)
    watched = watch(source, lens=lens, engine=engine, on_progress=on_progress, cache=cache)
    watched = _bridge_gaps(watched, engine or LocalEngine(1))
    recordings: list[RecordingPart] = []
    notes: list[str] = []
    for seen in watched:
        lengths = (
            None
            if scale is None
            else lengths_in_log(source, seen.recording, seen.steps.first, seen.steps.second, scale)
        )
        parts = chains(seen.steps, seen.recording.times_s, lengths)
        recordings += parts_of(seen.recording, seen.lens, parts)
        notes += _notes(seen, parts)
    return seen_source(source, recordings, notes, [seen.lens for seen in watched], scale, "pictures")


def seen_source(
    source: Source,
    recordings: Sequence[RecordingPart],
    notes: Sequence[str],
    lenses: Sequence[Lens],
    scale: str | None,
    motion_from: str,
) -> Source:
    """A source with other recordings, whose poses were seen in the pictures of its own."""
    if not recordings:
        raise DataError(f"the pictures of {source.name} tell no motion: {'; '.join(notes[:3])}")
    told = "in metres" if scale else "of no known unit: the usual step of a recording has length 1"
    return Source(
        source.name,
        SE3Space() if scale else ScaleFreeSpace(),
        recordings,
        {**source.settings, "motion_from": motion_from, **({"scale": scale} if scale else {})},
        pose_names=(*CAMERA_POSES, *CONFIDENCE),
        notes=(*source.notes, *notes, *_lens_remarks(lenses)),
        listed=source.listed,
        convention=f"seen in the pictures; the first frame of a recording is the origin; positions {told}",
        remarks=source.remarks,
    )


def parts_of(recording: Recording, lens: Lens, chains: Sequence[Chain]) -> list[RecordingPart]:
    """The frames of a recording that have poses, a part for each chain."""
    parts = []
    for number, chain in enumerate(chains, 1):
        name = recording.name if len(chains) == 1 else f"{recording.name}-part{number}"
        poses = np.column_stack([chain.poses, chain.rotation_error_deg, chain.inliers.astype(np.float64)])
        parts.append(RecordingPart(recording, chain.frames, name, poses, lens))
    return parts


def _bridge_gaps(watched: Sequence[Watched], engine: Engine) -> list[Watched]:
    """Steps that cannot be told replaced by the direct one over them, where the pictures tell that."""
    wanted = [(number, run) for number, seen in enumerate(watched) for run in gaps(seen.steps)]
    spans = [
        (number, int(watched[number].steps.first[first]), int(watched[number].steps.second[last]))
        for number, (first, last) in wanted
    ]
    work = partial(_direct_step, [seen.recording for seen in watched], [seen.lens for seen in watched])
    found = engine.run(work, spans, short=True)
    by_recording: list[dict[tuple[int, int], Step]] = [{} for _ in watched]
    for (number, run), step in zip(wanted, found, strict=True):
        by_recording[number][run] = step
    return [
        replace(seen, steps=bridged(seen.steps, bridges)) for seen, bridges in zip(watched, by_recording, strict=True)
    ]


def _direct_step(
    recordings: Sequence[Recording], lenses: Sequence[Lens], span: tuple[int, int, int], tick: Tick
) -> Step:
    number, first, second = span
    images = list(decoded_frames(recordings[number], range(first, second + 1)))
    step, _ = compared(features_of(images[0]), features_of(images[-1]), lenses[number])
    tick(1)
    return step


def _notes(seen: Watched, parts: Sequence[Chain]) -> list[str]:
    """What was left out of a recording, and what the pictures do not tell."""
    steps, name = seen.steps, seen.recording.name
    unknown = ~steps.rotation_known
    why = _reasons(steps.reason[unknown])
    if not parts:
        return [f"recording {name} left out: its pictures tell no motion ({why or 'too few frames'})"]
    notes: list[str] = []
    if unknown.any():
        lost = len(seen.recording) - sum(len(chain.frames) for chain in parts)
        notes.append(
            f"recording {name}: {int(unknown.sum())} of {len(steps)} steps cannot be told from the pictures ({why}); "
            f"it is cut there into {len(parts)}, and {plural(lost, 'frame is', 'frames are')} left out"
        )
    vague = steps.rotation_known & ~steps.direction_known
    if vague.any():
        share = 100 * float(vague.mean())
        why = _reasons(steps.reason[vague])
        notes.append(Remark(f"recording {name}: the direction of {share:.0f} % of steps cannot be told ({why})"))
    return notes


def _reasons(reasons: NDArray[np.str_]) -> str:
    """How often each reason occurs, the most frequent first."""
    counted = Counter(str(reason) for reason in reasons)
    return ", ".join(f"{reason} {count}" for reason, count in counted.most_common())


def _lens_remarks(lenses: Sequence[Lens]) -> list[Remark]:
    origins = dict.fromkeys((lens.view_deg, lens.origin or "given") for lens in lenses)
    return [Remark(f"lens {origin} (horizontal field of view {view:.1f}°)") for view, origin in origins]
