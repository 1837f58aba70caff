"""How long runs take."""

from __future__ import annotations

from pathlib import Path

import pytest

from egoequiv.training import make_config, pace
from egoequiv.training.jobs import Job
from egoequiv.training.pace import Pace, note_seconds, noted_seconds


def paced(monkeypatch: pytest.MonkeyPatch, times_s: list[float], ticks: list[int]) -> tuple[Pace, list[int]]:
    """A pace whose clock shows these times: when it begins, and at each tick."""
    clock, passed = iter(times_s), []
    monkeypatch.setattr(pace, "monotonic", lambda: next(clock))
    found = Pace(passed.append)
    for tick in ticks:
        found(tick)
    return found, passed


def test_opening_the_data_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    # 50 s until the first 100 iterations are done, then 2 s for each further hundred.
    found, passed = paced(monkeypatch, [0.0, 50.0, 52.0, 54.0], [100, 100, 100])
    assert found.seconds(300) == pytest.approx(6.0)
    assert passed == [100, 100, 100]


def test_a_short_run_is_counted_from_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = paced(monkeypatch, [1.0, 3.0], [20, 0])
    assert found.seconds(20) == pytest.approx(2.0)


def test_nothing_trained_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = paced(monkeypatch, [1.0], [0])
    assert found.seconds(0) == 0.0


def test_seconds_are_noted_in_the_folder_of_a_run(tmp_path: Path) -> None:
    job = Job(make_config({"data": str(tmp_path)}), tmp_path)
    assert noted_seconds(job) is None
    note_seconds(job, 12.3456)
    assert noted_seconds(job) == 12.346
    (tmp_path / pace.PACE).write_text("[1")
    assert noted_seconds(job) is None
