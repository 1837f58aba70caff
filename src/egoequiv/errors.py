"""The few errors a user can cause; each prints as one line and ends a command with exit code 2."""

from __future__ import annotations


class EgoEquivError(Exception):
    """A mistake in input or settings that the user can correct; the message says how."""


class DataError(EgoEquivError):
    """A file or folder does not contain what it should."""


class BrokenFrameError(DataError):
    """One picture cannot be read; others may be readable."""


class TooFewPairsError(DataError):
    """A motion has too few pairs to be measured."""


class ConfigError(EgoEquivError):
    """A setting has a value that cannot work."""


class LostProcessError(EgoEquivError):
    """Another process of this run has gone. End this one by `os._exit`: torch may hang when it removes its group."""


class DivergedError(EgoEquivError):
    """A loss became infinite or NaN; `iteration` is the first one at which this was seen."""

    def __init__(self, message: str, iteration: int) -> None:
        super().__init__(message)
        self.iteration = iteration

    def __reduce__(self) -> tuple[type[DivergedError], tuple[str, int]]:
        return DivergedError, (str(self), self.iteration)  # as it comes back from a worker process
