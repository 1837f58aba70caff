"""Tables as files: Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
from math import isfinite
from pathlib import Path

from egoequiv.experiments.table import Table
from egoequiv.files import write_text
from egoequiv.markdown import markdown_document
from egoequiv.report.latex import latex_document
from egoequiv.report.table_blocks import table_blocks


def to_markdown(table: Table) -> str:
    """The table, the paired tests and how they were made, as Markdown."""
    return markdown_document(table.title, table_blocks(table))


def to_latex(table: Table, label: str = "table") -> str:
    """The same as LaTeX."""
    return latex_document(table_blocks(table), label)


def to_csv(table: Table) -> str:
    """One line for each row and metric."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["method", "labels", "metric", "mean", "stderr", "repetitions", "published", "published_stderr"])
    for row in table.rows:
        for name, entry in row.entries.items():
            published = row.published.get(name)
            writer.writerow(
                [
                    row.method,
                    row.uses_labels,
                    name,
                    entry.result.mean,
                    entry.result.stderr if isfinite(entry.result.stderr) else "",
                    len(entry.result.values),
                    published.mean if published else "",
                    published.stderr if published and published.stderr is not None else "",
                ]
            )
    return out.getvalue()


def save_table(table: Table, folder: Path, name: str = "table") -> list[Path]:
    """Write the table as Markdown, CSV, LaTeX and JSON; this one last, because whatever reads a folder looks for it."""
    contents = {"md": to_markdown(table), "csv": to_csv(table), "tex": to_latex(table, name)}
    for suffix, text in contents.items():
        write_text(folder / f"{name}.{suffix}", text)
    table.save(folder / f"{name}.json")
    return [folder / f"{name}.{suffix}" for suffix in (*contents, "json")]
