"""Features written back into copies of LeRobot data sets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from egoequiv.catalog import open_source
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.evaluation.lerobot_copy import COLUMN, append_features, with_column
from egoequiv.evaluation.lerobot_stats import FeatureStats
from egoequiv.evaluation.run_model import RunModel
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.store import fit_image
from logs.lerobot import data_file, shared_data_file, video_file, write_v3, write_v21


@pytest.fixture
def model() -> RunModel:
    net = EgoNet(NetSpec("norb", (8, 10, 3)))
    initialise(net, torch.Generator().manual_seed(3))
    return RunModel(net, None, {})


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def column_of(file: Path) -> np.ndarray:
    return np.stack(pq.read_table(file)[COLUMN].to_pylist()).astype(np.float32)


def test_version_2_1(model: RunModel, tmp_path: Path) -> None:
    root, copy = tmp_path / "set", tmp_path / "copy"
    write_v21(root, (12, 9))
    (root / "meta" / "episodes_stats.jsonl").write_text('{"episode_index": 1, "stats": {"action": {"count": [9]}}}\n')
    before = contents(root)
    written = append_features(model, root, copy)
    assert (written.files, written.frames, written.features, written.broken) == ((copy,), 21, 100, ())
    assert contents(root) == before
    assert video_file(copy, 0).samefile(video_file(root, 0))
    source = open_source("lerobot", copy)
    assert not any("features" in note for note in source.notes)
    for episode, recording in enumerate(source.recordings):
        images = np.stack([fit_image(image, 8, 10, 3) for image in recording.images(range(len(recording)))])
        np.testing.assert_allclose(column_of(data_file(copy, episode)), model.embed(images), atol=1e-5)
        old, new = pq.read_table(data_file(root, episode)), pq.read_table(data_file(copy, episode))
        assert new.column_names == [*old.column_names, COLUMN]
        assert new.drop([COLUMN]).equals(old)
    info = json.loads((copy / "meta" / "info.json").read_text())
    assert info["features"][COLUMN] == {"dtype": "float32", "shape": [100], "names": None}
    del info["features"][COLUMN]
    assert info == json.loads((root / "meta" / "info.json").read_text())
    stats = json.loads((copy / "meta" / "episodes_stats.jsonl").read_text())["stats"]
    assert stats["action"] == {"count": [9]}
    np.testing.assert_allclose(stats[COLUMN]["mean"], column_of(data_file(copy, 1)).mean(axis=0), atol=1e-5)
    again = open_source("lerobot", copy, columns=COLUMN)
    np.testing.assert_allclose(again.recordings[0].poses, column_of(data_file(copy, 0)))


def test_version_3_has_several_episodes_in_a_table(model: RunModel, tmp_path: Path) -> None:
    root, copy = tmp_path / "set", tmp_path / "copy"
    write_v3(root, (12, 9, 15))
    (root / "meta" / "stats.json").write_text('{"action": {"count": [36]}}')
    before = contents(root)
    append_features(model, root, copy)
    assert contents(root) == before
    found = column_of(shared_data_file(copy))
    source = open_source("lerobot", copy)
    images = [fit_image(image, 8, 10, 3) for one in source.recordings for image in one.images(range(len(one)))]
    np.testing.assert_allclose(found, model.embed(np.stack(images)), atol=1e-5)
    stats = json.loads((copy / "meta" / "stats.json").read_text())
    np.testing.assert_allclose(stats[COLUMN]["std"], found.std(axis=0), atol=1e-5)
    assert stats[COLUMN]["count"] == [36]
    assert not list(copy.rglob(".*"))


def test_rows_without_a_picture_are_an_error_or_not_numbers(model: RunModel, tmp_path: Path) -> None:
    root = tmp_path / "set"
    write_v21(root, (12, 9))
    video_file(root, 1).unlink()
    with pytest.raises(BrokenFrameError, match=r"episode_000001\.parquet, row 0: no picture .*8 other rows"):
        append_features(model, root, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    written = append_features(model, root, tmp_path / "copy", skip_broken=True)
    assert len(written.broken) == 9
    assert np.isnan(column_of(data_file(tmp_path / "copy", 1))).all()
    assert np.isfinite(column_of(data_file(tmp_path / "copy", 0))).all()


def test_what_is_not_possible_is_one_line(model: RunModel, tmp_path: Path) -> None:
    root = tmp_path / "set"
    write_v21(root, (4,))
    with pytest.raises(ConfigError, match="has a feature 'action' already"):
        append_features(model, root, tmp_path / "copy", column="action")
    with pytest.raises(ConfigError, match="never changed"):
        append_features(model, root, root / "copy")
    with pytest.raises(DataError, match="not the folder of a LeRobot data set"):
        append_features(model, tmp_path, tmp_path / "copy")
    (tmp_path / "copy").mkdir()
    with pytest.raises(DataError, match="exists already"):
        append_features(model, root, tmp_path / "copy")


def test_what_the_datasets_library_keeps_stays_in_step() -> None:
    kept = {"info": {"features": {"action": {"feature": {"dtype": "float32", "_type": "Value"}, "_type": "List"}}}}
    schema = pa.schema([("action", pa.list_(pa.float32(), 3))], {b"huggingface": json.dumps(kept).encode()})
    found = with_column(schema, "z", 5)
    assert found.field("z").type == pa.list_(pa.float32(), 5)
    said = json.loads(found.metadata[b"huggingface"])["info"]["features"]["z"]
    assert said == {"feature": {"dtype": "float32", "_type": "Value"}, "length": 5, "_type": "List"}
    assert with_column(pa.schema([("s", pa.list_(pa.float32()))]), "z", 5).field("z").type == pa.list_(pa.float32())


def test_statistics_of_episodes_and_of_all_rows() -> None:
    stats = FeatureStats()
    assert stats.whole() is None
    stats.add(0, np.array([[1.0, 4.0], [3.0, 0.0]], np.float32))
    stats.add(7, np.array([[5.0, 2.0], [np.nan, np.nan]], np.float32))
    assert stats.episodes[0] == {"min": [1, 0], "max": [3, 4], "mean": [2, 2], "std": [1, 2], "count": [2]}
    whole = stats.whole()
    assert whole is not None
    assert (whole["mean"], whole["min"], whole["max"], whole["count"]) == ([3, 2], [1, 0], [5, 4], [3])
    np.testing.assert_allclose(whole["std"], np.std([[1, 4], [3, 0], [5, 2]], axis=0))
