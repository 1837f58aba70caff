"""Fixtures for all tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from egoequiv.store import FrameStore, ingest
from finished import make_finished
from helpers import grid_source

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser; closed after each module, because a second one cannot be opened in the same process."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        reason = "no chromium, so pages are not looked at in a browser; install it: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
