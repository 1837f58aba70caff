"""Greedy search: what it chooses, what it may look at, and how it takes divergence."""

import json
import re
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.files import write_json
from egoequiv.report.page import write_report
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, prepare_data
from egoequiv.training.search import WEIGHTS, GreedySearch, Selection, Trial
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


def test_a_search_is_reported_with_all_weights_and_ties(tmp_path: Path) -> None:
    def trial(weight: dict[str, float], score: float, diverged_at: int | None = None) -> Trial:
        whole = {"slowness": 1.0, "equivariance": 1.0} | weight
        return Trial("equiv+drlim", {"learning_rate": 0.01, "weight": weight}, score, diverged_at, whole)

    rates = [Trial("clsnet", {"learning_rate": rate}, 0.5) for rate in (0.1, 0.01)]
    first = [trial({"slowness": 3.0}, nan, 7), trial({"slowness": 0.1}, 0.25), trial({"slowness": 2.0}, 0.75)]
    second = [trial({"slowness": 2.0, "equivariance": 0.3}, 0.5), trial({"slowness": 2.0, "equivariance": 3.0}, 0.875)]
    trials = [*rates, *first, *second]
    base = {
        "data": "toys",
        "validate_every": "1000",
        "iterations": "30",
        "encoder": "mine.py:Net",
        "encoder.width": "8",
    }
    chosen = Selection(0.1, {"equiv+drlim": {"slowness": 2.0, "equivariance": 3.0}}, trials, base=base)
    write_json(tmp_path / "selection.json", chosen.describe())
    stages = Selection.load(tmp_path / "selection.json").stages()
    assert [[one.score for one in stage] for stage in stages[::2]] == [[0.5, 0.5], [0.875, 0.5]]
    assert [one.weights["slowness"] for one in stages[1]] == [2.0, 0.1, 3.0]
    page = write_report(tmp_path, tmp_path / "page.md").read_text()
    assert (
        "tie: 2 settings of clsnet have the score 0.5000; the first that was tried is chosen: learning rate 0.1" in page
    )
    assert page.count("tie:") == 1
    assert len(re.findall(r"\| (0\.5000|0\.7500|0\.8750) \| yes \|", page)) == 3
    assert "slowness 2, equivariance 1" in page  # not searched yet
    assert (
        "egoequiv train toys --method equiv+drlim --set iterations=30 --set encoder=mine.py:Net "
        "--set encoder.width=8 --set learning_rate=0.1 "
        "--set weight.slowness=2 --set weight.equivariance=3 -o RUN"
    ) in page
    assert "holdout" not in page
    for broken in ({"trials": [{}]}, {"base": "x"}, {"names": [1]}, {"rates": {"equiv": "x"}}):
        write_json(tmp_path / "selection.json", chosen.describe() | broken)
        with pytest.raises(DataError, match="is damaged"):
            write_report(tmp_path, tmp_path / "page.md")
    write_json(tmp_path / "selection.json", chosen.describe() | {"base": {"encoder_settings": [1]}})
    write_report(tmp_path, tmp_path / "page.md")


def test_a_report_of_a_search_runs_no_code_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise AssertionError('code of a search was run')")
    method = f"{tmp_path / 'mine.py'}:M"
    trials = [Trial(method, {"learning_rate": 0.01, "weight": {"gap": 2.0}}, 0.5, weights={"gap": 2.0})]
    chosen = Selection(0.1, {method: {"gap": 2.0}}, trials, {method: 0.01}, {method: "my own way"})
    write_json(tmp_path / "selection.json", chosen.describe())
    page = write_report(tmp_path, tmp_path / "page.md").read_text()
    assert "| my own way | 0.01 | gap 2 | 0.5000 | yes |" in page
    assert f"egoequiv train STORE --method {method} --set learning_rate=0.01 --set weight.gap=2" in page
