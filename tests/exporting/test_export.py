"""The folder of an export: what is in it, whole or not at all, and encoders of users."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from PIL import Image
from safetensors import safe_open

from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation import embed
from egoequiv.exporting import export, export_run, open_export, open_model
from egoequiv.exporting.programs import onnx_of, write_program
from egoequiv.models.checksums import write_checksums
from egoequiv.store import FrameStore
from egoequiv.training import train
from exporting.exports import METHODS, TINY, make_run

Run = tuple[Path, Path]
GRAPHS = {f"{name}{ending}" for name in ("encoder", "maps", "moved") for ending in (".onnx", ".pt2")}
OTHERS = {"README.md", "checksums.txt", "config.json", "model.safetensors", "run_onnx.py"}


def test_the_folder_has_all_files_and_their_checksums(patterns: Run) -> None:
    folder = patterns[1]
    assert {path.name for path in folder.iterdir()} == GRAPHS | OTHERS
    checked = subprocess.run(["sha256sum", "--check", "checksums.txt"], cwd=folder, capture_output=True, text=True)
    assert checked.returncode == 0
    assert checked.stdout.count(": OK") == len(GRAPHS | OTHERS) - 1
    described = json.loads((folder / "config.json").read_text())
    assert described["model_type"] == "egoequiv"
    assert described["preprocessing"]["size"] == [12, 12]
    with safe_open(folder / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}
        assert "encoder.hidden.weight" in file.keys()  # noqa: SIM118


@pytest.mark.parametrize("how", ["a file", "a full folder"])
def test_what_is_there_is_not_replaced(how: str, patterns: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kept = out if how == "a file" else out / "mine"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("mine")
    with pytest.raises(DataError, match=r"not empty|is a file"):
        export_run(patterns[0], out)
    assert kept.read_text() == "mine"
    assert len(list(tmp_path.rglob("*"))) == (1 if how == "a file" else 2)


def test_a_stop_leaves_nothing(patterns: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(path: Path, *arguments: object) -> None:
        assert (path.parent / "model.safetensors").exists()  # it was begun
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "write_onnx", stop)
    with pytest.raises(KeyboardInterrupt):
        export_run(patterns[0], tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_empty_folder_is_filled(patterns: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export_run(patterns[0], tmp_path / "out", "best")
    assert {path.name for path in (tmp_path / "out").iterdir()} == GRAPHS | OTHERS


@pytest.mark.parametrize("package", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_package_is_one_line(
    package: str, patterns: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf"needs the package {package}: pip install 'egoequiv\[export\]'"):
        export_run(patterns[0], tmp_path / "out")
    assert not list(tmp_path.iterdir())


DAMAGE = {
    "config.json": ("{", "config.json is not the file that was exported"),
    "encoder.onnx": ("nonsense", "encoder.onnx is not the file that was exported"),
    "maps.onnx": (None, "maps.onnx is missing"),
    "checksums.txt": ("", "checksums.txt does not list config.json"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_when_it_is_opened(name: str, patterns: Run, tmp_path: Path) -> None:
    text, words = DAMAGE[name]
    folder = tmp_path / "export"
    shutil.copytree(patterns[1], folder)
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(DataError, match=words):
        open_export(folder, "onnx")


def test_damaged_weights_are_found_when_torch_opens_them(patterns: Run, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(patterns[1], folder)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1  # one bit of one weight
    (folder / "model.safetensors").write_bytes(weights)
    open_export(folder, "onnx")  # it does not read them
    with pytest.raises(DataError, match="its checksum differs"):
        open_export(folder, "torch")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 99}, "expected model_type 'egoequiv', version 1"),
        ({"feature_dim": "many"}, "is damaged"),
        ({"motions": [{"name": "up"}]}, "is damaged"),
        ({"space": {"kind": "hyper"}}, "is damaged"),
        ({"feature_dim": 7}, "gives 100 features, the file says 7"),
    ],
)
def test_a_config_that_is_wrong_is_one_line(change: dict, words: str, patterns: Run, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(patterns[1], folder)
    (folder / "checksums.txt").unlink()
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(described | change))
    with pytest.raises(DataError, match=words) as caught:
        open_export(folder, "torch")
    assert "\n" not in str(caught.value)


def change_network(described: dict, **change: object) -> dict:
    return described | {"network": described["network"] | change}


WRONG = {
    "feature_dim is a truth value": (lambda c: c | {"feature_dim": True}, "feature_dim True"),
    "parts of another sum": (
        lambda c: change_network(c, parts=[["invariant", 3], ["equivariant", 64]]),
        r"parts of 3 \+ 64 features, but feature_dim \d+",
    ),
    "parts in another order": (
        lambda c: change_network(c, parts=c["network"]["parts"][::-1]),
        "encoder.onnx was exported with another config.json",
    ),
    "images of another size": (
        lambda c: change_network(c, image_shape=[9, 9, 1]),
        "encoder.onnx was exported with another config.json",
    ),
    "motions that are too short": (
        lambda c: c | {"motions": [one | {"vector": [1.0]} for one in c["motions"]]},
        "motions of 1 and 2 components",
    ),
    "a motion that is not a number": (
        lambda c: c | {"motions": [{"name": "up", "vector": [float("nan"), 0.0]}]},
        "motion 'up' is not a row of finite numbers",
    ),
    "no motions": (lambda c: c | {"motions": []}, "encoder.onnx was exported with another config.json"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_config_that_does_not_fit_the_graphs_is_refused(name: str, generators: Run, tmp_path: Path) -> None:
    change, words = WRONG[name]
    folder = tmp_path / "export"
    shutil.copytree(generators[1], folder)
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(change(described)))
    write_checksums(folder)
    with pytest.raises(DataError, match=words) as caught:
        open_export(folder, "onnx")
    assert "\n" not in str(caught.value)


def test_a_graph_in_place_of_another_is_refused(generators: Run, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(generators[1], folder)
    shutil.copy(folder / "maps.onnx", folder / "encoder.onnx")
    write_checksums(folder)
    with pytest.raises(DataError, match=r"encoder\.onnx is not the graph 'encoder' of an export"):
        open_export(folder, "onnx")


def test_a_graph_that_says_what_it_is_not_is_refused(generators: Run, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(generators[1], folder)
    maps, encoder = (onnx.load(folder / f"{name}.onnx") for name in ("maps", "encoder"))
    del maps.metadata_props[:]
    maps.metadata_props.extend(encoder.metadata_props)
    onnx.save(maps, folder / "encoder.onnx")
    write_checksums(folder)
    with pytest.raises(
        DataError, match=r"encoder.onnx: expected \[\('images', 12, 12, 1\), .* found \[\('motion', 2\)"
    ):
        open_export(folder, "onnx")


@pytest.mark.parametrize(
    ("name", "words"), [("checksums.txt", "checksums.txt is not a file"), ("config.json", "config.json is a folder")]
)
def test_a_folder_in_place_of_a_file_is_one_line(name: str, words: str, generators: Run, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    shutil.copytree(generators[1], folder)
    (folder / "checksums.txt").unlink()
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    with pytest.raises(DataError, match=words):
        open_export(folder, "onnx")


def test_what_is_no_model_is_said(patterns: Run, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere does not exist"):
        open_model(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"is not a run .* or a saved model"):
        open_model(tmp_path)
    with pytest.raises(ConfigError, match="is a run, which torch computes: export it first"):
        open_model(patterns[0], "onnx")
    with pytest.raises(ConfigError, match="engine 'steam' is not known"):
        open_model(patterns[1], "steam")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="takes uint8 images"):
        open_model(patterns[1], "onnx").embed(np.zeros((2, 5, 5, 1), np.uint8))


def test_a_motion_that_is_too_large_is_refused(generators: Run) -> None:
    model = open_export(generators[1], "onnx")
    before = np.zeros((2, model.mapped.stop - model.mapped.start), np.float32)
    with pytest.raises(DataError, match=r"motion \[1e\+30, 0.0\] is too large"):
        model.after(before, np.array([1e30, 0.0]))
    assert model.after(before, np.array([1.0, 0.0])).shape == before.shape


@pytest.mark.slow
def test_a_run_without_maps_is_exported_without_its_store(small_store: FrameStore, tmp_path: Path) -> None:
    shutil.copytree(small_store.path, tmp_path / "store")
    run = make_run("none", FrameStore.open(tmp_path / "store"), tmp_path, encoder="norb")
    features = embed(run, np.array(small_store.images[:3]))
    shutil.rmtree(tmp_path / "store")
    export_run(run, tmp_path / "out")
    np.testing.assert_allclose(open_model(tmp_path / "out").embed(small_store.images[:3]), features, atol=1e-5)


# Blocks packages, and runs a script with the rest of the arguments.
ALONE = """
import runpy, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "egoequiv", "onnx", "onnxscript"):
            raise ImportError(f"{name} must not be needed")

sys.meta_path.insert(0, Blocked())
try:
    import torch
except ImportError:
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_the_script_needs_neither_torch_nor_egoequiv(patterns: Run, small_store: FrameStore, tmp_path: Path) -> None:
    run, folder = patterns
    paths = [tmp_path / f"{k}.png" for k in range(3)]
    for path, image in zip(paths, small_store.images[:3], strict=True):
        Image.fromarray(image[..., 0]).save(path)
    blocked = [sys.executable, "-c", ALONE, str(folder / "run_onnx.py")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([*blocked, *map(str, paths)], capture_output=True, text=True, env=environment, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == list(map(str, paths))
    found = np.array([list(map(float, row[1:])) for row in rows])
    np.testing.assert_allclose(found, embed(run, np.array(small_store.images[:3])), atol=1e-5)
    usage = subprocess.run(blocked, capture_output=True, text=True, env=environment)
    assert usage.returncode == 2
    assert "python run_onnx.py PICTURE..." in usage.stderr
    (tmp_path / "cut.png").write_bytes(paths[0].read_bytes()[:60])
    for name in ("cut.png", "missing.png"):
        refused = subprocess.run([*blocked, str(tmp_path / name)], capture_output=True, text=True, env=environment)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"{tmp_path / name} cannot be read: ")
        assert refused.stderr.count("\n") == 1


USER_CODE = """
from torch import nn

class Own(nn.Module):
    def __init__(self, image_shape, picky=False):
        super().__init__()
        height, width, channels = image_shape
        self.conv, self.out, self.picky = nn.Conv2d(channels, 4, 3, stride=2), nn.Linear(4, 5), picky

    def forward(self, images):
        if self.picky and float(images.mean()) > 100:  # depends on the data, which no tracer can follow
            images = images - 1
        return self.out(self.conv(images).relu().mean(dim=(2, 3)))
"""


@pytest.mark.parametrize("picky", [False, True])
def test_an_encoder_of_a_user(picky: bool, small_store: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(USER_CODE)
    settings = {**TINY, **METHODS["none"], "encoder": f"{tmp_path / 'own.py'}:Own"}
    settings["encoder_settings"] = {"picky": picky}
    run = train(small_store.path, tmp_path / "run", **settings).path
    if picky:
        with pytest.raises(ConfigError, match=r"own.py:Own cannot be exported: torch.export says \w+: \S+") as caught:
            export_run(run, tmp_path / "out")
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "out").exists()
        return
    export_run(run, tmp_path / "out")
    images = np.array(small_store.images[:7])
    for engine in ("onnx", "torch"):
        np.testing.assert_allclose(open_model(tmp_path / "out", engine).embed(images), embed(run, images), atol=1e-5)  # type: ignore[arg-type]
    assert "code that is not part of egoequiv" in (tmp_path / "out" / "README.md").read_text()


def test_what_onnx_cannot_say_is_one_line(tmp_path: Path) -> None:
    class Odd:
        """No program at all."""

    with pytest.raises(ConfigError, match="encoder odd cannot be exported to ONNX: ") as caught:
        onnx_of("encoder odd", Odd(), ["images"], ["features"])  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_program_is_written_under_any_name(tmp_path: Path) -> None:
    """Torch itself ends the process if the name is not UTF-8."""
    path = tmp_path / os.fsdecode(b"caf\xe9.pt2")
    write_program(path, torch.export.export(torch.nn.Identity(), (torch.zeros(2),)), {"a": 1})
    with path.open("rb") as file:
        assert torch.equal(torch.export.load(file).module()(torch.ones(2)), torch.ones(2))
