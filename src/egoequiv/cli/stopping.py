"""Ctrl-C, SIGTERM and SIGHUP: a command ends with one line that says how to go on, and leaves nothing half done."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import active_children
from types import FrameType, TracebackType

from egoequiv.files import is_busy
from egoequiv.processes import FILES, indivisible, send_later

STOPPED = 130  # the exit code after Ctrl-C: 128 and the number of the signal, as shells count
# Commands that go on where they were when they are given again.
GOING_ON = ("demo", "report", "reproduce", "search")


class StoppedError(Exception):
    """A command was stopped and knows better than others how it goes on; the message says how."""


@contextmanager
def stopped_as(how: str | None) -> Iterator[None]:
    """Say how to go on if the command is stopped in here; None: as other commands do."""
    try:
        yield
    except KeyboardInterrupt:
        if how is None:
            raise
        raise StoppedError(how) from None


def how_to_go_on(arguments: list[str]) -> str:
    """What becomes of a command that was stopped, from its command line without the program."""
    name = next((one for one in arguments if not one.startswith("-")), "")
    if name in GOING_ON:
        return "finished work is kept; to continue, repeat the command"
    return "nothing was saved; to start again, repeat the command"


def say_stopped(how: str) -> None:
    """The one line of a command that was stopped."""
    with suppress(OSError):  # a terminal that was closed hears nothing
        print(f"stopped; {how}", file=sys.stderr, flush=True)


class Stop:
    """Turns the signals that stop a program into one KeyboardInterrupt; `signal` is the one that came, if one did."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._interrupts = 0

    @property
    def exit_code(self) -> int:
        """What the command exits with when it was stopped."""
        return STOPPED if self.signal is None else 128 + self.signal

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signals. Those that come later, while the command tidies up, change nothing.

        Except for the third Ctrl-C, which ends the command at once.
        """
        if self.signal is not None:
            self._interrupts += number == signal.SIGINT
            if self._interrupts > 1:
                os._exit(STOPPED)
        elif not (inside := indivisible(frame)):
            self.signal = number
            raise KeyboardInterrupt
        elif FILES in inside or is_busy() or active_children():
            send_later(number)
        else:  # there is nothing to tidy up
            say_stopped(how_to_go_on(sys.argv[1:]))
            os._exit(128 + number)

    def unraisable(self, what: sys.UnraisableHookArgs) -> None:
        """An error where none can be raised, such as in a destructor: if it is the stop, it is tried again."""
        if isinstance(what.exc_value, KeyboardInterrupt) and self.signal is not None:
            number, self.signal = self.signal, None
            send_later(number)
        else:
            sys.__unraisablehook__(what)

    def thread_error(self, what: threading.ExceptHookArgs) -> None:
        """An error in a thread; after a stop it is not shown."""
        if self.signal is None:
            threading.__excepthook__(what)

    def error(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        """What is printed of an error that was not caught; a stop while the program begins or ends is not an error."""
        if self.signal is None:
            sys.__excepthook__(kind, value, trace)


_current: list[Stop] = []


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Within it the signals that stop a program raise KeyboardInterrupt once; who is inside one already shares it.

    A signal that the caller ignores stays ignored, so that `nohup` works. Processes that torchrun started keep its
    ways: it ends them itself.
    """
    if _current:
        yield _current[-1]
        return
    stop = Stop()
    if threading.current_thread() is not threading.main_thread() or "TORCHELASTIC_RUN_ID" in os.environ:
        yield stop
        return
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = {one: signal.getsignal(one) for one in signals if signal.getsignal(one) != signal.SIG_IGN}
    hooks = sys.unraisablehook, threading.excepthook, sys.excepthook
    for one in before:
        signal.signal(one, stop.handle)
    sys.unraisablehook, threading.excepthook, sys.excepthook = stop.unraisable, stop.thread_error, stop.error
    _current.append(stop)
    try:
        yield stop
    finally:
        _current.pop()
        if stop.signal is None:  # after a stop nothing more is wanted, also while the interpreter ends
            sys.unraisablehook, threading.excepthook, sys.excepthook = hooks
            for one, handler in before.items():
                signal.signal(one, handler)
