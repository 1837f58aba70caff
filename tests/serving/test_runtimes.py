"""A run and its export, by torch and by onnxruntime: the service gives the same features."""

from pathlib import Path

import numpy as np
import pytest

from egoequiv.cli.serve import open_service
from egoequiv.exporting import export_run
from egoequiv.serving.limits import Limits
from egoequiv.store import FrameStore
from egoequiv.training import TrainConfig, run_training
from serving.known import client_of, png, text_of


@pytest.mark.slow
def test_all_engines_give_the_same(small_store: FrameStore, tmp_path: Path) -> None:
    settings = {"method": "recording+motion", "use_labels": False, "iterations": 2, "encoder": "norb", "batch_size": 8}
    run_training(TrainConfig(data=str(small_store.path), **settings), tmp_path / "run")
    export_run(tmp_path / "run", tmp_path / "export")
    views = [{"image": text_of(png(image))} for image in small_store.images[::5]]
    found: list[tuple[object, object]] = []
    for folder, engine in (("run", "torch"), ("export", "torch"), ("export", "onnx")):
        place = str(small_store.path)
        service = open_service(tmp_path / folder, place, Limits(), engine, "last", "cpu")
        with client_of(service) as client:
            features = client.post("/v1/embed", json={"views": views}).json()["features"]
            body = {"view": views[0], "motions": ["up", "right"]}
            found.append((features, client.post("/v1/predict", json=body).json()["features"]))
            assert client.post("/v1/next-view", json={"view": {"frame": 0}}).status_code == 200
    for features, predicted in found[1:]:
        np.testing.assert_allclose(features, found[0][0], atol=1e-5)
        np.testing.assert_allclose(predicted, found[0][1], atol=1e-5)
