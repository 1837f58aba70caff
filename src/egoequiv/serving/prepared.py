"""Something that takes long to make once, made beside the service while it answers other requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Prepared(Generic[T]):
    """A value that a thread of its own makes; a process waits for it at its end, because torch may be computing."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._made = make, Future[T]()
        self._lock, self._is_begun = threading.Lock(), False

    def start(self) -> None:
        """Begin to make it, if that has not begun."""
        with self._lock:
            if not self._is_begun:
                self._is_begun = True
                threading.Thread(target=self._run, daemon=False).start()

    async def get(self) -> T:
        """The value, as soon as it is there; who stops waiting does not stop the making."""
        self.start()
        return await asyncio.shield(asyncio.wrap_future(self._made))

    def _run(self) -> None:
        try:
            self._made.set_result(self._make())
        except Exception as problem:  # each who asks for the value gets it
            self._made.set_exception(problem)
