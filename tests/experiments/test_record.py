"""How an experiment was made is kept in its folder."""

import json
import platform
from pathlib import Path

import numpy as np

from egoequiv import __version__
from egoequiv.experiments.record import COMMAND, record_command, versions


def test_versions_are_those_that_run() -> None:
    found = versions()
    assert found["egoequiv"] == __version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__


def test_a_later_command_keeps_the_earlier_one(tmp_path: Path) -> None:
    out = tmp_path / "new"
    record_command(out, ["reproduce", "norb", "-o", "my table"])
    record_command(out, ["reproduce", "norb", "-o", "my table", "--repeats", "7"])
    record_command(out, ["reproduce", "norb", "-o", "my table", "--repeats", "7"])
    kept = json.loads((out / COMMAND).read_text())
    assert kept["command"] == "egoequiv reproduce norb -o 'my table' --repeats 7"
    assert kept["earlier"] == ["egoequiv reproduce norb -o 'my table'"]
    assert set(kept["versions"]) == set(versions())
