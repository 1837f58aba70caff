"""The numbers of a fixed folder of stores and runs are those they were: in JSON, CSV, Markdown and figures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isclose
from pathlib import Path

import pytest
from tests.golden.collect import PARTS, Numbers, Value
from tests.golden.folder import DATA, EXPECTED, copy_folder
from tests.golden.shown import Shown, shown_numbers

FIGURES = "figures/"  # between the command and the series, in the name of a series
RELATIVE, ABSOLUTE = 2e-3, 2e-4  # other machines round differently
FEWEST_DIGITS = 3  # a number may be shown with more digits or fewer than it was, but not with fewer than these
# A network that is trained while it is measured takes another way when one rounding differs.
TRAINED, TRAINED_RELATIVE, TRAINED_ABSOLUTE = "small MLP", 0.05, 0.02

# Numbers that are not given any more: how many they are, and why. No other may be missing, and these must be.
LEFT_OUT_NOW = {
    r"compare/runs/equiv - drlim/ratio_(?!atomic|composite)[^/]*/[^/]*": (
        20,
        "The ratio of means of a motion is a detail beside its rho: `compare` gives it and does not test it any more.",
    ),
}


def differences(expected: Mapping[str, Value], found: Numbers) -> list[str]:
    """What is missing or has another value, a line each; what is found beside that does not count."""
    lines = []
    shown = Shown(name for name, value in found.items() if isinstance(value, str))
    for name, value in expected.items():
        command, is_drawn, _ = name.partition(FIGURES)
        if is_drawn:  # wherever the command draws it now
            same = any(_same(value, other) for place, other in found.items() if place.startswith(command + FIGURES))
        elif isinstance(value, str):  # in whatever table of the text it stands now
            same = any(_same(value, found[place], TRAINED in name) for place in shown.find(name))
        else:
            same = name in found and _same(value, found[name], TRAINED in name)
        if not same:
            lines.append(f"{name}: expected {value}, found {found.get(name, 'nothing')}")
    return lines


def _same(expected: Value, found: Value, is_trained: bool = False) -> bool:
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(_same, expected, found))
    if isinstance(found, list):
        return False
    relative, absolute = (TRAINED_RELATIVE, TRAINED_ABSOLUTE) if is_trained else (RELATIVE, ABSOLUTE)
    if isinstance(expected, str):  # the last digit that is shown may be rounded up or down
        digits, now = (len(text.partition(".")[2]) for text in (expected, str(found)))
        if digits != now and min(digits, now) < FEWEST_DIGITS:
            return float(expected) == float(found)
        absolute = max(1.01 * 10.0**-digits, absolute) if digits else 0.0
    return isclose(float(expected), float(found), rel_tol=relative, abs_tol=absolute)


def _is_left_out(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in LEFT_OUT_NOW)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_folder(tmp_path_factory.mktemp("golden") / "folder")


@pytest.fixture(scope="module")
def expected() -> dict[str, Value]:
    numbers: dict[str, Value] = json.loads(EXPECTED.read_text("utf-8"))
    return numbers


@pytest.mark.parametrize("part", [pytest.param(name, marks=pytest.mark.slow) for name in PARTS])
def test_the_numbers_are_those_they_were(part: str, root: Path, expected: dict[str, Value]) -> None:
    own = {name: value for name, value in expected.items() if name.startswith(f"{part}/")}
    assert own
    found = PARTS[part](root)
    lines = differences({name: value for name, value in own.items() if not _is_left_out(name)}, found)
    assert not lines, f"{len(lines)} of {len(own)} differ:\n" + "\n".join(lines[:40])
    left_out = {name: value for name, value in own.items() if _is_left_out(name)}
    assert len(differences(left_out, found)) == len(left_out), "a number of LEFT_OUT_NOW is there again"


def test_no_more_is_left_out_than_is_listed(expected: dict[str, Value]) -> None:
    for pattern, (count, _) in LEFT_OUT_NOW.items():
        assert sum(re.fullmatch(pattern, name) is not None for name in expected) == count, pattern


def test_a_changed_or_missing_number_is_found() -> None:
    found: Numbers = {"a": 0.5, "b/b/b/b": "51.43", "c, figures/x": [1.0, 2.0], "c, figures/y": [3.0]}
    assert not differences({"a": 0.5004, "b/b/b/b": "51.44", "c, figures/other title": [2.0 / 2, 2.001]}, found)
    for changed in (
        {"a": 0.503},
        {"b/b/b/b": "51.65"},
        {"c, figures/x": [1.0, 2.1]},
        {"c, figures/x": [1.0]},
        {"d": 1.0},
    ):
        assert len(differences(changed, found)) == 1, changed


TEXT = """
# Runs

## Results

The runs:

| method | top-1 % | rho up |
|---|---|---|
| drlim | 51.43 ± 0.61\\* [48.82, 54.04] (nearest pixels 47.98) | 1.131 |
| equiv | 50.17 ± 0.94 | 1.111 |

top-1 %: chance 10.00.

## Analogy

**drlim**

| motion | prediction | MRR |
|---|---|---|
| up | copy | 0.252 |
| up | chance | 0.017 |
"""


@pytest.mark.parametrize(
    ("name", "value", "is_shown"),
    [
        ("Old/Results/Table/drlim/top-1 %", "51.43", True),
        ("Old/Results/Table/drlim/top-1 %", "51.44", True),  # the last digit
        ("Old/Results/Table/drlim/top-1 %", "50.17", False),  # of another row
        ("Old/Results/Table/drlim/top-1 %", "1.131", False),  # of another column
        ("Old/Results/Table/drlim/top-1 % #2", "0.61", True),
        ("Old/Results/Table/drlim/top-1 %", "48.82", False),  # an interval
        ("Old/Results/Table/drlim/top-1 %, chance", "10.00", True),  # now below the table
        ("Old/Elsewhere/drlim/up", "1.131", True),  # the table moved and the column has another name
        ("Old/Elsewhere/drlim/up", "1.1312", True),  # with fewer digits
        ("Old/Elsewhere/drlim/up", "1.1", False),  # too few digits to know it by
        ("Old/Analogy/drlim/Table/up, copy/chance", "0.017", True),  # now a row
        ("Old/Analogy/drlim/Table/up, copy/chance", "0.252", False),
        ("Old/Results/Table/drlim/top-5 %", "93.10", False),
        ("Old/Results/Table/lsm/top-1 %", "51.43", False),
    ],
)
def test_a_number_is_found_by_its_row_wherever_it_is_shown_now(name: str, value: str, is_shown: bool) -> None:
    found: Numbers = {f"report/runs/{place}": number for place, number in shown_numbers(TEXT).items()}
    assert (not differences({f"report/runs/{name}": value}, found)) == is_shown


def test_no_path_of_a_machine_is_in_the_folder() -> None:
    for path in DATA.rglob("*.json"):
        for word in json.loads(path.read_text("utf-8")).values():
            assert not str(word).startswith("/"), f"{path}: {word}"
