"""A run as a model of motions."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.evaluation.forward_maps import learned_forward_maps
from egoequiv.evaluation.run_model import RunModel, open_run_model
from egoequiv.store import FrameStore
from egoequiv.training import TrainConfig, run_training


@pytest.fixture(scope="module")
def runs(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunModel]:
    out = tmp_path_factory.mktemp("runs")
    for method in ("recording+motion", "equiv", "temporal"):
        run_training(TrainConfig(data=str(small_store.path), method=method, iterations=2), out / method)
    return {path.name: open_run_model(path) for path in out.iterdir()}


def five(store: FrameStore) -> np.ndarray:
    return np.asarray(store.images[:5])


def test_any_motion_is_mapped_and_undone(runs: dict[str, RunModel], small_store: FrameStore) -> None:
    model = runs["recording+motion"]
    assert model.takes_any
    assert model.mapped == model.parts["equivariant"]
    z = model.embed(five(small_store))
    assert z.shape == (5, model.feature_dim)
    z = z[:, model.mapped]
    up = model.after(z, "up")
    np.testing.assert_allclose(up, model.after(z, model.motions["up"]), atol=1e-6)
    assert np.abs(up - z).max() > 1e-4
    np.testing.assert_allclose(model.after(up, "down"), z, atol=1e-5)
    each = np.stack([model.motions["up"], *[np.zeros(2)] * 4])
    np.testing.assert_allclose(model.after(z, each), np.concatenate([up[:1], z[1:]]), atol=1e-6)


def test_maps_of_patterns_are_the_inverse_of_those_trained(runs: dict[str, RunModel], small_store: FrameStore) -> None:
    model = runs["equiv"]
    assert not model.takes_any
    assert model.space is not None
    z = model.embed(five(small_store))[:, model.mapped]
    affine = learned_forward_maps(model.net, model.space, ["up"])["up"]
    np.testing.assert_allclose(model.after(z, "up"), z @ affine[:-1] + affine[-1], atol=1e-5)
    with pytest.raises(ConfigError, match="maps of named motions alone"):
        model.after(z, np.zeros(2))


def test_a_network_without_maps_has_no_motions(runs: dict[str, RunModel]) -> None:
    model = runs["temporal"]
    assert not model.motions
    with pytest.raises(ConfigError, match="has no maps"):
        model.after(np.zeros((1, model.feature_dim), np.float32), "up")


@pytest.mark.parametrize("motion", [np.zeros(3), np.array([np.nan, 0]), np.zeros((4, 2))])
def test_a_wrong_motion_is_one_line(runs: dict[str, RunModel], motion: np.ndarray) -> None:
    model = runs["recording+motion"]
    z = np.zeros((1, model.mapped.stop - model.mapped.start), np.float32)
    with pytest.raises(DataError, match="expected a motion of 2 finite numbers"):
        model.after(z, motion)


def test_an_unknown_motion_says_which_are_known(runs: dict[str, RunModel]) -> None:
    with pytest.raises(ConfigError, match=r"motion 'fly' is not known here; choose from: up, down"):
        runs["recording+motion"].after(np.zeros((1, 1), np.float32), "fly")


ODD: tuple[Any, ...] = (None, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "", "x", [], [1], {}, {"a": 1})


def places_in(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Where each value of a JSON object is."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (key,)
        yield from ((key, *more) for more in places_in(one))


@pytest.mark.parametrize("name", ["model.json", "data.json"])
@pytest.mark.parametrize("method", ["motion", "equiv"])
def test_no_odd_value_of_a_record_is_a_traceback(
    name: str, method: str, small_store: FrameStore, tmp_path: Path
) -> None:
    """Each value is replaced in turn; what a damaged file still says may open, or be refused in one line."""
    run = tmp_path / "run"
    settings = {"iterations": 1, "encoder": "norb", "batch_size": 4, "use_labels": False}
    run_training(TrainConfig(data=str(small_store.path), method=method, **settings), run)
    whole = json.loads((run / name).read_text())
    refused = 0
    for *path, last in places_in(whole):
        for odd in ODD:
            damaged = json.loads(json.dumps(whole))
            place = reduce(lambda node, key: node[key], path, damaged)
            place[last] = odd
            (run / name).write_text(json.dumps(damaged))
            with suppress(EgoEquivError):
                refused += 1
                open_run_model(run).embed(five(small_store))
                refused -= 1
    assert refused > 20
