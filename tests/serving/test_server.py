"""A real server on loopback: a stop that finishes what was accepted, slow clients, and answers that take too long."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.typing import NDArray

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.motion_model import Features
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.limits import Limits
from egoequiv.serving.protocol import LimitedProtocol
from egoequiv.serving.server import address_of, bind, is_loopback, read_token
from egoequiv.serving.service import Service
from egoequiv.store import FrameStore
from helpers import HANG_S, wait_for
from serving.known import TOKEN, KnownModel, client_of, known_service, png, running, text_of


class GatedModel(KnownModel):
    """Computes only while its gate is open."""

    def __init__(self, store: FrameStore) -> None:
        super().__init__(store)
        self.gate, self.begun = threading.Event(), threading.Event()
        self.gate.set()

    def embed(self, images: NDArray[np.uint8]) -> Features:
        self.begun.set()
        assert self.gate.wait(60)
        return super().embed(images)


def gated(store: FrameStore, limits: Limits = Limits()) -> tuple[GatedModel, Service]:  # noqa: B008
    model = GatedModel(store)
    service = Service(model, "gated", Gallery.embed(model, store, lambda *_: None), None, limits)
    model.gate.clear()
    model.begun.clear()
    return model, service


def embed(address: str, store: FrameStore) -> tuple[int, str]:
    """Status and body of a request that needs the encoder."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    body = json.dumps({"views": [{"image": text_of(png(store.images[0]))}]})
    connection.request("POST", "/v1/embed", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    status, text = answer.status, answer.read().decode()
    connection.close()
    return status, text


def talk(address: str, content: bytes) -> bytes:
    """Everything that the server says to these bytes until it closes the connection."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        connection.sendall(content)
        said = b""
        while chunk := connection.recv(65_536):
            said += chunk
    return said


def test_a_stop_finishes_what_was_accepted(small_store: FrameStore) -> None:
    model, service = gated(small_store)
    with ThreadPoolExecutor(3) as clients, running(service) as (address, server):
        waiting = [clients.submit(embed, address, small_store) for _ in range(3)]
        wait_for(lambda: model.begun.is_set() and service.metrics.running == 3)
        server.should_exit = True
        wait_for(lambda: not any(one.is_serving() for one in server.servers))
        with pytest.raises(OSError, match="refused"):
            talk(address, b"GET /health HTTP/1.1\r\n\r\n")
        assert not any(one.done() for one in waiting)
        model.gate.set()
        assert [one.result()[0] for one in waiting] == [200] * 3


class LateSet(set[Any]):
    """Connections; the first who looks at them sees none, as if they came a moment later."""

    is_seen = False

    def __iter__(self) -> Iterator[Any]:
        if self.is_seen:
            return super().__iter__()
        self.is_seen = True
        return iter(())


def test_a_connection_that_begins_just_after_the_stop_does_not_delay_it(
    small_store: FrameStore, caplog: pytest.LogCaptureFixture
) -> None:
    service = known_service(small_store)
    service.limits = replace(service.limits, idle_s=HANG_S)
    with (
        running(service) as (address, server),
        closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=HANG_S)) as client,
    ):
        client.request("GET", "/health")
        assert client.getresponse().read()
        (connection,) = server.server_state.connections
        connection.connections = server.server_state.connections = LateSet([connection])
    assert not caplog.records  # uvicorn says when its time for a stop is over


def test_requests_that_come_together_are_encoded_together(small_store: FrameStore) -> None:
    model, service = gated(small_store)
    with ThreadPoolExecutor(9) as clients, running(service) as (address, _):
        waiting = [clients.submit(embed, address, small_store)]
        wait_for(model.begun.is_set)
        waiting += [clients.submit(embed, address, small_store) for _ in range(8)]
        wait_for(lambda: service.waiting_images == 8)
        before = len(model.batches)
        model.gate.set()
        assert {one.result() for one in waiting} == {(200, waiting[0].result()[1])}
        assert model.batches[before:] == [1, 8]


def test_an_answer_that_takes_too_long_is_refused_and_says_so(small_store: FrameStore) -> None:
    model, service = gated(small_store, replace(Limits(), request_s=0.05))
    with running(service) as (address, _):
        status, text = embed(address, small_store)
        assert (status, json.loads(text)) == (503, {"detail": "no answer within 0.05 s"})
        model.gate.set()
        wait_for(lambda: embed(address, small_store)[0] == 200)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the headers have not arrived within 0.05 s"),
        (b"GET /health HT", "the headers have not arrived within 0.05 s"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX:", "the headers have not arrived within 0.05 s"),
        (
            b"POST /v1/embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
            "the body has not arrived within 0.06 s",
        ),
    ],
)
def test_slow_clients_are_told_and_let_go(small_store: FrameStore, content: bytes, reason: str) -> None:
    service = known_service(small_store, replace(Limits(), head_s=0.05, body_s=0.06))
    with running(service) as (address, server):
        head, _, body = talk(address, content).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 ")
        assert json.loads(body) == {"detail": reason}
        wait_for(lambda: not server.server_state.connections)


def test_a_client_that_does_not_read_is_cut_off(small_store: FrameStore) -> None:
    service = known_service(small_store, replace(Limits(), request_s=0.05))
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(service) as (address, server):
        place = urlsplit(address)
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
            connection.connect((place.hostname, place.port))
            for _ in range(400):
                try:
                    connection.sendall(ask)
                except OSError:
                    break
            wait_for(lambda: not server.server_state.connections)


def test_large_headers_are_431_in_one_piece_and_in_many(small_store: FrameStore) -> None:
    service = known_service(small_store, replace(Limits(), head_bytes=4_000))
    with running(service) as (address, _):
        for line in (b"X: " + b"a" * 9_000 + b"\r\n\r\n", b"X: " + b"a" * 400_000):
            said = talk(address, b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + line)
            assert said.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.168.1.2", False), ("example.org", False), ("localhost.example.org", False)],
)  # fmt: skip
def test_which_addresses_need_a_token(host: str, local: bool) -> None:
    assert is_loopback(host) == local
    if local:
        assert read_token(None, None, host) is None
    else:
        with pytest.raises(ConfigError, match=r"--token-file FILE or in EGOEQUIV_TOKEN"):
            read_token(None, None, host)
    assert read_token(None, TOKEN, host) == TOKEN


@pytest.mark.parametrize(
    "content", [b"", b"short", b"a token with spaces in it", "schl\u00fcsselschl\u00fcssel".encode()]
)
def test_a_bad_token_is_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="at least 16 letters or digits"):
        read_token(file, None, "127.0.0.1")
    file.write_bytes(b"\xff\xfe" * 20)
    with pytest.raises(DataError, match="plain text"):
        read_token(file, None, "127.0.0.1")
    file.write_text(f"{TOKEN}\n")
    assert read_token(file, "another-token-in-the-environment", "127.0.0.1") == TOKEN


def test_the_body_of_an_answer_does_not_wait_for_its_headers(
    small_store: FrameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without TCP_NODELAY the system keeps the body until the client acknowledges the headers, 40 ms later."""
    waits: list[bool] = []
    made = LimitedProtocol.connection_made

    def connection_made(self: LimitedProtocol, transport: asyncio.Transport) -> None:
        one = transport.get_extra_info("socket")
        waits.append(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
        made(self, transport)

    monkeypatch.setattr(LimitedProtocol, "connection_made", connection_made)
    with running(known_service(small_store)) as (address, _), urlopen(f"{address}/health") as answer:
        assert answer.status == 200
    assert waits == [False]


def test_a_port_in_use_is_one_line() -> None:
    with bind("127.0.0.1", 0) as bound:
        bound.listen()
        assert address_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}/"
        with pytest.raises(ConfigError, match="in use; choose another port"), bind("127.0.0.1", bound.getsockname()[1]):
            pass


def test_without_a_token_only_local_names_are_answered(small_store: FrameStore) -> None:
    with client_of(known_service(small_store)) as client:
        for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:9", "[::1]", "LOCALHOST"):
            assert client.get("/health", headers={"host": host}).status_code == 200, host
        for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "", "127.0.0.1.evil:80", "::1"):
            answer = client.get("/health", headers={"host": host})
            assert answer.status_code == 421, host
    with client_of(known_service(small_store), TOKEN) as client:
        assert client.get("/health", headers={"host": "robot.example"}).status_code == 200


def test_another_loopback_address_answers_to_itself(small_store: FrameStore) -> None:
    with running(known_service(small_store), host="127.0.0.2") as (address, _):
        assert address.startswith("http://127.0.0.2:")
        for host, status in (("127.0.0.2", 200), ("localhost", 200), ("127.0.0.3", 421), ("evil.example", 421)):
            said = talk(address, f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            assert int(said.split()[1]) == status, host


@pytest.mark.parametrize("token", [None, TOKEN])
def test_two_hosts_are_refused(small_store: FrameStore, token: str | None) -> None:
    with client_of(known_service(small_store), token) as client:
        answer = client.get("/health", headers=[("host", "evil.example"), ("host", "localhost")])
    assert answer.status_code == 400
    assert answer.json()["detail"] == "several Host headers: send one"


def test_every_answer_has_a_strict_policy(small_store: FrameStore) -> None:
    with client_of(known_service(small_store)) as client:
        for path in ("/", "/v1/frames/0/image", "/nothing"):
            headers = client.get(path).headers
            assert headers["content-security-policy"].startswith(
                "default-src 'none'; script-src 'self'; style-src 'self'"
            )
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
        page = client.get("/").text
    assert "http://" not in page
    assert "https://" not in page
    assert "style=" not in page
    assert "onclick" not in page
