"""An audit as tables of text: for the terminal, and as a page of Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite

from egoequiv.auditing.table import (
    CONSTANT,
    COPY,
    MARK,
    NORM,
    AuditRow,
    AuditTable,
    MotionAudit,
    constant_text,
    rho_text,
)
from egoequiv.report.markdown import escape_markdown, markdown_table, paragraph

Cells = tuple[Sequence[str], list[Sequence[str]]]  # heads and rows


def rho_cells(table: AuditTable, between: str = "\n") -> Cells:
    """Rho of each model and motion, with its interval and what a constant gives, on a line of its own or not."""

    def both(found: MotionAudit) -> str:
        return between.join(text for text in (rho_text(found), constant_text(found)) if text)

    heads = ("model", "features", *(f"rho {motion}" for motion in table.motions))
    rows = [(row.name, f"{row.dimension:,}", *(both(found) for found in row.motions)) for row in table.rows]
    return heads, list(rows)


def model_cells(table: AuditTable) -> Cells:
    """What each model is, what it was shown, and by which fits its maps were found."""
    heads = ("model", "kind", "input", "fit chosen", "pairs left out")
    rows = [
        (row.name, row.kind, row.preprocessing, _fits(row), str(sum(found.pairs_excluded for found in row.motions)))
        for row in table.rows
    ]
    return heads, list(rows)


def pair_cells(table: AuditTable) -> Cells:
    """How many pairs of each motion were used for what."""
    heads = ("motion", "pairs to fit", "to choose", "to measure", f"{table.hold_out}s measured", "divided by")
    rows = [
        (
            counts.motion,
            f"{counts.fitted:,}",
            f"{counts.chosen_on:,}",
            f"{counts.measured:,}",
            f"{counts.groups_measured:,}",
            table.hold_out if counts.divided_by == "groups" else counts.divided_by,
        )
        for counts in table.pairs
    ]
    return heads, list(rows)


def conclusions(table: AuditTable) -> list[str]:
    """What has to be known to read the tables, a line each."""
    return [
        f"{COPY}.",
        f"{CONSTANT}.",
        *([f"{MARK}."] if any(found.is_marked for row in table.rows for found in row.motions) else []),
        f"norm: {NORM}; 95 % intervals over {table.hold_out}s.",
        "fit: of least squares, PCA to some dimensions and ridge of several strengths, the one with the least rho on "
        "the pairs to choose by.",
        f"maps and tokens: {'their mean' if table.pooling == 'mean' else 'all places, flattened'}; "
        f"features of {table.frames:,} frames of {table.store}.",
        *(f"note: {note}" for note in table.notes),
    ]


def audit_page(table: AuditTable) -> str:
    """Everything that was found, as Markdown."""
    lines = [f"# Audit on {escape_markdown(table.store)}", ""]
    for cells in (rho_cells(table, "; "), model_cells(table), pair_cells(table)):
        lines += [*markdown_table(*cells), ""]
    lines += [f"- {paragraph(line)}" for line in conclusions(table)]
    lines += ["", *markdown_table(*_details(table))]
    return "\n".join(lines) + "\n"


def _details(table: AuditTable) -> Cells:
    heads = (
        "model",
        "motion",
        "rho",
        "rho of a constant",
        "ratio of the mean distances",
        "fit chosen",
        "pairs left out of rho",
    )
    rows = [
        (
            row.name,
            found.motion,
            rho_text(found),
            f"{found.constant:.3f}" if isfinite(found.constant) else "not defined",
            f"{found.ratio_of_means:.3f}" if isfinite(found.ratio_of_means) else "not defined",
            found.fit,
            str(found.pairs_excluded),
        )
        for row in table.rows
        for found in row.motions
    ]
    return heads, list(rows)


def _fits(row: AuditRow) -> str:
    """The fits chosen, the most frequent first, with how often."""
    counts = Counter(found.fit for found in row.motions)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{fit} ({number})" for fit, number in counts.most_common())
