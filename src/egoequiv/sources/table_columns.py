"""What the columns of a table mean: by the names that people usually give them, or as declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from egoequiv.errors import ConfigError
from egoequiv.sources.tables import Table

# Words of a column's name (lower case, underscores, without the unit), the most usual first.
TIME = (
    r"timestamp|time|t|stamp|time_?stamp|ts|date_?time|sec|secs|seconds|milliseconds|microseconds|nanoseconds",
    r"\w+_(?:timestamp|time|stamp)",
)
FRAME = (r"frame|frame_?(?:id|index|number|num|no|nr|idx)|index|idx|(?:image|img)_?(?:index|id|number)",)
FILE = (
    r"file|file_?name|file_?path|image|image_?(?:file|filename|name|path)|img|img_?(?:file|path|name)|picture|photo",
    r"path|frame_?(?:file|path|name)|cent(?:er|re)(?:_image)?|\w+_(?:file|filename|path|image)",
)
RECORDING = (r"recording|episode|sequence|seq|drive|run|session|trajectory|clip|video|object",
             r"(?:recording|episode|sequence|drive|run|session|object|video)_?(?:id|index|name)")  # fmt: skip
LABEL = (r"label|class|class_?name|category",)

POSITION = (
    *(r"(?P<c>x)", r"[tp]_?(?P<c>x)", r"(?:\w+_)?pos(?:ition)?_?(?P<c>x)", r"(?P<c>x)_pos(?:ition)?"),
    *(r"(?:\w+_)?(?:translation|trans|location|loc)_?(?P<c>x)", r"p_\w+_(?P<c>x)"),
)
QUATERNION = (
    *(r"q_?(?P<c>x)", r"(?:\w+_)?quat(?:ernion)?_?(?P<c>x)", r"(?:\w+_)?(?:orientation|rotation|rot)_?(?P<c>x)"),
    r"q_\w+_(?P<c>x)",
)
UNORDERED_QUATERNION = (r"(?:\w+_)?(?:q|quat|quaternion)_?[0-4]",)  # which of them is w is not said
YAW = (r"(?P<c>yaw)(?:_angle)?", r"\w+_(?P<c>yaw)", r"theta")
LATITUDE, LONGITUDE, ALTITUDE = (
    (rf"(?:\w+_)?{word}",) for word in (r"lat(?:itude)?", r"(?:lon|lng|long)(?:itude)?", r"alt(?:itude)?")
)
SPEED = (r"speed|velocity|vel|vf|v|(?:forward|vehicle|ego)_?(?:speed|velocity)|linear_?(?:velocity_)?x|\w+_speed",)
YAW_RATE = (r"yaw_?rate|gyro_?z|wz|omega(?:_?z)?|angular_?(?:velocity_)?z|\w+_(?:yaw_?rate|gyro_z)",)
CONTROLS = (r"(?:\w+_)?(?:steering|steering_?angle|steer|angle|throttle|gas|brake|speed|velocity|yaw_?rate|gyro_?z)",)
TURNS = (r"(?:\w+_)?(?:yaw|roll|pitch|heading|bearing|course|azimuth|az|turntable|pan|theta)(?:_angle)?",)  # go round
AZIMUTH = (r"azimuth|az|turntable(?:_?angle)?|pan|angle|theta|rotation",)
ELEVATION = (r"elevation|elev|el|tilt",)

# As units are written after a name, and what they are called here.
_SPELLINGS = {
    "m": "m meter meters metres",
    "cm": "cm",
    "mm": "mm",
    "km": "km",
    "deg": "deg degree degrees ° dps deg/s degps",
    "rad": "rad radian radians rad/s radps rad_s^-1",
    "s": "s sec",
    "ms": "ms msec millis milliseconds",
    "us": "us µs usec micros microseconds",
    "ns": "ns",
    "mps": "mps m/s m_s^-1",
    "kmh": "km/h kmh kph",
    "mph": "mph",
}
UNITS = {word.replace("_", " "): unit for unit, words in _SPELLINGS.items() for word in words.split()}
_TWO_WORDS = re.compile(r"(.+)_(m|km|deg|rad)_((?<=km_)h|(?<!km_)s)")  # speed_m/s, yaw_rate_deg_s
_BRACKETS = re.compile(r"(.*?)\s*[\[(]([^\])]*)[\])]\s*")


@dataclass(frozen=True)
class Word:
    """The name of a column in the form in which names are compared."""

    name: str  # as in the table
    plain: str
    unit: str  # "" where the name says none

    @classmethod
    def of(cls, name: str) -> Word:
        """Such as p_rs_r_x and m for "p_RS_R_x [m]", yaw and deg for "yaw_deg"."""
        found = _BRACKETS.fullmatch(name)
        text, unit = (found[1], UNITS.get(found[2].strip().lower(), "")) if found else (name, "")
        plain = re.sub(r"[\W_]+", "_", text.strip().lower()).strip("_")
        if not unit and (ending := _TWO_WORDS.fullmatch(plain)):
            plain, unit = ending[1], UNITS[f"{ending[2]}/{ending[3]}"]
        head, _, last = plain.rpartition("_")
        if head and not unit and last in UNITS:
            plain, unit = head, UNITS[last]
        return cls(name, plain or name, unit)

    @property
    def column(self) -> str:
        """Its name in a store, which ends in the unit."""
        return f"{self.plain}_{self.unit}" if self.unit else self.plain


def words_of(table: Table) -> list[Word]:
    """The names of all columns."""
    return [Word.of(name) for name in table.columns]


def find(words: Iterable[Word], patterns: Sequence[str], taken: Iterable[str] = ()) -> str:
    """The first column whose name is one of the usual ones; "" if there is none."""
    free = [word for word in words if word.name not in set(taken)]
    return next((w.name for pattern in patterns for w in free if re.fullmatch(pattern, w.plain)), "")


def find_family(words: Sequence[Word], patterns: Sequence[str], parts: Sequence[str]) -> tuple[str, ...]:
    """Columns whose names differ in one part, such as tx, ty and tz; () unless the first two or more are there.

    Args:
        words: the names of all columns.
        patterns: of the name with the first part, in the group c.
        parts: what stands in the place of the group, in the order of the result; the last ones may be missing.

    """
    names = {word.plain: word.name for word in words}
    for pattern in patterns:
        for word in words:
            found = re.fullmatch(pattern, word.plain)
            if found and "c" in found.re.groupindex:
                start, end = found.span("c")
                asked = [word.plain[:start] + part + word.plain[end:] for part in parts]
                there = [names[name] for name in takewhile(names.__contains__, asked)]
                if len(there) > 1:
                    return tuple(there)
    return ()


def declared(table: Table, text: str, setting: str, counts: Sequence[int] = ()) -> tuple[str, ...]:
    """The columns that a setting names, such as "x,y,z"; each must be there.

    Args:
        table: the table.
        text: names with commas between them, as in the table, or without their units.
        setting: its name, for messages.
        counts: how many there may be; any number by default.

    """
    words = words_of(table)
    found = []
    for asked in [text] if text in table.columns else text.split(","):
        name = asked.strip()
        plain = [word.name for word in words if name.lower() in (word.plain, word.column)]
        if name not in table.columns and len(plain) != 1:
            have = ", ".join(list(table.columns)[:20])
            raise ConfigError(f"{setting}={text}: {table.path.name} has no column {name!r}; it has {have}")
        found.append(name if name in table.columns else plain[0])
    if counts and len(found) not in counts:
        raise ConfigError(f"{setting}={text}: expected {' or '.join(map(str, counts))} columns, found {len(found)}")
    return tuple(found)


def one_column(table: Table, text: str, setting: str, patterns: Sequence[str], taken: Iterable[str] = ()) -> str:
    """A column that is declared, or else found by its name; "" if there is none."""
    return declared(table, text, setting, (1,))[0] if text else find(words_of(table), patterns, taken)
