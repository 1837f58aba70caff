"""What the tests of exports share: small runs of several methods, each exported once."""

from __future__ import annotations

from pathlib import Path

from egoequiv.exporting import export_run
from egoequiv.store import FrameStore
from egoequiv.training import train

TINY = {"iterations": 3, "log_every": 3, "checkpoint_every": 3, "validate_every": 3, "batch_size": 8, "threads": 1}

# The paper's maps of patterns; maps of any motion on a part of the features; such maps made by a network; no maps.
METHODS = {
    "patterns": {"method": "equiv", "use_labels": False, "encoder": "norb"},
    "generators": {"method": "recording+motion", "use_labels": False, "encoder": "residual"},
    "network": {"method": "recording+motion", "use_labels": False, "encoder": "kitti", "motion_maps": "network"},
    "none": {"method": "temporal", "use_labels": False, "encoder": "vit"},
}


def make_run(kind: str, store: FrameStore, folder: Path, **changes: object) -> Path:
    """A run of a few iterations."""
    return train(store.path, folder / f"run-{kind}", **{**TINY, **METHODS[kind], **changes}).path


def make_export(kind: str, store: FrameStore, folder: Path) -> tuple[Path, Path]:
    """A run and its export."""
    run = make_run(kind, store, folder)
    export_run(run, folder / kind)
    return run, folder / kind
