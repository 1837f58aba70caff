"""What is said after Ctrl-C: once, and with the way to go on."""

from __future__ import annotations

STOPPED = 130  # the exit code after Ctrl-C

# Commands that go on where they were when they are given again.
GOING_ON = ("demo", "report", "reproduce", "search")


class StoppedError(Exception):
    """A command was stopped by Ctrl-C and knows better than others how it goes on; the message says how."""


def how_to_go_on(arguments: list[str]) -> str:
    """What becomes of a command that was stopped, from its command line without the program."""
    name = next((one for one in arguments if not one.startswith("-")), "")
    if name in GOING_ON:
        return "what was finished is kept, go on with the same command"
    return "nothing is left half done, begin again with the same command"
