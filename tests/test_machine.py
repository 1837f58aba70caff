"""What does not fit is refused with how much it needs and how much there is."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from egoequiv import machine
from egoequiv.errors import ConfigError
from helpers import data_error


def test_memory_that_is_not_there_is_refused() -> None:
    machine.check_memory("a little", 1)
    with pytest.raises(ConfigError, match=r"an image: this needs 5,000.0 TB of memory, and [\d,.]+ GB are free"):
        machine.check_memory("an image", 5 * 10**15)


def test_a_limit_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    assert machine.free_memory() == 0


def test_a_disk_that_is_too_small_is_named(tmp_path: Path) -> None:
    machine.check_fits("a little", 1, tmp_path)
    with data_error("no room for all of it", "5,000.0 TB", str(tmp_path)):
        machine.check_fits("all of it", 5 * 10**15, tmp_path)


@pytest.mark.parametrize(
    ("count", "words"), [(900, "0.9 kB"), (5_000_000, "5.0 MB"), (10**30, "more than 1,000,000 TB")]
)
def test_bytes_in_words(count: int, words: str) -> None:
    assert machine.size(count) == words
