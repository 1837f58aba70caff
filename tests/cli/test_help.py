"""Texts of help are shown as they are written: nothing in them is taken for markup or for an emoji."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from rich.markup import render

from egoequiv.cli.main import COMMANDS, load_command


def texts_of(command: Any) -> Iterator[str]:
    yield command.help or ""
    yield from (getattr(option, "help", None) or "" for option in command.params)
    for below in getattr(command, "commands", {}).values():
        yield from texts_of(below)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_shown_as_it_is_written(name: str) -> None:
    assert [text for text in texts_of(load_command(name)) if render(text).plain != text] == []


@pytest.mark.parametrize("name", ["audit", "embed", "info", "patterns"])
def test_help_ends_with_an_example_that_can_be_called(name: str) -> None:
    command = load_command(name)
    *_, example = (command.help or "").strip().splitlines()
    words = shlex.split(example.strip().removeprefix("Example: "))
    assert words[:2] == ["egoequiv", name]
    command.make_context(name, words[2:])  # raises on options that do not exist
