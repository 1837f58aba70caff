"""The experiment: logs cut into pieces, every fault put into every piece, and what was found as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from inspect import getfile
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from egoequiv.cache import program_digest
from egoequiv.doctor.changed import Changed
from egoequiv.doctor.examine import GUESSED
from egoequiv.doctor.faults import shuffled
from egoequiv.doctor.glance import Glances, glance
from egoequiv.engines import Engine, LocalEngine, Tick
from egoequiv.errors import DataError
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.experiments.faults.pieces import Piece, cut_recordings
from egoequiv.experiments.faults.scores import (
    ALL,
    AlarmRow,
    ByTrial,
    FaultRow,
    OffsetRow,
    alarm_row,
    fault_row,
    offset_row,
)
from egoequiv.experiments.faults.seen import Pictures, Seen, keep_seen, kept_seen
from egoequiv.experiments.faults.trials import UNTOUCHED, Trial, chosen_trials, put_in_one
from egoequiv.experiments.faults.verdicts import Log, TrialVerdicts, judge
from egoequiv.experiments.options import sources_of
from egoequiv.files import write_text
from egoequiv.odometry.kept import recording_digest
from egoequiv.odometry.lens_guess import lenses_of
from egoequiv.odometry.watch import watch
from egoequiv.plurals import plural
from egoequiv.pose.camera import Lens
from egoequiv.sources import Source
from egoequiv.sources.part import RecordingPart

PIECE_S, LONG_PIECE_S = 15.0, 30.0
DRIVE_S = 60.0  # of each recording of the embedded drive


@dataclass(frozen=True)
class FaultOptions:
    """What `egoequiv reproduce doctor` takes."""

    out: Path  # what is finished is kept here
    data: Sequence[Path] = ()  # logs; without any, the embedded drive
    faults: Sequence[str] = ()  # words in the names of faults; without any, all
    seed: int = 0
    engine: Engine = field(default_factory=LocalEngine)
    on_progress: OnProgress = silent


class FaultResults(BaseModel):
    """What was found, by log and for all logs together."""

    model_config = ConfigDict(frozen=True)

    logs: dict[str, str]  # by name: how many recordings, pieces and frames
    faults: list[FaultRow]
    alarms: list[AlarmRow]
    offsets: list[OffsetRow]
    left_out: list[str]  # what could not be tried, and why


@dataclass(frozen=True, eq=False)
class _Opened:
    """A log, the lens of each recording, and the folder that keeps what is finished of it."""

    name: str
    source: Source
    lenses: list[Lens]
    folder: Path


def reproduce_doctor(options: FaultOptions) -> FaultResults:
    """Put faults into logs and measure which of them the doctor finds; finished parts in `out` are used again."""
    chosen_trials(options.faults)  # a wrong name is reported at once
    return find_faults(sources_of(options.data, seconds=DRIVE_S), options)


def find_faults(sources: Mapping[str, Source], options: FaultOptions) -> FaultResults:
    """The same for sources that are open already, by the names of their logs."""
    trials = chosen_trials(options.faults)
    logs = [_opened(name, source, options) for name, source in sources.items()]
    few = [trial for trial in trials if trial.fault == UNTOUCHED or trial.offset_s]
    cuts: dict[str, dict[str, ByTrial]] = {"15 s": {}, "30 s": {}, "whole": {}}
    for log in logs:
        all_of_it = _look_at_whole(log, options)
        pieces = cut_recordings(log.source.recordings, PIECE_S)
        if not pieces:
            raise DataError(f"{log.name}: no recording is long enough for pieces of {PIECE_S:g} s")
        seen = _look_at_pieces(log, pieces, trials, options)
        cuts["15 s"][log.name] = _judged(log, "15 s", pieces, seen, trials, options)
        for cut, seconds in (("30 s", LONG_PIECE_S), ("whole", None)):
            parts = cut_recordings(log.source.recordings, seconds)
            seen = [{UNTOUCHED: all_of_it[one.number].at(np.asarray(one.part.frames))} for one in parts]
            cuts[cut][log.name] = _judged(log, cut, parts, seen, few, options)
    return _results(logs, trials, cuts)


def _opened(name: str, source: Source, options: FaultOptions) -> _Opened:
    if not source.has_images:
        raise DataError(f"{name}: the log has no pictures, so there is nothing to compare its motion with")
    digest = sha256(program_digest("pose", "sources", "odometry").encode())
    for part in (keep_seen, glance, Changed, shuffled, put_in_one):  # what decides which pictures are kept, and how
        digest.update(Path(getfile(part)).read_bytes())
    for recording in source.recordings:
        digest.update((recording_digest(source, recording) or recording.name).encode())
        digest.update(np.ascontiguousarray(recording.poses).tobytes())
    digest.update(repr((options.seed, PIECE_S, LONG_PIECE_S)).encode())
    return _Opened(name, source, lenses_of(source), options.out / f"{name}-{digest.hexdigest()[:8]}")


def _look_at_whole(log: _Opened, options: FaultOptions) -> list[Seen]:
    """What the untouched recordings show."""
    file = log.folder / "whole.npz"
    kept = kept_seen(file)
    if kept is None or len(kept) != len(log.source.recordings):
        report = partial(options.on_progress, f"{log.name}, frames")
        found = watch(log.source, engine=options.engine, on_progress=report, look=glance)
        kept = {str(k): Seen.without_rivals(one.steps, Glances.of(one.looks)) for k, one in enumerate(found)}
        keep_seen(file, kept)
    return [kept[str(k)] for k in range(len(kept))]


def _look_at_pieces(
    log: _Opened, pieces: Sequence[Piece], trials: Sequence[Trial], options: FaultOptions
) -> list[dict[str, Seen]]:
    """What the pieces show, as they are and with the faults that arrange pictures otherwise."""
    folder = log.folder / "pieces"
    each = [(k, one.part, log.lenses[one.number], folder / f"{k:04d}.npz") for k, one in enumerate(pieces)]
    wanted = [trial for trial in trials if trial.arranges or trial.fault == UNTOUCHED]
    work = partial(_look_at_piece, wanted, log.source.pose_columns, options.seed)
    report = partial(options.on_progress, f"{log.name}, pieces")
    report(0, len(pieces))
    return options.engine.run(work, each, lambda done: report(done, len(pieces)))


def _look_at_piece(
    trials: Sequence[Trial], names: tuple[str, ...], seed: int, piece: tuple[int, RecordingPart, Lens, Path], tick: Tick
) -> dict[str, Seen]:
    k, part, lens, file = piece
    kept = kept_seen(file)
    if kept is None or not {trial.name for trial in trials} <= set(kept):
        pictures = Pictures(part, lens)
        kept = {}
        for trial in trials:
            made = put_in_one(trial, part, names, seed + k)
            if isinstance(made, Changed) and made.view != "as it is":
                kept[trial.name] = Pictures(made, lens).seen(made, np.arange(len(made)))
            elif not isinstance(made, str):
                kept[trial.name] = pictures.seen(made, made.rows if isinstance(made, Changed) else np.arange(len(made)))
        keep_seen(file, kept)
    tick(1)
    return kept


def _judged(
    log: _Opened,
    cut: str,
    pieces: Sequence[Piece],
    seen: Sequence[dict[str, Seen]],
    trials: Sequence[Trial],
    options: FaultOptions,
) -> ByTrial:
    """The verdicts of all trials, each kept in a file of its own."""
    is_known = [not lens.origin.startswith(GUESSED) for lens in log.lenses]
    about = Log(pieces, log.source.pose_columns, is_known, options.seed)
    code = program_digest("doctor", "experiments/faults")[:8]  # checks may change while what pictures show does not
    work = partial(_judge_trial, about, seen, log.folder / f"verdicts-{cut.replace(' ', '')}-{code}")
    report = partial(options.on_progress, f"{log.name}, faults, {cut}")
    report(0, len(trials))
    found = options.engine.run(work, trials, lambda done: report(done, len(trials)))
    return {one.trial: one for one in found}


def _judge_trial(log: Log, seen: Sequence[dict[str, Seen]], folder: Path, trial: Trial, tick: Tick) -> TrialVerdicts:
    file = folder / f"{trial.file_name}.json"
    try:
        found = TrialVerdicts.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        found = judge(trial, log, seen)
        write_text(file, found.model_dump_json() + "\n")
    tick(1)
    return found


def _results(logs: Sequence[_Opened], trials: Sequence[Trial], cuts: dict[str, dict[str, ByTrial]]) -> FaultResults:
    names = [log.name for log in logs]
    scopes = {**({ALL: names} if len(names) > 1 else {}), **{name: [name] for name in names}}
    short = cuts["15 s"]
    chosen = {scope: [short[name] for name in members] for scope, members in scopes.items()}
    faults = [fault_row(scope, trial, of) for scope, of in chosen.items() for trial in trials[1:]]
    alarms, offsets = [], []
    for cut, found in cuts.items():
        for scope, members in scopes.items():
            of = [found[name] for name in members if found[name][UNTOUCHED].verdicts]
            if of:
                alarms.append(alarm_row(scope, cut, of))
                offsets.append(offset_row(scope, cut, trials, of))
    left_out = [
        f"{name}, {trial}: {why}" for name in names for trial, one in short[name].items() for why in one.left_out[:1]
    ]
    about = {
        log.name: f"{plural(len(log.source.recordings), 'recording')}, {plural(log.source.frame_count, 'frame')}, "
        f"{len(short[log.name][UNTOUCHED].verdicts)} pieces of about {PIECE_S:g} s"
        for log in logs
    }
    return FaultResults(
        logs=about,
        faults=[row for row in faults if row is not None],
        alarms=alarms,
        offsets=[row for row in offsets if row is not None],
        left_out=left_out,
    )
