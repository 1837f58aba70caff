"""`python -m benchmarks`: run every comparison, print a table and write benchmarks/latest.json."""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from benchmarks.held_frames import held_source, long_log
from benchmarks.plain_loop import plain_step
from egoequiv.catalog import open_source
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, prepare_data
from egoequiv.training.batches import BatchOrder
from egoequiv.training.loop import build_net
from egoequiv.training.objective import loss_terms
from egoequiv.training.optimizer import make_optimizer

ROUNDS = 9
Seconds = Callable[[], float]


def timed(work: Callable[[], object], repeat: int) -> Seconds:
    def measure() -> float:
        start = time.perf_counter()
        for _ in range(repeat):
            work()
        return (time.perf_counter() - start) / repeat

    return measure


def compare(name: str, ours: Seconds, other: Seconds, target: float | None) -> dict[str, object]:
    """How many times as fast ours is as the other, taking turns; the median and the spread of the rounds."""
    ours(), other()  # warm up
    ratios = sorted(other() / ours() for _ in range(ROUNDS))
    spread = (ratios[-2] - ratios[1]) / 2
    return {"name": name, "ratio": statistics.median(ratios), "spread": spread, "target": target}


def iteration(store: FrameStore, encoder: str, repeat: int, targets: tuple[float, float]) -> list[dict[str, object]]:
    """One iteration of equiv against the bare encoder's forward and backward, and against a plain PyTorch loop."""
    config = make_config({"data": str(store.path), "method": "equiv", "encoder": encoder, "per_class": 4})
    data = prepare_data(config)
    net = build_net(config, data)
    optimizer = make_optimizer(net, config)
    method = config.objective()
    orders = {name: BatchOrder(len(s), config.batch_size, (k,)) for k, (name, s) in enumerate(data.train.items())}
    count = iter(range(10**9))

    def ours() -> None:
        now = next(count)
        losses = loss_terms(net, method, data.train, {name: order.batch(now) for name, order in orders.items()})
        optimizer.zero_grad(set_to_none=False)
        losses.sum().backward()
        optimizer.step()

    height, width, channels = store.image_shape
    images = torch.randn(3 * config.batch_size, height, width, channels).permute(0, 3, 1, 2)

    def bare() -> None:
        features = net.encoder(images)
        features.backward(torch.ones_like(features))

    run, plain = timed(ours, repeat), plain_step(config, data)
    results = [
        compare(f"{encoder}-single-vs-bare", run, timed(bare, repeat), targets[0]),
        compare(f"{encoder}-single-vs-plain", run, timed(plain, repeat), targets[1]),
    ]
    print(f"{encoder}: {1 / run():.1f} iterations of equiv a second", flush=True)
    return results


def rendering_speed(folder: Path) -> None:
    """Frames a second of the embedded worlds through ingest, with two workers."""
    for name, settings in (("drive", {"drives_per_area": 4}), ("places", {"images_per_class": 60})):
        source = open_source(name, **settings)
        start = time.perf_counter()
        ingest(source, folder / name, workers=2)
        print(f"{name}: {source.frame_count / (time.perf_counter() - start):.0f} frames a second", flush=True)


def ten_million_motions(folder: Path) -> None:
    """Time and memory of `egoequiv patterns` on 333,000 poses at 30 Hz, as the command says itself."""
    ingest(long_log(recordings=9, frames=37_000), folder / "long")
    command = [sys.executable, "-m", "egoequiv", "patterns", str(folder / "long"), "-o", str(folder / "patterns")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    print("patterns:", *(line for line in said if " motions, " in line or line.startswith("took")), flush=True)


def ingest_speed(folder: Path) -> list[dict[str, object]]:
    """Decoding and resizing into a store against Pillow in one thread, on the embedded world's frames."""
    source = open_source("turntable", toys_per_category=1, lightings=2)
    frames = [recording.image(k) for recording in source.recordings for k in range(len(recording))]

    def pillow() -> None:
        for image in frames:
            np.asarray(Image.fromarray(image).resize((32, 32), Image.Resampling.BILINEAR))

    held = held_source(frames, source)
    ours = timed(lambda: ingest(held, folder / "again", size=(32, 32), workers=1, overwrite=True), 1)
    return [compare("ingest-one-worker-vs-pillow", ours, timed(pillow, 1), None)]


def main() -> None:
    """Run all and report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("rendering frames ...", flush=True)
        toys = ingest(open_source("turntable", toys_per_category=2, lightings=3), folder / "toys", workers=2)
        drives = open_source("drive", drives_per_area=2, seconds=12)
        drives = ingest(drives, folder / "drives", size=(32, 32), workers=2)
        results = iteration(toys, "norb", 100, (0.5, 3.0))
        results += iteration(drives, "kitti", 10, (0.9, 1.5))
        results += ingest_speed(folder)
        rendering_speed(folder)
        ten_million_motions(folder)
    print(f"{'name':32} {'ratio':>8} {'spread':>8} {'target':>8}")
    for result in results:
        target = "" if result["target"] is None else f"{result['target']:.2f}"
        print(f"{result['name']:32} {result['ratio']:8.2f} {result['spread']:8.2f} {target:>8}")
    machine = {"processor": platform.machine(), "threads": torch.get_num_threads(), "torch": torch.__version__}
    out = Path(__file__).parent / "latest.json"
    out.write_text(json.dumps([{**result, "machine": machine} for result in results], indent=2) + "\n")
    print(f"written to {out}")


if __name__ == "__main__":  # ingest starts worker processes that import this module
    main()
