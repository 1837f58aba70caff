"""Sources by name, with settings as they come from a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from egoequiv.catalog import SOURCES, WRITERS, find_writer, open_source
from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.sources import Source
from egoequiv.sources.formats import FORMATS
from egoequiv.store import ingest
from helpers import grid_source, write_norb

ROOT = Path(__file__).parents[1]

FEW = {"toys_per_category": 1, "elevations": 2, "azimuths": 3, "lightings": 1, "size": 8}


def test_a_world_needs_no_path() -> None:
    source = open_source("turntable", categories=["car"], **FEW)
    assert source.frame_count == 6
    assert source.name == "turntable"


def test_settings_may_be_strings() -> None:
    as_numbers = open_source("turntable", **FEW)
    as_strings = open_source("turntable", **{name: str(value) for name, value in FEW.items()})
    assert dict(as_strings.settings) == dict(as_numbers.settings)


def test_a_source_reads_its_path(tmp_path: Path) -> None:
    write_norb(tmp_path)
    source = open_source("norb", tmp_path, camera="both", part="training")
    assert source.frame_count == 48
    assert dict(source.settings) == {"path": str(tmp_path), "part": "training", "camera": "both"}


@pytest.mark.parametrize("name", ["nrob", "", "NORB"])
def test_an_unknown_source_is_named_with_the_choices(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name!r} is not known.*norb.*turntable"):
        open_source(name)


def test_a_missing_path_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"'norb' reads files"):
        open_source("norb")


def test_a_path_too_many_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'turntable' .* leave out '/data'"):
        open_source("turntable", Path("/data"))


def test_an_unknown_setting_is_named_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'norb' has no setting 'cammera'; it has part, camera"):
        open_source("norb", tmp_path, cammera="left")
    with pytest.raises(ConfigError, match=r"'turntable' has no setting 'sed'; it has seed, .*size"):
        open_source("turntable", sed=1)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("norb", {"camera": "middle"}, r"camera='middle'.*'left', 'right' or 'both'"),
        ("norb", {"part": "validation"}, r"part='validation'.*'training'"),
        ("turntable", {"size": "large"}, r"size='large'.*integer"),
        ("turntable", {"size": "2"}, r"size .*at least 8, found 2"),
        ("turntable", {"seed": "-1"}, r"seed .*at least 0, found -1"),
        ("turntable", {"categories": ["car", "house"]}, r"no category 'house'"),
        ("turntable", {"categories": "car"}, r"categories"),
    ],
)
def test_a_bad_value_is_named(tmp_path: Path, name: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        open_source(name, tmp_path if name == "norb" else None, **settings)
    assert "\n" not in str(caught.value)


def test_the_catalog_is_complete() -> None:
    """Every format that can be guessed is a source with a page; the worlds come last."""
    formats = [one.source for one in FORMATS]
    assert {*formats, "scenes", "turntable", "drive", "places"} == set(SOURCES)
    old = {"norb", "kitti", "kitti-odometry"}  # described in the guide
    assert all((ROOT / "docs" / "formats" / f"{name}.md").is_file() for name in formats if name not in old)
    assert {name: find_writer(name)[0] for name in WRITERS} == {"drive": "kitti", "places": "scenes"}
    with pytest.raises(ConfigError, match=r"world 'turntable' cannot be written as files; choose one of drive, places"):
        find_writer("turntable")


def test_worlds_are_named_as_any_code_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_source("egoequiv_worlds:turntable", **FEW).settings == open_source("turntable", **FEW).settings
    monkeypatch.setitem(SOURCES, "drive", "no_such_worlds:drive")
    with pytest.raises(ConfigError, match="no_such_worlds:drive: there is no module") as caught:
        open_source("drive")
    assert "\n" not in str(caught.value)


def of_files(path: Path, takes: int = 2) -> Source:
    return Source(path.name, grid_source().space, grid_source().recordings[:takes])


def perhaps_of_files(path: Path | None = None) -> Source:
    return grid_source() if path is None else of_files(path)


def of_nothing() -> list[int]:
    return []


def failing() -> Source:
    raise OSError("no such\ndial")


READY = grid_source()


def test_sources_of_ones_own(tmp_path: Path) -> None:
    assert open_source("test_catalog:of_files", tmp_path, takes="3").frame_count == 72
    assert open_source(of_files, tmp_path).name == tmp_path.name
    assert open_source("test_catalog:perhaps_of_files").frame_count == 144
    assert open_source("test_catalog:perhaps_of_files", tmp_path).frame_count == 48
    assert open_source("test_catalog:READY") is READY


@pytest.mark.parametrize(
    ("name", "path", "settings", "words"),
    [
        ("test_catalog:of_files", None, {}, "reads files: give their folder"),
        ("test_catalog:failing", "x", {}, "leave out 'x'"),
        ("test_catalog:failing", None, {}, "test_catalog.py line"),
        ("test_catalog:failing", None, {}, "OSError: no such dial"),
        ("test_catalog:of_files", "x", {"takes": "many"}, "setting takes='many'"),
        ("test_catalog:of_files", "x", {"sides": "2"}, "has no setting 'sides'; it has takes"),
        ("test_catalog:of_nothing", None, {}, "returns an egoequiv.Source, it returns a list"),
        ("test_catalog:READY", None, {"takes": 3}, "takes no path and no settings"),
        (
            "test_catalog:FEW",
            None,
            {},
            "a function that returns an egoequiv.Source, or a Source, found a dict",
        ),
    ],
)
def test_what_is_no_source_is_one_line(name: str, path: str | None, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_source(name, path, **settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


CODE = """
from dataclasses import dataclass, field

import numpy as np
from egoequiv import GridSpace, Recording, Source
from egoequiv.pose import Axis


@dataclass(frozen=True)
class Wall(Recording):
    name: str
    poses: np.ndarray
    labels: None = None
    times_s: None = None
    attributes: dict = field(default_factory=dict)

    def image(self, frame):
        return np.full((8, 8), int(self.poses[frame, 0]), np.uint8)


def walls(count: int = 2):
    poses = np.arange(0.0, 200.0, 10.0)[:, None]
    space = GridSpace((Axis("pan", "deg", 10.0, "right", "left"),))
    return Source("walls", space, [Wall(f"{k}", poses) for k in range(count)])


class Torn(Wall):
    def image(self, frame):
        return {}["no such"]


class Listed(Wall):
    def image(self, frame):
        return [1, 2]


def torn():
    return Source("torn", walls().space, [Torn("left wall", walls().recordings[0].poses)])


def listed():
    return Source("listed", walls().space, [Listed("left wall", walls().recordings[0].poses)])
"""


@pytest.mark.slow
def test_worker_processes_find_the_recordings_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "walls.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    store = ingest(open_source("walls.py:walls", count="3"), tmp_path / "store", workers=2)
    assert store.images[:20, 0, 0, 0].tolist() == list(range(0, 200, 10))
    assert len(store) == 60


@pytest.mark.parametrize("size", [None, (8, 8)])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torn", "recording 'left wall', frame 0: .*walls.py line 29: KeyError: 'no such'"),
        ("listed", "recording 'left wall', frame 0: expected an array, found a list"),
    ],
)
def test_a_recording_that_goes_wrong_is_one_line(
    tmp_path: Path, name: str, words: str, size: tuple[int, int] | None
) -> None:
    (tmp_path / "walls.py").write_text(CODE)
    with pytest.raises(EgoEquivError, match=words) as caught:
        ingest(open_source(f"{tmp_path}/walls.py:{name}"), tmp_path / "store", size=size, workers=1)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "store").exists()


ODD = """
import numpy as np
from pathlib import Path
from egoequiv import GridSpace, Recording, Source
from egoequiv.pose import Axis

SPACE = GridSpace((Axis("pan", "deg", 10.0, "right", "left"),))


class Odd(Recording):
    times_s = labels = None
    attributes = {}

    def __init__(self, **fields):
        self.name, self.poses = "odd", np.arange(0.0, 40.0, 10.0)[:, None]
        vars(self).update(fields)

    def image(self, frame):
        return np.zeros((8, 8), np.uint8)


class Bare(Recording):
    def __init__(self, *fields):
        self.name, self.poses = "bare", np.arange(0.0, 40.0, 10.0)[:, None]
        for name in fields:
            setattr(self, name, None)

    image = Odd.image


class Failing(Odd):
    def __len__(self):
        return {}["no such"]


class Misnamed(Odd):
    def file_name(self, frame):
        return Path("a.png")


def odd(case: str = ""):
    recording, settings = RECORDINGS[case](), {"path": Path("x")} if case == "settings" else {}
    return Source("odd", SPACE, iter([recording]) if case == "iterator" else [recording], settings)


RECORDINGS = {
    "": Odd,
    "numbers": lambda: Odd(labels=[3, 3, 4, 4]),
    "array": lambda: Odd(labels=np.array([3, 3, 4, 4])),
    "one": lambda: Odd(labels="wall"),
    "attribute": lambda: Odd(attributes={"room": 3}),
    "attributes": lambda: Odd(attributes=["room"]),
    "times": lambda: Odd(times_s=["now", "then", "soon", "late"]),
    "poses": lambda: Odd(poses=None),
    "name": lambda: Odd(name=7),
    "no times_s": Bare,
    "no labels": lambda: Bare("times_s"),
    "no attributes": lambda: Bare("times_s", "labels"),
    "length": Failing,
    "file name": Misnamed,
    "other": lambda: "a wall",
    "iterator": Odd,
    "settings": Odd,
}
"""


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("numbers", r"recording 'odd', frame 0: a label must be text or None, found 3: use str\(3\)"),
        ("array", r"recording 'odd', frame 0: a label must be text or None, found np.int64\(3\)"),
        ("one", "expected a list of labels or None, found a str"),
        ("attribute", "names and values of attributes must be text, found 'room': 3"),
        ("attributes", "expected a dict of attributes, found a list"),
        ("times", r"expected times_s to be seconds \(N,\) or None, found <U4"),
        ("poses", r"expected poses to be an array \(N, P\) of numbers, found object"),
        ("name", "the name of a recording must be text, found 7"),
        ("no times_s", "recording 'bare' has no 'times_s': give it times_s = None"),
        ("no labels", "recording 'bare' has no 'labels': give it labels = None"),
        ("no attributes", "recording 'bare' has no 'attributes': give it attributes = {}"),
        ("length", "odd.py line 33: KeyError: 'no such'"),
        ("file name", "frame 0: a file name must be text or None, found .*Path"),
        ("other", "expected recordings that are egoequiv.Recording, found a str"),
        ("iterator", "expected a list of recordings, found a list_iterator"),
        ("settings", "its settings must be text, numbers, lists and dicts: .*Path is not JSON serializable"),
    ],
)
def test_a_recording_that_lacks_something_is_one_line(tmp_path: Path, case: str, words: str) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    assert len(ingest(open_source(f"{tmp_path}/odd.py:odd"), tmp_path / "plain", workers=1)) == 4
    with pytest.raises(EgoEquivError, match=words) as caught:
        ingest(open_source(f"{tmp_path}/odd.py:odd", case=case), tmp_path / "store", workers=1)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "store").exists()
