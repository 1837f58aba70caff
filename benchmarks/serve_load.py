"""The service under load on loopback, beside its encoder in a tight loop.

    python -m benchmarks.serve_load RUN_OR_EXPORT --clients 32 --seconds 60

Each client sends one picture at a time and waits for its features. The encoder computes one image after the other in a
process of its own, before and after the load, on the same machine with the same settings.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast
from urllib.request import urlopen

import numpy as np

from benchmarks.measuring import Measured, summary
from benchmarks.workbench import Workbench

PROCESSOR = "process_cpu_seconds_total"
LOOP = """
import json, sys, time
import numpy as np
from egoequiv.exporting import open_model
model, seconds = open_model(sys.argv[1]), float(sys.argv[2])
images = np.random.default_rng(0).integers(0, 256, (64, *model.image_shape), np.uint8)
found = {}
for size in (1, 64):
    model.embed(images[:size])
    start, done = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        model.embed(images[done % (65 - size) :][:size])
        done += size
    found[size] = done / (time.perf_counter() - start)
print(json.dumps([found[1], found[64]]))
"""


@dataclass(frozen=True)
class Load:
    """What was measured."""

    clients: int
    seconds: float
    requests: int
    errors: int
    per_second: float
    loop_per_second: float  # the encoder alone, one image at a time
    batched_loop_per_second: float  # the encoder alone, 64 images at a time
    ratio: float  # of the first two
    p50_ms: float
    p99_ms: float
    images_a_batch: float
    processor_ms: float  # of the service, for one request
    memory_begin_mb: float  # after the first tenth of the time
    memory_end_mb: float


def measure_load(model: Path, clients: int, seconds: float) -> Load:
    """Load a service of the model, with the encoder alone before and after it."""
    loops = [_loop(model, max(seconds / 12, 0.5))]
    with _served(model) as address:
        shape = json.load(urlopen(f"{address}/v1/description"))["model"]["image_shape"]
        requests = [_request(np.random.default_rng(k), shape) for k in range(clients)]
        asyncio.run(_load(address, requests, seconds / 10))  # until memory and batches have their usual size
        begin = _metrics(address)
        latencies, errors = asyncio.run(_load(address, requests, seconds))
        end = _metrics(address)
    loops.append(_loop(model, max(seconds / 12, 0.5)))
    alone, batched = (float(np.mean(column)) for column in zip(*loops, strict=True))
    per_second = len(latencies) / seconds
    batches = end["egoequiv_batch_images_count"] - begin["egoequiv_batch_images_count"]
    return Load(
        clients=clients,
        seconds=seconds,
        requests=len(latencies) + errors,
        errors=errors,
        per_second=per_second,
        loop_per_second=alone,
        batched_loop_per_second=batched,
        ratio=per_second / alone,
        p50_ms=float(np.quantile(latencies, 0.5)) * 1e3,
        p99_ms=float(np.quantile(latencies, 0.99)) * 1e3,
        images_a_batch=(end["egoequiv_batch_images_sum"] - begin["egoequiv_batch_images_sum"]) / max(batches, 1),
        processor_ms=(end[PROCESSOR] - begin[PROCESSOR]) / max(len(latencies), 1) * 1e3,
        memory_begin_mb=begin["process_resident_memory_bytes"] / 2**20,
        memory_end_mb=end["process_resident_memory_bytes"] / 2**20,
    )


def service_vs_encoder(bench: Workbench, clients: int = 32) -> Measured:
    """For the suite: a short load on a small residual network."""
    run = small_run(bench)
    found = [measure_load(run, clients, 5.0) for _ in range(bench.scale.few_rounds)]
    last = found[-1]
    words = (
        f"{last.per_second:,.0f} requests/s, p50 {last.p50_ms:.1f} ms, p99 {last.p99_ms:.1f} ms, "
        f"{last.processor_ms:.2f} ms of processor time each, {last.errors} errors"
    )
    return summary([one.ratio for one in found], words)


def small_run(bench: Workbench) -> Path:
    """A run of a residual network at 32 x 32, the default encoder of its method, which need not have learned."""
    from egoequiv.training import make_config, run_training

    path = bench.new_folder() / "run"
    data, method = str(bench.toys_of(32).path), "recording+motion"
    # Not TrainConfig: it lacks the method's own settings, and its encoder is so small that HTTP alone is measured.
    run_training(make_config({"data": data, "method": method, "use_labels": False, "iterations": 1}), path)
    return path


def _loop(model: Path, seconds: float) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", LOOP, model, str(seconds)], check=True, capture_output=True, text=True)
    alone, batched = json.loads(done.stdout)
    return alone, batched


@contextmanager
def _served(model: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "egoequiv", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if place := re.search(r" at (http://\S+)/ ", line):
                    yield place[1]
                    break
            else:
                raise SystemExit("the service did not start")
        finally:
            process.terminate()


def _request(rng: np.random.Generator, shape: list[int]) -> bytes:
    from egoequiv.serving.gallery import to_png

    picture = base64.b64encode(to_png(rng.integers(0, 256, shape, np.uint8))).decode()
    body = json.dumps({"views": [{"image": picture}]}).encode()
    head = "POST /v1/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _load(address: str, requests: list[bytes], seconds: float) -> tuple[list[float], int]:
    """Seconds of every answer, and the number of errors; one connection a client."""
    host, port = address.removeprefix("http://").split(":")
    latencies: list[float] = []
    errors = 0
    until = time.perf_counter() + seconds

    async def client(content: bytes) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection(host, int(port))
        while (start := time.perf_counter()) < until:
            writer.write(content)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(cast(re.Match[bytes], re.search(rb"content-length: (\d+)", head))[1]))
            if head.startswith(b"HTTP/1.1 200 "):
                latencies.append(time.perf_counter() - start)
            else:
                errors += 1
        writer.close()

    for ended in await asyncio.gather(*map(client, requests), return_exceptions=True):
        errors += isinstance(ended, Exception)
    return latencies, errors


def _metrics(address: str) -> dict[str, float]:
    lines = urlopen(f"{address}/metrics").read().decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if not line.startswith("#") and "{" not in line}


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder of a run or of an export")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    found = measure_load(given.model, given.clients, given.seconds)
    print(json.dumps({name: round(value, 3) for name, value in asdict(found).items()}, indent=1))


if __name__ == "__main__":
    main()
