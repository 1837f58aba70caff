"""Measuring a run: kept figures are never stale, and what is not defined is null."""

import json
from pathlib import Path

from egoequiv.experiments import measure_run
from egoequiv.store import FrameStore
from egoequiv.training import train

FEW = {"per_class": 3, "log_every": 50, "validate_every": 100, "checkpoint_every": 50}


def test_figures_are_kept_until_the_weights_change(small_store: FrameStore, tmp_path: Path) -> None:
    short = train(small_store.path, tmp_path / "short", method="clsnet", iterations=50, **FEW)
    long = train(small_store.path, tmp_path / "long", method="clsnet", iterations=100, **FEW)
    first = measure_run(short.path)
    assert measure_run(short.path) == first
    kept = json.loads((short.path / "evaluation-last.json").read_text())
    (short.path / "evaluation-last.json").write_text(json.dumps({**kept, "metrics": {"top1": -1.0}}))
    assert measure_run(short.path)["metrics"] == {"top1": -1.0}
    (short.path / "last.safetensors").write_bytes((long.path / "last.safetensors").read_bytes())
    assert measure_run(short.path)["metrics"] == measure_run(long.path)["metrics"]


def test_a_motion_with_too_few_pairs_does_not_hide_the_rest(small_store: FrameStore, tmp_path: Path) -> None:
    run = train(small_store.path, tmp_path / "run", method="clsnet", iterations=100, **FEW)
    measured = measure_run(run.path)
    assert measured["metrics"]["top1"] > 0
    assert measured["metrics"]["rho_up"] is None  # 144 frames leave a handful of validation pairs
    json.dumps(measured, allow_nan=False)
