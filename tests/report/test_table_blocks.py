"""A table as blocks: what a cell says, and what is said below it."""

from __future__ import annotations

from math import nan

import pytest

from egoequiv.blocks import Block, Cell, Fold, Grid, Points, Text
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import Entry
from egoequiv.pairs import near_copies_in_words
from egoequiv.report.results_grid import published_text
from egoequiv.report.table_blocks import (
    LEAKED,
    MOST_COLUMNS,
    NEAR_COPIES,
    best_row,
    leakage,
    motion_blocks,
    paired_blocks,
    result_line,
    short_blocks,
    summary_blocks,
    table_blocks,
)
from report.made import ATOMIC, TOP1, UP, full_table, row, table


def grid_of(blocks: list[Block]) -> Grid:
    return next(block for block in blocks if isinstance(block, Grid))


def texts(blocks: list[Block]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, Text))


def test_a_cell_has_its_interval_baselines_and_the_published_value() -> None:
    grid = grid_of(summary_blocks(full_table()))
    assert grid.columns == ("method", "top-1 %", "rho atomic")
    assert grid.rows[0][1] == Cell(
        "25.00 ± 0.58*",
        ["[22.52, 27.48]", "nearest pixels 30.90", "paper 25.11 ± 0.72"],
    )
    assert grid.rows[2][1] == Cell("-", [])
    assert grid.notes[0] == "top-1 %: chance 4.00."  # the same for all rows
    assert grid.notes[1].startswith("* not better than each of its baselines (chance, nearest pixels)")


def test_motions_have_intervals_of_the_mean_and_ratios() -> None:
    blocks = motion_blocks(full_table())
    grid = grid_of(blocks)
    assert grid.columns == ("method", "rho up", "rho right turn")
    (folded,) = (block for block in blocks if isinstance(block, Fold))
    counts = grid_of(folded.blocks)
    assert counts.columns == ("method", "pairs left out")
    assert [row[1].text for row in counts.rows] == ["3.0 ± 0.6"] * 3
    assert grid.rows[1][1].line == "0.510 ± 0.006 [0.485, 0.535] (ratio 0.510 [0.485, 0.535])"  # 4.303 standard errors
    assert grid.rows[2][2].text == "not defined"
    assert grid.notes[-1] == "rho right turn is not defined for equiv (no labels): 7 pairs are too few, 60 are needed."
    assert "untrained: the same network before training" in texts(blocks)


@pytest.mark.parametrize(
    ("values", "words", "small"),
    [
        ((1.0,), "One repetition, in brackets the 95 % interval over recordings", ["[0.900, 1.100]"]),
        ((1.0, 2.0), "over 2 repetitions, too few for an interval", []),
        ((1.0, 2.0, 3.0), "over 3 repetitions, in brackets the 95 % interval of the mean", ["[0.000, 4.484]"]),
    ],
)
def test_intervals_are_announced_where_there_are_any(values: tuple[float, ...], words: str, small: list[str]) -> None:
    made = row("a", {}).model_copy(
        update={"entries": {"rho_atomic": Entry(result=Result(values), interval=(0.9, 1.1))}}
    )
    blocks = summary_blocks(table([ATOMIC], made))
    assert words in texts(blocks)
    assert list(grid_of(blocks).rows[0][1].small) == small


def test_diverged_and_unfinished_runs_are_counted() -> None:
    made = table([TOP1], row("a", {"top1": (1.0,)}, unfinished=((0, 0),)), row("b", {}, diverged=2))
    grid = grid_of(summary_blocks(made))
    assert [list(cells[0].small) for cells in grid.rows] == [["1 not finished"], ["2 diverged"]]
    assert grid.rows[1][1].text == "-"


def test_many_columns_are_folded_and_none_is_lost() -> None:
    metrics = [TOP1.model_copy(update={"name": f"m{k}", "title": f"m {k}"}) for k in range(20)]
    metrics[5] = metrics[5].model_copy(update={"is_detail": True})
    blocks = summary_blocks(table(metrics, row("a", {metric.name: (float(k),) for k, metric in enumerate(metrics)})))
    first, fold = grid_of(blocks), blocks[-1]
    assert isinstance(fold, Fold)
    grids = [first, *(block for block in fold.blocks if isinstance(block, Grid))]
    assert all(len(grid.columns) <= MOST_COLUMNS + 1 for grid in grids)
    shown = [column for grid in grids for column in grid.columns[1:]]
    assert sorted(shown) == sorted(metric.title for metric in metrics)
    assert "m 5" not in first.columns


def test_leaders_are_named_with_those_that_do_not_differ() -> None:
    rows = [
        row("a", {"rho_atomic": (0.10, 0.11, 0.13)}),
        row("b", {"rho_atomic": (0.20, 0.22, 0.26)}),
        row("c", {"rho_atomic": (0.11, 0.10, 0.14)}),
        row("a (no labels)", {"rho_atomic": (0.1, 0.2, 0.4)}),
        row("b (no labels)", {"rho_atomic": (0.5, 0.61, 0.77)}),
    ]
    (points,) = (block for block in paired_blocks(table([ATOMIC], *rows)) if isinstance(block, Points))
    assert points.items == [
        "rho atomic, with labels: best is a, 0.113 ± 0.009; not significantly different (p ≥ 0.05): c.",
        "rho atomic, without labels: best is a (no labels), 0.233 ± 0.088; better than all others (p < 0.05).",
    ]
    assert paired_blocks(table([ATOMIC], rows[0])) == []


def test_the_result_in_one_line() -> None:
    several = table([ATOMIC], row("a", {"rho_atomic": (0.5, 0.6)}), row("b", {"rho_atomic": (0.9, 0.8)}))
    assert result_line(several) == "rho atomic: best is a with 0.550 ± 0.050 (lower is better; copy 1.000)."
    one = table([ATOMIC], row("a", {"rho_atomic": (1.2,)}))
    assert result_line(one).startswith("rho atomic: 1.200* (lower is better; copy 1.000). * not better than each")
    assert result_line(table([ATOMIC], row("a", {"rho_atomic": (nan,)}))) == ""


def test_the_best_row_is_the_best_of_those_that_are_defined() -> None:
    rows = [row("a", {"top1": (nan,)}), row("b", {"top1": (2.0,)}), row("c", {"top1": (3.0,)}), row("d", {})]
    best, worst = best_row(rows, TOP1), best_row(rows, TOP1.model_copy(update={"better": "lower"}))
    assert best is not None
    assert worst is not None
    assert (best.name, worst.name) == ("c", "b")
    assert best_row(rows, TOP1.model_copy(update={"better": "neither"})) is None


def test_published_values_have_the_digits_of_their_metric() -> None:
    assert published_text(Published(0.9239), UP) == "0.924"
    assert published_text(Published(25.1, 0.7), TOP1) == "25.10 ± 0.70"


def test_settings_and_protocol_come_last() -> None:
    settings, protocol = table_blocks(full_table())[-2:]
    assert isinstance(settings, Grid)
    assert isinstance(protocol, Grid)
    assert settings.rows[0][1].text == "learning_rate=0.01"
    assert [cell.text for cell in protocol.rows[2]] == ["leaked validation frames", "640"]


@pytest.mark.parametrize(
    ("split", "close"),
    [
        ("paper", "a training frame near them (within one step or second, or at the same place of a map)"),
        ("by-place", "a training frame at the same place (within place_m)"),
    ],
)
def test_the_leakage_is_said_as_the_split_has_it(split: str, close: str) -> None:
    whole = full_table()
    told = whole.model_copy(update={"about": {**whole.about, "split": split}})
    assert leakage(told) == f"640 of 648 validation frames have {close} (split {split})"
    laps = whole.model_copy(update={"about": {**told.about, NEAR_COPIES: 5}})
    assert leakage(laps) == f"{leakage(told)}; {near_copies_in_words(5, 648)}"
    assert grid_of(short_blocks(told)).caption == f"{told.title} (640 of 648 validation frames leak)"
    for about in ({"split": split}, {**told.about, LEAKED: 0}):
        none = whole.model_copy(update={"about": about})
        assert grid_of(short_blocks(none)).caption == none.title
    assert leakage(whole.model_copy(update={"about": {"split": split}})) is None
