"""What a file of an export says about itself: which graph it is, and the config.json of its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egoequiv.errors import DataError
from egoequiv.models.saved import SavedConfig

ENCODER, MAPS, MOVED = "encoder", "maps", "moved"  # the graphs, and the names of their files
IMAGES, MOTION = "images", "motion"  # the inputs
FEATURES, MAP, AFTER = "features", "map", "after"  # the outputs
ONNX_KEY = "egoequiv"  # in the properties of an ONNX file
PROGRAM_KEY = "egoequiv.json"  # in a torch.export file


@dataclass(frozen=True, eq=False)
class ExportedFile:
    """One graph of an export."""

    graph: str
    config: SavedConfig


def about(graph: str, config: SavedConfig) -> dict[str, Any]:
    """What is written into a file."""
    return {"graph": graph, "config": config.describe()}


def read_about(text: str | bytes, path: Path) -> ExportedFile:
    """Read it again."""
    try:
        found = json.loads(text)
        graph, config = found["graph"], found["config"]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise DataError(f"{path} is damaged (what it says about itself cannot be read): export it again") from problem
    if graph not in (ENCODER, MAPS, MOVED) or not isinstance(config, Mapping):
        raise DataError(f"{path} is damaged (it says that it is {graph!r}): export it again")
    return ExportedFile(graph, SavedConfig.from_description(config, path))
