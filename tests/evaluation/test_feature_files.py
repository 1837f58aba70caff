"""Features as files, with the identities of their frames."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.evaluation import embed
from egoequiv.evaluation.feature_files import write_features
from egoequiv.evaluation.run_model import RunModel
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.store import FrameStore, frame_batches
from egoequiv.store.inputs import open_inputs


@pytest.fixture
def net(small_store: FrameStore) -> EgoNet:
    made = EgoNet(NetSpec("norb", small_store.image_shape))
    initialise(made, torch.Generator().manual_seed(1))
    return made


@pytest.fixture
def model(net: EgoNet) -> RunModel:
    return RunModel(net, None, {})


def test_parquet_has_features_and_identities(
    net: EgoNet, model: RunModel, small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_batches, "BATCH", 50)
    told: list[tuple[int, int]] = []
    inputs = open_inputs([str(small_store.path)])
    written = write_features(model, inputs, tmp_path / "z.parquet", lambda *done: told.append(done))
    assert written.files == (tmp_path / "z.parquet",)
    assert (written.frames, written.features, written.broken) == (len(small_store), 100, ())
    table = pq.read_table(tmp_path / "z.parquet")
    assert table.column_names[:3] == ["recording", "frame", "label"]
    assert table.column_names[-1] == "features"
    assert np.allclose(np.stack(table["features"].to_pylist()).astype(np.float32), embed(net, small_store), atol=1e-6)
    assert table["recording"].to_pylist() == [small_store.recording_names[k] for k in small_store.recording]
    assert table["frame"].to_pylist() == small_store.frame.tolist()
    for name, values in small_store.attributes.items():
        assert table[f"attr_{name}"].to_pylist() == values.tolist()
    assert table.schema.field("features").type.list_size == 100
    assert pq.ParquetFile(tmp_path / "z.parquet").num_row_groups == 3
    assert told[-1] == (len(small_store), len(small_store))
    assert table.schema.metadata[b"part"] == b"all"


def test_an_array_has_the_identities_beside_it(
    net: EgoNet, model: RunModel, small_store: FrameStore, tmp_path: Path
) -> None:
    written = write_features(model, open_inputs([str(small_store.path)]), tmp_path / "z.npy")
    assert [path.name for path in written.files] == ["z.npy", "z.frames.parquet"]
    assert np.array_equal(np.load(written.files[0]), embed(net, small_store))
    assert np.load(written.files[0], mmap_mode="r").shape == (len(small_store), 100)
    assert pq.read_table(written.files[1])["frame"].to_pylist() == small_store.frame.tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["z.frames.parquet", "z.npy"]


@pytest.mark.parametrize("name", ["z.npy", "z.parquet"])
def test_broken_pictures_leave_no_file_or_no_row(model: RunModel, tmp_path: Path, name: str) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for k in range(5):
        Image.fromarray(np.full((12, 12), 40 * k, np.uint8)).save(photos / f"{k}.png")
    (photos / "3.png").write_bytes(b"")
    out = tmp_path / "out" / name
    with pytest.raises(BrokenFrameError, match=r"3\.png"):
        write_features(model, open_inputs([str(photos)]), out)
    assert list(out.parent.iterdir()) == []
    written = write_features(model, open_inputs([str(photos)]), out, skip_broken=True)
    assert written.frames == 4
    assert len(written.broken) == 1
    identities = pq.read_table(written.files[-1])
    assert identities["file"].to_pylist() == ["0.png", "1.png", "2.png", "4.png"]
    levels = np.array([0, 40, 80, 160], np.uint8)[:, None, None, None] * np.ones((1, 12, 12, 1), np.uint8)
    found = np.load(out) if name == "z.npy" else np.stack(identities["features"].to_pylist()).astype(np.float32)
    np.testing.assert_allclose(found, model.embed(levels), atol=1e-5)
    for path in photos.iterdir():
        path.write_bytes(b"")
    with pytest.raises(DataError, match="none of 5 frames can be read"):
        write_features(model, open_inputs([str(photos)]), tmp_path / "none" / name, skip_broken=True)


def test_memory_does_not_grow_with_the_number_of_frames(
    model: RunModel, small_store: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures are 256 x 256: 64 kB each when decoded, so that 60 of them would show."""
    monkeypatch.setattr(frame_batches, "BATCH", 8)
    photos = tmp_path / "photos"
    photos.mkdir()
    for k in range(60):
        Image.fromarray(np.full((256, 256), k, np.uint8)).save(photos / f"{k}.png")

    def peak(pattern: str) -> int:
        inputs = open_inputs([str(photos / pattern)])
        write_features(model, inputs, tmp_path / "z.parquet")  # whatever is imported and cached on the way
        tracemalloc.start()
        write_features(model, inputs, tmp_path / "z.parquet")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = peak("1?.png"), peak("*.png")
    assert many - few < 10 * 256 * 256


@pytest.mark.parametrize("name", ["z.npy", "z.parquet"])
def test_a_diverged_network_leaves_no_file(net: EgoNet, small_store: FrameStore, tmp_path: Path, name: str) -> None:
    with torch.no_grad():
        net.encoder.features.bias.fill_(float("nan"))  # type: ignore[union-attr, operator]
    with pytest.raises(DataError, match=r"frame 0 of .* are not finite"):
        write_features(RunModel(net, None, {}), open_inputs([str(small_store.path)]), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_another_ending_and_another_part_are_refused(model: RunModel, small_store: FrameStore, tmp_path: Path) -> None:
    inputs = open_inputs([str(small_store.path)])
    with pytest.raises(ConfigError, match=r"\.parquet or \.npy"):
        write_features(model, inputs, tmp_path / "z.csv")
    with pytest.raises(ConfigError, match="no part 'invariant': it has no parts"):
        write_features(model, inputs, tmp_path / "z.npy", part="invariant")
