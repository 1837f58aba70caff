"""The JSON interface: features, predictions, neighbours, plans and advice."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import Response

from egoequiv.evaluation.next_view import NextViewSelector
from egoequiv.models import motion_model
from egoequiv.models.network import ALL
from egoequiv.serving import schemas
from egoequiv.serving.service import Service

DIGITS = 8  # of features after the point: more than float32 has, and half as long as all digits of a float64


def computing_routes(service: Service) -> APIRouter:
    """The routes that compute."""
    router = APIRouter(prefix="/v1", tags=["compute"])
    _add_features(router, service)
    _add_moves(router, service)
    return router


def _add_features(router: APIRouter, service: Service) -> None:
    """Features of views and after motions, and the frames nearest to them."""

    @router.post("/embed", response_model=schemas.Features, summary="Features of one or several views")
    async def embed(request: schemas.EmbedRequest) -> Response:
        part = service.model.part(request.part)
        features = await service.features([view.picture for view in request.views])
        return _json({"features": _numbers(features[:, part])})

    @router.post("/embed/files", response_model=schemas.Features, summary="Features of uploaded picture files")
    async def embed_files(
        images: Annotated[list[UploadFile], File(description="Picture files.", max_length=1024)],
        part: Annotated[str, Form(min_length=1, max_length=200)] = ALL,
    ) -> Response:
        own = service.model.part(part)
        features = await service.features([await image.read() for image in images])
        return _json({"features": _numbers(features[:, own])})

    @router.post("/predict", response_model=schemas.Prediction, summary="Features after a motion or a chain")
    async def predict(request: schemas.PredictRequest) -> Response:
        before = (await service.features([request.view.picture]))[0]
        after = await service.work(service.after, before, request.motions)
        return _json({"features": _numbers(after), "moved": float(np.linalg.norm(after - before))})

    @router.post("/nearest", response_model=schemas.Nearest, summary="Stored frames nearest to a view after motions")
    async def nearest(request: schemas.NearestRequest) -> Any:
        service.frames()
        service.model.part(request.part)
        features = (await service.features([request.view.picture]))[0]
        return await service.work(_nearest, service, request, features)


def _add_moves(router: APIRouter, service: Service) -> None:
    """Which motions to make, and which were made."""

    @router.post("/next-view", response_model=schemas.NextView, summary="Which move would best show what is seen")
    async def next_view(request: schemas.NextViewRequest) -> Any:
        selector = await service.advice()
        views = await service.features([request.view.picture, *(look.view.picture for look in request.then)])
        return await service.work(_next_view, service, selector, request, views)

    @router.post("/plan", response_model=schemas.PlanAnswer, summary="Motions that lead to a goal view")
    async def plan(request: schemas.PlanRequest) -> Any:
        view, goal = await service.features([request.view.picture, request.goal.picture])
        planner, mapped = await service.planner(), service.model.mapped
        found = await service.work(planner.plan, view[mapped], goal[mapped])
        return {
            "status": found.status,
            "motions": list(found.motions)[: service.limits.chain],
            "distance": found.distance,
            "predicted": found.predicted,
        }

    @router.post("/walk", response_model=schemas.WalkAnswer, summary="A walk through stored frames to a goal view")
    async def walk(request: schemas.WalkRequest) -> Any:
        service.frames().check(request.frame)
        goal = (await service.features([request.goal.picture]))[0]
        made, rows = await service.work(service.walk, await service.planner(), request.frame, goal)
        return {
            "status": made.status,
            "motions": list(made.motions),
            "frames": rows,
            "distances": list(made.distances),
            "blocked": [{"after": after, "motion": motion} for after, motion in made.blocked],
        }

    @router.post("/pairs", response_model=schemas.Pairs, summary="Pairs of frames that changed in the same way")
    async def pairs(request: schemas.PairRequest) -> Any:
        service.frames()
        return await service.work(_pairs, service, request)


def _nearest(service: Service, request: schemas.NearestRequest, features: motion_model.Features) -> dict[str, Any]:
    gallery, row = service.frames(), request.view.frame
    wanted = service.after(features, request.motions)
    found = gallery.nearest(wanted, request.part, request.count, request.exclude, row)
    names = [motion for motion in request.motions if isinstance(motion, str)]
    there = None
    if row is not None and len(names) == len(request.motions):
        there = service.moves.follow(row, names)
    truth = None
    if there is not None and request.motions:
        rank, distance = gallery.rank(wanted, request.part, there, request.exclude, row) or (None, None)
        frame = gallery.describe(there)
        truth = {"frame": frame, "rank": rank, "distance": distance, "searched": len(gallery.rows)}
    frames = [gallery.describe(one.row) | {"distance": one.distance} for one in found]
    return {"frames": frames, "truth": truth, "unusual": gallery.is_unusual(wanted, request.part)}


def _next_view(
    service: Service, selector: NextViewSelector, request: schemas.NextViewRequest, views: motion_model.Features
) -> dict[str, Any]:
    made = tuple(look.motion for look in request.then)
    for move in made:
        service.check_motion(move, selector.moves)
    guess = selector.classify_after(views, made)
    last = request.then[-1].view.frame if request.then else request.view.frame
    return {
        "guess": guess.guess,
        "uncertainty_bits": guess.uncertainty_bits,
        "votes": guess.votes,
        "suggestions": [
            {
                "motion": one.move,
                "uncertainty_bits": one.uncertainty_bits,
                "guess": one.guess,
                "leads_to": None if last is None else service.moves.after(last, one.move),
            }
            for one in selector.suggest_after(views, made)
        ],
    }


def _pairs(service: Service, request: schemas.PairRequest) -> dict[str, Any]:
    found = service.pairs.nearest(request.i, request.j, request.count)
    motion, vector = service.pairs.motion(request.i, request.j)
    query = {"i": request.i, "j": request.j, "motion": motion, "vector": vector, "distance": 0.0}
    return {"query": query, "pairs": [vars(pair) for pair in found]}


def _numbers(values: motion_model.Features) -> Any:
    return np.round(values.astype(np.float64), DIGITS).tolist()


def _json(content: dict[str, Any]) -> Response:
    """An answer that is checked by tests, not each time: features are many numbers."""
    return Response(json.dumps(content, allow_nan=False), media_type="application/json")
