"""Walks in the embedded drive: views around its recordings as a grid of poses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import egoequiv
from egoequiv.evaluation import rendered_grid as module
from egoequiv.evaluation.plan_models import OWN
from egoequiv.evaluation.plan_result import GREEDY, PIXELS, RANDOM, SAME, UNTRAINED
from egoequiv.evaluation.plan_task import plan
from egoequiv.evaluation.rendered_grid import SPACE, can_render, rendered_grid
from egoequiv.evaluation.task import TaskData, TaskOptions, silent
from egoequiv.experiments.task_data import open_task_data
from egoequiv.pairs import Split
from egoequiv.pose import SE2Space
from egoequiv.store import FrameStore
from egoequiv.training import open_run
from egoequiv_worlds.drive import DriveRecording, drive
from helpers import data_error

pytestmark = pytest.mark.slow  # the renderer is compiled first, which takes long
SMALL = {"drives_per_area": 2, "seconds": 2.0, "width": 48, "height": 24}
OnProgress = Callable[[str, int, int], None]


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> TaskData:
    """A run on eight small drives, trained for a moment."""
    folder: Path = tmp_path_factory.mktemp("driven")
    egoequiv.ingest(drive(**SMALL), folder / "drives", workers=1, progress=False)
    settings = {
        "use_labels": False,
        "iterations": 3,
        "batch_size": 8,
        "split": "by-recording",
        "clusters": 3,
        "keep": 1,
    }
    egoequiv.train(folder / "drives", folder / "run", method="recording+motion", **settings)
    return open_task_data(open_run(folder / "run"))


def first_of(store: FrameStore, number: int, pose: tuple[float, float]) -> np.ndarray:
    (row,) = np.flatnonzero((store.recording == number) & (store.poses == pose).all(axis=1))
    return store.images[row].astype(float)


def test_walks_in_the_embedded_drive_by_the_maps_of_the_run(driven: TaskData, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STEPS", "TURNS"):
        monkeypatch.setattr(module, name, 5)
    stages: dict[str, list[int]] = {}

    def on_progress(what: str, done: int, total: int) -> None:
        stages.setdefault(what, []).append(done - total)

    found = plan(driven.of_part("equivariant"), TaskOptions(), on_progress)
    assert found.details["maps"] == OWN
    assert list(found.details["conditions"]) == [SAME]
    assert found.details["conditions"][SAME]["walks"] > 50
    success = found.values[0]
    assert set(success.baselines) == {PIXELS, UNTRAINED, GREEDY, RANDOM}
    assert 0 <= success.value <= 100
    assert any("embedded drive" in note for note in found.notes)
    assert [*stages] == ["views", "walks"]
    assert all(steps[-1] == 0 for steps in stages.values())


def test_views_are_of_the_recordings_and_stay_in_their_part_of_the_split(
    driven: TaskData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEPS", 3)
    monkeypatch.setattr(module, "TURNS", 3)
    found = rendered_grid(driven, silent)
    for part in ("train", "validation"):
        names = [
            {data.store.recording_names[k] for k in data.store.recording[getattr(data.split, part)]}
            for data in (driven, found)
        ]
        assert names[0] == names[1]
    store = found.store
    assert store.space == SPACE
    assert len(store) == 9 * len(store.recording_names)
    assert sorted(set(store.poses[:, 0])) == [-4.0, -2.0, 0.0]
    for number, name in enumerate(store.recording_names):
        own = np.flatnonzero(driven.store.recording == driven.store.recording_names.index(name))
        middle = driven.store.images[own[len(own) // 2]].astype(float)
        here, turned = first_of(store, number, (0.0, 0.0)), first_of(store, number, (0.0, 7.5))
        # The same but for the noise of the sensor, and for the pitch of a car that brakes or speeds up.
        assert np.abs(here - middle).mean() < 0.7 * np.abs(turned - middle).mean()


def test_a_turn_to_the_left_moves_the_view_to_the_right() -> None:
    (recording, *_) = drive(**SMALL).recordings
    assert isinstance(recording, DriveRecording)
    ahead, left = (recording.around(5, np.array([[0.0, turn]])).image(0).astype(float) for turn in (0.0, 7.5))
    shift = range(-12, 13)
    fit = [np.abs(np.roll(ahead, k, axis=1) - left)[:, 12:-12].mean() for k in shift]
    assert shift[int(np.argmin(fit))] > 2
    behind = recording.around(5, np.array([[-4.0, 0.0]]))
    assert not np.array_equal(behind.image(0), ahead)
    np.testing.assert_array_equal(behind.image(0), behind.image(0))


def test_where_walks_cannot_be_rendered_is_one_line(driven: TaskData) -> None:
    real = replace(driven, store=replace(driven.store, meta={**driven.store.meta, "source": "kitti"}))
    with data_error("on a grid of poses, or in the embedded drive", "'kitti'"):
        plan(real, TaskOptions(), silent)
    assert not can_render(driven.store.in_space(SE2Space()))
    every = np.arange(len(driven.store))
    divided = replace(driven, split=Split(every[::2], every[1::2], "random"))
    with data_error("split random divides recordings"):
        plan(divided, TaskOptions(), silent)
    renamed = replace(driven.store, recording_names=("elsewhere", *driven.store.recording_names[1:]))
    with data_error("no recording 'elsewhere'"):
        rendered_grid(replace(driven, store=renamed), silent)
