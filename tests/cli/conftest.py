"""The fixture that runs commands."""

import pytest

from running import Cli, make_cli


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return make_cli(monkeypatch, capsys)
