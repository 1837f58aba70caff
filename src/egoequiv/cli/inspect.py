"""`egoequiv inspect`: what a log holds, and the command to type next."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egoequiv.cli.console import print_json, show
from egoequiv.cli.options import AsJson, ReadSettings, SourceName
from egoequiv.cli.settings import parse_settings

if TYPE_CHECKING:
    from egoequiv.blocks import Block
    from egoequiv.sources.inspection import Inspection

NOTES_SHOWN = 12
WITHOUT_POSES = (
    "poses can be found in the pictures: --poses visual (needs pip install 'egoequiv[vision]'), and --fov DEGREES if "
    "the field of view of the camera is known; --poses log does not use them"
)


def inspect(
    path: Annotated[Path, typer.Argument(help="A log: a file or a folder of any format that is known.")],
    source: SourceName = None,
    settings: ReadSettings = None,
    as_json: AsJson = False,
) -> None:
    """Say what a log holds: format, cameras, rates, ranges, gaps, poses, and what to type next.

    The format is guessed from names and first bytes. Nothing is written, and one image is decoded.

    Example: egoequiv inspect rgbd_dataset_freiburg1_xyz
    """
    from egoequiv.catalog import open_log
    from egoequiv.sources.formats import other_formats
    from egoequiv.sources.inspection import inspect_source
    from egoequiv.store.motion import can_be_seen

    opened, title = open_log(path, source, **parse_settings(settings or []))
    found = inspect_source(opened)
    commands = next_commands(found, path, settings or [])
    if can_be_seen(opened):
        found = replace(found, remarks=(*found.remarks, WITHOUT_POSES))
        commands = [f"{command} --poses visual" for command in commands]
    others = [f"{one.title} (--source {one.source})" for one in other_formats(path, opened.name)] if not source else []
    if others:
        found = replace(found, remarks=(*found.remarks, f"the files also fit {', '.join(others)}"))
    if as_json:
        print_json({"path": str(path), "format": title, **found.as_json(), "commands": commands})
        return
    show(inspection_blocks(found, path, title, commands))


def next_commands(found: Inspection, path: Path, settings: list[str]) -> list[str]:
    """What to type next, ready to be copied."""
    from egoequiv.sources.inspection import suggested_size

    place = shlex.quote(str(path))
    read = "".join(f" --read {shlex.quote(one)}" for one in settings)
    size = "" if found.image_size is None else " --size {}x{}".format(*suggested_size(found.image_size))
    ingest = f"egoequiv ingest {found.source} {place} -o store{size}{read}"
    if found.image_size is None:
        return [ingest, "egoequiv patterns store"]
    return [f"egoequiv train {place} -o run{read}", ingest]


def inspection_blocks(found: Inspection, path: Path, title: str, commands: list[str]) -> list[Block]:
    """An inspection as people read it."""
    from egoequiv.blocks import Code, Grid, Points, Text

    lines = [
        ("format", f"{title} (source {found.source})"),
        ("recordings", _recordings(found)),
        ("frames", _frames(found)),
        ("gaps", _gaps(found)),
        ("lens", _lens(found)),
        ("poses", found.convention),
        ("motion", _motion(found)),
    ]
    rows = [(name, text) for name, text in lines if text]
    rows += [(name, f"{low:.4g} to {high:.4g}") for name, (low, high) in found.ranges.items()]
    blocks: list[Block] = [Grid.of(str(path), ("what", "found"), rows, is_words=True)]
    if found.listed:
        cells = [
            (one.kind, one.name, one.details, "yes" if one.used else f"--read {one.choose}" if one.choose else "no")
            for one in found.listed
        ]
        blocks.append(Grid.of("In the log", ("kind", "name", "details", "read"), cells, is_words=True))
    for kind, texts in (("remark", found.remarks), ("note", found.notes)):
        more = len(texts) - NOTES_SHOWN
        shown = [*texts[:NOTES_SHOWN], *([f"{more} more {kind}s, see --json"] if more > 0 else [])]
        if shown:
            blocks.append(Points([f"{kind}: {text}" for text in shown]))
    return [*blocks, Text("Next:"), *(Code(f"  {command}") for command in commands)]


def _recordings(found: Inspection) -> str:
    names = ", ".join(found.names) + (", ..." if found.recordings > len(found.names) else "")
    sizes = f"{found.shortest:,}" if found.shortest == found.longest else f"{found.shortest:,} to {found.longest:,}"
    return f"{found.recordings:,} of {sizes} frames: {names}"


def _frames(found: Inspection) -> str:
    size = "no images" if found.image_size is None else "{} x {} pixels".format(*found.image_size)
    rate = f", {found.rate_hz:.3g} Hz" if found.rate_hz else ""
    lasts = f", {found.duration_s:,.1f} s" if found.duration_s else ""
    return f"{found.frames:,}, {size}{rate}{lasts}" + ("" if found.rate_hz else ", no times")


def _gaps(found: Inspection) -> str:
    if found.gaps is None:
        return ""
    return (
        "none" if not found.gaps else f"{found.gaps} longer than three frames, the longest {found.longest_gap_s:.3g} s"
    )


def _lens(found: Inspection) -> str:
    if found.image_size is None:
        return ""
    lenses = list(found.lenses.values())
    if not lenses:
        return "not given"
    views = sorted({f"{lens.view_deg:.0f}°" for lens in lenses}, key=lambda view: int(view[:-1]))
    origins = list(dict.fromkeys(lens.origin for lens in lenses))
    files = ", ".join(origins[:2]) + (", ..." if len(origins) > 2 else "")
    distorted = ", with distortion" if any(lens.distortion for lens in lenses) else ""
    some = f", of {len(lenses)} of {found.recordings} recordings" if len(lenses) < found.recordings else ""
    return f"field of view {' to '.join(dict.fromkeys((views[0], views[-1])))}{distorted} ({files}){some}"


def _motion(found: Inspection) -> str:
    if found.way_m is None:
        return ""
    parts = [f"way of {found.way_m:.4g} m"]
    if found.speed_mps and found.turn_dps:
        parts.append("{:.3g} m/s (at most {:.3g})".format(*found.speed_mps))
        parts.append("{:.3g}°/s (at most {:.3g})".format(*found.turn_dps))
    if found.still:
        parts.append(f"{100 * found.still:.0f} % of the time without motion")
    return ", ".join(parts)
