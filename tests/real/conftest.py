"""Where the real data is: EGOEQUIV_REAL_DATA, or ../shared/data beside the repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEFAULT = Path(__file__).resolve().parents[3] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real)


@pytest.fixture(scope="session")
def real_data() -> Path:
    path = Path(os.environ.get("EGOEQUIV_REAL_DATA", DEFAULT))
    if not path.is_dir():
        reason = f"no real data at {path}; set EGOEQUIV_REAL_DATA to its folder"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def norb_files(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real small NORB images in the official format, gzipped, every third view."""
    folder = tmp_path_factory.mktemp("norb")
    unpack = [sys.executable, str(real_data / "unpack_norb.py"), str(folder), "--every", "3", "--gzip"]
    subprocess.run(unpack, check=True, capture_output=True)
    return folder
