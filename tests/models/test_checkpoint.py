"""Checkpoints: what is saved comes back, and damaged files are refused in one clear line."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from egoequiv.models import EgoNet, NetSpec, checkpoint, initialise, load_model
from egoequiv.models.checkpoint import load_tensors, save_spec, save_tensors
from helpers import data_error

SPEC = NetSpec("norb", (3, 4, 1), ("up",), ("a", "b"))


def saved_run(folder: Path, spec: NetSpec = SPEC, name: str = "last", seed: int = 0) -> EgoNet:
    net = EgoNet(spec)
    initialise(net, torch.Generator().manual_seed(seed))
    net.set_normalisation([100.0], [30.0])
    save_spec(folder, spec)
    tensors = {f"model.{key}": value for key, value in net.state_dict().items()}
    save_tensors(folder / f"{name}.safetensors", {**tensors, "optimizer.step": torch.tensor(3)}, {"iteration": 7})
    return net


def test_tensors_round_trip(tmp_path: Path) -> None:
    tensors = {
        "a": torch.arange(6.0).view(2, 3).T,  # not contiguous
        "b": torch.tensor(3, dtype=torch.int64),
        "c": torch.tensor([1.5, -2.25], dtype=torch.float64, requires_grad=True),
        "d": torch.empty(0, 4),
    }
    meta = {"iteration": 12, "best": 0.1 + 0.2, "names": ["x"], "none": None}
    path = tmp_path / "folder" / "t.safetensors"
    save_tensors(path, tensors, meta)
    loaded, loaded_meta = load_tensors(path)
    assert loaded_meta == meta
    assert set(loaded) == set(tensors)
    for name, tensor in tensors.items():
        assert loaded[name].dtype == tensor.dtype
        assert loaded[name].shape == tensor.shape
        assert torch.equal(loaded[name], tensor)
    assert [p.name for p in path.parent.iterdir()] == ["t.safetensors"]


def test_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = {"a": torch.ones(3), "b": torch.zeros(2)}, {"b": torch.zeros(2), "a": torch.ones(3)}
    save_tensors(tmp_path / "1", first, {"x": 1, "y": 2})
    save_tensors(tmp_path / "2", second, {"y": 2, "x": 1})
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_loaded_tensors_do_not_depend_on_the_file(tmp_path: Path) -> None:
    save_tensors(tmp_path / "t", {"a": torch.ones(3)}, {})
    loaded, _ = load_tensors(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"\0" * (tmp_path / "t").stat().st_size)
    assert loaded["a"].tolist() == [1, 1, 1]


def test_a_network_round_trip(tmp_path: Path) -> None:
    net = saved_run(tmp_path)
    again = load_model(tmp_path)
    images = torch.randint(0, 256, (5, 3, 4, 1), dtype=torch.uint8)
    assert torch.equal(again(images), net(images))
    assert again.spec == SPEC
    assert not again.training
    for name, value in net.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)


def test_the_checkpoint_may_be_chosen(tmp_path: Path) -> None:
    last, best = saved_run(tmp_path, name="last", seed=1), saved_run(tmp_path, name="best", seed=2)
    for which, net in (("last", last), ("best", best)):
        weight = load_model(str(tmp_path), which).encoder.state_dict()["hidden.weight"]  # type: ignore[arg-type]
        assert torch.equal(weight, net.encoder.state_dict()["hidden.weight"])


def test_a_path_that_is_no_run_is_named(tmp_path: Path) -> None:
    with data_error(str(tmp_path / "nowhere"), "does not exist", "egoequiv train"):
        load_model(tmp_path / "nowhere")
    with data_error(str(tmp_path / "model.json"), "missing"):
        load_model(tmp_path)
    (tmp_path / "file").touch()
    with data_error(str(tmp_path / "file"), "is a file"):
        load_model(tmp_path / "file")


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    saved_run(tmp_path)
    with data_error(str(tmp_path / "best.safetensors"), "missing"):
        load_model(tmp_path, "best")


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.01, 0.5, 0.9999])
def test_a_checkpoint_cut_short_is_named(tmp_path: Path, keep: float) -> None:
    saved_run(tmp_path)
    path = tmp_path / "last.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with data_error(str(path), "damaged"):
        load_model(tmp_path)


@pytest.mark.parametrize("content", [b"\x00" * 999, b"\xff" * 999, b"PK\x03\x04" * 99, b"hello " * 99])
def test_a_checkpoint_of_something_else_is_named(tmp_path: Path, content: bytes) -> None:
    saved_run(tmp_path)
    (tmp_path / "last.safetensors").write_bytes(content)
    with data_error(str(tmp_path / "last.safetensors"), "damaged"):
        load_model(tmp_path)


def test_a_damaged_header_is_named(tmp_path: Path) -> None:
    saved_run(tmp_path)
    path = tmp_path / "last.safetensors"
    content = bytearray(path.read_bytes())
    content[20:40] = b"\xff" * 20
    path.write_bytes(bytes(content))
    with data_error(str(path), "damaged"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        NetSpec("norb", (3, 5, 1), ("up",), ("a", "b")),
        NetSpec("norb", (3, 4, 1), ("up", "right"), ("a", "b")),
        NetSpec("norb", (3, 4, 1), ("up",), ()),
        NetSpec("norb", (3, 4, 1), (), ("a", "b")),
    ],
)
def test_weights_of_another_network_are_named(tmp_path: Path, other: NetSpec) -> None:
    saved_run(tmp_path)
    save_spec(tmp_path, other)
    with data_error(str(tmp_path / "last.safetensors"), "does not fit", str(tmp_path / "model.json")):
        load_model(tmp_path)


@pytest.mark.parametrize("content", ["{}", "[]", "null", '{"encoder": "norb", "image_shape": [1]}'])
def test_a_damaged_description_is_named(tmp_path: Path, content: str) -> None:
    saved_run(tmp_path)
    (tmp_path / "model.json").write_text(content)
    with data_error(str(tmp_path / "model.json"), "damaged"):
        load_model(tmp_path)


@pytest.mark.parametrize("changes", [{"version": 2}, {"format": "egoequiv-store"}])
def test_a_description_of_another_format_is_named(tmp_path: Path, changes: dict[str, object]) -> None:
    saved_run(tmp_path)
    meta = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**meta, **changes}))
    with data_error(str(tmp_path / "model.json"), "version 1"):
        load_model(tmp_path)


def test_a_full_disk_keeps_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.safetensors"
    save_tensors(path, {"a": torch.ones(2)}, {"iteration": 1})

    def full(tensors: object, file: Path, meta: object) -> None:
        file.write_bytes(b"half")
        raise SafetensorError(f"I/O error: {os.strerror(errno.ENOSPC)}")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with data_error(str(path), "No space left on device"):
        save_tensors(path, {"a": torch.zeros(2)}, {"iteration": 2})
    loaded, meta = load_tensors(path)
    assert meta == {"iteration": 1}
    assert loaded["a"].tolist() == [1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["t.safetensors"]


def test_weights_that_are_used_twice_are_saved_twice(tmp_path: Path) -> None:
    weight = torch.arange(4.0)
    save_tensors(tmp_path / "t", {"a": weight, "b": weight, "c": weight.view(2, 2)}, {})
    loaded, _ = load_tensors(tmp_path / "t")
    assert torch.equal(loaded["a"], loaded["b"])
    assert torch.equal(loaded["c"], weight.view(2, 2))
