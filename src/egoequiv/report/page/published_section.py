"""The section of a report that sets a table beside the paper: every gap, and every order that is another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from egoequiv.experiments import Table
from egoequiv.report.page.blocks import Block, Cell, Fold, Grid, Points, Section, Text
from egoequiv.report.page.published import Difference, differences, reversals
from egoequiv.report.tables import digits_of, p_text, repetitions_of, show, show_published, title_of


def published_section(table: Table, about: Mapping[str, Any] | None = None) -> Section | None:
    """Where measured figures differ from published ones; `about` says what was measured, if the table does not."""
    blocks = published_blocks(table, about)
    return Section("Where it differs from the paper", blocks) if blocks else None


def published_blocks(table: Table, about: Mapping[str, Any] | None = None) -> list[Block]:
    """The differences in plain words and one by one; none where nothing was published."""
    found = differences(table)
    if not found:
        return []
    judged = [one for one in found if one.agrees is not None]
    agreeing = sum(bool(one.agrees) for one in judged)
    blocks: list[Block] = _other_images(table, about or table.about)
    if judged:
        higher = sum(not one.agrees and one.gap > 0 for one in judged)
        blocks.append(
            Text(
                f"Of {len(judged)} published figures {agreeing} are met within the 95 % intervals of both; {higher} "
                f"are higher here and {len(judged) - agreeing - higher} lower. Where the paper gives no standard "
                "error, only the interval measured here counts."
            )
        )
    else:
        few = "One repetition says" if repetitions_of(table) < 2 else "Two repetitions say"
        blocks.append(Text(f"{few} nothing of chance: the gaps below are given without a judgement."))
    points = [f"{title_of(metric)}: {_gaps(found, metric)}." for metric in dict.fromkeys(one.metric for one in found)]
    blocks.append(Points(points))
    blocks += _order(table)
    rows = [_difference_row(one) for one in found]
    columns = ("method", "metric", "measured", "published", "measured − published", "within chance")
    grid = Grid(f"{table.title}: measured against published", columns, rows)
    blocks.append(Fold("Every published figure beside the measured one", [grid]))
    return blocks


def _other_images(table: Table, about: Mapping[str, Any]) -> list[Block]:
    """That an embedded world is not what the paper measured on, where it is one."""
    worlds = [str(about[key]) for key in ("data", "video", "labelled") if str(about.get(key)).startswith("embedded ")]
    if not worlds:
        return []
    paper = f" ({table.published_on})" if table.published_on else ""
    return [
        Text(
            f"Measured on the {' and the '.join(worlds)}: these are other images than the paper's{paper}, so that a "
            "gap is one of images too and does not say whether the paper is met."
        )
    ]


def _gaps(found: Sequence[Difference], metric: str) -> str:
    """The gaps of one metric in words: those within chance by name alone, the others with their size."""
    own = [one for one in found if one.metric == metric]
    same = [one.row.name for one in own if one.agrees]
    others = sorted((one for one in own if not one.agrees), key=lambda one: -abs(one.gap))
    digits = digits_of(metric)
    words = [f"{one.row.name} {one.gap:+.{digits}f} ({one.measured.mean:.{digits}f} here)" for one in others]
    return "; ".join([*words, *([f"the same within chance for {', '.join(same)}"] if same else [])])


def _order(table: Table) -> list[Block]:
    turned = reversals(table)
    if not turned:
        tested = [test for test in table.comparisons if _both_published(table, test.metric, test.a, test.b)]
        words = "No significant paired test puts two rows in another order than the paper does."
        return [Text(words)] if tested else []
    lines = []
    for one in turned:
        digits = digits_of(one.metric)
        lines.append(
            f"{title_of(one.metric)}: in the paper {one.a} is {'above' if one.published > 0 else 'below'} {one.b} by "
            f"{abs(one.published):.{digits}f}; here it is {'above' if one.measured > 0 else 'below'} it by "
            f"{abs(one.measured):.{digits}f} (p\u00a0=\u00a0{_unbroken(one.p_value)})."
        )
    return [Text("Significantly in another order than in the paper (paired test, p < 0.05):"), Points(lines)]


def _unbroken(p_value: float) -> str:
    """A p for a sentence: at a hyphen the line might break."""
    return p_text(p_value).replace("-", "\u2212")


def _both_published(table: Table, metric: str, *names: str) -> bool:
    return all(any(row.name == name and metric in row.published for row in table.rows) for name in names)


def _difference_row(one: Difference) -> list[Cell]:
    digits = digits_of(one.metric)
    verdict = {True: Cell("yes", tone="good"), False: Cell("no", tone="bad"), None: Cell("not known")}[one.agrees]
    return [
        Cell(one.row.name),
        Cell(title_of(one.metric)),
        Cell(show(one.measured, one.metric)),
        Cell(show_published(one.row, one.metric)),
        Cell(f"{one.gap:+.{digits}f}"),
        verdict,
    ]
