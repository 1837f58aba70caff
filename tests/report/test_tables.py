"""Tables as files, and on a terminal."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from egoequiv.blocks import Block, Cell, Code, Fold, Grid, Picture, Points, Text
from egoequiv.experiments.table import Table
from egoequiv.report.audit import audit_blocks
from egoequiv.report.table_blocks import table_blocks
from egoequiv.report.tables import save_table, to_csv, to_latex, to_markdown
from egoequiv.report.terminal import print_blocks, split_columns
from report.made import ATOMIC, TOP1, audit_table, full_table, row, table

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
STRANGE = "a|b*c*_d_`e`<b>\\\n# [g](h) ~~i~~ [bold]x[/bold]"


def printed(blocks: list[Block], width: int) -> str:
    out = io.StringIO()
    print_blocks(blocks, Console(file=out, width=width))
    return out.getvalue()


def test_markdown_and_latex_show_measured_beside_published() -> None:
    assert "| equiv | 38.57 ± 0.47 [36.54, 40.59] (nearest pixels 29.90) (paper 38.48 ± 0.89) |" in to_markdown(
        full_table()
    )
    text = to_latex(full_table(), "toys")
    assert r"equiv & 38.57 $\pm$ 0.47 [36.54, 40.59] (nearest pixels 29.90) (paper 38.48 $\pm$ 0.89) &" in text
    assert r"\label{tab:toys}" in text
    assert text.count(r"\label{") == len({line for line in text.splitlines() if r"\label{" in line})


def test_csv_has_a_line_for_each_metric() -> None:
    lines = list(csv.DictReader(to_csv(full_table()).splitlines()))
    assert [line["metric"] for line in lines if line["method"] == "clsnet"] == list(full_table().rows[0].entries)
    assert (float(lines[0]["mean"]), lines[0]["published"], lines[0]["published_stderr"]) == (25.0, "25.11", "0.72")
    assert lines[1]["published"] == ""
    assert {line["labels"] for line in lines} == {"True", "False"}


def test_tables_are_saved_in_four_forms(tmp_path: Path) -> None:
    paths = save_table(full_table(), tmp_path)
    assert [path.name for path in paths] == ["table.md", "table.csv", "table.tex", "table.json"]
    read = Table.load(paths[3])
    assert read.model_dump_json() == full_table().model_dump_json()


def test_strange_names_stay_in_their_cells() -> None:
    metric = ATOMIC.model_copy(update={"name": STRANGE, "title": STRANGE})
    rows = [row(f"{STRANGE}{k}", {STRANGE: (0.1, 0.2 + k, 0.4)}, settings={"motions": STRANGE}) for k in range(2)]
    made = table([metric], *rows, about={"store": STRANGE}, published_on=STRANGE)
    tokens = READER.parse(to_markdown(made))
    assert {child.type for token in tokens for child in token.children or []} == {"text"}
    cells = [token for token in tokens if token.type in ("th_open", "td_open")]
    assert len(cells) == 2 * 3 + 4 * 2 + 2 * 3 + 2 * 2
    assert to_latex(made).count(r"\textbar{}") > 5
    shown = printed(table_blocks(made), 200)
    assert "[bold]x[/bold]" in shown  # no markup of the terminal's own


@pytest.mark.parametrize("width", [40, 60, 80, 140])
@pytest.mark.parametrize("blocks", [table_blocks(full_table()), audit_blocks(audit_table())], ids=["table", "audit"])
def test_no_line_is_wider_than_the_terminal(blocks: list[Block], width: int) -> None:
    shown = printed(blocks, width)
    assert max(map(len, shown.splitlines())) <= width
    for block in blocks:
        for cells in block.rows if isinstance(block, Grid) and width >= 80 else ():
            for cell in cells:
                assert not cell.is_number or cell.text in shown  # numbers are not broken


def test_a_wide_table_is_written_in_parts() -> None:
    metrics = [TOP1.model_copy(update={"name": f"m{k}", "title": f"column {k}"}) for k in range(8)]
    grid = Grid(
        "", ("method", *(m.title for m in metrics)), [[Cell("equiv"), *(Cell("12.34 ± 0.56") for _ in metrics)]]
    )
    parts = split_columns(grid, 80)
    assert len(parts) == 2
    assert all(part[0] == 0 for part in parts)
    assert sorted(column for part in parts for column in part[1:]) == list(range(1, 9))
    assert split_columns(grid, 200) == [list(range(9))]
    assert printed([grid], 80).count("equiv") == 2


def test_a_terminal_shows_open_folds_and_no_figures() -> None:
    blocks: list[Block] = [
        Text("text"),
        Points(["point"]),
        Code("egoequiv report " + "x" * 90),
        Picture("data:,", "alt", "caption", 100),
        Fold("closed", [Text("hidden")]),
        Fold("open", [Text("seen")], is_open=True),
    ]
    lines = printed(blocks, 60).splitlines()
    assert lines == ["text", "- point", "egoequiv report " + "x" * 90, "open:", "seen"]
