"""`egoequiv reproduce beyond` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from egoequiv.experiments.beyond import candidates
from helpers import draw_small_worlds, walk_less
from running import Cli

WORK = ("--iterations", 2, "--repetitions", 1, "--workers", 1)


@pytest.mark.slow
def test_quick_tables_are_saved_in_every_format_and_go_on(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_small_worlds(monkeypatch)
    walk_less(monkeypatch)
    monkeypatch.setattr(candidates, "QUICK", ("pixels", "recording"))
    command = ("reproduce", "beyond", "--quick", "--settings", "turntable", "-o", tmp_path, *WORK)
    told = cli(*command)
    lines = told.out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in ("recognition", "equivariance", "use"):
        for suffix in ("md", "csv", "tex", "json"):
            assert (tmp_path / f"turntable-{name}.{suffix}").exists()
    assert (tmp_path / "turntable.png").read_bytes().startswith(b"\x89PNG")
    again = json.loads(cli(*command, "--json").out)
    saved = json.loads((tmp_path / "turntable-recognition.json").read_text())
    assert again["tables"]["turntable-recognition"] == saved
    assert [row["name"] for row in saved["rows"]] == ["pixels", "recording"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--settings", "moon"), "setting 'moon' is not known; choose from norb-light"),
        (("--methods", "moon"), "method 'moon' is not in this table; choose from pixels"),
        (("--settings", "norb-light"), "setting norb-light is left out: give its data with --norb PATH"),
        (("--norb", "nowhere"), "--norb nowhere does not exist"),
    ],
)
def test_a_mistake_is_one_line(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    told = cli("reproduce", "beyond", *arguments, "-o", tmp_path / "out", code=2)
    assert says in told.err
    assert len(told.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
