"""A run, its export and the service give the same features of 1,000 real images: ONNX, torch.export and torch."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray

from egoequiv.evaluation.run_model import open_run_model
from egoequiv.exporting import export_run, open_model
from egoequiv.models.motion_model import MotionModel
from egoequiv.serving.service import Service
from egoequiv.sources import norb
from egoequiv.store import FrameStore, ingest
from egoequiv.training import train
from serving.known import client_of, png

CLOSE = 1e-5


@pytest.mark.slow
def test_thousand_images_of_norb(norb_files: Path, tmp_path: Path) -> None:
    source = norb(norb_files)
    few = replace(source, recordings=source.recordings[::10])  # what is validated and measured once is small so
    store = ingest(few, tmp_path / "store", size=(32, 32))
    for method in ("recording+motion", "equiv"):
        check_all_files(method, store, tmp_path / method)


def check_all_files(method: str, store: FrameStore, tmp_path: Path) -> None:
    settings = {"use_labels": False, "iterations": 4, "batch_size": 16, "split": "by-recording"}
    run = train(store.path, tmp_path / "run", method=method, **settings).path
    export_run(run, tmp_path / "model")
    images = np.array(store.images[np.linspace(0, len(store) - 1, 1_000).astype(int)])
    model = open_run_model(run)
    features = model.embed(images)
    if model.takes_any:
        motion = np.random.default_rng(0).uniform((-40, -180), (40, 180), (1_000, 2)).astype(np.float32)
        expected = model.after(features[:, model.mapped], motion.astype(np.float64))
    else:
        motion = np.arange(1_000) % len(model.motions)
        named = np.stack([model.after(features[:, model.mapped], name) for name in model.motions])
        expected = named[motion, np.arange(1_000)]
    session = onnxruntime.InferenceSession(tmp_path / "model" / "moved.onnx")
    program = torch.export.load(tmp_path / "model" / "moved.pt2").module()
    by_onnx = session.run(["after", "features"], {"images": images, "motion": motion})
    by_torch = [one.detach().numpy() for one in program(torch.from_numpy(images), torch.from_numpy(motion))]
    for after, before in (by_onnx, by_torch):
        np.testing.assert_allclose(before, features, atol=CLOSE)
        np.testing.assert_allclose(after, expected, atol=CLOSE)
    for opened in (open_model(tmp_path / "model", "onnx"), open_model(tmp_path / "model", "torch"), model):
        np.testing.assert_allclose(opened.embed(images), features, atol=CLOSE)
        np.testing.assert_allclose(_served(opened, images), features, atol=CLOSE)


def _served(model: MotionModel, images: NDArray[np.uint8], count: int = 50) -> NDArray[np.float32]:
    """Features by the service, so many pictures in each request."""
    found = []
    with client_of(Service(model, "run")) as client:
        for start in range(0, len(images), count):
            files = [("images", ("a.png", png(image))) for image in images[start : start + count]]
            found += client.post("/v1/embed/files", files=files).json()["features"]
    return np.array(found, np.float32)
