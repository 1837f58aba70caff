"""Tables as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
from math import isfinite
from pathlib import Path

from egoequiv.evaluation import Result
from egoequiv.experiments import Comparison, Row, Table
from egoequiv.files import write_text
from egoequiv.report.latex import PACKAGES, latex_table
from egoequiv.report.markdown import escape_markdown, markdown_table, paragraph

TITLES = {
    "top1": "top-1 %",
    "top5": "top-5 %",
    "top10": "top-10 %",
    "top1_class_mean": "mean of classes %",
    "one_view": "one view %",
    "two_views": "two views %",
    "random_move": "random move %",
    "best_move": "best move %",
    "chosen_minus_random": "chosen - random move",
    "first_view_alone": "first view alone %",
}
SHARES = ("rho", "ratio", "error", "precision", "chance", "MRR", "hit", "R2", "AUROC")  # not in per cent


PREFIXES = ("rho_", "ratio_", "low_", "high_")  # before the name of a motion, which may be of several words
FEWEST = 3  # repetitions of which an interval says something: that of two is 13 standard errors wide to each side


def title_of(metric: str) -> str:
    """What a metric is called at the head of a column; a name of several words is left as it is."""
    if metric in TITLES:
        return TITLES[metric]
    if metric.startswith(PREFIXES):
        return metric.replace("_", " ", 1)
    return metric if " " in metric or "," in metric else metric.replace("_", " ")


def is_percentage(metric: str) -> bool:
    """Whether a metric lies between 0 and 100; a difference of two does not."""
    return title_of(metric).endswith(" %") or metric.startswith("top")


def interval_of(result: Result | None) -> tuple[float, float] | None:
    """The 95 % interval of the mean, where there are enough repetitions for one."""
    if result is None or len(result.values) < FEWEST or not isfinite(result.stderr):
        return None
    return result.interval()


def repetitions_of(table: Table) -> int:
    """In how many repetitions a table was measured, at the most."""
    return max((len(result.values) for row in table.rows for result in row.metrics.values()), default=0)


def measured_words(table: Table) -> str:
    """What the cells of a table hold."""
    return "Mean ± standard error" if repetitions_of(table) > 1 else "Measured in one repetition"


def digits_of(metric: str) -> int:
    """How many digits of a metric are shown behind the point."""
    return 3 if metric.startswith(SHARES) else 2


def show(result: Result | None, metric: str) -> str:
    """A result as `mean ± standard error`."""
    if result is None or not isfinite(result.mean):
        return "-" if result is None else "not defined"
    digits = digits_of(metric)
    error = f" ± {result.stderr:.{digits}f}" if isfinite(result.stderr) else ""
    return f"{result.mean:.{digits}f}{error}"


def show_published(row: Row, metric: str) -> str:
    """The published value of a cell, empty where the paper has none."""
    published = row.published.get(metric)
    if published is None:
        return ""
    error = f" ± {published.stderr:.2f}" if published.stderr is not None else ""
    return f"{published.mean:.3f}" if metric.startswith("rho") else f"{published.mean:.2f}{error}"


def cell(row: Row, metric: str) -> str:
    """Measured value and, in brackets, the published one."""
    published = show_published(row, metric)
    measured = show(row.metrics.get(metric), metric)
    return f"{measured} ({published})" if published else measured


def p_text(p_value: float) -> str:
    """The p of a test in two digits."""
    return f"{p_value:.2g}" if isfinite(p_value) else "-"


def to_markdown(table: Table) -> str:
    """The table, the paired tests and how they came to be, as Markdown."""
    beside = f"; in brackets what the paper published for {table.published_on}" if table.published_on else ""
    lines = [f"# {escape_markdown(table.title)}", "", paragraph(f"{measured_words(table)}{beside}."), ""]
    rows = [
        (
            row.name + (f" ({row.diverged} diverged)" if row.diverged else ""),
            *(cell(row, metric) for metric in table.columns),
        )
        for row in table.rows
    ]
    lines += markdown_table(("method", *map(title_of, table.columns)), rows)
    lines += _details(table)
    if table.comparisons:
        lines += ["", "Paired tests on the same repetitions (difference of means, two-sided t-test):", ""]
        lines += markdown_table(("metric", "difference", "p"), [_test_cells(test) for test in table.comparisons])
    settings = [(row.name, _settings(row)) for row in table.rows if row.settings]
    lines += ["", *markdown_table(("row", "settings"), settings)] if settings else []
    about = [(key.replace("_", " "), str(value)) for key, value in table.about.items()]
    lines += ["", *markdown_table(("how", ""), about)]
    return "\n".join(lines) + "\n"


def _test_cells(test: Comparison) -> tuple[str, str, str]:
    digits = digits_of(test.metric)
    difference = f"{test.a} - {test.b} = {test.difference:+.{digits}f} ± {test.stderr:.{digits}f}"
    return title_of(test.metric), difference, p_text(test.p_value)


def _details(table: Table) -> list[str]:
    """For each motion: rho with its interval over recordings, and the ratio of means, which leaves no pair out."""
    measured = {name for row in table.rows for name in row.metrics}
    motions = [c.removeprefix("rho_") for c in table.columns if f"low_{c.removeprefix('rho_')}" in measured]
    if not motions:
        return []
    lines = ["", "rho [95 % interval over recordings, mean of the repetitions]; ratio of the mean distances:", ""]
    rows = [
        (row.name, *(_detail(row, motion) for motion in motions), f"{row.metrics['excluded_pairs'].mean:.1f}")
        for row in table.rows
        if f"low_{motions[0]}" in row.metrics
    ]
    return [*lines, *markdown_table(("method", *motions, "pairs left out of rho"), rows)]


def _detail(row: Row, motion: str) -> str:
    rho, low, high, ratio = (row.metrics[f"{name}_{motion}"].mean for name in ("rho", "low", "high", "ratio"))
    return f"{rho:.3f} [{low:.3f}, {high:.3f}]; {ratio:.3f}" if isfinite(rho) else "not defined"


def _settings(row: Row) -> str:
    """Settings in words, the weights of the loss terms spelled out."""
    shown = []
    for name, value in row.settings.items():
        if isinstance(value, dict):
            shown += [f"{name}.{term}={one:g}" for term, one in value.items()]
        else:
            shown.append(f"{name}={value}")
    return ", ".join(shown)


def to_csv(table: Table) -> str:
    """One line for each row and metric."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["method", "labels", "metric", "mean", "stderr", "repetitions", "published", "published_stderr"])
    for row in table.rows:
        for metric, result in row.metrics.items():
            published = row.published.get(metric)
            writer.writerow(
                [
                    row.method,
                    row.labels,
                    metric,
                    result.mean,
                    result.stderr if isfinite(result.stderr) else "",
                    len(result.values),
                    published.mean if published else "",
                    published.stderr if published and published.stderr is not None else "",
                ]
            )
    return out.getvalue()


def to_latex(table: Table, label: str = "table") -> str:
    """The table beside the published values, and the paired tests."""
    beside = f"; in brackets what was published for {table.published_on}" if table.published_on else ""
    caption = f"{table.title}. {measured_words(table)}{beside}."
    rows = [(row.name, *(cell(row, metric) for metric in table.columns)) for row in table.rows]
    parts = [PACKAGES, latex_table(caption, label, ("method", *map(title_of, table.columns)), rows)]
    if table.comparisons:
        tests = []
        for c in table.comparisons:
            digits = digits_of(c.metric)
            difference = f"{c.difference:+.{digits}f} ± {c.stderr:.{digits}f}"
            tests.append((title_of(c.metric), f"{c.a} − {c.b}", difference, p_text(c.p_value)))
        caption = f"{table.title}: paired tests on the same repetitions (two-sided t-test)."
        parts.append(latex_table(caption, f"{label}-tests", ("metric", "rows", "difference", "p"), tests))
    return "\n\n".join(parts) + "\n"


def save_table(table: Table, folder: Path, name: str = "table") -> list[Path]:
    """Write the table as Markdown, CSV, LaTeX and JSON."""
    contents = {
        "md": to_markdown(table),
        "csv": to_csv(table),
        "tex": to_latex(table, name),
        "json": json.dumps(table.describe(), indent=2, ensure_ascii=False) + "\n",
    }
    paths = []
    for suffix, text in contents.items():
        path = folder / f"{name}.{suffix}"
        write_text(path, text)
        paths.append(path)
    return paths
