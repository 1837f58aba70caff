"""Malformed and hostile requests on a real server: refused with a 4xx and one line, and the service goes on.

The suite sends a few hundred; `EGOEQUIV_HOSTILE=5000 pytest tests/serving/test_hostile.py` sends so many.
"""

import base64
import gc
import json
import os
import random
import socket
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from egoequiv.serving.limits import Limits
from egoequiv.serving.metrics import resident_bytes
from egoequiv.store import FrameStore
from helpers import wait_for
from serving.known import TOKEN, known_service, png, running, text_of

REQUESTS = int(os.environ.get("EGOEQUIV_HOSTILE", "250"))
LIMITS = replace(Limits(), body_bytes=200_000, pixels=1_000_000, head_bytes=16_384, head_s=0.3, body_s=0.3)
AUTHORIZED = f"Authorization: Bearer {TOKEN}\r\n"
PATHS = (
    "/v1/frames/../../etc/passwd", "/v1/frames/%2e%2e%2fetc%2fpasswd/image", "/v1/frames/0/image/../../../etc/passwd",
    "/..%5c..%5cexplorer.js", "/page/index.html", "/v1/frames/-1", "/v1/frames/1e3", "/v1/frames/99999999999999999999",
    "/v1/frames/0x10", "/v1/recordings/17/map", "/v1/recordings/-1/sheet", "/v1/recordings?count=0", "//etc/passwd",
    "/v1/recordings?offset=-5", "/v1/recordings?count=abc", "/v1/frames/%00", "/v1/%ff%fe", "/v1/frames/\u0661",
)  # fmt: skip
VALUES = (
    None, True, -1, 0, 1.5, 10**30, "", "a", "\ud800", "../../etc/passwd", "file:///etc/passwd", [], {}, [[]], [{}],
    {"frame": -1}, {"frame": 10**9}, {"frame": 0, "image": "AA=="}, {"frame": "0"}, {"frame": 0.5},
    {"frame": 0, "x": 0},
    "0",
    {"image": ""}, {"image": "@@@"}, {"image": "AAAA"}, {"image": 5}, {"image": "file:///etc/passwd"}, {"frame": True},
)  # fmt: skip
FIELDS = {
    "/v1/embed": ("views", "part"),
    "/v1/predict": ("view", "motions"),
    "/v1/nearest": ("view", "motions", "count", "part", "exclude"),
    "/v1/next-view": ("view", "then"),
    "/v1/plan": ("view", "goal"),
    "/v1/walk": ("frame", "goal"),
    "/v1/pairs": ("i", "j", "count"),
}


def request(method: str, path: str, body: bytes = b"", headers: str = "", kind: str = "application/json") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{AUTHORIZED}{headers}"
    head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode("utf-8", "surrogatepass") + body


def bomb(rng: random.Random) -> bytes:
    """A PNG whose header promises many pixels, in few bytes."""
    size = rng.choice([(60_000, 60_000), (2**31 - 1, 1), (0, 0), (4_000, 4_000), (1, 1_100_000)])

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(50_000)))
        + chunk(b"IEND", b"")
    )


def picture(rng: random.Random) -> bytes:
    """A bomb, a picture that is cut short or damaged, or no picture at all."""
    whole = png(np.frombuffer(rng.randbytes(30 * 30), np.uint8).reshape(30, 30, 1))
    damaged = bytearray(whole)
    for _ in range(20):
        damaged[rng.randrange(8, 60)] = rng.randrange(256)
    others = (b"GIF89a", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%!PS-Adobe", b"\x00" * 64, rng.randbytes(500))
    return rng.choice([bomb(rng), whole[: rng.randrange(1, 60)], bytes(damaged[:50]), rng.choice(others)])


def odd_json(rng: random.Random) -> bytes:
    path = rng.choice(list(FIELDS))
    good = {"views": [{"frame": 0}], "view": {"frame": 0}, "goal": {"frame": 1}, "motions": ["up"], "i": 0, "j": 1}
    good["frame"] = 0
    body = {name: good[name] for name in FIELDS[path] if name in good}
    wrong = rng.choice(FIELDS[path])
    bad = [value for value in VALUES if not (wrong in ("i", "j", "count", "frame") and isinstance(value, int))]
    body[wrong] = rng.choice([value for value in bad if not (wrong in ("motions", "then") and value == [])])
    return request("POST", path, json.dumps(body).encode())


def odd_picture(rng: random.Random) -> bytes:
    content = picture(rng)
    if rng.random() < 0.5:
        return request("POST", "/v1/embed", json.dumps({"views": [{"image": text_of(content)}]}).encode())
    edge = b"----edge"
    part = b'Content-Disposition: form-data; name="images"; filename="../../../tmp/x.png"\r\n\r\n'
    body = b"--" + edge + b"\r\n" + part + content + b"\r\n--" + edge + b"--\r\n"
    return request("POST", "/v1/embed/files", body, kind=f"multipart/form-data; boundary={edge.decode()}")


def odd_body(rng: random.Random) -> bytes:
    path = rng.choice(list(FIELDS))
    bodies = (
        b"", b"{", b"null", b"[1,2", b"\xff\xfe{}", b"[" * 50_000, b'{"views": ' + b"9" * 6_000 + b"}",
        rng.randbytes(200),
        b'{"view": {"frame": 1e400}}', b'{"a":' * 2_000, base64.b64encode(rng.randbytes(90)), b"x" * 150_000,
    )  # fmt: skip
    kind = rng.choice(
        ["application/json", "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "a/b;;"]
    )
    return request("POST", rng.choice([path, "/v1/embed/files"]), rng.choice(bodies), kind=kind)


def large(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return request("POST", "/v1/embed", b'{"views": "' + b"A" * 300_000 + b'"}')
    return request("GET", "/health", headers=f"X-Large: {'a' * 40_000}\r\n")


def odd_path(rng: random.Random) -> bytes:
    return request(rng.choice(["GET", "GET", "GET", "DELETE", "PUT", "PATCH"]), rng.choice(PATHS))


def stranger(rng: random.Random) -> bytes:
    """A request without the token, or with one that is nearly right."""
    tokens = (
        "",
        "Bearer",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Basic {TOKEN}",
        "Bearer \xff\xfe",
        "Bearer " * 99,
    )
    path = rng.choice(["/v1/description", "/metrics", "/v1/frames/0/image", "/openapi.json", "/v1/frames/../health"])
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {rng.choice(tokens)}\r\n\r\n"
    return head.encode("latin-1")


def garbage(rng: random.Random) -> bytes:
    lines = (
        b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", rng.randbytes(300) + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01" * 40,
        b"POST /v1/embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        b"POST /v1/embed HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
    )  # fmt: skip
    return rng.choice(lines)


def slow(rng: random.Random) -> bytes:
    """A request that never ends: its headers, or its body."""
    if rng.random() < 0.5:
        return b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    return request("POST", "/v1/embed", b"x" * 100)[:-50]


KINDS: tuple[tuple[Callable[[random.Random], bytes], int], ...] = (
    (odd_json, 40), (odd_picture, 25), (odd_body, 15), (odd_path, 10),
    (stranger, 10), (garbage, 8), (large, 4), (slow, 2),
)  # fmt: skip


def send(address: str, content: bytes, is_given_up: bool = False) -> int | None:
    """The status of the answer; None where the connection was closed without one, or given up."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=60) as connection:
        try:
            connection.sendall(content)
            if is_given_up:
                return None
            answer = b""
            while chunk := connection.recv(65_536):
                answer += chunk
        except (ConnectionResetError, BrokenPipeError):
            return None
    if not answer:
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    if status >= 400:
        detail = json.loads(body)["detail"]
        assert isinstance(detail, str)
        assert "\n" not in detail
        assert "Traceback" not in detail
        assert str(Path.home()) not in detail
    return status


def bad_status(rng: random.Random, address: str, seen: Counter[str]) -> str | None:
    """Send one hostile request; what is wrong with the answer, if anything is."""
    make = rng.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS])[0]
    content = make(rng)
    is_given_up = rng.random() < 0.05
    status = send(address, content, is_given_up)
    seen[f"{make.__name__} {status}"] += 1
    if is_given_up or (status is not None and 400 <= status < 500) or (status is None and make in (garbage, large)):
        return None
    return f"{make.__name__}: {status} for {content[:300]!r}"


def test_only_4xx_no_leak_and_still_serving(small_store: FrameStore) -> None:
    service = known_service(small_store, LIMITS)
    wrong: list[str] = []
    seen: Counter[str] = Counter()
    with running(service, TOKEN) as (address, server):

        def attack(seed: int) -> None:
            rng = random.Random(seed)
            for _ in range(REQUESTS // 8):
                if problem := bad_status(rng, address, seen):
                    wrong.append(problem)

        for _ in range(40):  # what is made once is made before the memory is looked at
            bad_status(random.Random(5), address, Counter())
        before, open_files = resident_bytes(), len(os.listdir("/proc/self/fd"))
        with ThreadPoolExecutor(8) as clients:
            list(clients.map(attack, range(8)))
        assert wrong == []
        wait_for(lambda: not server.server_state.connections)
        gc.collect()
        assert len(os.listdir("/proc/self/fd")) <= open_files + 2
        assert resident_bytes() < before + 60e6
        assert (service.metrics.running, service.waiting_images) == (0, 0)
        good = request("POST", "/v1/nearest", b'{"view": {"frame": 3}, "motions": ["up"]}')
        assert send(address, good) == 200
    assert sum(seen.values()) == REQUESTS // 8 * 8
    assert len({key.split()[0] for key in seen}) == len(KINDS)


@pytest.mark.parametrize("path", ["/", "/health", "/explorer.js", "/explorer.css"])
def test_what_shows_no_data_needs_no_token(small_store: FrameStore, path: str) -> None:
    from serving.known import client_of

    with client_of(known_service(small_store), TOKEN) as client:
        assert client.get(path).status_code == 200
        assert client.get("/v1/description").status_code == 401
        good = {"authorization": f"Bearer {TOKEN}"}
        assert client.get("/v1/description", headers=good).status_code == 200
