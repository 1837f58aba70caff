"""The routes that show what there is: model, store, recordings, frames and their pictures, maps, and health."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from egoequiv.serving import schemas
from egoequiv.serving.atlas import map_of, sheet_png
from egoequiv.serving.metrics import CONTENT_TYPE
from egoequiv.serving.service import Service

Row = Annotated[int, Path(ge=0, le=schemas.MOST_ROW)]
PNG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}, "description": "A picture."}}
# Pictures of a store do not change while it is served, but another one may be served at the same address later.
CACHED = {"cache-control": "private, max-age=300"}


def showing_routes(service: Service) -> APIRouter:
    """The routes below /v1 that show the model and the store."""
    router = APIRouter(prefix="/v1", tags=["show"])

    @router.get("/description", response_model=schemas.Description, summary="The model and the store")
    async def description() -> Any:
        return service.describe()

    @router.get("/recordings", response_model=schemas.Recordings, summary="Recordings of the store")
    async def recordings(
        offset: Annotated[int, Query(ge=0, le=schemas.MOST_ROW)] = 0,
        count: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Any:
        gallery = service.frames()
        names = gallery.store.recording_names
        shown = range(offset, min(offset + count, len(names)))
        return {"total": len(names), "recordings": [_recording(service, number) for number in shown]}

    @router.get("/recordings/{recording}/map", summary="Where the frames of a recording were taken")
    async def recording_map(recording: Row) -> dict[str, Any]:
        return await service.work(map_of, service.frames(), recording)

    @router.get(
        "/recordings/{recording}/sheet",
        response_class=Response,
        responses=PNG,
        summary="Thumbnails of the frames of a map, in one picture",
    )
    async def sheet(recording: Row) -> Response:
        content = await service.work(sheet_png, service.frames(), recording)
        return Response(content, media_type="image/png", headers=CACHED)

    @router.get("/frames/{row}", response_model=schemas.FrameAndMoves, summary="What is known of a stored frame")
    async def frame(row: Row) -> Any:
        return service.frames().describe(row) | {"moves": service.moves.all_after(row)}

    @router.get("/frames/{row}/image", response_class=Response, responses=PNG, summary="The picture of a stored frame")
    async def image(row: Row) -> Response:
        return Response(service.frames().png(row), media_type="image/png", headers=CACHED)

    @router.get("/motions", summary="Motions between stored frames, with a pair of frames for each")
    async def motions() -> dict[str, Any]:
        service.frames()
        return await service.work(lambda: service.pairs.scatter())

    return router


def watching_routes(service: Service) -> APIRouter:
    """Health and metrics."""
    router = APIRouter(tags=["watch"])

    @router.get("/health", response_model=schemas.Health, summary="Whether the service works")
    async def health() -> Any:
        return {"status": "ok"}

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}, "description": "Metrics in the text format of Prometheus."}},
        summary="Counts and times for Prometheus",
    )
    async def metrics() -> Response:
        text = service.metrics.text(service.waiting_images)
        return Response(text, headers={"content-type": CONTENT_TYPE})

    return router


def _recording(service: Service, number: int) -> dict[str, Any]:
    store, rows = service.frames().store, service.frames().rows_of[number]
    label = int(store.labels[rows[0]])
    return {
        "number": number,
        "name": store.recording_names[number],
        "frames": len(rows),
        "first_row": int(rows[0]),
        "label": None if label < 0 else store.class_names[label],
    }
