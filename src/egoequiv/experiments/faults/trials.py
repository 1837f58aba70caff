"""The faults that are tried, how strong they are, and which checks are meant to find each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from egoequiv.doctor.changed import Case
from egoequiv.doctor.faults import FAULTS, shuffled
from egoequiv.doctor.motion_faults import ROTATION_AXES, TRANSLATION_AXES
from egoequiv.errors import ConfigError
from egoequiv.sources.recording import Recording

UNTOUCHED = "untouched"
OFFSETS_MS = (30, 100, 300, 1000)
_AXES = ("axes and signs",)


@dataclass(frozen=True)
class Trial:
    """One fault, put into every recording of a log."""

    name: str
    fault: str  # of `FAULTS`, or shuffled, or untouched
    meant: tuple[str, ...] = ()  # the checks that are meant to find it
    strength: Mapping[str, float] = field(default_factory=dict)
    arranges: bool = False  # whether frames have other neighbours, or other pictures, than before

    @property
    def file_name(self) -> str:
        return self.name.replace(" ", "-").replace("+", "plus").replace("%", "percent")

    @property
    def offset_s(self) -> float:
        """The clock offset that is put in; 0 for other faults."""
        return self.strength.get("offset_s", 0.0)


def offset_trials() -> list[Trial]:
    """Clock offsets, both signs."""
    return [
        Trial(f"clock offset {sign * ms:+d} ms", "clock offset", ("clock offset",), {"offset_s": sign * ms / 1e3})
        for ms in OFFSETS_MS
        for sign in (1, -1)
    ]


def all_trials() -> list[Trial]:
    """The log as it is, then every fault."""
    return [
        Trial(UNTOUCHED, UNTOUCHED),
        *offset_trials(),
        *(Trial(f"flipped {axis}", f"flipped {axis}", _AXES) for axis in (*ROTATION_AXES, *TRANSLATION_AXES)),
        *(Trial(name, name, _AXES) for name in ("permuted axes", "backwards mount", "quaternion order")),
        *(Trial(name, name, _AXES) for name in ("radians as degrees", "degrees as radians")),
        *(Trial(name, name, _AXES, arranges=True) for name in ("mirrored", "upside down")),
        Trial("frozen for 1 s", "frozen", ("frozen",), {"seconds": 1.0}, arranges=True),
        # Frames that are lost without a trace in the stamps make the clock of the rest drift.
        Trial("5 % dropped", "dropped", ("dropped", "clock drift", "step lengths"), {"share": 0.05}, arranges=True),
        Trial("5 % duplicated", "duplicated", ("duplicates",), {"share": 0.05}, arranges=True),
        Trial("2 % reordered", "reordered", ("order",), {"share": 0.02}, arranges=True),
        # Halves need not turn enough to say which is which, so to say that pictures and log disagree is right too.
        Trial("swapped halves", "swapped halves", ("order of parts", "agreement"), arranges=True),
        Trial("motion of the other half", "other half", ("order of parts", "agreement")),
        Trial("shuffled", "shuffled", ("right recording", "agreement")),
    ]


def chosen_trials(names: Sequence[str]) -> list[Trial]:
    """The trials whose names hold one of the given words, and the log as it is; all of them without words."""
    trials = all_trials()
    for word in names:
        if not any(word in one.name for one in trials):
            known = ", ".join(one.name for one in trials[1:])
            raise ConfigError(f"--faults {word}: no fault has a name like this; choose from {known}")
    return [one for one in trials if not names or one.fault == UNTOUCHED or any(word in one.name for word in names)]


def put_in(trial: Trial, recordings: Sequence[Recording], names: tuple[str, ...], seed: int) -> list[Recording | str]:
    """The recordings with a fault; in place of one that cannot have it, the reason."""
    if trial.fault != "shuffled":
        return [put_in_one(trial, recording, names, seed + k) for k, recording in enumerate(recordings)]
    return list(shuffled(recordings, seed)) if len(recordings) > 1 else ["there is no other recording"]


def put_in_one(trial: Trial, recording: Recording, names: tuple[str, ...], seed: int) -> Recording | str:
    """One recording with a fault, or why it cannot have it."""
    if trial.fault == UNTOUCHED:
        return recording
    try:
        return FAULTS[trial.fault](Case(recording, names, seed), **trial.strength)
    except ConfigError as reason:
        return str(reason)
