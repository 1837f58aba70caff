"""The sections of a report that come from runs: curves, slowness, motions, and what features are good for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import inf

from egoequiv.evaluation.tasks import TASKS
from egoequiv.report.auroc_figure import auroc_figure
from egoequiv.report.page.blocks import Block, Cell, Fold, Grid, Picture, Points, Section, Text, cells
from egoequiv.report.page.charts import Lines, Styles, chains_chart, curves_chart, loss_terms, mean_lines
from egoequiv.report.page.embed import CHART, chart_bytes, data_uri
from egoequiv.report.page.found import Found
from egoequiv.report.page.gather import Exhibit, Subject
from egoequiv.report.page.headlines import HEADLINES, Headline, Numbers, in_words, numbers_of
from egoequiv.report.page.motions import MOTIONS
from egoequiv.report.page.repeated_tasks import OVER_ALL
from egoequiv.report.page.table_sections import CSS_PER_INCH, chart_picture
from egoequiv.report.page.tasks import find, moving_subject
from egoequiv.training.auroc import TRAINING, VALIDATION, norm_of
from egoequiv.training.run_folder import RunFolder

PHOTO_WIDTH = 1_000
MOST_ROWS = 6  # with pictures of their own beside the best: a page must stay small enough to be sent


def curves_section(exhibit: Exhibit, styles: Styles | None = None) -> Section:
    """The losses of the runs against the iteration, the mean over repetitions."""
    curves = _curves(exhibit)
    terms = loss_terms(curves)
    if not terms:
        return Section("Training curves", [Text("No run has logged a loss: nothing was trained.", "missing")])
    ends = []
    for name, lines in curves.items():
        last = next((line for line in reversed(lines) if "loss" in line), None)
        if last is not None:
            ends.append(f"{name} {last['loss']:.3g} after {last['iteration']:,}")
    alt = f"Curves of {', '.join(terms)} against the iteration. The last loss is {'; '.join(ends)}."
    caption = "Losses on training batches, the mean over repetitions; dots are losses on validation frames."
    return Section("Training curves", [chart_picture(chart_bytes(curves_chart(curves, styles)), alt, caption)])


def auroc_section(exhibit: Exhibit, again: str, styles: Styles | None = None) -> Section:
    """The slowness AUROC against the iteration, where the runs have logged it."""
    title = "Slowness AUROC during training"
    curves = {
        name: lines
        for name, lines in _curves(exhibit).items()
        if any(TRAINING in line or VALIDATION in line for line in lines)
    }
    if not curves:
        words = "The runs have not logged the slowness AUROC, as those of earlier versions did not; to have it, train "
        return Section(title, [Text(f"{words}anew: {again}", "missing")])
    ends = []
    for name, lines in curves.items():
        last = next((line[VALIDATION] for line in reversed(lines) if VALIDATION in line), None)
        if last is not None:
            ends.append(f"{name} {last:.3f}")
    figure = auroc_figure(curves, "neighbours against strangers, the mean over repetitions", styles)
    norms = _norm_words(exhibit, curves)
    alt = (
        "Curves of the slowness AUROC on training and validation pairs. It ends, on validation, at "
        f"{'; '.join(ends)}. {norms}"
    )
    caption = f"How often neighbours are nearer to each other than strangers; 0.5 is chance. {norms}"
    return Section(title, [chart_picture(chart_bytes(figure), alt, caption)])


def _norm_words(exhibit: Exhibit, shown: Collection[str]) -> str:
    """By which distance pairs are near; that of a method is the one it trains by, so rows may differ in it."""
    rows: dict[int, list[str]] = {}
    for subject in exhibit.subjects:
        if subject.name in shown:
            rows.setdefault(norm_of(RunFolder(subject.run).config().objective()), []).append(subject.name)
    if len(rows) == 1:
        return f"Near by the l{next(iter(rows))} distance of features."
    named = "; ".join(f"l{norm} for {', '.join(names)}" for norm, names in sorted(rows.items()))
    return f"The distance of features is the one that each row trains by, or l2: {named}."


def _curves(exhibit: Exhibit) -> dict[str, Lines]:
    found = {subject.name: mean_lines(subject.metrics) for subject in exhibit.subjects}
    return {name: lines for name, lines in found.items() if lines}


def motions_section(exhibit: Exhibit, again: str) -> Section:
    """The motions between frames, and which of them were learned."""
    subject = moving_subject(exhibit)
    found = find(subject, MOTIONS) if subject is not None else None
    if subject is None or found is None:
        return Section("Motions", [Text(f"The motions have not been counted; to do so: {again}", "missing")])
    if found.problem is not None:
        return Section("Motions", [Text(f"Not known: {found.problem}", "missing")])
    pairs = found.result["pairs"]
    learned = ", ".join(found.result["learned"]) or "none"
    counts = ", ".join(f"{name} {count:,}" for name, count in pairs.items())
    words = f"Motions between training frames, as pairs of frames: {counts}. Learned by {subject.name}: {learned}."
    mined = found.result["mined"]
    caption = (
        f"{mined['motions']:,} motions, of which k-means kept {mined['kept']} patterns."
        if mined
        else "Declared motions; the area of a disc is the number of pairs, filled discs are learned."
    )
    pictures = [_picture(found, number, words, caption, width=600) for number in range(len(found.figures))]
    return Section("Motions", [*pictures, *_grids(found)])


def task_sections(
    exhibit: Exhibit, again: str, tabled: Collection[str] = (), styles: Styles | None = None
) -> list[Section]:
    """One section for each task: the few numbers of every row, its figures, and every number when asked for.

    Tasks that are `tabled` were measured over all repetitions; they are not missing where one is not looked at.
    """
    found = {
        task: {subject.name: one for subject in exhibit.subjects if (one := find(subject, task)) is not None}
        for task in TASKS
    }
    titles = [HEADLINES[task].title for task in TASKS if task not in tabled]
    if not any(found.values()):
        words = f"Not measured yet: {', '.join(titles)}; to do so: {again}"
        return [Section("What the features are good for", [Text(words, "missing")])] if titles else []
    sections = []
    for task, own in found.items():
        headline = HEADLINES[task]
        if own:
            sections.append(_task_section(exhibit.subjects, own, headline, again, task in tabled, styles))
        elif task not in tabled:
            sections.append(Section(headline.title, [Text(f"Not measured; to do so: {again}", "missing")]))
    return sections


def _task_section(
    subjects: Sequence[Subject],
    found: Mapping[str, Found],
    headline: Headline,
    again: str,
    is_tabled: bool,
    styles: Styles | None,
) -> Section:
    numbers = {name: own for name, one in found.items() if (own := numbers_of(one))}
    seeds = {subject.name: subject.group.seeds[0] for subject in subjects}
    shown_seeds = ", ".join(sorted({str(seeds[name]) for name in found}))
    others = f" The means over all repetitions are under “{OVER_ALL}”." if is_tabled else ""
    blocks: list[Block] = [Text(f"{headline.about} One repetition of each row (seed {shown_seeds}).{others}".strip())]
    if numbers:
        columns = list(dict.fromkeys(name for own in numbers.values() for name in own))
        rows = [[Cell(name), *(_number(own.get(c), headline.digits) for c in columns)] for name, own in numbers.items()]
        blocks.append(Grid(headline.title, ("method", *columns), rows))
    blocks += _chains(found, numbers, headline, styles)
    blocks += _photos(found, numbers, headline)
    reasons: dict[str, list[str]] = {}
    for name, one in found.items():
        if one.problem is not None:
            reasons.setdefault(one.problem, []).append(name)
    problems = [f"{', '.join(names)}: {problem}" for problem, names in reasons.items()]
    blocks += [Fold("Could not be measured", [Points(problems)], is_open=not numbers)] if problems else []
    left = [subject.name for subject in subjects if subject.name not in found]
    if left:
        blocks.append(Text(f"Not measured for {', '.join(left)}; to do so: {again}", "missing"))
    every = [Fold(name, _grids(one)) for name, one in found.items() if one.tables]
    blocks += [Fold("Every number of every row", every)] if every else []
    return Section(headline.title, blocks)


def _chains(
    found: Mapping[str, Found], numbers: Mapping[str, Numbers], headline: Headline, styles: Styles | None
) -> list[Block]:
    """The curves of composition, where there are any."""
    chains = {name: one.result["chains"] for name, one in found.items() if one.result.get("chains")}
    if not any(steps for own in chains.values() for steps in own.values()):
        return []
    words = "; ".join(f"{name}: {in_words(own, headline.digits)}" for name, own in numbers.items())
    caption = "rho of the product of the maps of single steps, by the number of steps; dotted: copying the features."
    chart = chart_bytes(chains_chart(chains, styles))
    return [chart_picture(chart, f"Curves of rho by chain length. {words}.", caption)]


def _photos(found: Mapping[str, Found], numbers: Mapping[str, Numbers], headline: Headline) -> list[Block]:
    """The pictures of the row that does best, and those of the others when asked for."""
    by, ordered = _best_first(numbers, headline)
    blocks: dict[str, list[Picture]] = {}
    for name in ordered:
        one = found[name]
        words = f"{headline.title}, {name}: {in_words(numbers[name], headline.digits)}."
        pictures = [
            _picture(one, k, f"Examples, drawn at random. {words}", words, PHOTO_WIDTH)
            for k, path in enumerate(one.figures)
            if path.suffix != CHART
        ]
        if pictures:
            blocks[name] = pictures
    if not blocks:
        return []
    first, *others = blocks
    best = "" if numbers[first].get(by) is None else f", the row that does best by {by.removesuffix(' %')}"
    why = f"Examples of {first}{best}:"
    folds: list[Block] = [Fold(name, blocks[name]) for name in others[:MOST_ROWS]]
    if others[MOST_ROWS:]:
        folds.append(Text(f"Those of {', '.join(others[MOST_ROWS:])} are kept in the folder tasks, not on this page."))
    return [Text(why), *blocks[first], *([Fold("The same for other rows", folds)] if folds else [])]


def _best_first(numbers: Mapping[str, Numbers], headline: Headline) -> tuple[str, list[str]]:
    """The number that comes first in most rows, and the rows by it; last those that lack it and cannot be compared."""
    firsts = Counter(next(iter(own)) for own in numbers.values())
    by = firsts.most_common(1)[0][0] if firsts else ""
    sign = -1 if headline.higher_is_better else 1
    values = {name: own.get(by) for name, own in numbers.items()}
    return by, sorted(values, key=lambda name: inf if (value := values[name]) is None else sign * value)


def _grids(found: Found) -> list[Block]:
    blocks: list[Block] = []
    for table in found.tables:
        blocks.append(Grid(table.title, table.columns, [cells(row) for row in table.rows]))
        blocks += [Text(note, "note") for note in table.notes]
    return blocks


def _picture(found: Found, number: int, alt: str, caption: str, width: int = 8 * CSS_PER_INCH) -> Picture:
    path = found.figures[number]
    return Picture(data_uri(path.read_bytes(), path.suffix), alt, caption, width, path.suffix == CHART)


def _number(value: float | None, digits: int) -> Cell:
    return Cell("-" if value is None else f"{value:.{digits}f}")
