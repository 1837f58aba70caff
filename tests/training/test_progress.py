"""The lines of progress that training writes to a log file, and to the stderr of a script."""

from pathlib import Path

import pytest

from egoequiv.store import FrameStore
from egoequiv.training import train
from egoequiv.training.progress import LiveProgress, _clock

FEW = {"method": "drlim", "iterations": 100, "log_every": 5, "validate_every": 100, "checkpoint_every": 100}


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "0:00"), (59.6, "1:00"), (247, "4:07"), (3847, "1:04:07")])
def test_time_left_by_hand(seconds: float, words: str) -> None:
    assert _clock(seconds) == words


def test_a_line_says_how_much_time_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveProgress(15_000) as live:
        live.update({"iteration": 1_500, "iterations_per_s": 260.0, "equivariance": 0.25})
    assert capsys.readouterr().err == "1,500/15,000  0:52 left, 260 it/s  equiv 0.250\n"


def test_a_script_sees_a_line_at_every_tenth(
    small_store: FrameStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(small_store.path, tmp_path / "shown", **FEW)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split()[0] for line in printed.err.splitlines() if "it/s" in line] == [
        f"{k}/100" for k in range(10, 101, 10)
    ]


def test_progress_can_be_switched_off(
    small_store: FrameStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(small_store.path, tmp_path / "silent", progress=False, **FEW)
    seen: list[float] = []
    train(small_store.path, tmp_path / "own", on_metrics=lambda line: seen.append(line["iteration"]), **FEW)
    assert seen == list(range(5, 101, 5))
    assert capsys.readouterr() == ("", "")
