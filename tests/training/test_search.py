"""Greedy search: what it chooses, what it may look at, and how it takes divergence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, prepare_data
from egoequiv.training.search import WEIGHTS, GreedySearch
from helpers import grid_source

SHORT = {"iterations": 40, "per_class": 3, "log_every": 20, "checkpoint_every": 20, "validate_every": 40}


def search(store: FrameStore, out: Path, **changes: Any) -> GreedySearch:
    settings: dict[str, Any] = {
        "learning_rates": (0.1, 0.001),
        "weights": (0.1, 1.0),
        "rate_seeds": (0,),
        "seeds": (0,),
    }
    return GreedySearch(
        base={"data": str(store.path), **SHORT}, out=out, **{"engine": LocalEngine(1), **settings, **changes}
    )


def test_the_grid_has_steps_of_half_a_decade() -> None:
    ratios = np.diff(np.log10(WEIGHTS))
    assert ratios == pytest.approx(np.full(len(WEIGHTS) - 1, 0.5), abs=0.002)


def test_the_best_score_wins(small_store: FrameStore, tmp_path: Path) -> None:
    selection = search(small_store, tmp_path).run(["drlim", "equiv+drlim"])
    rates = {t.settings["learning_rate"]: t.score for t in selection.trials if t.method == "clsnet"}
    assert selection.learning_rate == max(rates, key=lambda rate: rates[rate])
    weights = {t.settings["weight"]["slowness"]: t.score for t in selection.trials if t.method == "drlim"}
    assert selection.weight["drlim"]["slowness"] == max(weights, key=lambda weight: weights[weight])
    combined = [t for t in selection.trials if t.method == "equiv+drlim"]
    assert {t.settings["weight"]["slowness"] for t in combined} == {selection.weight["drlim"]["slowness"]}
    assert all(t.settings["learning_rate"] == selection.learning_rate for t in combined)
    assert json.loads((tmp_path / "selection.json").read_text()) == selection.describe()


def test_runs_never_touch_validation_frames(small_store: FrameStore, tmp_path: Path) -> None:
    whole = make_config({"data": str(small_store.path), **SHORT})
    held = make_config({"data": str(small_store.path), "holdout_fraction": 0.25, "method": "equiv+drlim", **SHORT})
    reported = set(prepare_data(whole).split.validation.tolist())
    data = prepare_data(held)
    for stream in [*data.train.values(), *data.validation.values()]:
        used = set(stream.i.tolist()) | (set() if stream.j is None else set(stream.j.tolist()))
        assert not used & reported
    assert not set(data.split.train.tolist()) & set(data.split.validation.tolist())
    with pytest.raises(ConfigError, match="holdout_fraction above 0"):
        GreedySearch(base={"data": str(small_store.path), **SHORT, "holdout_fraction": 0}, out=tmp_path).run(["drlim"])


def test_diverged_settings_lose(small_store: FrameStore, tmp_path: Path) -> None:
    selection = search(small_store, tmp_path, learning_rates=(1e9, 0.001)).run(["drlim"])
    assert selection.learning_rate == 0.001
    assert selection.trials[0].diverged_at is not None
    assert selection.describe()["trials"][0]["score"] is None
    again = search(small_store, tmp_path, learning_rates=(1e9, 0.001)).run(["drlim"])
    assert again.describe() == selection.describe()


def test_a_store_without_labels_is_one_line(tmp_path: Path) -> None:
    store = ingest(grid_source(labels=None), tmp_path / "store", workers=1)
    with pytest.raises(ConfigError, match="has no labels: name a table or another store of labels with --set labels="):
        search(store, tmp_path / "out").run(["drlim"])


def test_nothing_to_choose_from_is_an_error(small_store: FrameStore, tmp_path: Path) -> None:
    with pytest.raises(EgoEquivError, match="every setting of clsnet diverged"):
        search(small_store, tmp_path, learning_rates=(1e9,)).run(["drlim"])
