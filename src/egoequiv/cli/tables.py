"""Tables of results on the command line: saved in all formats, printed, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egoequiv.cli.console import print_json, say, show

if TYPE_CHECKING:
    from egoequiv.experiments import Table


def described(tables: Mapping[str, Table]) -> dict[str, Any]:
    """Tables as JSON holds them."""
    return {name: table.model_dump(mode="json") for name, table in tables.items()}


def show_tables(tables: Mapping[str, Table], out: Path, as_json: bool, **more: Any) -> list[Path]:
    """Save tables in all formats, with a figure of rho where there is any, and print them, or one JSON object."""
    saved = save_tables(tables, out, quiet=as_json)
    if as_json:
        print_json({"tables": described(tables), **more})
    return saved


def save_tables(tables: Mapping[str, Table], out: Path, quiet: bool = False) -> list[Path]:
    """Save tables in all formats, with a figure of rho where there is any, and print them."""
    from egoequiv.report.figures.columns import rho_chart
    from egoequiv.report.figures.drawing import save_figure
    from egoequiv.report.table_blocks import short_blocks
    from egoequiv.report.tables import save_table

    saved: list[Path] = []
    for name, table in tables.items():
        saved += save_table(table, out, name)
        figure = rho_chart(table)
        if figure is not None:
            saved.append(save_figure(figure, out / ("rho.png" if name == "table" else f"rho-{name}.png")))
        if not quiet:
            show(short_blocks(table))
        for note in table.about.get("left_out", []):
            say(f"note: {note}")
    shown = [str(path) for path in saved if path.suffix in (".md", ".png")]
    say(f"saved: {', '.join(shown)} (and .csv, .tex, .json)")
    return saved
