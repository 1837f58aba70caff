"""Heads exported with their backbones: one graph, which needs neither the run nor the backbone's own files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drives import drive_source
from egoequiv.errors import ConfigError
from egoequiv.evaluation import embed
from egoequiv.exporting import export_run, open_model
from egoequiv.exporting.card import CARD
from egoequiv.models.foreign.backbone import _shared_model
from egoequiv.serving.gallery import Gallery
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from tiny_backbones import write_graphs, write_tiny

SHORT: dict[str, Any] = {"method": "place+motion", "use_labels": False, "batch_size": 8, "threads": 1}
SHORT |= {"iterations": 2, "log_every": 2, "checkpoint_every": 2, "validate_every": 2, "motion_pairs": 200}
SMALL = {"hidden": 8, "feature_dim": 8, "components": 8, "variants": 0}

# The setting of the backbone, further settings, and what an export keeps of it.
KINDS: dict[str, tuple[dict[str, Any], str | None]] = {
    "dinov2": ({"size": "28x42", "grid": "2x2"}, "backbone"),
    "dinov3": ({"size": "32x32"}, "backbone"),
    "convnext": ({"size": "64x64", "layer": "encoder.stages.1", "grid": "3x3"}, "backbone"),
    "trained": ({"size": "28x28", "fine_tune": 1}, "backbone"),
    "layers": ({"size": "28x28", "layer": "encoder.layer.0+encoder.layer.1", "grid": "2x2+1x1"}, "backbone"),
    "pt2": ({"size": "20x24", "grid": "2x3"}, "backbone.pt2"),
    "onnx": ({"size": "20x24", "grid": "2x3"}, "backbone.onnx"),
    "code": ({"size": "20x24", "grid": "2x3"}, None),
}
TRANSFORMERS = {"trained": "dinov2", "layers": "dinov2"}


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(drive_source(2), tmp_path_factory.mktemp("drives") / "store", workers=1)


def backbone_of(kind: str, folder: Path) -> str:
    if kind in ("pt2", "onnx"):
        return str(write_graphs(folder)[kind == "onnx"])
    return "tiny_backbones:convolutions" if kind == "code" else str(write_tiny(TRANSFORMERS.get(kind, kind), folder))


def make_run(kind: str, drives: FrameStore, folder: Path) -> Path:
    settings = {"backbone": backbone_of(kind, folder), **SMALL, **KINDS[kind][0]}
    return train(drives.path, folder / "run", **SHORT, encoder_settings=settings).path


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_files_give_the_features_of_the_run(kind: str, drives: FrameStore, tmp_path: Path) -> None:
    run = make_run(kind, drives, tmp_path)
    images = np.array(drives.images[::60])
    expected = embed(run, images)
    motion = np.array([2.0, 5.0])
    model = open_model(run)
    after = model.after(expected[:, model.mapped], motion)
    kept = {path.name for path in (tmp_path / "run").iterdir()}
    names = {path.relative_to(tmp_path / "model").parts[0] for path in export_run(run, tmp_path / "model")}
    assert {path.name for path in (tmp_path / "run").iterdir()} == kept
    assert (KINDS[kind][1] in names) if KINDS[kind][1] else not any(name.startswith("backbone") for name in names)
    assert ("encoder.pt2" in names) == (kind != "onnx")
    for place in (tmp_path / "dinov2", tmp_path / "dinov3", tmp_path / "convnext"):
        shutil.rmtree(place, ignore_errors=True)  # the export has all that it needs
    _shared_model.cache_clear()
    for engine in ("onnx", "torch"):
        opened = open_model(tmp_path / "model", engine=engine)
        for count in (1, len(images)):
            np.testing.assert_allclose(opened.embed(images[:count]), expected[:count], atol=5e-5)
        np.testing.assert_allclose(opened.after(expected[:, opened.mapped], motion), after, atol=5e-5)
    gallery = Gallery.embed(open_model(tmp_path / "model"), drives, lambda *_: None)  # what is served
    assert len(gallery.rows) == len(drives)
    assert "Its backbone is" in " ".join((tmp_path / "model" / CARD).read_text().split())


def test_a_backbone_of_so_many_images_is_not_exported(drives: FrameStore, tmp_path: Path) -> None:
    program, _ = write_graphs(tmp_path, count=1)
    settings = {"backbone": str(program), **SMALL, "size": "20x24"}
    run = train(drives.path, tmp_path / "run", **SHORT, encoder_settings=settings).path
    assert embed(run, np.array(drives.images[:3])).shape == (3, 8)
    with pytest.raises(ConfigError, match="takes 1 image at a time, and an export takes any number"):
        export_run(run, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_file_of_a_backbone_is_checked(drives: FrameStore, tmp_path: Path) -> None:
    run = make_run("onnx", drives, tmp_path)
    export_run(run, tmp_path / "model")
    with (tmp_path / "model" / "backbone.onnx").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(Exception, match=r"backbone\.onnx") as caught:
        open_model(tmp_path / "model", engine="torch")
    assert "\n" not in str(caught.value)
