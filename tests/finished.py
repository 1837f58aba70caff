"""A finished experiment to collect and report on: a table, the runs behind it, and the command that made it."""

from __future__ import annotations

import os
from pathlib import Path

SHORT = {"iterations": 20, "log_every": 10, "checkpoint_every": 20, "validate_every": 20, "per_class": 2}


def make_finished(out: Path) -> Path:
    """Two rows of three repetitions each on a small turntable."""
    from egoequiv.catalog import open_source
    from egoequiv.experiments import Row, Table, measure_run
    from egoequiv.experiments.published import Published
    from egoequiv.experiments.record import record_command
    from egoequiv.experiments.table import compare_rows, entries_of
    from egoequiv.store import ingest
    from egoequiv.training import train

    source = open_source("turntable", toys_per_category="1", elevations="6", azimuths="18", lightings="2", size="32")
    store = ingest(source, out / "stores" / "turntable", size=(12, 12), workers=1)
    rows, metrics = [], []
    for method in ("random", "equiv"):
        runs = [out / "runs-12" / f"{method}-labels-{seed}" for seed in range(3)]
        for seed, run in enumerate(runs):
            settings = {"method": method, "seed": seed, "train_fraction": 0.4, "split": "paper", "encoder": "norb"}
            train(store.path, run, **settings, **SHORT)
        metrics, entries = entries_of([measure_run(run) for run in runs])
        rows.append(
            Row(
                name=method,
                method=method,
                runs=tuple(os.path.relpath(run, out) for run in runs),
                seeds=((0, 0), (1, 0), (2, 0)),
                entries=entries,
                published={"top1": Published(4.0) if method == "random" else Published(38.48, 0.89)},
                settings={"learning_rate": 0.01},
            )
        )
    columns = ("top1", "rho_atomic", "rho_composite", "rho_up", "rho_right", "rho_up+left")
    Table(
        title="Toys: a small table",
        metrics=metrics,
        columns=columns,
        rows=rows,
        comparisons=[test for name in columns[:2] for test in compare_rows(rows, name)],
        about={"split": "paper", "validation_frames": 648, "leaked_validation_frames": 640, "repeats": 3},
        published_on="small NORB",
    ).save(out / "table.json")
    record_command(out, ["reproduce", "norb", "-o", "a folder"])
    return out
