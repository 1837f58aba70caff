"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from egoequiv.store import FrameStore, ingest
from finished import make_finished
from helpers import grid_source

# Whether an example is slow depends on the machine; what it shows does not.
settings.register_profile("egoequiv", deadline=None, max_examples=50)
settings.load_profile("egoequiv")


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """A store of 144 frames of 12 x 12: 3 classes, 2 recordings each, on a grid of 4 x 6 poses. Do not change it."""
    return ingest(grid_source(), tmp_path_factory.mktemp("stores") / "small", workers=1)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two rows of three repetitions each on a small turntable, and its runs. Do not change it: copy it."""
    return make_finished(tmp_path_factory.mktemp("finished") / "toys")
