"""Every benchmark by name, with its target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.ddp import ddp2_vs_1
from benchmarks.doctor_cost import processor_time
from benchmarks.evaluation_speed import k_means_vs_sklearn, rho_vs_sklearn, votes_vs_sklearn
from benchmarks.figures import Figure
from benchmarks.ingest_speed import ingest_video_vs_pyav, ingest_vs_pillow, two_workers_vs_one
from benchmarks.iterations import (
    contrast_versus_bare,
    contrast_versus_lightning,
    contrast_versus_plain,
    versus_bare,
    versus_metric_learning,
    versus_plain,
)
from benchmarks.log_to_numbers import log_to_numbers
from benchmarks.measuring import Measured
from benchmarks.memory import memory_growth
from benchmarks.serve_load import service_vs_encoder
from benchmarks.start_up import first_iteration_vs_torch, help_vs_limit, help_vs_typer
from benchmarks.workbench import Workbench


@dataclass(frozen=True)
class Benchmark:
    """What is measured, its name, and its target."""

    name: str
    measure: Callable[[Workbench], Measured]
    at_least: float | None = None
    at_most: float | None = None


SUITE = (
    # a. the training loop against the bare encoder, b. against loops as others write them. A single run of the paper's
    # network for NORB is no goal: its encoder takes 0.6 ms, less than the calls of sixty small operations beside it,
    # and such runs are trained as stacks.
    Benchmark("norb-single-vs-bare", partial(versus_bare, network="norb")),
    Benchmark("norb-single-vs-plain", partial(versus_plain, network="norb")),
    Benchmark("norb-single-vs-metric-learning", partial(versus_metric_learning, network="norb")),
    Benchmark("norb-stack5-vs-bare", partial(versus_bare, network="norb", networks=5)),
    Benchmark("norb-stack5-vs-plain", partial(versus_plain, network="norb", networks=5)),
    Benchmark("norb-stack20-vs-bare", partial(versus_bare, network="norb", networks=20), at_least=0.8),
    Benchmark("norb-stack20-vs-plain", partial(versus_plain, network="norb", networks=20), at_least=5.0),
    Benchmark("kitti-single-vs-bare", partial(versus_bare, network="kitti"), at_least=0.9),
    Benchmark("kitti-single-vs-plain", partial(versus_plain, network="kitti"), at_least=1.5),
    Benchmark("kitti-single-vs-metric-learning", partial(versus_metric_learning, network="kitti")),
    *(
        Benchmark(f"residual-{size}-vs-{other}", partial(measure, size=size), at_least=target)
        for size in (32, 96)
        for other, measure, target in (
            ("bare", contrast_versus_bare, 0.9),
            ("plain", contrast_versus_plain, 1.5),
            ("lightning", contrast_versus_lightning, 1.5),
        )
    ),
    # c. pictures and videos into a store
    Benchmark("ingest-vs-pillow", partial(ingest_vs_pillow, ending="png"), at_least=1.8),
    Benchmark("ingest-jpeg-vs-pillow", partial(ingest_vs_pillow, ending="jpg"), at_least=1.8),
    Benchmark("ingest-one-worker-vs-pillow", partial(ingest_vs_pillow, ending="png", workers=1)),
    Benchmark("ingest-video-vs-pyav", ingest_video_vs_pyav, at_least=1.8),
    Benchmark("draw-drive-two-workers-vs-one", partial(two_workers_vs_one, world="drive")),
    Benchmark("draw-places-two-workers-vs-one", partial(two_workers_vs_one, world="places")),
    Benchmark("doctor-processor-time-vs-video", processor_time, at_most=1.0),
    # d. measures and mining
    Benchmark("rho-vs-sklearn", rho_vs_sklearn),
    Benchmark("k-means-vs-sklearn", k_means_vs_sklearn),
    Benchmark("next-view-votes-vs-sklearn", votes_vs_sklearn),
    # the service with 32 clients, and with one, against its encoder, one image at a time
    Benchmark("serve-vs-encoder", service_vs_encoder, at_least=0.6),
    Benchmark("serve-one-client-vs-encoder", partial(service_vs_encoder, clients=1)),
    # e. memory as the frames grow
    Benchmark("train-memory-4x", partial(memory_growth, command="train", times=4), at_most=1.1),
    Benchmark("train-memory-16x", partial(memory_growth, command="train", times=16), at_most=1.1),
    Benchmark("ingest-memory-4x", partial(memory_growth, command="ingest", times=4), at_most=1.1),
    Benchmark("ingest-memory-16x", partial(memory_growth, command="ingest", times=16), at_most=1.1),
    Benchmark("patterns-memory-4x", partial(memory_growth, command="patterns", times=4), at_most=1.1),
    Benchmark("patterns-memory-16x", partial(memory_growth, command="patterns", times=16), at_most=1.1),
    Benchmark("doctor-memory-4x", partial(memory_growth, command="doctor", times=4), at_most=1.1),
    # f. one run on two processes
    Benchmark("ddp2-vs-1", ddp2_vs_1, at_least=1.6),
    # g. from a log to printed numbers
    Benchmark("log-to-numbers-backbone-vs-residual", log_to_numbers),
    # h. starting up
    Benchmark("help-vs-0.3s", help_vs_limit, at_least=1.0),
    Benchmark("help-vs-empty-typer", help_vs_typer),
    Benchmark("first-iteration-vs-import-torch", first_iteration_vs_torch),
)


def chosen(only: Sequence[str]) -> list[Benchmark]:
    """The benchmarks whose names hold one of the given words; all of them where no word is given."""
    return [one for one in SUITE if not only or any(word in one.name for word in only)]


def run_suite(bench: Workbench, benchmarks: Sequence[Benchmark]) -> Iterator[Figure]:
    """Measure one after the other."""
    for one in benchmarks:
        found = one.measure(bench)
        target = one.at_least if one.at_most is None else one.at_most
        yield Figure(
            name=one.name,
            ratio=found.ratio,
            spread=found.spread,
            target=target,
            better="higher" if one.at_most is None else "lower",
            beside=found.beside,
        )
