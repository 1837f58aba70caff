"""The tables of `egoequiv reproduce doctor`: as blocks, and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from egoequiv.blocks import Block, Cell, Grid, Points, Text
from egoequiv.experiments.faults.experiment import FaultResults
from egoequiv.experiments.faults.scores import ALL, NEAR_S, RIVALS, TURNS_DEG, FaultRow, Share
from egoequiv.files import write_text
from egoequiv.markdown import markdown_document

TITLE = "Faults in logs, and which of them the doctor finds"
_SHARES = ("auroc", "auroc_meant", "auroc_turning", "auroc_unreported", "found", "named")


def fault_blocks(results: FaultResults) -> list[Block]:
    """Everything that was measured."""
    logs = list(dict.fromkeys(row.log for row in results.faults))
    blocks: list[Block] = [Points([f"{name}: {words}" for name, words in results.logs.items()])]
    blocks += [_faults_grid(log, [row for row in results.faults if row.log == log]) for log in logs]
    blocks += [_alarms_grid(results), _offsets_grid(results)]
    if results.left_out:
        blocks.append(Text("Not tried:"))
        blocks.append(Points(results.left_out))
    return blocks


def save_fault_tables(results: FaultResults, out: Path) -> list[Path]:
    """Write faults.md, faults.csv and faults.json."""
    contents = {
        "md": markdown_document(TITLE, fault_blocks(results)),
        "csv": fault_csv(results),
        "json": results.model_dump_json(indent=2) + "\n",
    }
    for ending, text in contents.items():
        write_text(out / f"faults.{ending}", text)
    return [out / f"faults.{ending}" for ending in contents]


def fault_csv(results: FaultResults) -> str:
    """One line for each number: table, log, row, metric, value and interval."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "log", "row", "metric", "value", "low", "high", "count"])
    for fault in results.faults:
        shares = {name: getattr(fault, name) for name in _SHARES}
        shares |= {f"auroc, {name}": share for name, share in fault.rivals.items()}
        for name, share in shares.items():
            count = fault.turning if name in ("auroc_turning", "auroc_unreported") else fault.pieces
            writer.writerow(["faults", fault.log, fault.fault, name, *_numbers(share), count])
    for alarm in results.alarms:
        writer.writerow(["false alarms", alarm.log, alarm.cut, "alarms", *_numbers(alarm.alarms), alarm.pieces])
    for offset in results.offsets:
        for name in ("told", "median_s", "ninth_s", "near", "within_frame", "own_median_s"):
            value = getattr(offset, name)
            writer.writerow(
                ["offset", offset.log, offset.cut, name, value if isfinite(value) else "", "", "", offset.injected]
            )
    return out.getvalue()


def _faults_grid(log: str, rows: Sequence[FaultRow]) -> Grid:
    columns = (
        "fault",
        "pieces",
        "AUROC",
        "of the check meant for it",
        "where the camera turns",
        "without faults of the log",
        "found",
        "right check named",
        *(f"AUROC, {name}" for name in RIVALS),
    )
    cells = [
        (
            Cell(row.fault),
            row.pieces,
            _share(row.auroc),
            _share(row.auroc_meant),
            Cell(_share(row.auroc_turning).line, [f"{row.turning} pieces"]),
            _share(row.auroc_unreported),
            _share(row.found, percent=True),
            _share(row.named, percent=True),
            *(_share(row.rivals[name]) for name in RIVALS),
        )
        for row in rows
    ]
    kinds = " or ".join(dict.fromkeys(row.groups for row in rows))
    notes = [
        "AUROC: how often a piece with the fault has a higher score than one without it (0.5 is chance). The score is "
        "the largest of all checks; a check that cannot tell counts as 0. Found: the share of pieces with a score of "
        f"at least 1. The camera turns: by {TURNS_DEG:g}° or more about one axis within the piece, by the poses of the "
        f"log as it is; a log without angles does not count there. Without faults of the log: the same pieces, but for "
        "checks that report the piece as it is, unless they are meant for the fault; their false alarms are left out "
        "too, so that chance is a little above 0.5. "
        f"Brackets: 95 % intervals over {kinds}; none with "
        "fewer than five, and no width where all are equal."
    ]
    where = "all logs together" if log == ALL else log
    return Grid.of(f"Faults in {where}", columns, cells, notes)


def _alarms_grid(results: FaultResults) -> Grid:
    rows = [
        (
            Cell(row.log),
            Cell(row.cut),
            row.pieces,
            _share(row.alarms, percent=True),
            Cell(", ".join(f"{check} {count}" for check, count in row.checks.items()) or "none"),
        )
        for row in results.alarms
    ]
    return Grid.of(
        "False alarms: logs as they are", ("log", "cut into", "pieces", "with a fault reported", "by check"), rows
    )


def _offsets_grid(results: FaultResults) -> Grid:
    columns = (
        "log",
        "cut into",
        "offsets put in",
        "told",
        "median error",
        "90 % quantile",
        f"within {1e3 * NEAR_S:.0f} ms",
        "within a frame",
        "median error beside the log's own offset",
    )
    rows = [
        (
            Cell(row.log),
            Cell(row.cut),
            row.injected,
            _percent(row.told),
            *(_milliseconds(value) for value in (row.median_s, row.ninth_s)),
            *(_percent(value) for value in (row.near, row.within_frame)),
            _milliseconds(row.own_median_s),
        )
        for row in results.offsets
    ]
    notes = ["Errors and shares after them are of the offsets that the doctor tells."]
    return Grid.of("Clock offset: estimated against injected", columns, rows, notes)


def _share(share: Share, percent: bool = False) -> Cell:
    if not isfinite(share.value):
        return Cell("-")
    value, low, high = (f"{100 * x:.0f}" if percent else f"{x:.2f}" for x in (share.value, share.low, share.high))
    return Cell(f"{value} %" if percent else value, [f"[{low}, {high}]"] if isfinite(share.low) else [])


def _percent(value: float) -> Cell:
    return Cell(f"{100 * value:.0f} %" if isfinite(value) else "-")


def _milliseconds(value: float) -> Cell:
    return Cell(f"{1e3 * value:.0f} ms" if isfinite(value) else "-")


def _numbers(share: Share) -> list[float | str]:
    return [value if isfinite(value) else "" for value in (share.value, share.low, share.high)]
