"""The application: routes, errors as one line of JSON, the page, and the guard around all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from egoequiv import __version__
from egoequiv.errors import EgoEquivError
from egoequiv.serving.frame_routes import showing_routes, watching_routes
from egoequiv.serving.guard import App, Guard
from egoequiv.serving.limits import Refusal, one_line
from egoequiv.serving.routes import computing_routes
from egoequiv.serving.schemas import Problem
from egoequiv.serving.service import Service

PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/explorer.css": ("explorer.css", "text/css; charset=utf-8"),
    "/explorer.js": ("explorer.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body cannot be read as what it is said to be."},
    401: {"model": Problem, "description": "A token is needed."},
    404: {"model": Problem, "description": "There is no such frame or recording."},
    408: {"model": Problem, "description": "The body has not arrived in time."},
    409: {"model": Problem, "description": "The service lacks what this needs: a store, labels, poses or maps."},
    413: {"model": Problem, "description": "Too many bytes, pixels or pictures."},
    421: {"model": Problem, "description": "The service does not answer to this host name."},
    422: {"model": Problem, "description": "Something in the request is not as it should be."},
    503: {"model": Problem, "description": "Overloaded, or too slow: try again in a moment."},
}


def make_app(service: Service, token: str | None = None, any_host: bool = False, own: str | None = None) -> App:
    """The application of a service.

    Args:
        service: What it serves.
        token: What clients must send as a bearer token; None lets all of them in.
        any_host: Whether requests may name any host; without a token, only local names are safe.
        own: The address that it is served at, if it is another one of this machine than 127.0.0.1.

    Returns:
        An ASGI application, for any server of such.

    Example:
        >>> app = make_app(Service(open_run_model("run")))  # doctest: +SKIP
    """
    any_host = any_host or token is not None
    return Guard(cast(App, make_api(service)), service.limits, service.metrics, token, any_host, own)


def make_api(service: Service) -> FastAPI:
    """The application without the guard; its OpenAPI description is at /openapi.json."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    api = FastAPI(
        title="egoequiv",
        version=__version__,
        summary="Image features, and what they become when the camera moves.",
        docs_url=None,  # their pages load code from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses=REFUSALS,
        swagger_ui_oauth2_redirect_url=None,
    )
    for router in (computing_routes(service), showing_routes(service), watching_routes(service)):
        api.include_router(router)
    for path, (name, kind) in PAGE.items():
        api.get(path, include_in_schema=False)(_page(files("egoequiv.serving") / "page" / name, kind))
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(Refusal, _refused)
    api.add_exception_handler(EgoEquivError, _wrong)
    return api


def _page(file: Any, kind: str) -> Callable[[], Awaitable[Response]]:
    content = file.read_bytes()

    async def page() -> Response:
        return Response(content, headers={"content-type": kind, "cache-control": "no-cache"})

    return page


async def _refused(_: Request, problem: Exception) -> Response:
    refusal = cast(Refusal, problem)
    wait = {} if refusal.retry_after_s is None else {"retry-after": str(refusal.retry_after_s)}
    return JSONResponse({"detail": refusal.reason}, refusal.status, wait)


async def _wrong(_: Request, problem: Exception) -> Response:
    return JSONResponse({"detail": one_line(str(problem))}, 422)


async def _http(_: Request, problem: Exception) -> Response:
    error = cast(HTTPException, problem)
    return JSONResponse({"detail": one_line(str(error.detail))}, error.status_code, error.headers)


async def _invalid(_: Request, problem: Exception) -> Response:
    """The first thing that is wrong, and where; what was sent is not repeated, because it may be long."""
    first = cast(RequestValidationError, problem).errors()[0]
    if first["type"] == "json_invalid":
        said = f"the body is not JSON: {first['ctx']['error']}, at character {first['loc'][-1]}"
        return JSONResponse({"detail": one_line(said)}, 422)
    if first["type"] == "model_attributes_type" and first["loc"] == ("body",):
        said = "the body was not read as a JSON object: send one, with the header content-type: application/json"
        return JSONResponse({"detail": said}, 422)
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    words = str(first["msg"]).removeprefix("Value error, ")
    if isinstance(first.get("input"), int | float):
        words += f", found {first['input']}"
    return JSONResponse({"detail": one_line(f"{place}: {words}" if place else words)}, 422)
