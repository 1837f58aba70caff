"""Stored cells: what the backbone gives, computed once, kept over a stop, and never those of something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from egoequiv.errors import DataError
from egoequiv.evaluation import embed
from egoequiv.models import EgoNet, NetSpec
from egoequiv.models import stored as module
from egoequiv.models.foreign.backbone import _shared_model
from egoequiv.models.head import BackboneHead
from egoequiv.models.stored import BATCH, changed_light, has_cells, stored_cells
from egoequiv.store import FrameStore, fit_image, ingest
from helpers import data_error, grid_source
from tiny_backbones import TINY, write_tiny


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FrameStore:
    """A store that a test may write to; nothing of other stores is open."""
    monkeypatch.setattr(module, "_OPENED", {})
    return ingest(grid_source(color=True), tmp_path / "store", color=True, workers=1)


@pytest.fixture(scope="module")
def dinov2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny("dinov2", tmp_path_factory.mktemp("tiny"))


def head(folder: Path, **changes: Any) -> BackboneHead:
    settings = {"size": "28x28", "grid": "2x1", "hidden": 8, "feature_dim": 4, **changes}
    return BackboneHead((12, 12, 3), str(folder), **settings)


def files_of(store: FrameStore) -> list[Path]:
    return sorted((store.path / "cells").glob("*.f16"))


def test_they_are_those_of_the_backbone(store: FrameStore, dinov2: Path) -> None:
    encoder = head(dinov2)
    cells = stored_cells(encoder, store)
    pixels = torch.from_numpy(np.array(store.images)).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        expected = encoder.backbone(pixels).numpy()
    assert (cells.shape, cells.dtype) == ((144, 16), np.float16)
    np.testing.assert_allclose(cells, expected, atol=0.03)
    assert stored_cells(encoder, store) is cells


def test_a_variant_sees_another_light(store: FrameStore, dinov2: Path) -> None:
    encoder, rows = head(dinov2), np.arange(len(store))
    pixels = torch.from_numpy(np.array(store.images)).float() / 255
    with torch.no_grad():
        expected = encoder.backbone(changed_light(pixels, rows, 2).permute(0, 3, 1, 2)).numpy()
    np.testing.assert_allclose(stored_cells(encoder, store, 2), expected, atol=0.03)
    assert np.abs(np.float32(stored_cells(encoder, store)) - expected).max() > 0.1


def test_light_depends_on_the_row_and_the_variant_alone(store: FrameStore) -> None:
    pixels, rows = torch.from_numpy(np.array(store.images[:6])).float() / 255, np.arange(6)
    changed = changed_light(pixels, rows, 1)
    assert torch.equal(changed_light(pixels[3:5], rows[3:5], 1), changed[3:5])
    assert not torch.equal(changed_light(pixels, rows, 2), changed)
    assert not torch.equal(changed_light(pixels, rows + 6, 1), changed)
    assert float(changed.min()) >= 0
    assert float(changed.max()) <= 1


def test_a_stopped_computation_goes_on_to_the_same_bytes(
    store: FrameStore, dinov2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = head(dinov2)
    stored_cells(encoder, store)
    (path,) = files_of(store)
    whole = path.read_bytes()
    path.unlink()

    def stop(_what: str, done: int, _count: int) -> None:
        if done == 2 * BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored_cells(encoder, store, on_progress=stop)
    assert not files_of(store)
    (partial,) = (store.path / "cells").glob("*.partial")
    assert 0 < partial.stat().st_size < len(whole)
    with partial.open("ab") as file:
        file.write(b"\1" * 7)  # a batch that was being written when the command was killed
    done: list[int] = []
    stored_cells(encoder, store, on_progress=lambda _what, now, _count: done.append(now))
    assert path.read_bytes() == whole
    assert done[0] > BATCH  # the first batch was kept
    assert not list((store.path / "cells").glob("*.partial"))


def test_whatever_decides_them_has_a_file_of_its_own(
    store: FrameStore, dinov2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoders = [
        head(dinov2),
        head(dinov2, layer="encoder.layer.0"),
        head(dinov2, size="28x42"),
        head(dinov2, grid="1x2"),
        head(write_tiny("dinov2-with-registers", tmp_path)),
    ]
    for number, encoder in enumerate(encoders, 1):
        stored_cells(encoder, store)
        assert len(files_of(store)) == number
    stored_cells(encoders[0], store, 1)
    assert len(files_of(store)) == 6
    # What is trained on them does not: searches share one file.
    stored_cells(head(dinov2, hidden=4, feature_dim=6, components=3, dropout=0.0), store)
    assert len(files_of(store)) == 6
    other = ingest(grid_source(color=True, light=0.5), tmp_path / "darker", color=True, workers=1)
    stored_cells(encoders[0], other)
    assert {path.name for path in files_of(other)}.isdisjoint(path.name for path in files_of(store))


def test_other_weights_at_the_same_place_have_a_file_of_their_own(store: FrameStore, tmp_path: Path) -> None:
    first = stored_cells(head(write_tiny("dinov2", tmp_path)), store)
    torch.manual_seed(1)
    TINY["dinov2"][0]().save_pretrained(tmp_path / "dinov2")
    _shared_model.cache_clear()  # as in another command
    second = stored_cells(head(tmp_path / "dinov2"), store)
    assert len(files_of(store)) == 2
    assert not np.array_equal(first, second)


def test_a_damaged_file_is_one_line(store: FrameStore, dinov2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = head(dinov2)
    stored_cells(encoder, store)
    (path,) = files_of(store)
    with path.open("r+b") as file:
        file.truncate(100)
    monkeypatch.setattr(module, "_OPENED", {})  # as in another command
    with data_error(path.name, "is damaged (it has 100 bytes): remove it"):
        stored_cells(encoder, store)


def test_numbers_that_are_not_finite_are_refused(
    store: FrameStore, dinov2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = head(dinov2)
    monkeypatch.setattr(encoder.backbone, "forward", lambda images: torch.full((len(images), 16), torch.nan))
    with pytest.raises(DataError, match="numbers that are not finite for frames 0 on"):
        stored_cells(encoder, store)
    assert not files_of(store)


def test_only_a_frozen_backbone_has_them(store: FrameStore, dinov2: Path) -> None:
    def net(**settings: Any) -> EgoNet:
        known = {"backbone": str(dinov2), "size": "28x28", "feature_dim": 4}
        return EgoNet(NetSpec("backbone", (12, 12, 3), encoder_settings={**known, **settings}))

    assert has_cells(net(), store)
    assert not has_cells(net(fine_tune=1), store)
    assert not has_cells(EgoNet(NetSpec("norb", (12, 12, 3))), store)
    in_memory = FrameStore(**{**store.__dict__, "path": Path("nowhere")})
    assert not has_cells(net(), in_memory)


def test_a_gray_run_sees_a_log_in_colour_in_gray(store: FrameStore, dinov2: Path) -> None:
    settings = {"backbone": str(dinov2), "size": "28x28", "feature_dim": 4, "hidden": 8}
    net = EgoNet(NetSpec("backbone", (12, 12, 1), encoder_settings=settings)).eval()
    gray = np.stack([fit_image(image, 12, 12, 1) for image in np.array(store.images)])
    np.testing.assert_allclose(embed(net, store, fit=True), embed(net, gray), atol=1e-5)
    assert not files_of(store)
