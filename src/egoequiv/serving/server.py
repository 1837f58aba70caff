"""The server: an address, a token where strangers can reach it, and a stop that finishes what was accepted."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from egoequiv.errors import ConfigError, DataError
from egoequiv.serving.app import make_app
from egoequiv.serving.protocol import limited_protocol
from egoequiv.serving.service import Service

SHORTEST_TOKEN = 16
GRACE_S = 5.0  # beyond the time that a request may take
CLOSE_S = 0.1  # between two looks at connections that are still open after a stop


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(file: Path | None, environment: str | None, host: str) -> str | None:
    """The token of the service, from a file or the environment; an address that others reach needs one."""
    where, token = "EGOEQUIV_TOKEN", environment
    if file is not None:
        try:
            where, token = str(file), file.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError:
            raise DataError(f"{file}: expected a token of plain text") from None
    if token is None:
        if not is_loopback(host):
            raise ConfigError(
                f"--host {host} can be reached by other machines: give a token with --token-file FILE or in "
                "EGOEQUIV_TOKEN, such as `openssl rand -hex 16` prints"
            )
        return None
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigError(
            f"{where}: a token needs at least {SHORTEST_TOKEN} letters or digits, without spaces, such as "
            "`openssl rand -hex 16` prints"
        )
    return token


def bind(host: str, port: int) -> socket.socket:
    """A socket at this address; 0 is any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, because asyncio sends small pieces at once (TCP_NODELAY) on such sockets alone: otherwise
    # the body of an answer waits 40 ms for the client to acknowledge its headers.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except (OSError, OverflowError) as problem:
        found.close()
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise ConfigError(
            f"--host {host} --port {port}: {reason}; choose another port, or 0 for any free one"
        ) from None
    return found


def address_of(bound: socket.socket) -> str:
    """The address for a browser."""
    return f"http://{host_of(bound)}:{bound.getsockname()[1]}/"


def host_of(bound: socket.socket) -> str:
    """The host in that address."""
    host: str = bound.getsockname()[0]
    return f"[{host}]" if ":" in host else host


def run_server(service: Service, bound: socket.socket, token: str | None, on_start: Callable[[], None]) -> int:
    """Serve until a signal stops it; what was accepted is answered first.

    Args:
        service: What is served.
        bound: The socket.
        token: What clients must send.
        on_start: Called when connections are accepted.

    Returns:
        How many requests were answered.
    """
    warnings.simplefilter("ignore")  # of decoders, about pictures that strangers send
    for name in ("uvicorn", "python_multipart"):  # what strangers send must not fill the log either
        logging.getLogger(name).setLevel(logging.ERROR)
    server = Server(server_config(service, bound, token), on_start)
    server.run(sockets=[bound])
    return server.server_state.total_requests


def server_config(service: Service, bound: socket.socket, token: str | None) -> uvicorn.Config:
    """How uvicorn serves it."""
    limits = service.limits
    return uvicorn.Config(
        make_app(service, token, any_host=not is_loopback(bound.getsockname()[0]), own=host_of(bound)),
        http=limited_protocol(limits),
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(limits.idle_s),
        timeout_graceful_shutdown=int(limits.request_s + GRACE_S),
        limit_concurrency=limits.connections,
        lifespan="on",
    )


class Server(uvicorn.Server):
    """Stops at SIGINT and SIGTERM, and returns; the second Ctrl-C does not wait for requests."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        closing = asyncio.create_task(self._close_late_connections())
        try:
            await super().shutdown(sockets)
        finally:
            closing.cancel()

    async def _close_late_connections(self) -> None:
        """A connection that begins just after the stop is not among those that uvicorn closes; it would stay idle."""
        while True:
            await asyncio.sleep(CLOSE_S)
            for connection in list(self.server_state.connections):
                connection.shutdown()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in signals}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
