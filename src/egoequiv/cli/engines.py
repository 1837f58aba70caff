"""The options that say where many tasks are done."""

from __future__ import annotations

from typing import Annotated

import typer

EngineName = Annotated[
    str,
    typer.Option("--engine", help="local: processes of this machine; ray: a Ray cluster, which sees the same folders."),
]
Address = Annotated[
    str | None, typer.Option(help="Of a Ray cluster that runs already; without it RAY_ADDRESS, or one is started here.")
]
Processes = Annotated[int | None, typer.Option(min=1, help="Processes at a time; by default one for each core.")]
