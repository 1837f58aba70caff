"""Options that commands share: groups of them, and texts that hold several values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from egoequiv.cli.options import check_max_gap, grouped, numbers_in
from egoequiv.errors import ConfigError


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--wide", min=1)]
    height: Annotated[int, typer.Option(min=1)] = 2


@grouped
def area(name: Annotated[str, typer.Argument()], *, unit: str = "m", size: Size, twice: bool = False) -> None:
    """Print an area."""
    print(name, (1 + twice) * size.width * size.height, unit)


def call(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(area)
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def test_the_fields_of_a_group_are_options_between_the_others() -> None:
    assert call("field", "--wide", "3") == (0, "field 6 m\n")
    assert call("field", "--wide", "3", "--height", "5", "--twice", "--unit", "ft") == (0, "field 30 ft\n")
    _, shown = call("--help")
    places = [shown.index(option) for option in ("--unit", "--wide", "--height", "--twice")]
    assert places == sorted(places)
    assert "Print an area." in shown


@pytest.mark.parametrize("words", [("field",), ("field", "--wide", "0"), ("field", "--wide", "1", "--size", "2")])
def test_what_a_group_requires_is_checked(words: tuple[str, ...]) -> None:
    assert call(*words)[0] == 2


def test_numbers_with_commas() -> None:
    assert numbers_in("0.1,1e-2", "--rates") == (0.1, 0.01)
    assert numbers_in("6,20", "--per-class", int) == (6, 20)
    with pytest.raises(ConfigError, match=r"--per-class must be whole numbers with commas .* found '6.5'"):
        numbers_in("6.5", "--per-class", int)


@pytest.mark.parametrize("gap_s", [0.0, -1.0, float("inf"), float("nan")])
def test_a_gap_that_no_pair_can_have_is_refused(gap_s: float) -> None:
    with pytest.raises(ConfigError, match="--max-gap must be a number of seconds above 0"):
        check_max_gap(gap_s)
