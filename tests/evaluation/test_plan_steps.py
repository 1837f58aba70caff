"""A run walks on poses between those that it was trained on, by maps of any motion."""

from pathlib import Path

import numpy as np
import pytest

import egoequiv
from egoequiv.evaluation.plan_models import FITTED, OWN, own_or_fitted
from egoequiv.evaluation.pose_grid import pose_grid
from egoequiv.evaluation.tasks import TASKS
from egoequiv.experiments import RunMeasurer
from egoequiv_worlds import turntable

COARSE = {"categories": ["car", "truck", "figure"], "toys_per_category": 1, "lightings": 2, "size": 12}
SHORT = {"use_labels": False, "iterations": 2, "batch_size": 8, "split": "by-lighting:1"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A coarse grid with two runs on it, and a finer grid of other toys."""
    folder: Path = tmp_path_factory.mktemp("steps")
    coarse = turntable(**COARSE, elevations=3, azimuths=6)
    finer = turntable(**COARSE, elevations=5, azimuths=12, seed=1)
    for name, source in (("coarse", coarse), ("finer", finer)):
        egoequiv.ingest(source, folder / name, workers=1, progress=False)
    for method in ("recording+motion", "recording"):
        egoequiv.train(folder / "coarse", folder / method, method=method, **SHORT)
    return folder


@pytest.mark.parametrize(("method", "maps"), [("recording+motion", OWN), ("recording", FITTED)])
def test_walks_on_a_finer_grid_of_other_things(stores: Path, method: str, maps: str) -> None:
    measurer = RunMeasurer(stores / method, str(stores / "finer"))
    found = measurer.measure(TASKS["plan"])
    assert found.problem is None
    assert found.details["maps"] == maps
    assert found.recordings == 3  # the lighting that the split of the run names
    assert found.details["conditions"]["same recording"]["walks"] == 300
    assert set(found.values[0].baselines) == {"pixels", "untrained network", "greedy walk", "random walk"}
    assert not any("learned from" in note for note in found.notes)


def test_a_map_of_half_a_step_twice_is_that_of_the_step(stores: Path) -> None:
    coarse, finer = (
        RunMeasurer(stores / "recording+motion", str(stores / name)).data.of_part("equivariant")
        for name in ("coarse", "finer")
    )
    (whole, _), (halves, _) = (own_or_fitted(data, pose_grid(data.store)) for data in (coarse, finer))
    up, right = (pose_grid(finer.store).displacements.find(np.array([step]))[0] for step in ([10.0, 0.0], [0.0, 30.0]))
    for k, step in ((up, [20.0, 0.0]), (right, [0.0, 60.0])):
        matrix = halves.maps[k, :-1]
        number = pose_grid(coarse.store).displacements.find(np.array([step]))[0]
        np.testing.assert_allclose(matrix @ matrix, whole.maps[number, :-1], atol=1e-4)
        assert np.abs(matrix - np.eye(len(matrix))).max() > 1e-4
