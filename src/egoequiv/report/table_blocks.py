"""A table as blocks: results, single motions, paired tests, and how it was made. Here a cell is formatted, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from egoequiv.blocks import Block, Cell, Fold, Grid, Points, Text
from egoequiv.evaluation.metric import MARK, Metric
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import FEWEST_FOR_TEST, MOTIONS_APART, Comparison, Entry, Row, Table, describe_about

ONE_SCREEN = 30  # rows of a table that are shown at first
MOST_COLUMNS = 8  # of a summary; further ones are folded
SIGNIFICANT = 0.05
CLEAR = "better than all others (p < 0.05)"
EXCLUDED = "excluded_pairs"  # a metric that has a column in the grid of single motions
# What the baselines of rho are, by their names.
BASELINES = {
    "constant": "what a map gives that always predicts the mean",
    "untrained": "the same network before training",
}


def table_blocks(table: Table) -> list[Block]:
    """Everything a table says, in the order of reading."""
    return [*summary_blocks(table), *motion_blocks(table), *paired_blocks(table), *making_blocks(table)]


def short_blocks(table: Table) -> list[Block]:
    """What a terminal shows of a table: the summary, rho of single motions, the best rows, and the leakage."""
    motions = table.shown(single_motions=True)
    grid = [_values_grid(table, motions)] if motions else []
    leaders = _leaders(table)
    about = table.about
    leaked, frames = about.get("leaked_validation_frames"), about.get("validation_frames")
    leak = f"split {about.get('split')}: {leaked} of {frames} validation frames have a training frame of theirs"
    return [
        *summary_blocks(table),
        *grid,
        *([Points(leaders)] if leaders else []),
        *([Text(f"{leak} (the same recording, within one step or second).")] if isinstance(leaked, int) else []),
    ]


def _values_grid(table: Table, metrics: Sequence[Metric]) -> Grid:
    """The means of some metrics with their marks, and nothing else."""
    rows = [
        [Cell(row.name), *(Cell(_marked(table, row, metric)) for metric in metrics)]
        for row in table.rows
        if any(metric.name in row.entries for metric in metrics)
    ]
    columns = ("method", *(metric.title for metric in metrics))
    return Grid(f"{table.title}: single motions", columns, rows, mark_notes(table, metrics))


def _marked(table: Table, row: Row, metric: Metric) -> str:
    result = row.result(metric.name)
    return "-" if result is None else metric.text(result.mean) + (MARK if table.is_marked(row, metric) else "")


def summary_metrics(table: Table) -> list[Metric]:
    """The metrics of the summary: neither of single motions nor details."""
    return [metric for metric in table.shown(single_motions=False) if not metric.is_detail]


def summary_blocks(table: Table) -> list[Block]:
    """The results: means over repetitions with their intervals, beside what was published."""
    metrics = summary_metrics(table)
    if not metrics:
        return []
    beside = any(metric.name in row.published for row in table.rows for metric in metrics)
    words = [_repetition_words(table.repetitions)]
    words += [f"then what the paper published{f' for {table.published_on}' if table.published_on else ''}"] * beside
    blocks: list[Block] = [Text(f"{'; '.join(words)}."), results_grid(table, metrics[:MOST_COLUMNS], table.title)]
    details = [one for one in table.metrics if one.is_detail and one.motion is None and one.name != EXCLUDED]
    more = [*metrics[MOST_COLUMNS:], *details]
    grids = [
        results_grid(table, more[begin : begin + MOST_COLUMNS], f"{table.title}: further columns")
        for begin in range(0, len(more), MOST_COLUMNS)
    ]
    return [*motions_apart_blocks(table), *blocks, *([Fold("Further columns", grids)] if grids else [])]


def motions_apart_blocks(table: Table) -> list[Block]:
    """That rows are of different motions, where they are: a rho of other motions is another quantity."""
    words = "; ".join(f"{kind}: {own}" for kind, own in table.about.get(MOTIONS_APART, {}).items())
    about = "The rows are of different motions: what is measured of motions has columns of its own for each of them"
    return [Text(f"{about}, and is tested only between rows of the same. {words}.")] if words else []


def _repetition_words(repetitions: int) -> str:
    if repetitions < 2:
        return "One repetition, in brackets the 95 % interval over recordings where there is one"
    if repetitions < FEWEST_FOR_TEST:
        return f"Mean ± standard error over {repetitions} repetitions, too few for an interval"
    return f"Mean ± standard error over {repetitions} repetitions, in brackets the 95 % interval of the mean"


def motion_blocks(table: Table) -> list[Block]:
    """Each single motion: its mean over repetitions, the interval over recordings, and its baselines."""
    metrics = table.shown(single_motions=True)
    if not metrics:
        return []
    last = [metric for metric in table.metrics if metric.name == EXCLUDED]
    many = table.repetitions > 1
    about = [
        f"{'Mean ± standard error' if many else 'One repetition'}; in brackets the 95 % interval over recordings"
        f"{', the mean of the repetitions' if many else ''}",
        *(["ratio: of the two mean distances, for which no pair is left out"] if _beside(table, metrics[0]) else []),
        *(f"{name}: {words}" for name, words in BASELINES.items() if name in _baseline_names(table, metrics)),
    ]
    grid = results_grid(table, [*metrics, *last], f"{table.title}: each motion", over_recordings=True)
    return [Text(f"{'; '.join(about)}."), grid]


def results_grid(table: Table, metrics: Sequence[Metric], caption: str, *, over_recordings: bool = False) -> Grid:
    """Rows of results of some metrics; what holds for all rows is below it."""
    shared = {metric.name: _shared_baselines(table, metric) for metric in metrics}
    rows = [
        [_head(row), *(_cell(table, row, metric, shared[metric.name], over_recordings) for metric in metrics)]
        for row in table.rows
        if row.diverged or any(metric.name in row.entries for metric in metrics)
    ]
    notes = [
        *(f"{metric.title}: {_baselines(metric, shared[metric.name])}." for metric in metrics if shared[metric.name]),
        *mark_notes(table, metrics),
        *undefined_notes(table, metrics),
    ]
    return Grid(caption, ("method", *(metric.title for metric in metrics)), rows, tuple(notes))


def _head(row: Row) -> Cell:
    counts = {"diverged": row.diverged, "not finished": len(row.unfinished)}
    return Cell(row.name, [f"{count} {what}" for what, count in counts.items() if count])


def _cell(table: Table, row: Row, metric: Metric, shared: Mapping[str, float], over_recordings: bool) -> Cell:
    """One result: mean and standard error; below it the interval, what is beside it, and the published value."""
    small = []
    if (entry := row.entries.get(metric.name)) is not None:
        is_one = over_recordings or len(entry.result.values) < 2
        small.append(metric.interval(entry.interval if is_one else entry.over_repetitions()))
        for other in _beside(table, metric):
            small.append(_baselines(other, {other.title.removesuffix(f" {other.motion}"): row.mean(other.name)}))
        small += [_baselines(metric, {k: v}) for k, v in entry.baselines.items() if k not in shared]
    if metric.name in row.published:
        small.append(f"paper {published_text(row.published[metric.name], metric)}")
    text = metric.result(row.result(metric.name)) + (MARK if table.is_marked(row, metric) else "")
    return Cell(text, [line for line in small if line])


def _beside(table: Table, metric: Metric) -> list[Metric]:
    """Further metrics of the same motion, which are details."""
    return [one for one in table.metrics if one.is_detail and one.motion == metric.motion is not None]


def published_text(published: Published, metric: Metric) -> str:
    """A published mean, with its standard error where the paper gives one."""
    error = "" if published.stderr is None else f" ± {published.stderr:.{metric.digits}f}"
    return metric.text(published.mean) + error


def _baselines(metric: Metric, baselines: Mapping[str, float]) -> str:
    """Such as `chance 4.00, nearest pixels 31.20`; without those that are not defined."""
    return ", ".join(f"{name} {metric.text(value)}" for name, value in baselines.items() if isfinite(value))


def _entries(table: Table, metrics: Sequence[Metric]) -> list[Entry]:
    return [row.entries[metric.name] for row in table.rows for metric in metrics if metric.name in row.entries]


def _baseline_names(table: Table, metrics: Sequence[Metric]) -> list[str]:
    fixed = dict.fromkeys(name for metric in metrics for name in metric.baselines)
    return list(fixed | dict.fromkeys(name for entry in _entries(table, metrics) for name in entry.baselines))


def _shared_baselines(table: Table, metric: Metric) -> dict[str, float]:
    """The baselines of a metric that are the same in every row of several."""
    each = [entry.baselines for entry in _entries(table, [metric])]
    same = {k: v for k, v in (each[0] if len(each) > 1 else {}).items() if isfinite(v)}
    return {k: v for k, v in same.items() if len({metric.text(own.get(k)) for own in each}) == 1}


def mark_notes(table: Table, metrics: Sequence[Metric]) -> list[str]:
    """What the mark means, where a cell has one."""
    marked = [metric for metric in metrics if any(table.is_marked(row, metric) for row in table.rows)]
    names = ", ".join(_baseline_names(table, marked))
    return (
        [f"{MARK} not better than each of its baselines ({names}): it is no evidence for the features."]
        if marked
        else []
    )


def undefined_notes(table: Table, metrics: Sequence[Metric]) -> list[str]:
    """Why cells are not defined: one note for each metric and reason, with the rows it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        for row in table.rows:
            entry = row.entries.get(metric.name)
            if entry is not None and not isfinite(entry.result.mean) and entry.note:
                found.setdefault((metric.title, entry.note.rstrip(".")), []).append(row.name)
    return [f"{title} is not defined for {', '.join(names)}: {why}." for (title, why), names in found.items()]


def paired_blocks(table: Table) -> list[Block]:
    """Which rows are best, and every paired test."""
    if not table.comparisons:
        return []
    grid = tests_grid(table)
    about = (
        "Differences on the same repetitions, with their standard errors and the two-sided p of the paired t-test. The "
        "p are not corrected for how many tests there are."
    )
    leaders = _leaders(table)
    return [
        Text(about),
        *([Points(leaders)] if leaders else []),
        Fold(f"All {len(grid.rows)} tests", [grid]) if len(grid.rows) > ONE_SCREEN else grid,
    ]


def tests_grid(table: Table) -> Grid:
    """Every paired test of a table."""
    rows = [_test_row(table, test) for test in table.comparisons]
    return Grid(f"{table.title}: paired tests", ("rows", "metric", "mean difference ± s.e.", "p"), rows)


def _test_row(table: Table, test: Comparison) -> list[Cell]:
    metric = table.metric(test.metric)
    tone = "good" if test.p_value < SIGNIFICANT else ""
    difference = metric.difference(test.difference, test.stderr)
    return [Cell(f"{test.a} − {test.b}"), Cell(metric.title), Cell(difference), Cell(p_text(test.p_value), tone=tone)]


def p_text(p_value: float) -> str:
    """The p of a test in two digits."""
    return f"{p_value:.2g}" if isfinite(p_value) else "-"


def _leaders(table: Table) -> list[str]:
    """For each metric the best row, and those that differ from it by no more than chance."""
    points = []
    is_mixed = len({row.uses_labels for row in table.rows}) > 1
    for name in dict.fromkeys(test.metric for test in table.comparisons):
        metric, tests = table.metric(name), [test for test in table.comparisons if test.metric == name]
        tested = {row for test in tests for row in (test.a, test.b)}
        for uses_labels in (True, False):  # rows with labels and rows without are tested by themselves
            rows = [row for row in table.rows if row.name in tested and row.uses_labels is uses_labels]
            best = best_row(rows, metric)
            if best is None or sum(isfinite(row.mean(name)) for row in rows) < 2:
                continue
            others = {row.name for row in rows} - {best.name}
            near = [
                name
                for test in tests
                for name in {test.a, test.b} & others
                if best.name in (test.a, test.b) and not test.p_value < SIGNIFICANT
            ]
            words = f"not significantly different (p ≥ 0.05): {', '.join(near)}" if near else CLEAR
            among = f", {'with' if uses_labels else 'without'} labels" if is_mixed else ""
            points.append(f"{metric.title}{among}: best is {best.name}, {metric.result(best.result(name))}; {words}.")
    return points


def best_row(rows: Sequence[Row], metric: Metric) -> Row | None:
    """The row that is best by a metric; None where none has it, or where no way is better."""
    measured = [row for row in rows if isfinite(row.mean(metric.name))]
    if not measured or metric.better == "neither":
        return None
    choose = max if metric.better == "higher" else min
    return choose(measured, key=lambda row: row.mean(metric.name))


def result_line(table: Table) -> str:
    """The result in one line: the best row by the first metric, beside its baselines."""
    metric = table.metric(table.columns[0])
    best = best_row(table.rows, metric)
    if best is None:
        return ""
    baselines = {**metric.baselines, **best.entries[metric.name].baselines}
    beside = _baselines(metric, baselines)
    value = metric.result(best.result(metric.name)) + (MARK if table.is_marked(best, metric) else "")
    who = f"best is {best.name} with {value}" if len(table.rows) > 1 else value
    line = f"{metric.title}: {who} ({metric.better} is better{f'; {beside}' if beside else ''})"
    return f"{line}. {mark_notes(table, [metric])[0]}" if table.is_marked(best, metric) else f"{line}."


def making_blocks(table: Table) -> list[Block]:
    """The settings in which rows differ, and how the table was made."""
    settings = [(row.name, _settings(row)) for row in table.rows if row.settings]
    grid = Grid.of(f"{table.title}: settings", ("method", "settings"), settings, is_words=True)
    return [*([grid] if settings else []), *about_blocks(table, f"{table.title}: protocol")]


def about_blocks(table: Table, caption: str) -> list[Block]:
    """What a table says of how it was made, if anything."""
    about = list(describe_about(table.about).items())
    return [Grid.of(caption, ("what", "value"), about, is_words=True)] if about else []


def _settings(row: Row) -> str:
    """Settings in words, the weights of the loss terms one by one."""
    shown = []
    for name, value in row.settings.items():
        each = {f"{name}.{term}": one for term, one in value.items()} if isinstance(value, dict) else {name: value}
        shown += [f"{key}={one:g}" if isinstance(one, float) else f"{key}={one}" for key, one in each.items()]
    return ", ".join(shown)
