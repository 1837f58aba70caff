"""Running commands in this process, as `main` does, with their output and exit code."""

import sys
from dataclasses import dataclass
from typing import Protocol

import pytest

from egoequiv.cli.main import main


@dataclass(frozen=True)
class Finished:
    """What a command printed."""

    out: str
    err: str


class Cli(Protocol):
    """Runs `egoequiv ARGUMENTS` and checks its exit code."""

    def __call__(self, *arguments: object, code: int = 0) -> Finished: ...


def make_cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*arguments: object, code: int = 0) -> Finished:
        monkeypatch.setattr(sys, "argv", ["egoequiv", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            found = 0
        except SystemExit as stop:
            found = int(stop.code or 0)
        printed = capsys.readouterr()
        assert found == code, printed.err
        return Finished(printed.out, printed.err)

    return run
