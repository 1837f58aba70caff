"""How an experiment was made is kept in its folder."""

import json
import platform
from pathlib import Path

import numpy as np
import pytest

from egoequiv import __version__
from egoequiv.errors import DataError
from egoequiv.experiments.record import COMMAND, read_command, record_command, versions


def test_versions_are_those_that_run() -> None:
    found = versions()
    assert found["egoequiv"] == __version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__


def test_a_later_command_keeps_the_earlier_one(tmp_path: Path) -> None:
    out = tmp_path / "new"
    assert read_command(out) is None
    record_command(out, ["reproduce", "norb", "-o", "my table"])
    record_command(out, ["reproduce", "norb", "-o", "my table", "--repeats", "7"])
    record_command(out, ["reproduce", "norb", "-o", "my table", "--repeats", "7"])
    kept = read_command(out)
    assert kept is not None
    assert kept.command == "egoequiv reproduce norb -o 'my table' --repeats 7"
    assert kept.earlier == ["egoequiv reproduce norb -o 'my table'"]
    assert set(kept.versions) == set(versions())


@pytest.mark.parametrize(
    "content", ["{}", '{"command": 3}', '{"command": "a", "versions": []}', '{"command": "a", "earlier": {}}', "[", "3"]
)
def test_a_damaged_record_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / COMMAND).write_text(content)
    with pytest.raises(DataError, match=r"command.json is damaged .*: remove it") as caught:
        read_command(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_record_of_an_earlier_version_may_hold_more(tmp_path: Path) -> None:
    (tmp_path / COMMAND).write_text(json.dumps({"command": "egoequiv demo", "colour": "red"}))
    assert read_command(tmp_path) is not None
