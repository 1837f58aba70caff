"""What every request passes first: who may ask, how much it may send, how long it may take; and what it may show."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from typing import Any

from egoequiv.serving.limits import Limits, Refusal
from egoequiv.serving.metrics import Metrics

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = ("/", "/explorer.css", "/explorer.js", "/icon.svg", "/health")  # without a token: they show no data
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
STILL_READ = 4  # times the largest body: what is too large is read on for a moment, so that the client sees the answer
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
logger = logging.getLogger("egoequiv.serving")


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(
        self, app: App, limits: Limits, metrics: Metrics, token: str | None, any_host: bool, own: str | None = None
    ) -> None:
        """Take the application; without a token everybody may ask, by a local name of this machine or its `own`.

        `any_host` lets requests name any host. A page elsewhere could lead its own name to this machine, and would then
        read what a browser here may read; a token prevents that too.
        """
        self._app, self._limits, self._metrics = app, limits, metrics
        self._token = None if token is None else token.encode()
        self._any_host = any_host
        self._names = LOCAL_NAMES if own is None or own in LOCAL_NAMES else (*LOCAL_NAMES, own)
        self._held = 0  # bytes of bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:  # a WebSocket is closed before it opens, which the client sees as 403
            await receive()
            await send({"type": "websocket.close"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, started = time.perf_counter(), 499, False

        async def send_safely(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        self._metrics.running += 1
        try:
            await self._pass(scope, receive, send_safely)
        except Refusal as refusal:
            if not started:
                await _refuse(refusal, send_safely)
        except _GoneError:
            pass  # the client has hung up: there is no one to answer
        except Exception:
            logger.exception("a request failed")
            if not started:
                await _refuse(Refusal(500, "an error of the service, not of the request: see its log"), send_safely)
        finally:
            self._metrics.running -= 1
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.request(route, status, time.perf_counter() - began)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            raise Refusal(400, "several Host headers: send one")
        self._check_host(headers)
        self._check_token(scope["path"], headers)
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(self._limits.body_s):
                    await self._read(headers, receive, body)
            except TimeoutError:
                raise Refusal(408, f"the body has not arrived within {self._limits.body_s:g} s") from None
            try:
                async with asyncio.timeout(self._limits.request_s):
                    await self._app(scope, _replay(bytes(body), receive), send)
            except TimeoutError:
                raise Refusal(503, f"no answer within {self._limits.request_s:g} s", retry_after_s=5) from None
        finally:
            self._held -= len(body)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        if self._any_host:
            return
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in self._names:
            raise Refusal(421, f"host {name!r}: without a token this service answers to {', '.join(self._names)} alone")

    def _check_token(self, path: str, headers: dict[bytes, bytes]) -> None:
        if self._token is None or path in OPEN:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not compare_digest(given.strip(), self._token):
            raise Refusal(401, "a token is needed: send the header Authorization: Bearer TOKEN")

    async def _read(self, headers: dict[bytes, bytes], receive: Receive, body: bytearray) -> None:
        """Read the whole body, which is bounded; what is too large is read on for a while, but not kept."""
        most, seen = self._limits.body_bytes, 0
        declared = headers.get(b"content-length", b"")
        too_large = declared.isdigit() and int(declared[:20]) > most
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _GoneError
            chunk = message.get("body", b"")
            seen += len(chunk)
            too_large = too_large or seen > most
            if not too_large:
                if self._held + len(chunk) > self._limits.bodies_bytes:
                    raise Refusal(503, "too many large requests at once: try again in a moment", retry_after_s=1)
                body += chunk
                self._held += len(chunk)
            if not message.get("more_body", False) or seen > STILL_READ * most:
                break
        if too_large:
            raise Refusal(413, f"the body has more than {most} bytes: send fewer or smaller pictures")


class _GoneError(Exception):
    """The client hung up."""


def _replay(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, and then what else happens."""
    is_given = False

    async def replayed() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


async def _refuse(refusal: Refusal, send: Send) -> None:
    content = json.dumps({"detail": refusal.reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    if refusal.status in (408, 413):
        headers.append((b"connection", b"close"))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.retry_after_s is not None:
        headers.append((b"retry-after", str(refusal.retry_after_s).encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
