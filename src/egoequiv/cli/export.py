"""`egoequiv export`: a run as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from egoequiv.cli.console import print_json, progress_bar, say
from egoequiv.cli.options import AsJson, CheckpointOption


def export(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write; it must not exist, or be empty.")],
    checkpoint: CheckpointOption = "last",
    as_json: AsJson = False,
) -> None:
    """Write a run for other programs: ONNX, torch.export and safetensors, with a model card and checksums.

    The folder needs neither the run nor its store. Images go in as uint8 (N, H, W, C) and are normalised inside.
    run_onnx.py in it computes features by onnxruntime and NumPy alone. `egoequiv audit` and egoequiv.open_model read
    the folder.

    Example: egoequiv export run -o model
    """
    from egoequiv.evaluation.measurement import FOLDER
    from egoequiv.exporting import export_run

    with progress_bar() as progress:
        files = export_run(run, out, checkpoint, progress)
    if not any((run / FOLDER).glob("*")):
        say(f"note: the model card has no numbers yet: egoequiv evaluate {run}, and export again")
    sizes = {str(path.relative_to(out.absolute())): path.stat().st_size for path in files}
    if as_json:
        print_json({"folder": str(out), "checkpoint": checkpoint, "files": sizes})
        return
    for name, size in sizes.items():
        print(f"{size:>12,}  {name}")
    say(f"exported to {out}; try: python {out / 'run_onnx.py'} PICTURE")
