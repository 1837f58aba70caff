"""Exports that several modules look at."""

from pathlib import Path

import pytest

from egoequiv.store import FrameStore
from exporting.exports import METHODS, make_export


@pytest.fixture(scope="package")
def patterns(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run with maps of patterns, and its export. Do not change them: copy them."""
    return make_export("patterns", small_store, tmp_path_factory.mktemp("patterns"))


@pytest.fixture(scope="package")
def generators(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run with parts and maps of any motion, and its export. Do not change them: copy them."""
    return make_export("generators", small_store, tmp_path_factory.mktemp("generators"))


@pytest.fixture(scope="package", params=METHODS)
def exported(request: pytest.FixtureRequest, small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory):
    """Each kind of run, and its export."""
    if request.param in ("patterns", "generators"):
        return request.getfixturevalue(request.param)
    return make_export(request.param, small_store, tmp_path_factory.mktemp(request.param))
