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


def commands_of(name: str) -> Iterator[tuple[str, Any]]:
    """A command, or each command of a group, with its whole name."""
    command = load_command(name)
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
    else:
        yield from ((f"{name} {own}", inner) for own, inner in below.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_an_example_that_can_be_called(name: str) -> None:
    for whole, command in commands_of(name):
        *_, example = (command.help or "").strip().splitlines()
        words = shlex.split(example.strip().removeprefix("Example: "))
        start = ["egoequiv", *whole.split()]
        assert words[: len(start)] == start, whole
        command.make_context(whole, words[len(start) :])  # raises on options that do not exist


def test_an_option_has_one_meaning_in_all_commands() -> None:
    """The same words explain an option that several commands share."""
    shared = {"--json", "--engine", "--address", "--workers", "--checkpoint", "--task", "--hold-out", "--device"}
    found: dict[str, set[str]] = {}
    for name in COMMANDS:
        for _, command in commands_of(name):
            for option in command.params:
                for flag in shared & set(option.opts):
                    found.setdefault(flag, set()).add(option.help)
    assert {flag: texts for flag, texts in found.items() if len(texts) > 1} == {}


def test_no_option_has_two_names() -> None:
    flags = {flag for name in COMMANDS for _, command in commands_of(name) for p in command.params for flag in p.opts}
    assert not flags & {"--tasks", "--processes", "--apart", "--max-gap-s"}
