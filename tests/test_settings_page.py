"""The page of settings is what the command prints, and every setting is explained."""

from pathlib import Path

import pytest

from egoequiv.training.config import TrainConfig
from running import make_cli

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def test_the_page_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = make_cli(monkeypatch, capsys)("settings", "--markdown").out
    assert PAGE.read_text() == printed, "write it again: egoequiv settings --markdown > docs/settings.md"


def test_every_setting_is_explained() -> None:
    assert [name for name, field in TrainConfig.model_fields.items() if not field.description] == []
