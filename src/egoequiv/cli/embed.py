"""`egoequiv embed`: features of all frames of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import say
from egoequiv.cli.stores import fetch


def embed(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    store: Annotated[str, typer.Argument(help="The store: a folder or a URL.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The .npy file to write.")] = Path("features.npy"),
) -> None:
    """Write the features of every frame as a NumPy array, in the order of the store's index."""
    import numpy as np

    from egoequiv.evaluation import embed as encode
    from egoequiv.files import replacing

    fetch(store)
    features = encode(run, store)
    with replacing(out) as temporary, open(temporary, "wb") as file:
        np.save(file, features)
    say(f"{features.shape[0]:,} x {features.shape[1]} features in {out}")
