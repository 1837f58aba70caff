"""Small NORB: the real images, from the official files to features."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.engines import LocalEngine
from egoequiv.experiments import ReproduceOptions
from egoequiv.experiments.norb import reproduce_norb
from egoequiv.pairs import count_leaked, declare_patterns, find_motion_pairs, make_split
from egoequiv.sources import norb
from egoequiv.store import FrameStore, ingest


@pytest.fixture(scope="module")
def store(norb_files: Path, tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(norb(norb_files), tmp_path_factory.mktemp("store") / "norb", size=(24, 24))


def test_the_files_hold_25_toys(norb_files: Path) -> None:
    source = norb(norb_files)
    assert source.frame_count == 8_100
    assert len(source.recordings) == 25 * 2  # every third view keeps two of the six lightings
    assert {r.attributes["category"] for r in source.recordings} == {"animal", "human", "airplane", "truck", "car"}
    assert norb(norb_files, camera="both").frame_count == 16_200


def test_images_are_the_toys_and_neighbours_look_alike(norb_files: Path, store: FrameStore) -> None:
    recording = norb(norb_files).recordings[0]
    small = np.asarray(Image.fromarray(recording.image(5)).resize((24, 24), Image.Resampling.BILINEAR))
    assert np.array_equal(store.images[5, ..., 0], small)
    pairs = find_motion_pairs(store, np.arange(len(store)), declare_patterns(store.space, ["up"]))
    images = store.images.astype(np.float32)
    step = np.abs(images[pairs.i] - images[pairs.j]).mean()
    strangers = np.abs(images[pairs.i] - images[np.roll(pairs.j, len(pairs) // 2)]).mean()
    assert step < 0.7 * strangers


def test_a_random_split_leaks_and_one_by_recording_does_not(store: FrameStore) -> None:
    random, whole = make_split(store, "paper"), make_split(store, "by-recording")
    assert count_leaked(store, random) > 0.5 * len(random.validation)
    assert count_leaked(store, whole) == 0


@pytest.mark.slow
def test_labels_and_motion_pairs_teach_something(norb_files: Path, tmp_path: Path) -> None:
    options = ReproduceOptions(
        tmp_path,
        data=norb_files,
        methods=("clsnet", "drlim"),
        repeats=2,
        iterations=1_000,
        size=24,
        select=False,
        engine=LocalEngine(1),
    )
    (table,) = reproduce_norb(options).values()
    assert table.row("clsnet").mean("top1") > 15  # chance is 4
    assert table.row("drlim").mean("top1") > table.row("clsnet").mean("top1")
