"""The options of `--task places`."""

from __future__ import annotations

from typing import Annotated

import typer

Reference = Annotated[
    str | None,
    typer.Option(
        show_default="the store of the run",
        help="For places: the traverse that is searched: a recording of the store, or another store or log.",
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        show_default="the same drive, later",
        help="For places: the traverse whose places are looked for: a recording of the store, or another store or log.",
    ),
]
ToleranceOption = Annotated[
    str | None,
    typer.Option(
        "--tolerance",
        show_default="2 frames, or by the poses",
        help="For places: how far a match may be off: a number of frames such as 2, or metres such as 5m.",
    ),
]
Revisit = Annotated[
    float | None,
    typer.Option(
        "--revisit",
        show_default="30",
        help="For places within one drive: a place counts as seen before after this many seconds.",
    ),
]
