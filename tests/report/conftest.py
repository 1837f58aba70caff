"""A finished experiment to report on: a table, the runs behind it, and what made it."""

from __future__ import annotations

from pathlib import Path

import pytest

from egoequiv.catalog import open_source
from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table, measure_run
from egoequiv.experiments.published import Published
from egoequiv.experiments.record import record_command
from egoequiv.experiments.table import compare_rows
from egoequiv.report.tables import save_table
from egoequiv.store import ingest
from egoequiv.training import train

SHORT = {"iterations": 20, "log_every": 10, "checkpoint_every": 20, "validate_every": 20, "per_class": 2}
SHORT |= {"split": "paper"}
KEYS = (("random", True), ("equiv", True))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows of three repetitions each on a small turntable. Do not change it: copy it."""
    out = tmp_path_factory.mktemp("finished") / "toys"
    source = open_source("turntable", toys_per_category="1", elevations="6", azimuths="18", lightings="2")
    store = ingest(source, out / "stores" / "turntable", size=(12, 12), workers=1)
    rows = []
    for method, labels in KEYS:
        measured = []
        for seed in range(3):
            run = out / "runs-12" / f"{method}-{'labels' if labels else 'no-labels'}-{seed}"
            settings = {"method": method, "use_labels": labels, "seed": seed, "train_fraction": 0.4, **SHORT}
            train(store.path, run, **settings)
            measured.append(measure_run(run)["metrics"])
        results = {name: Result(tuple(m[name] for m in measured)) for name in measured[0]}
        published = {"top1": Published(4.0) if method == "random" else Published(38.48, 0.89)}
        rows.append(Row(method, labels, results, published, settings={"learning_rate": 0.01}))
    columns = ("top1", "rho_atomic", "rho_composite", "rho_up", "rho_right", "rho_up+left")
    tests = [test for metric in columns[:2] for test in compare_rows(rows, metric)]
    about = {"split": "paper", "validation_frames": 648, "leaked_validation_frames": 640, "repeats": 3}
    save_table(Table("Toys: a small table", columns, rows, tests, about, "small NORB"), out)
    record_command(out, ["reproduce", "norb", "-o", "a folder"])
    return out
