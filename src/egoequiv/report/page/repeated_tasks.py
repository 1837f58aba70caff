"""The tables of `egoequiv reproduce tasks`: what the features are good for, over all repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from egoequiv.report.page.blocks import Block, Cell, Fold, Grid, Section, Text
from egoequiv.report.page.charts import Styles
from egoequiv.report.page.gather import Exhibit, Experiment
from egoequiv.report.page.headlines import HEADLINES, Headline
from egoequiv.report.page.published_section import published_blocks
from egoequiv.report.page.table_sections import results_blocks, tests_blocks

OVER_ALL = "What the features are good for, over all repetitions"


def repeated_tasks_section(experiment: Experiment, styles: Styles | None = None) -> Section | None:
    """The tables of all tasks of a folder, each under a heading of its own."""
    tables = {own.part: own.table.about for own in experiment.exhibits if own.task is None and own.table is not None}
    order = list(HEADLINES)
    exhibits = sorted(experiment.task_exhibits, key=lambda own: order.index(own.task) if own.task in order else 99)
    below = [_section(own, tables.get(own.part, {}), styles) for own in exhibits]
    title = OVER_ALL if len(experiment.task_exhibits) < len(experiment.exhibits) else experiment.title
    return Section(title, sections=below) if below else None


def _section(exhibit: Exhibit, about: Mapping[str, Any], styles: Styles | None) -> Section:
    """One task: its table and chart, and when asked for the tests, what was published, and how it was measured."""
    table, task = exhibit.table, str(exhibit.task)
    if table is None:
        raise ValueError(f"{exhibit.name} has no table")
    headline = HEADLINES.get(task, Headline(task, ""))
    blocks: list[Block] = [Text(headline.about)] if headline.about else []
    blocks += results_blocks(table, styles)
    folds = {"Paired tests": tests_blocks(table) if table.comparisons else []}
    folds["Where it differs from the paper"] = published_blocks(table, about)
    rows = [[Cell(key.replace("_", " ")), Cell(str(value))] for key, value in table.about.items()]
    folds["How it was measured"] = [Grid(f"{table.title}: protocol", ("what", "value"), rows, is_words=True)]
    blocks += [Fold(summary, inner) for summary, inner in folds.items() if inner]
    words = exhibit.part.strip("-").replace("apart-", "kept apart by ")
    return Section(f"{headline.title}, {words}" if words else headline.title, blocks)
