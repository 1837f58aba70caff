"""An export gives the features of its run on 1,000 real images: ONNX, torch.export and torch."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from egoequiv.evaluation.run_model import open_run_model
from egoequiv.exporting import export_run, open_model
from egoequiv.sources import norb
from egoequiv.store import ingest
from egoequiv.training import train

CLOSE = 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("method", ["recording+motion", "equiv"])
def test_thousand_images_of_norb(method: str, norb_files: Path, tmp_path: Path) -> None:
    store = ingest(norb(norb_files), tmp_path / "store", size=(32, 32))
    settings = {"use_labels": False, "iterations": 20, "batch_size": 16, "split": "by-recording"}
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
    for engine in ("onnx", "torch"):
        np.testing.assert_allclose(open_model(tmp_path / "model", engine).embed(images), features, atol=CLOSE)
