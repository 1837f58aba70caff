"""Features as files, with the identities of their frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from drives import drive_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import embed, features
from egoequiv.evaluation.feature_files import identities, write_features
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.store import FrameStore, ingest


@pytest.fixture
def net(small_store: FrameStore) -> EgoNet:
    made = EgoNet(NetSpec("norb", small_store.image_shape))
    initialise(made, torch.Generator().manual_seed(1))
    return made


def test_parquet_has_features_and_identities(
    net: EgoNet, small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "BATCH", 50)
    assert write_features(net, small_store, tmp_path / "z.parquet") == [tmp_path / "z.parquet"]
    table = pq.read_table(tmp_path / "z.parquet")
    assert table.column_names == ["recording", "frame", "label", "features"]
    assert np.array_equal(np.stack(table["features"].to_pylist()).astype(np.float32), embed(net, small_store))
    assert table["recording"].to_pylist() == [small_store.recording_names[k] for k in small_store.recording]
    assert table["frame"].to_pylist() == small_store.frame.tolist()
    assert table.schema.field("features").type.list_size == 100


def test_an_array_has_the_identities_beside_it(net: EgoNet, small_store: FrameStore, tmp_path: Path) -> None:
    files = write_features(net, small_store, tmp_path / "z.npy")
    assert [path.name for path in files] == ["z.npy", "z.frames.parquet"]
    assert np.array_equal(np.load(files[0]), embed(net, small_store))
    assert pq.read_table(files[1]).equals(identities(small_store))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["z.frames.parquet", "z.npy"]


def test_identities_hold_what_the_store_knows(small_store: FrameStore, tmp_path: Path) -> None:
    drive = ingest(drive_source(), tmp_path / "drive", size=(8, 8))
    assert drive.times_s is not None
    assert identities(drive)["time_s"].to_pylist() == drive.times_s.tolist()
    files = np.array(["a.png", ""] * (len(small_store) // 2))
    named = replace(small_store, files=files, labels=np.where(np.arange(len(small_store)) == 1, -1, small_store.labels))
    table = identities(named)
    assert table["file"].to_pylist()[:2] == ["a.png", None]
    assert table["label"].to_pylist()[:2] == [small_store.class_names[small_store.labels[0]], None]


@pytest.mark.parametrize("name", ["z.npy", "z.parquet"])
def test_a_diverged_network_leaves_no_file(net: EgoNet, small_store: FrameStore, tmp_path: Path, name: str) -> None:
    with torch.no_grad():
        net.encoder.features.bias.fill_(float("nan"))  # type: ignore[union-attr, operator]
    with pytest.raises(DataError, match="frame 0 are not finite"):
        write_features(net, small_store, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_another_ending_is_refused(net: EgoNet, small_store: FrameStore, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.parquet or \.npy"):
        write_features(net, small_store, tmp_path / "z.csv")
