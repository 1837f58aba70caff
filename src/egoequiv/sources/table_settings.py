"""The settings of the source `table`: from the command line, or from a small file beside the data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoequiv.errors import ConfigError, DataError
from egoequiv.pose.track import ColumnRule, Interpolation

FILE, SECTION = "egoequiv.toml", "table"


@dataclass(frozen=True)
class TableSettings:
    """What a user may declare of a table; empty texts are found by the usual names."""

    poses: str = ""  # which table, if there are several
    times: str = ""  # a second table with the times of the frames
    camera: str = ""  # which folder of pictures or which video
    file: str = ""  # from here to `rates` names of columns
    time: str = ""
    frame: str = ""
    recording: str = ""
    label: str = ""
    position: str = ""
    rotation: str = ""
    columns: str = ""
    rates: str = ""
    axes: str = ""  # "": ros
    quaternion: str = "xyzw"
    mount: str = ""
    time_unit: str = "auto"
    length_unit: str = "auto"
    angle_unit: str = "auto"
    offset_s: float = 0.0
    max_gap_s: float | None = None
    interpolation: Interpolation = "cubic"
    rule: ColumnRule = "linear"
    rate_hz: float | None = None  # of pictures whose times are not known otherwise
    outside: bool = False  # whether pictures may lie outside of the folder

    def __post_init__(self) -> None:
        for name, units in (("length_unit", ("auto", "m", "cm", "mm", "km")), ("angle_unit", ("auto", "deg", "rad"))):
            if getattr(self, name) not in units:
                raise ConfigError(f"{name}={getattr(self, name)}: expected {', '.join(units)}")
        if self.rate_hz is not None and not 0 < self.rate_hz < 1e6:
            raise ConfigError(f"rate_hz={self.rate_hz}: expected pictures a second, above 0")
        if abs(self.offset_s) > 1e9:
            raise ConfigError(f"offset_s={self.offset_s}: expected seconds")


def read_declarations(folder: Path) -> dict[str, Any]:
    """The section [table] of egoequiv.toml in a folder; nothing where there is no such file."""
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        section = tomllib.loads(path.read_text(encoding="utf-8")).get(SECTION, {})
    except (tomllib.TOMLDecodeError, UnicodeError, RecursionError) as problem:
        raise DataError(f"{path} is not TOML: {str(problem).splitlines()[0]}") from problem
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror or problem}") from problem
    if not isinstance(section, dict):
        raise DataError(f'{path}: expected a section [{SECTION}] with lines such as position = "x,y,z"')
    return {name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in section.items()}
