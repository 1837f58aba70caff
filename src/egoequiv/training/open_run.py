"""A run opened to be looked at: its network, store, split, labelled task and motions, each opened once when needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.models import EgoNet, load_model
from egoequiv.models.checkpoint import Which
from egoequiv.pairs import MotionPatterns, Split, atomic_names, declare_patterns, make_split
from egoequiv.pairs.patterns import name_in_steps
from egoequiv.store import FrameStore
from egoequiv.store.label_tables import with_labels
from egoequiv.training.config import TrainConfig
from egoequiv.training.data import OpenedData, Recognition, motions_of, open_data, open_in_space
from egoequiv.training.run_folder import RunFolder


def open_run(
    path: str | Path, which: Which = "last", store: str | Path | None = None, labels: str | None = None
) -> OpenRun:
    """Open the folder of a run.

    Args:
        path: The folder of the run.
        which: The checkpoint whose network is wanted.
        store: Another store to look at in place of the run's own.
        labels: A table of labels for the frames, see `with_labels`; the split stays that of the run.

    Returns:
        The run; its parts are opened when first needed.

    Example:
        run = open_run("run")
        features = embed(run.net, run.store, run.split.validation)
    """
    return OpenRun(RunFolder(Path(path)), which, None if store is None else str(store), labels)


@dataclass(frozen=True)
class OpenRun:
    """A run and what it is measured on."""

    folder: RunFolder
    which: Which = "last"
    other_store: str | None = None  # looked at in place of the run's own
    labels: str | None = None  # a table of labels in place of those of the store

    @cached_property
    def config(self) -> TrainConfig:
        """The settings of the run; `data` is the other store, if one was given."""
        config = self.folder.config()
        if self.other_store is None:
            return config
        return config.model_copy(update={"data": self.other_store, "labels": None})

    @cached_property
    def net(self) -> EgoNet:
        """The network of the checkpoint."""
        return load_model(self.folder.path, self.which)

    @cached_property
    def store(self) -> FrameStore:
        """The store, in the motion space of the run, with the labels that are looked at."""
        store = self._opened.store
        return store if self.labels is None else with_labels(store, self.labels)

    @property
    def split(self) -> Split:
        """The split of the run; another store is split in the same way, or as its own data allows."""
        return self._opened.split

    @property
    def recognition(self) -> Recognition | None:
        """The labelled task; None for a run without labels, and on another store."""
        found = self._opened.recognition
        if found is None or self.labels is None or self.store.numbers:
            return found
        unknown = [name for name in self.store.class_names if name not in found.class_names]
        if unknown:
            return None  # the classifier of the run knows other classes; a probe reads these
        place = np.array([*(found.class_names.index(name) for name in self.store.class_names), -1])
        return Recognition(self.store, place[self.store.labels], found.class_names, self.split)

    @cached_property
    def patterns(self) -> MotionPatterns | None:
        """The motions to measure: those that the run has mined, or those that the store allows."""
        patterns = self.folder.patterns() or motions_of(self.store, self.split, self.config)
        if patterns is not None and patterns.space != self.store.space:
            raise ConfigError(
                f"{self.folder.path} learned motions of another motion space than {self.store.place} has: measure it "
                "on a store like its own"
            )
        return patterns

    @property
    def learned(self) -> tuple[str, ...]:
        """The names of the motions that the network has maps for; in video, maps of any motion have no names."""
        spec = self.net.spec
        if spec.patterns or not spec.motion_maps:
            return spec.patterns
        here = self.store.space
        begun = self.folder.space() or here
        names = self.config.motions or atomic_names(begun)
        if begun == here or not names:
            return names
        same = [name_in_steps(here, motion) for motion in declare_patterns(begun, names).motions]  # with other steps
        return tuple(name for name in same if name is not None)

    @cached_property
    def learned_before(self) -> tuple[str, ...]:
        """The validation recordings of another store that the run learned from in its own: same world, same name."""
        if self.other_store is None:
            return ()
        try:
            own = open_data(self.folder.config())
        except EgoEquivError:  # the run's own store is gone, or is no store
            return ()
        worlds = [
            (store.meta.get("source"), store.meta.get("settings", {}).get("seed")) for store in (own.store, self.store)
        ]
        if worlds[0] != worlds[1]:
            return ()
        names = (
            {store.recording_names[k] for k in np.unique(store.recording[rows])}
            for store, rows in ((own.store, own.split.train), (self.store, self.split.validation))
        )
        return tuple(sorted(set.intersection(*names)))

    @cached_property
    def _opened(self) -> OpenedData:
        if self.other_store is None:
            return open_data(self.config)
        store, config = open_in_space(self.config), self.config
        cut = partial(
            make_split,
            seed=config.split_seed,
            train_fraction=config.train_fraction,
            max_gap_s=config.max_gap_s,
            place_m=config.place_m,
        )
        try:
            split = cut(store, config.split)
        except EgoEquivError:  # as by-recording, where there is one recording
            split = cut(store)
        return OpenedData(config, store, split, None, ())
