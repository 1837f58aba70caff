"""One pass of the encoder for all requests that wait for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoequiv.serving.limits import Refusal

Images = NDArray[np.uint8]
Features = NDArray[np.float32]


@dataclass(eq=False)
class _Waiting:
    images: Images  # (N, H, W, C)
    features: asyncio.Future[Features]


class MicroBatcher:
    """Collects the images that wait while the encoder runs, and gives them to it together.

    The first image does not wait for others: a lonely client has the latency of the encoder, and the more clients there
    are, the larger the batches. One thread runs the encoder; the event loop does all the rest, so there are no locks.
    """

    def __init__(
        self,
        embed: Callable[[Images], Features],
        most: int,
        most_waiting: int,
        on_batch: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Take the encoder, (N, H, W, C) -> (N, D), the images of one pass, and how many images may wait."""
        self._embed, self._most, self._most_waiting, self._on_batch = embed, most, most_waiting, on_batch
        self._queue: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many images wait for the encoder."""
        return sum(len(one.images) for one in self._queue)

    def start(self) -> None:
        """Begin to work; the event loop must be running."""
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """End after what runs now; what was accepted before has been answered by then."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._thread.shutdown()

    async def embed(self, images: Images) -> Features:
        """The features of images, (N, H, W, C) -> (N, D), computed together with those of other requests."""
        if self.waiting + len(images) > self._most_waiting:
            raise Refusal(503, f"{self.waiting} images wait already: try again in a moment", retry_after_s=1)
        one = _Waiting(images, asyncio.get_running_loop().create_future())
        self._queue.append(one)
        self._arrived.set()
        return await one.features

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            batch = self._next_batch()
            if not batch:
                self._arrived.clear()
                continue
            images = batch[0].images if len(batch) == 1 else np.concatenate([one.images for one in batch])
            self._on_batch(len(images))
            try:
                features = await loop.run_in_executor(self._thread, self._embed, images)
            except Exception as problem:  # each request reports it; the next batch may be computed
                for one in batch:
                    if not one.features.done():
                        one.features.set_exception(problem)
                continue
            start = 0
            for one in batch:
                if not one.features.done():  # the request may have been given up meanwhile
                    one.features.set_result(features[start : start + len(one.images)])
                start += len(one.images)

    def _next_batch(self) -> list[_Waiting]:
        """The requests that waited longest and fit into one pass, at least one; none that was given up."""
        batch: list[_Waiting] = []
        count = 0
        while self._queue and (not batch or count + len(self._queue[0].images) <= self._most):
            one = self._queue.popleft()
            if not one.features.done():
                batch.append(one)
                count += len(one.images)
        return batch
