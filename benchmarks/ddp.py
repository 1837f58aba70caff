"""Two processes of one thread each against one process of one thread, on the same global batch."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.measuring import Measured, command_seconds, compare
from benchmarks.workbench import Workbench

ONE_THREAD = {"OMP_NUM_THREADS": "1"}
BATCH = 64  # labelled images, and pairs, in an iteration of all processes together
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone"]


def ddp2_vs_1(bench: Workbench) -> Measured:
    """Iterations of the KITTI network; starting up and the validation at the end are left out."""
    seconds = partial(iteration_seconds, bench)
    two, one = partial(seconds, TORCHRUN), partial(seconds, [sys.executable])
    return compare(two, one, bench.scale.few_rounds, warm_up=False, what="iterations")


def iteration_seconds(bench: Workbench, launcher: list[str]) -> float:
    """What an iteration more costs: the difference of a long and a short run."""
    few, many = bench.scale.ddp_iterations // 5, bench.scale.ddp_iterations
    longer = command_seconds(train_command(bench, launcher, many), ONE_THREAD)
    return (longer - command_seconds(train_command(bench, launcher, few), ONE_THREAD)) / (many - few)


def train_command(bench: Workbench, launcher: list[str], iterations: int) -> list[str]:
    """`LAUNCHER -m egoequiv train ...`."""
    settings = {"encoder": "kitti", "per_class": 4, "batch_size": BATCH, "threads": 1}
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    store, out = bench.drives.path, bench.new_folder() / "run"
    return [*launcher, "-m", "egoequiv", "train", str(store), "-o", str(out), "--iterations", str(iterations), *given]
