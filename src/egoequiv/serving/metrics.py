"""Counts and times of the service, in the text format of Prometheus."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
IMAGES = (1, 2, 4, 8, 16, 32, 64)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """How many values were at most each bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self._counts, self._sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str, labels: str = "") -> list[str]:
        """The samples of this histogram."""
        found, total = [], 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            end = "+Inf" if bound == float("inf") else f"{bound:g}"
            found.append(f'{name}_bucket{{{labels}{"," if labels else ""}le="{end}"}} {total}')
        tail = f"{{{labels}}}" if labels else ""
        return [*found, f"{name}_sum{tail} {self._sum:.6f}", f"{name}_count{tail} {total}"]


class Metrics:
    """What has happened since the service began; changed in the event loop alone."""

    def __init__(self) -> None:
        self.running = 0  # requests
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, Histogram] = {}
        self._batches = Histogram(IMAGES)

    def request(self, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self._requests[route, status] += 1
        self._seconds.setdefault(route, Histogram(SECONDS)).add(seconds)

    def batch(self, images: int) -> None:
        """The encoder got a batch."""
        self._batches.add(images)

    def text(self, waiting_images: int) -> str:
        """Everything, for `/metrics`."""
        name = "egoequiv_requests_total"
        lines = [f"# HELP {name} Requests answered.", f"# TYPE {name} counter"]
        for (route, status), count in sorted(self._requests.items()):
            lines.append(f'{name}{{route="{route}",status="{status}"}} {count}')
        lines += _head("egoequiv_request_seconds", "histogram", "Time from the first byte of a request to its answer.")
        for route, histogram in sorted(self._seconds.items()):
            lines += histogram.lines("egoequiv_request_seconds", f'route="{route}"')
        lines += _head("egoequiv_batch_images", "histogram", "Images in one pass of the encoder.")
        lines += self._batches.lines("egoequiv_batch_images")
        name = "process_cpu_seconds_total"
        lines += [*_head(name, "counter", "Processor time of the process."), f"{name} {time.process_time():.3f}"]
        gauges = {
            "egoequiv_requests_running": ("Requests that are being answered.", self.running),
            "egoequiv_images_waiting": ("Images that wait for the encoder.", waiting_images),
            "process_resident_memory_bytes": ("Memory of the process.", resident_bytes()),
        }
        for gauge, (words, value) in gauges.items():
            lines += [*_head(gauge, "gauge", words), f"{gauge} {value}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, words: str) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]


def resident_bytes() -> int:
    """The memory of this process; 0 where the system does not say it in a file."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
