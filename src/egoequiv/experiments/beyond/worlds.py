"""The settings of the tables: on which frames methods learn, on which they are measured, and what is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.experiments.driving import ASPECT
from egoequiv.experiments.options import Effort, Settings
from egoequiv.experiments.stores import experiment_store
from egoequiv.experiments.visual.features import PIECE, in_pieces
from egoequiv.store import FrameStore

Paths = Mapping[str, Path | None]  # of data sets, by the names of their options
Make = Callable[[Effort, Paths], FrameStore]


@dataclass(frozen=True)
class World:
    """One setting: a data set, its split and its labels."""

    name: str  # as on the command line
    title: str  # at the head of its tables
    video: Make  # the store to learn from
    split: Callable[[FrameStore, int], str]  # of that store, in one repetition
    needs: tuple[str, ...] = ()  # the options that name its data; none for an embedded world
    settings: Settings = field(default_factory=dict)  # of training, beside the store and the split
    labelled: Make | None = None  # the store of the labelled images, where it is another one
    has_classes: bool = True  # whether there are classes to recognise
    is_grid: bool = False  # whether poses are on a grid, as the paper's network for NORB expects it
    hold_out: str = "recording"  # what the probes of motion have none of in common with the frames that they read
    number: str | None = None  # a column that is read from features by a few labelled frames
    has_cuts: bool = False  # whether each repetition cuts the frames in other places
    size: int | None = None  # pixels a side of its images; None for the size of the table

    def cut(self, split: str, repetition: int) -> Settings:
        """The settings of training that divide the frames in one repetition."""
        return {"split": split, "split_seed": repetition if self.has_cuts else 0}

    def check(self, paths: Paths) -> None:
        """Refuse data that is not there, before the long work begins."""
        for option in self.needs:
            path = paths.get(option)
            if path is not None and not path.exists():
                raise DataError(f"--{option} {path} does not exist")

    def lacks(self, paths: Paths) -> list[str]:
        """The options that were not given."""
        return [option for option in self.needs if paths.get(option) is None]


def _of_files(name: str, source: str, option: str, **settings: Any) -> Make:
    """The store of this name, of the files that an option names, read by a source."""

    def make(effort: Effort, paths: Paths) -> FrameStore:
        path = paths[option]
        assert path is not None
        made_from = {"data": str(path.resolve()), **settings}
        return experiment_store(effort, name, made_from, open_source(source, path, **settings))

    return make


def _seven_scenes(effort: Effort, paths: Paths) -> FrameStore:
    path = paths["seven-scenes"]
    assert path is not None
    source = in_pieces(open_source("seven-scenes", path))
    return experiment_store(effort, "seven-scenes", {"data": str(path.resolve()), "cut": PIECE}, source)


def _turntable(effort: Effort, _: Paths) -> FrameStore:
    made: dict[str, Any] = {"lightings": effort.lightings}
    return experiment_store(effort, f"turntable-{effort.lightings}", made, open_source("turntable", **made))


def _drive(effort: Effort, _: Paths) -> FrameStore:
    made: dict[str, Any] = {"drives_per_area": effort.drives_per_area, "seconds": effort.seconds}
    name = f"drive-{effort.drives_per_area}x{effort.seconds:g}s"
    return experiment_store(effort, name, made, open_source("drive", **made))


def new_light(store: FrameStore, _repetition: int = 0) -> str:
    """The last third of the lightings, in every repetition: of small NORB 4 and 5."""
    names = store.classes("lighting")[1]
    held = sorted(names, key=int)[-max(len(names) // 3, 1) :]
    return f"by-lighting:{','.join(held)}"


def new_toys(store: FrameStore, repetition: int) -> str:
    """One instance of every category, another one in each repetition, under the last third of the lightings."""
    _, names = store.classes("instance")
    light = new_light(store, repetition).removeprefix("by-")
    return f"by-instance:{names[repetition % len(names)]}+{light}"


def always(kind: str) -> Callable[[FrameStore, int], str]:
    """The same kind of split in every repetition."""
    return lambda *_: kind


VIDEO: Settings = {"keep_from": "both"}  # motions that occur in both parts, by their poses alone
SCENES: Settings = VIDEO | {"label_split": "given"}
NORB, KITTI = _of_files("norb", "norb", "norb", part="auto"), _of_files("kitti", "kitti", "kitti")
SHAPED = _of_files("scenes", "scenes", "scenes", aspect=ASPECT)
WHOLE = _of_files("pictures", "scenes", "scenes")  # cut to the shape of KITTI, a square one loses 7 of 10 rows
TUB = _of_files("tub", "donkey", "tub")
BY_RECORDING, BY_TIME, BY_PIECE = always("by-recording"), always("by-time"), always(f"by-{PIECE}")
CAR = ("kitti", "scenes")
WORLDS: dict[str, World] = {
    world.name: world
    for world in (
        World("norb-light", "Small NORB, new light", NORB, new_light, ("norb",), is_grid=True),
        World(
            "norb-toys", "Small NORB, new toys", NORB, new_toys, ("norb",), {"label_column": "category"}, is_grid=True
        ),
        World("norb-paper", "Small NORB, the paper's split", NORB, always("paper"), ("norb",), is_grid=True),
        World("kitti-scenes", "KITTI to scenes", KITTI, BY_RECORDING, CAR, SCENES, SHAPED),
        World("kitti-pictures", "KITTI to whole pictures of scenes", KITTI, BY_RECORDING, CAR, SCENES, WHOLE, size=64),
        World(
            "tub", "Donkeycar tub", TUB, BY_TIME, ("tub",), VIDEO, has_classes=False, number="steering", has_cuts=True
        ),
        World(
            "7-scenes", "7-Scenes", _seven_scenes, BY_PIECE, ("seven-scenes",), VIDEO, has_classes=False, hold_out=PIECE
        ),
        World("turntable", "Turntable, new light", _turntable, new_light, is_grid=True),
        World("drive", "Drive", _drive, BY_RECORDING, settings=VIDEO),
    )
}
QUICK = ("turntable", "drive")


def choose_worlds(names: Sequence[str] | None, paths: Paths, *, quick: bool) -> tuple[list[World], list[str]]:
    """The settings that are made, and a line on each that is left out for lack of data."""
    if unknown := [name for name in names or () if name not in WORLDS]:
        raise ConfigError(f"setting {unknown[0]!r} is not known; choose from {', '.join(WORLDS)}")
    given = {option for option, path in paths.items() if path is not None}
    usual = [w for w in WORLDS.values() if not quick or w.name in QUICK or (w.needs and given.issuperset(w.needs))]
    wanted = usual if names is None else [world for world in WORLDS.values() if world.name in names]
    notes = []
    for world in wanted:
        world.check(paths)
        if lacks := world.lacks(paths):
            options = " and ".join(f"--{option} PATH" for option in lacks)
            notes.append(f"setting {world.name} is left out: give its data with {options}")
    chosen = [world for world in wanted if not world.lacks(paths)]
    if not chosen:
        raise ConfigError(f"no setting is left: {'; '.join(notes)}")
    return chosen, notes
