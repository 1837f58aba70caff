"""The numbers of a fixed folder of stores and runs are those they were: in JSON, CSV, Markdown and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isclose
from pathlib import Path

import pytest
from tests.golden.collect import PARTS, Numbers, Value
from tests.golden.folder import DATA, EXPECTED, copy_folder

FIGURES = "figures/"  # between the command and the series, in the name of a series
RELATIVE, ABSOLUTE = 2e-3, 2e-4  # other machines round differently
# A network that is trained while it is measured takes another way when one rounding differs.
TRAINED, TRAINED_RELATIVE, TRAINED_ABSOLUTE = "small MLP", 0.05, 0.02


def differences(expected: Mapping[str, Value], found: Numbers) -> list[str]:
    """What is missing or has another value, a line each; what is found beside that does not count."""
    lines = []
    for name, value in expected.items():
        command, is_drawn, _ = name.partition(FIGURES)
        if is_drawn:  # wherever the command draws it now
            same = any(_same(value, other) for place, other in found.items() if place.startswith(command + FIGURES))
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
        digits = len(expected.partition(".")[2])
        absolute = max(1.01 * 10.0**-digits, absolute) if digits else 0.0
    return isclose(float(expected), float(found), rel_tol=relative, abs_tol=absolute)


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
    lines = differences(own, PARTS[part](root))
    assert not lines, f"{len(lines)} of {len(own)} differ:\n" + "\n".join(lines[:40])


def test_a_changed_or_missing_number_is_found() -> None:
    found: Numbers = {"a": 0.5, "b": "51.43", "c, figures/x": [1.0, 2.0], "c, figures/y": [3.0]}
    assert not differences({"a": 0.5004, "b": "51.44", "c, figures/other title": [2.0 / 2, 2.001]}, found)
    for changed in ({"a": 0.503}, {"b": "51.65"}, {"c, figures/x": [1.0, 2.1]}, {"c, figures/x": [1.0]}, {"d": 1.0}):
        assert len(differences(changed, found)) == 1, changed


def test_no_path_of_a_machine_is_in_the_folder() -> None:
    for path in DATA.rglob("*.json"):
        for word in json.loads(path.read_text("utf-8")).values():
            assert not str(word).startswith("/"), f"{path}: {word}"
