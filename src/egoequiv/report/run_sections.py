"""The sections of a report about runs: their curves, their settings, and how they were made."""

from __future__ import annotations

from collections.abc import Sequence

from egoequiv.blocks import Block, Code, Fold, Grid, Section, Text
from egoequiv.experiments.collect import Exhibit, Experiment
from egoequiv.experiments.record import machine, versions
from egoequiv.experiments.run_groups import differing_settings
from egoequiv.experiments.table import words
from egoequiv.plurals import plural
from egoequiv.report.figures.curves import AUROC, Lines, curves_figure, loss_terms, mean_lines
from egoequiv.report.figures.drawing import as_picture
from egoequiv.report.figures.styles import Styles
from egoequiv.report.table_blocks import about_blocks, leakage, leakage_in


def curves_section(exhibit: Exhibit, styles: Styles) -> Section:
    """The losses of the runs against the iteration, the mean over repetitions."""
    curves, title = _curves(exhibit), "Training curves"
    terms = loss_terms(curves)
    if not terms:
        return Section(title, [Text("No run has logged a loss: nothing was trained.", "missing")])
    ends = _last(curves, "loss", "{value:.3g} after {iteration:,}")
    alt = f"Curves of {', '.join(terms)} against the iteration. The last loss is {ends}."
    caption = "Lines: training batches, the mean over repetitions; open markers: validation frames."
    return Section(title, [as_picture(curves_figure(curves, styles=styles), alt, caption)])


def auroc_section(exhibit: Exhibit, again: str, styles: Styles) -> Section:
    """The slowness AUROC against the iteration, where the runs have logged it."""
    title = "Slowness AUROC during training"
    curves = {n: own for n, own in _curves(exhibit).items() if any(key in line for line in own for key in AUROC)}
    if not curves:
        text = "The runs have not logged the slowness AUROC, because they are of an earlier version; to have it, train"
        return Section(title, [Text(f"{text} again in another folder: {again}", "missing")])
    ends = _last(curves, "validation_auroc", "{value:.3f}")
    alt = f"Curves of the slowness AUROC on training and validation pairs. It ends, on validation, at {ends}."
    caption = (
        "How often neighbours are nearer to each other than strangers, the mean over repetitions; dotted: chance, 0.5. "
        "Near is by the distance of features that each row trains by, l1 or l2, and l2 where it trains by none."
    )
    return Section(title, [as_picture(curves_figure(curves, styles=styles, panels=AUROC), alt, caption)])


def _curves(exhibit: Exhibit) -> dict[str, Lines]:
    found = {subject.name: mean_lines(subject.metrics) for subject in exhibit.subjects}
    return {name: lines for name, lines in found.items() if lines}


def _last(curves: dict[str, Lines], key: str, form: str) -> str:
    """The last value of each curve, in words."""
    lasts = {name: next((line for line in reversed(own) if key in line), None) for name, own in curves.items()}
    shown = {
        name: form.format(value=line[key], iteration=int(line["iteration"])) for name, line in lasts.items() if line
    }
    return "; ".join(f"{name} {text}" for name, text in shown.items()) or "not known"


def leakage_of(exhibit: Exhibit) -> str | None:
    """How many validation frames leak, by the table, or by the run where there is no table."""
    return leakage(exhibit.table) or (leakage_in(exhibit.subjects[0].result) if exhibit.subjects else None)


def configuration_section(exhibit: Exhibit) -> Section:
    """What the runs were made with: data and split, settings that differ and settings that do not, seeds."""
    leaked = leakage_of(exhibit)
    blocks: list[Block] = [Text(f"Leakage: {leaked}.")] if leaked else []
    if exhibit.table is not None:
        blocks += about_blocks(exhibit.table, f"{exhibit.title}: data and protocol")
    groups = [subject.group for subject in exhibit.subjects]
    if groups:
        differing = differing_settings(groups)
        names = [name for name in differing if name not in ("method", "use_labels")]
        rows = [
            [one.name, _seeds(one.group.seeds), *(words(one.group.settings.get(name)) for name in names)]
            for one in exhibit.subjects
        ]
        title = f"{exhibit.title}: seeds and settings that differ"
        blocks.append(Grid.of(title, ("method", "seeds", *names), rows, is_words=True))
        same = [(name, words(value)) for name, value in groups[0].settings.items() if name not in differing]
        grid = Grid.of(f"{exhibit.title}: settings that all runs share", ("setting", "value"), same, is_words=True)
        blocks.append(Fold(f"{plural(len(same), 'setting')} that all runs share", [grid]))
    known = {subject.name for subject in exhibit.subjects}
    trained = [row.name for row in (exhibit.table.rows if exhibit.table else ()) if row.settings or row.runs]
    gone = [name for name in trained if name not in known]
    if gone:
        text = f"The runs behind {', '.join(gone)} are not in this folder: their curves and tasks cannot be shown."
        blocks.append(Text(text, "missing"))
    return Section("Configuration", blocks)


def _seeds(seeds: Sequence[int]) -> str:
    """Such as 0 to 4, where they are consecutive."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def making_section(experiment: Experiment, *, is_only: bool = True) -> Section:
    """The command, the versions and the machine."""
    made = experiment.command
    blocks: list[Block] = []
    if made is not None:
        blocks += [Code(made.command), Text(f"Started {made.started} on {made.machine}.")]
        if made.earlier:
            blocks += [Text("Begun or continued before with:"), *(Code(one) for one in made.earlier)]
    elif any(exhibit.is_of_runs for exhibit in experiment.exhibits):
        blocks.append(Text("By `egoequiv train`, run by run; the settings of each are above, and in its config.json."))
    else:
        text = (
            "The command that made this folder was not recorded; `egoequiv reproduce` writes it to command.json when "
            "it starts."
        )
        blocks.append(Text(text, "missing"))
    now = versions()
    then = made.versions if made is not None else {}
    rows = [(name, then.get(name, "not recorded"), now[name]) for name in now]
    heads = ("what", "when it was made", "when this report was written")
    blocks.append(Grid.of(f"{experiment.title}: versions", heads, rows, is_words=True))
    blocks.append(Text(f"This report: {machine()}.", "note"))
    return Section("How it was made" if is_only else f"How it was made: {experiment.title}", blocks)
