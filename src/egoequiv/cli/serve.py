"""`egoequiv serve`: the service and its explorer page."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from egoequiv.cli.console import progress_bar, say
from egoequiv.cli.options import Checkpoint, CheckpointOption, Device

if TYPE_CHECKING:
    from egoequiv.pairs.candidates import Indices
    from egoequiv.serving.limits import Limits
    from egoequiv.serving.service import Service
    from egoequiv.store import FrameStore

TOKEN = "EGOEQUIV_TOKEN"
Runtime = Literal["auto", "torch", "onnx"]


def serve(
    model: Annotated[Path, typer.Argument(help="The folder of a run, or of an export.")],
    *,
    store: Annotated[str | None, typer.Option(help="A store: the frames that are searched and shown.")] = None,
    host: Annotated[str, typer.Option(help="The address; one that others can reach needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any free one.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help=f"A file with the token that clients must send; else {TOKEN} is read.")
    ] = None,
    runtime: Annotated[Runtime, typer.Option(help="What computes: torch, or onnxruntime for an export.")] = "auto",
    checkpoint: CheckpointOption = "last",
    device: Device = "cpu",
    max_body_mb: Annotated[float, typer.Option(min=0.01, max=1000, help="The largest request, in MB.")] = 16,
    max_megapixels: Annotated[float, typer.Option(min=0.01, max=80, help="The largest picture.")] = 25,
    max_batch: Annotated[
        int, typer.Option(min=1, max=1024, help="The largest number of pictures in a request, and in a batch.")
    ] = 64,
    timeout: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds that an answer may take.")] = 30,
) -> None:
    """Serve a model over HTTP: features, predictions, plans, nearest frames; and a page to explore.

    Open the address in a browser for the page. The interface is described at /openapi.json, /metrics is for Prometheus.
    Ctrl-C or SIGTERM stops the service after what it has accepted is answered.

    Example: egoequiv serve run --store toys
    """
    import_server()
    from egoequiv.serving.limits import Limits
    from egoequiv.serving.server import address_of, bind, read_token, run_server

    token = read_token(token_file, os.environ.get(TOKEN), host)
    limits = replace(
        Limits(),
        body_bytes=int(max_body_mb * 1e6),
        pixels=int(max_megapixels * 1e6),
        batch=max_batch,
        request_s=timeout,
    )
    with bind(host, port) as bound:  # before the features of a store are computed: a port in use is said at once
        service = open_service(model, store, limits, runtime, checkpoint, device)
        place = address_of(bound)
        count = run_server(service, bound, token, lambda: say(f"serving {model} at {place} (Ctrl-C stops it)"))
    say(f"stopped after {count:,} requests")


def import_server() -> None:
    """Refuse in one line if the packages of the service are missing."""
    from egoequiv.models.foreign.optional import import_optional

    for package in ("fastapi", "uvicorn", "httptools", "python_multipart"):
        import_optional(package, "serve", "`egoequiv serve`")


def open_service(
    path: Path, place: str | None, limits: Limits, runtime: Runtime, checkpoint: Checkpoint, device: str
) -> Service:
    """Open the model and the store, and embed the frames of the store."""
    from egoequiv.cli.stores import local_store
    from egoequiv.exporting import open_model
    from egoequiv.serving.gallery import Gallery
    from egoequiv.serving.service import Service
    from egoequiv.store import FrameStore

    model = open_model(path, runtime, device, checkpoint)
    if place is None:
        return Service(model, path.name, limits=limits)
    opened = FrameStore.open(local_store(place))
    with progress_bar() as progress:
        gallery = Gallery.embed(model, opened, progress)
    return Service(model, path.name, gallery, training_frames(path, opened), limits)


def training_frames(path: Path, store: FrameStore) -> Indices | None:
    """The frames of the store that a run was, or would have been, trained on; None for an export: it has no split."""
    from egoequiv.models.checkpoint import MODEL
    from egoequiv.training import open_run

    return open_run(path, store=store.place).split.train if (path / MODEL).exists() else None
