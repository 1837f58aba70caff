"""Runs that begin with a pretrained network: resumed to the same bytes, and the network missed or changed later."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from drives import drive_source
from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.evaluation import embed
from egoequiv.models import load_model
from egoequiv.models.checkpoint import load_spec
from egoequiv.models.foreign.backbone import _shared_model
from egoequiv.store import FrameStore, ingest
from egoequiv.training import make_config, train
from egoequiv.training.jobs import Job
from egoequiv.training.many import plan
from egoequiv.training.run_folder import RunFolder
from tiny_backbones import TINY, write_graphs, write_tiny
from training.test_conv_resume import FILES, interrupt_at

SHORT: dict[str, Any] = {"method": "place+motion", "use_labels": False, "batch_size": 8, "threads": 1}
SHORT |= {"iterations": 6, "log_every": 2, "checkpoint_every": 2, "validate_every": 2, "motion_pairs": 200}
SMALL = {"size": "28x28", "hidden": 8, "feature_dim": 8, "components": 8, "variants": 1}


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> FrameStore:
    return ingest(drive_source(2), tmp_path_factory.mktemp("drives") / "store", workers=1)


def settings(backbone: object, **changes: Any) -> dict[str, Any]:
    return {**SHORT, "encoder_settings": {"backbone": str(backbone), **SMALL, **changes}}


def changed(folder: Path) -> None:
    """Put other weights of the same shape into a folder of transformers, as another command finds them."""
    torch.manual_seed(1)
    TINY["dinov2"][0]().save_pretrained(folder)
    _shared_model.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("fine_tune", [0, 1])
@pytest.mark.parametrize(("name", "size"), [("dinov2", "28x28"), ("dinov3", "32x32")])
def test_a_stopped_run_goes_on_to_the_same_bytes(
    name: str, size: str, fine_tune: int, drives: FrameStore, tmp_path: Path
) -> None:
    given = settings(write_tiny(name, tmp_path), size=size, fine_tune=fine_tune)
    whole = train(drives.path, tmp_path / "whole", **given)
    with pytest.raises(KeyboardInterrupt):
        train(drives.path, tmp_path / "cut", on_metrics=interrupt_at(2), **given)
    train(drives.path, tmp_path / "cut", resume=True, **given)
    for file in FILES:
        if (whole.path / file).exists():
            assert (tmp_path / "cut" / file).read_bytes() == (whole.path / file).read_bytes(), file
    features = embed(whole.path, drives)
    assert features.shape == (len(drives), 8)
    np.testing.assert_allclose(features, embed(tmp_path / "cut", drives), atol=1e-6)


def test_only_the_last_block_moves(drives: FrameStore, tmp_path: Path) -> None:
    folder = write_tiny("dinov2", tmp_path)
    run = train(drives.path, tmp_path / "run", **settings(folder, fine_tune=1))
    before, after = TINY["dinov2"][0](), load_model(run.path).encoder.backbone.module
    before = type(before).from_pretrained(folder)
    for name, tensor in before.state_dict().items():
        assert torch.equal(after.state_dict()[name], tensor) == (".layer.1." not in f".{name}"), name


@pytest.mark.parametrize("kind", ["pt2", "onnx", "code"])
def test_other_kinds_of_backbones(kind: str, drives: FrameStore, tmp_path: Path) -> None:
    program, graph = write_graphs(tmp_path)
    backbone = {"pt2": program, "onnx": graph, "code": "tiny_backbones:convolutions"}[kind]
    run = train(drives.path, tmp_path / "run", **settings(backbone, size="20x24", grid="2x3"))
    features = embed(run.path, drives)
    assert features.shape == (len(drives), 8)
    images = np.array(drives.images[::40])
    np.testing.assert_allclose(embed(run.path, images), features[::40], atol=0.05)  # cells are float16


def test_the_cells_do_not_depend_on_how_the_network_is_given(drives: FrameStore, tmp_path: Path) -> None:
    program, graph = write_graphs(tmp_path)
    images, found = np.array(drives.images[::40]), []
    for number, backbone in enumerate((program, graph, "tiny_backbones:convolutions")):
        run = train(drives.path, tmp_path / f"run-{number}", **settings(backbone, size="20x24", grid="2x3"))
        pixels = torch.from_numpy(images).permute(0, 3, 1, 2) / 255
        with torch.no_grad():
            found.append(load_model(run.path).encoder.backbone(pixels))
    torch.testing.assert_close(found[0], found[1], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found[0], found[2], atol=1e-4, rtol=1e-4)


def test_a_run_is_opened_from_any_folder(drives: FrameStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny("dinov2", tmp_path)
    monkeypatch.chdir(tmp_path)
    train(drives.path, "run", **settings("dinov2"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert embed("../run", drives).shape == (len(drives), 8)
    assert load_spec(Path("../run")).encoder_settings["backbone"] == str(tmp_path / "dinov2")


def test_a_backbone_that_is_gone_or_has_other_weights_is_one_line(drives: FrameStore, tmp_path: Path) -> None:
    folder = write_tiny("dinov2", tmp_path)
    run = train(drives.path, tmp_path / "run", **settings(folder)).path
    shutil.copytree(folder, tmp_path / "kept")
    changed(folder)
    with pytest.raises(ConfigError, match="has other weights than when the run was trained") as other:
        load_model(run)
    shutil.rmtree(folder)
    _shared_model.cache_clear()
    with pytest.raises(ConfigError, match=r"backbone .*dinov2 does not exist: check its name; a run needs it") as gone:
        load_model(run)
    assert "\n" not in str(other.value) + str(gone.value)
    (tmp_path / "kept").rename(folder)
    load_model(run)


@pytest.mark.parametrize("fine_tune", [0, 1])
def test_no_run_goes_on_with_other_weights(fine_tune: int, drives: FrameStore, tmp_path: Path) -> None:
    folder = write_tiny("dinov2", tmp_path)
    given = settings(folder, fine_tune=fine_tune)
    with pytest.raises(KeyboardInterrupt):
        train(drives.path, tmp_path / "run", on_metrics=interrupt_at(2), **given)
    changed(folder)
    with pytest.raises(ConfigError, match=r"has other weights than when .*run began .*: put those back, or"):
        train(drives.path, tmp_path / "run", resume=True, **given)


def test_code_that_a_run_names_as_its_backbone_is_not_run(drives: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    code = tmp_path / "mine" / "network.py"
    code.write_text("import tiny_backbones\n\n\ndef build():\n    return tiny_backbones.convolutions()\n")
    given = settings(f"{code}:build", size="20x24")
    train(drives.path, tmp_path / "run", **given)
    other = tmp_path / "other.py"
    shutil.copy(code, other)
    config = tmp_path / "run" / "config.json"
    config.write_text(config.read_text().replace(str(code), str(other)))
    with pytest.raises(EgoEquivError, match=r"names the encoder .*other\.py:build, which you did not name"):
        RunFolder(tmp_path / "run").config()


def test_heads_are_trained_one_by_one(drives: FrameStore, tmp_path: Path) -> None:
    folder = write_tiny("dinov2", tmp_path)
    configs = [make_config({"data": str(drives.path), **settings(folder), "seed": seed}) for seed in range(3)]
    jobs = [Job(config, tmp_path / f"run-{number}") for number, config in enumerate(configs)]
    assert [len(stack) for stack in plan(jobs, jobs, 1)] == [1, 1, 1]


@pytest.mark.parametrize("kind", ["pt2", "onnx"])
def test_what_cannot_be_trained_further_is_one_line(kind: str, drives: FrameStore, tmp_path: Path) -> None:
    program, graph = write_graphs(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot be trained: leave out fine_tune|has 0 blocks") as caught:
        train(drives.path, tmp_path / "run", **settings(program if kind == "pt2" else graph, fine_tune=1))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()
