"""The paper's last column: accuracy from one view and from two, over the repetitions of each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from egoequiv.evaluation import Result
from egoequiv.evaluation.next_view_task import NextViewResult, next_view
from egoequiv.evaluation.task import TaskOptions
from egoequiv.experiments.published import NORB, Key, Metrics
from egoequiv.experiments.recipe import OnStage, silent
from egoequiv.experiments.table import Row, Table, compare_rows
from egoequiv.experiments.task_data import open_task_data

COLUMNS = ("one_view", "two_views", "random_move", "best_move", "chosen_minus_random", "first_view_alone")


def next_view_table(
    runs: Mapping[Key, Sequence[Path]],
    *,
    options: TaskOptions | None = None,
    published: Mapping[Key, Metrics] = NORB,
    published_on: str = "small NORB",
    on_stage: OnStage = silent,
) -> Table:
    """Measure finished runs, those of the repetitions of each row, and set them beside the published values."""
    options = options or TaskOptions()
    total, done = sum(len(folders) for folders in runs.values()), 0
    rows, moves = [], []
    for key, folders in runs.items():
        measured: list[dict[str, float]] = []
        for folder in folders:
            on_stage("next view", done, total)
            found = next_view(open_task_data(folder), options)
            measured.append(next_view_metrics(found))
            moves, done = list(found.moves), done + 1
        metrics = {name: Result(tuple(values[name] for values in measured)) for name in COLUMNS}
        rows.append(Row(key[0], key[1], metrics, dict(published.get(key, {}))))
    on_stage("next view", total, total)
    return Table(
        title="Next-best view: accuracy in %",
        columns=COLUMNS,
        rows=rows,
        comparisons=[*compare_rows(rows, "two_views"), *compare_rows(rows, "chosen_minus_random")],
        about={"moves": ", ".join(moves), "neighbours": options.neighbours},
        published_on=published_on,
    )


def next_view_metrics(found: NextViewResult) -> dict[str, float]:
    """The columns of the table for one run, in per cent."""
    return {
        "one_view": found.accuracy("chosen", 1),
        "two_views": found.accuracy("chosen", 2),
        "random_move": found.accuracy("random", 2),
        "best_move": found.accuracy("best", 2),
        "chosen_minus_random": found.accuracy("chosen", 2) - found.accuracy("random", 2),
        # By those training frames only that begin the pairs which vote on two views: what two views add is beside it.
        "first_view_alone": 100 * float(found.one_view[:, 1].mean()),
    }
