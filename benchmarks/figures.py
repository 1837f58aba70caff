"""Figures as a table, as JSON, and beside those of an earlier run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from egoequiv.errors import DataError
from egoequiv.files import write_text


@dataclass(frozen=True)
class Figure:
    """One ratio with its spread and its target."""

    name: str
    ratio: float
    spread: float
    target: float | None = None
    better: Literal["higher", "lower"] = "higher"
    beside: str = ""

    @property
    def is_missed(self) -> bool:
        if self.target is None:
            return False
        return self.ratio < self.target if self.better == "higher" else self.ratio > self.target


def save_figures(figures: Sequence[Figure], machine: Mapping[str, Any], path: Path) -> None:
    """Write figures as a JSON list, each with the machine it was measured on; others in the file stay in it."""
    rows = [{**asdict(figure), "machine": dict(machine)} for figure in figures]
    names = {figure.name for figure in figures}
    kept = [row for row in _rows(path) if row["name"] not in names] if path.exists() else []
    write_text(path, json.dumps([*kept, *rows], indent=2) + "\n")


def load_figures(path: Path) -> list[Figure]:
    """Read what `save_figures` wrote, now or in an earlier version."""
    known = {field.name for field in fields(Figure)}
    return [Figure(**{key: row[key] for key in row.keys() & known}) for row in _rows(path)]


def load_machine(path: Path) -> dict[str, Any]:
    """The machine on which the figures of a file were measured."""
    rows = _rows(path)
    return rows[0].get("machine", {}) if rows else {}


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(path.read_text())
        complete = all(row["name"] and float(row["ratio"]) > 0 and float(row["spread"]) >= 0 for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise DataError(f"{path} holds no figures of benchmarks ({problem!r})") from problem
    if not complete:
        raise DataError(f"{path} holds figures without a name or a ratio above 0")
    return list(rows)


def table(figures: Sequence[Figure]) -> str:
    """All figures, one a line, those that miss their target marked; then how many do."""
    width = max([4, *(len(figure.name) for figure in figures)])
    lines = [f"{'name':{width}} {'ratio':>8} {'spread':>8} {'target':>9}"]
    for figure in figures:
        mark = "MISSED" if figure.is_missed else ""
        lines.append(f"{_start(figure, width)} {_target(figure):>9} {mark:6}  {figure.beside}".rstrip())
    missed = [figure.name for figure in figures if figure.is_missed]
    aimed = sum(figure.target is not None for figure in figures)
    lines.append(f"{len(missed)} of {aimed} targets missed{': ' if missed else ''}{', '.join(missed)}")
    return "\n".join(lines)


def change_table(old: Sequence[Figure], new: Sequence[Figure]) -> str:
    """Old and new ratio of every figure that both have; a change larger than both spreads together is marked."""
    before = {figure.name: figure for figure in old}
    both = [(before[figure.name], figure) for figure in new if figure.name in before]
    width = max([4, *(len(figure.name) for _, figure in both)])
    lines = [f"{'name':{width}} {'old':>8} {'new':>8} {'change':>8}"]
    for was, now in both:
        gap = now.ratio - was.ratio
        share = f"{100 * gap / was.ratio:+.1f} %"
        mark = ""
        if abs(gap) > was.spread + now.spread:
            mark = "BETTER" if (gap > 0) == (now.better == "higher") else "WORSE"
        lines.append(f"{now.name:{width}} {was.ratio:8.3f} {now.ratio:8.3f} {share:>8} {mark}".rstrip())
    for what, names in (
        ("only in the old file", before.keys() - {figure.name for figure in new}),
        ("not in the old file", {figure.name for figure in new} - before.keys()),
    ):
        if names:
            lines.append(f"{what}: {', '.join(sorted(names))}")
    return "\n".join(lines)


def _start(figure: Figure, width: int) -> str:
    return f"{figure.name:{width}} {figure.ratio:8.3f} {figure.spread:8.3f}"


def _target(figure: Figure) -> str:
    if figure.target is None:
        return ""
    return f"{'>=' if figure.better == 'higher' else '<='} {figure.target:.2f}"
