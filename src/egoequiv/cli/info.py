"""`egoequiv info`: what a store holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from egoequiv.cli.console import output, print_json, say
from egoequiv.cli.options import AsJson
from egoequiv.cli.stores import fetch
from egoequiv.errors import DataError
from egoequiv.pose import CAMERA_POSES


def info(
    store: Annotated[str, typer.Argument(help="The store: a folder, or a URL such as s3://bucket/store.")],
    sheet: Annotated[
        Path | None,
        typer.Option(show_default="contact_sheet.png in the store", help="Where to write the contact sheet."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show recordings, frames, poses and labels of a store, and write a contact sheet.

    It also says how a run would split the frames by default, and how many validation frames would leak.

    Example: egoequiv info my-store
    """
    from egoequiv.report.pictures import contact_sheet, save_picture
    from egoequiv.store import FrameStore

    fetch(store)
    opened = FrameStore.open(store)
    described = _describe(opened)
    picture = sheet or opened.path / "contact_sheet.png"
    try:
        if not opened.has_images:
            raise DataError(f"{store} has only poses and no images")
        save_picture(contact_sheet(opened), picture)
        described["contact_sheet"] = str(picture)
    except (DataError, OSError) as problem:
        if sheet is not None:
            raise
        described["contact_sheet"] = None
        say(f"no contact sheet: {problem}" + ("; choose another file with --sheet" if opened.has_images else ""))
    if as_json:
        print_json(described)
        return
    console = output()
    console.print(f"[bold]{escape(store)}[/bold]  from {escape(str(described['source']))}")
    shape = f"of {' x '.join(map(str, described['image_shape']))}" if opened.has_images else "without images"
    console.print(f"frames      {described['frames']:,} {shape}")
    shortest, longest = described["shortest"], described["longest"]
    lengths = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
    console.print(f"recordings  {described['recordings']} of {lengths} frames")
    for name, (low, high) in described["poses"].items():
        console.print(f"pose        {escape(_pose_words(name, low, high, opened.space.length_unit))}")
    motions = ", ".join(described["motions"]) or "mined, see `egoequiv patterns`"
    console.print(f"motions     {motions if described['poses'] else 'none, pictures without poses'}")
    console.print(f"time        {described['time'] or 'none'}")
    console.print(f"split       {escape(_split_words(described['split']))}")
    console.print(f"labels      {len(described['labels'])} classes, {described['labelled_frames']:,} frames")
    for name, values in described["attributes"].items():
        shown = escape(f"{name}: {', '.join(values[:12])}")
        console.print(f"attribute   {shown}{' ...' if len(values) > 12 else ''}")
    for kind in ("remark", "note"):
        for text in described[f"{kind}s"]:
            console.print(f"{kind:12}{escape(text)}")
    if described["contact_sheet"]:
        say(f"contact sheet: {picture}")


def _pose_words(name: str, low: float, high: float, length_unit: str) -> str:
    """The range of a column; a position that is not in metres does not say that it is."""
    if length_unit != "m" and name in CAMERA_POSES[:3]:
        return f"{name.removesuffix('_m')} from {low:g} to {high:g} {length_unit}"
    return f"{name} from {low:g} to {high:g}"


def _describe(store: Any) -> dict[str, Any]:
    import numpy as np

    lengths = np.bincount(store.recording, minlength=len(store.recording_names))
    times = store.times_s
    return {
        "source": store.meta["source"],
        "frames": len(store),
        "image_shape": list(store.image_shape),
        "recordings": len(store.recording_names),
        "shortest": int(lengths.min()),
        "longest": int(lengths.max()),
        "poses": {name: (float(column.min()), float(column.max())) for name, column in store.pose_columns.items()},
        "motions": list(store.space.named_motions()),
        "time": None if times is None else f"{float(times.max() - times.min()):.1f} s",
        "split": _split(store),
        "labels": {name: int((store.labels == k).sum()) for k, name in enumerate(store.class_names)},
        "labelled_frames": int((store.labels >= 0).sum()),
        "attributes": {
            name: [str(v) for v in np.unique(values[values != ""])] for name, values in store.attributes.items()
        },
        "settings": dict(store.meta["settings"]),
        "notes": list(store.meta.get("notes", [])),
        "remarks": list(store.meta.get("remarks", [])),
    }


def _split(store: Any) -> dict[str, Any]:
    """How a run would divide the frames if that is left to the data, and how much would leak."""
    import numpy as np

    from egoequiv.pairs import count_leaked, count_near_copies, count_revisited
    from egoequiv.training import make_config
    from egoequiv.training.data import reads_labels
    from egoequiv.training.defaults import fitting_split, settings_for, why_split

    values = {"data": store.place}
    config = make_config({**{name: value for name, (value, _) in settings_for(values).items()}, **values})
    try:
        split = fitting_split(store, np.arange(len(store)), config, reads_labels(config))
    except DataError as problem:  # a store of one frame
        return {"kind": None, "problem": str(problem)}
    return {
        "kind": split.kind,
        "why": why_split(store, split),
        "train_frames": len(split.train),
        "validation_frames": len(split.validation),
        "leaked_validation_frames": count_leaked(store, split, config.max_gap_s),
        "revisited_validation_frames": count_revisited(store, split, config.max_gap_s),
        "near_copy_validation_frames": count_near_copies(store, split, config.max_gap_s),
    }


def _split_words(split: dict[str, Any]) -> str:
    from egoequiv.pairs import closeness, near_copies_in_words

    if split["kind"] is None:
        return f"none: {split['problem']}"
    counts = f"{split['train_frames']:,} frames to train on, {split['validation_frames']:,} to validate on"
    leaked = f"{split['leaked_validation_frames']:,} of those have {closeness(split['kind'])}"
    if split["revisited_validation_frames"]:
        leaked += f"; {split['revisited_validation_frames']:,} are at a place that the recording visits again later"
    if (copies := split["near_copy_validation_frames"]) is not None:
        leaked += f"; {near_copies_in_words(copies, split['validation_frames'])}"
    return f"{split['kind']} by default: {split['why']}: {counts}; {leaked}"
