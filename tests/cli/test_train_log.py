"""The lines of progress that training writes to a log file."""

import pytest

from egoequiv.cli.train import _clock, _LiveProgress


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "0:00"), (59.6, "1:00"), (247, "4:07"), (3847, "1:04:07")])
def test_time_left_by_hand(seconds: float, words: str) -> None:
    assert _clock(seconds) == words


def test_a_line_says_how_much_time_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    with _LiveProgress(15_000, None) as live:
        live.update({"iteration": 1_500, "iterations_per_s": 260.0, "equivariance": 0.25})
    assert capsys.readouterr().err == "1,500/15,000  0:52 left, 260 it/s  equiv 0.250\n"
