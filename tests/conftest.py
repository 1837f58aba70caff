"""Fixtures for all tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from egoequiv.engines import RayEngine
from egoequiv.store import FrameStore, ingest
from finished import make_finished
from helpers import grid_source

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Whether an example is slow depends on the machine; what it shows does not.
settings.register_profile("egoequiv", deadline=None, max_examples=50)
settings.load_profile("egoequiv")


@pytest.fixture(scope="session", autouse=True)
def one_core() -> Iterator[None]:
    """Commands start no worker processes but where a test asks for them: the other cores have tests of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_registry() -> Iterator[None]:
    """The exporter of torch makes its table of operators again for each graph; here it is made once."""
    import torch.onnx._internal.exporter._registration as registration

    with pytest.MonkeyPatch.context() as patch:
        made = cache(registration.ONNXRegistry.from_torchlib.__func__)
        patch.setattr(registration.ONNXRegistry, "from_torchlib", classmethod(made))
        yield


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    """A store of 144 frames of 12 x 12: 3 classes, 2 recordings each, on a grid of 4 x 6 poses. Do not change it."""
    return ingest(grid_source(), tmp_path_factory.mktemp("stores") / "small", workers=1)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two rows of three repetitions each on a small turntable, and its runs. Do not change it: copy it."""
    return make_finished(tmp_path_factory.mktemp("finished") / "toys")


@pytest.fixture(scope="session")
def ray_engine() -> Iterator[RayEngine]:
    """A cluster of two cores for all tests that need one, for it takes seconds to start, and so do its workers."""
    with RayEngine(2) as engine:
        yield engine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests on a Ray cluster be the first: one worker has them all, and the other has work while they wait.

    Those of the engine itself come after the others, because the last of them ends the cluster.
    """
    on_ray = [item for item in items if item.get_closest_marker("ray")]
    on_ray.sort(key=lambda item: item.path.name == "test_engines.py")
    items[:] = list(dict.fromkeys([*on_ray, *items]))


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
