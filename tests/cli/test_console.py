"""Progress where there is no terminal: few lines, and none about what is quick."""

import pytest

from egoequiv.cli import log_lines
from egoequiv.cli.console import progress_bar
from egoequiv.cli.log_lines import EVERY_S, LogLines
from helpers import wait_for


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def lines(clock: Clock, said: list[str]) -> LogLines:
    return LogLines(said.append, clock)


def test_quick_work_says_nothing(lines: LogLines, clock: Clock, said: list[str]) -> None:
    for stage in ("reading", "sorting"):
        for done in range(101):
            lines.update(stage, done, 100)
            clock.now_s += 0.02
    assert said == []


def test_a_slow_stage_is_named_followed_and_ended(lines: LogLines, clock: Clock, said: list[str]) -> None:
    lines.update("frames", 0, 20_000)
    clock.now_s += 5
    lines.look()  # the work itself has not reported again
    assert said == ["frames: 0/20,000"]
    for done in range(100, 20_001, 100):
        clock.now_s += 0.5
        lines.update("frames", done, 20_000)
        lines.look()
    counts = ("0", "6,000", "12,000", "18,000", "20,000")
    assert [line.split("/")[0] for line in said] == [f"frames: {done}" for done in counts]
    assert said[1] == "frames: 6,000/20,000, 171/s, 1:21 left"  # 6,000 in 35 s
    lines.update("frames", 20_000, 20_000)
    assert len(said) == 5


def test_nothing_new_is_not_said_again(lines: LogLines, clock: Clock, said: list[str]) -> None:
    lines.update("training", 3, 10)
    for _ in range(1_000):
        clock.now_s += 1
        lines.look()
    assert said == ["training: 3/10"]


def test_a_long_day_does_not_fill_the_log(lines: LogLines, clock: Clock, said: list[str]) -> None:
    seconds = 24 * 3_600
    for done in range(seconds):
        clock.now_s += 1
        lines.update("training", done, seconds)
    assert 50 < len(said) < 150


def test_many_short_stages_give_a_sign_of_life(lines: LogLines, clock: Clock, said: list[str]) -> None:
    for number in range(120):
        lines.update(f"model {number}", 0, 1)
        clock.now_s += 1
        lines.update(f"model {number}", 1, 1)
    assert len(said) == 120 // EVERY_S


def test_a_stage_may_come_again(lines: LogLines, clock: Clock, said: list[str]) -> None:
    for _ in range(2):
        for done in range(3):
            lines.update("composing", done, 2)
            clock.now_s += 4
    assert said == ["composing: 1/2, 0.25/s, 0:04 left", "composing: 2/2"] * 2


def test_a_pipe_gets_lines_and_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as update:
        for done in range(4):
            update("frames [of a drive]", done, 3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(log_lines, "QUIET_S", 0.05)
    monkeypatch.setattr(log_lines, "LOOK_S", 0.01)
    with progress_bar() as update:
        update("frames [of a drive]", 1, 3)
        said: list[str] = []
        wait_for(lambda: said.append(capsys.readouterr().err) or any(said))
    assert "".join(said) == "frames [of a drive]: 1/3\n"
