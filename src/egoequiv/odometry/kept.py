"""What was found in the pictures of a recording, kept in files under a digest of what decides it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from egoequiv.cache import file_states, program_digest
from egoequiv.files import replacing
from egoequiv.sources.recording import Recording, Source

Arrays = dict[str, NDArray[Any]]

# Settings that decide the poses of frames, and not their pictures.
_OF_MOTION = ("axes", "columns", "interpolation", "max_gap_s", "mount", "offset_s", "quaternion", "rates", "rule")


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


def kept_arrays(file: Path | None) -> Arrays | None:
    """The arrays of a file; None if there is none that can be read."""
    if file is None:
        return None
    try:
        with np.load(file, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None


def keep_arrays(file: Path | None, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, whole or not at all."""
    if file is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as temporary, open(temporary, "wb") as opened:
        np.savez(opened, allow_pickle=False, **arrays)
