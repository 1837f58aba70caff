"""One pass of the encoder for all that waits, in order, whatever becomes of single requests."""

import asyncio
import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.serving.batching import MicroBatcher
from egoequiv.serving.limits import Refusal


class Encoder:
    """Means of images; a batch waits until the gate is open, and images of 13 cannot be encoded."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.gate, self.begun = threading.Event(), threading.Event()

    def __call__(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        self.batches.append(len(images))
        self.begun.set()
        assert self.gate.wait(60)
        if (images == 13).any():
            raise ValueError("thirteen")
        return images.reshape(len(images), -1).mean(axis=1, keepdims=True).astype(np.float32)


def images(*values: int) -> NDArray[np.uint8]:
    return np.stack([np.full((2, 2, 1), value, np.uint8) for value in values])


async def while_one_runs(encoder: Encoder, batcher: MicroBatcher, *waiting: NDArray[np.uint8]) -> list[object]:
    """What each request got, of those that came while the encoder was busy with a first one."""
    batcher.start()
    tasks = [asyncio.create_task(batcher.embed(images(1)))]
    while not encoder.begun.is_set():
        await asyncio.sleep(0.001)
    tasks += [asyncio.create_task(batcher.embed(one)) for one in waiting]
    await asyncio.sleep(0)
    encoder.gate.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    await batcher.stop()
    return list(found[1:])


def test_what_waits_is_encoded_together_and_each_gets_its_own() -> None:
    encoder = Encoder()
    batcher = MicroBatcher(encoder, most=8, most_waiting=100)
    found = asyncio.run(while_one_runs(encoder, batcher, images(2), images(3, 4, 5), images(6), images(7, 8, 9, 10)))
    assert encoder.batches == [1, 5, 4]  # the last four do not fit into a batch of eight
    assert [np.ravel(one).tolist() for one in found] == [[2], [3, 4, 5], [6], [7, 8, 9, 10]]


def test_a_request_larger_than_a_batch_is_encoded_all_the_same() -> None:
    encoder = Encoder()
    found = asyncio.run(while_one_runs(encoder, MicroBatcher(encoder, 2, 100), images(1, 2, 3), images(4)))
    assert encoder.batches == [1, 3, 1]
    assert np.ravel(found[0]).tolist() == [1, 2, 3]


def test_an_error_reaches_those_of_its_batch_and_no_others() -> None:
    encoder = Encoder()
    found = asyncio.run(while_one_runs(encoder, MicroBatcher(encoder, 2, 100), images(13), images(2), images(3)))
    assert [type(one) for one in found[:2]] == [ValueError, ValueError]
    assert np.ravel(found[2]).tolist() == [3]


def test_too_many_images_are_refused_and_those_that_wait_are_not() -> None:
    encoder = Encoder()
    found = asyncio.run(while_one_runs(encoder, MicroBatcher(encoder, 2, 3), images(2), images(3, 4), images(5)))
    assert np.ravel(found[1]).tolist() == [3, 4]
    assert isinstance(found[2], Refusal)
    assert (found[2].status, found[2].retry_after_s) == (503, 1)


def test_a_request_that_was_given_up_is_not_encoded() -> None:
    encoder = Encoder()

    async def run() -> None:
        batcher = MicroBatcher(encoder, 8, 100)
        batcher.start()
        first = asyncio.create_task(batcher.embed(images(1)))
        while not encoder.begun.is_set():
            await asyncio.sleep(0.001)
        given_up, kept = (asyncio.create_task(batcher.embed(images(value))) for value in (2, 3))
        await asyncio.sleep(0)
        given_up.cancel()
        encoder.gate.set()
        assert np.ravel(await kept).tolist() == [3]
        assert np.ravel(await first).tolist() == [1]
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await batcher.stop()

    asyncio.run(run())
    assert encoder.batches == [1, 1]
