"""Every kind of model gives the features that it gives elsewhere."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from auditing.toys import TinyNet, posed_store
from egoequiv.auditing import AuditedModel, load_audited
from egoequiv.auditing.loaders import name_of
from egoequiv.errors import ConfigError, EgoEquivError
from egoequiv.evaluation import embed
from egoequiv.models import load_model
from egoequiv.models.foreign.loaders import FOREIGN, kind_of
from egoequiv.store import FrameStore
from egoequiv.training import train
from egoequiv.training.run_folder import RunFolder
from egoequiv.training.streams import prepare_data
from helpers import data_error

STORE = posed_store(2)
IMAGES = STORE.images[:6]


def features_of_tiny(channels: int = 1) -> np.ndarray:
    """What TinyNet gives for values of 0 to 1."""
    images = torch.from_numpy(IMAGES.copy()).permute(0, 3, 1, 2).float() / 255
    features: np.ndarray = TinyNet(channels)(images.expand(-1, channels, -1, -1)).detach().numpy()
    return features


def test_pixels_are_themselves_or_fewer() -> None:
    np.testing.assert_allclose(load_audited("pixels", STORE).features(IMAGES), IMAGES.reshape(6, -1) / 255, rtol=1e-6)
    large = replace(STORE, images=np.zeros((len(STORE), 100, 200, 1), np.uint8))
    shape = load_audited("pixels", large).features(large.images[:2]).shape
    assert shape == (2, 70 * 141)


def test_random_networks_are_the_same_every_time() -> None:
    first, again = (load_audited("random", STORE).features(IMAGES) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == (6, 64)
    assert load_audited("random:norb", STORE).features(IMAGES).shape == (6, 100)
    with pytest.raises(ConfigError, match="encoder 'large' is not known"):
        load_audited("random:large", STORE)


@pytest.fixture(scope="module")
def run(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = {"use_labels": False, "iterations": 10, "log_every": 10, "checkpoint_every": 10, "validate_every": 10}
    return train(small_store.path, tmp_path_factory.mktemp("run") / "run", method="drlim", **settings).path


def test_a_run_gives_what_embed_gives(run: Path, small_store: FrameStore) -> None:
    model = load_audited(run, small_store)
    np.testing.assert_allclose(model.features(small_store.images[:9]), embed(run, small_store.images[:9]), atol=1e-5)
    assert model.split is not None
    assert np.array_equal(model.split.validation, prepare_data(RunFolder(run).config()).split.validation)
    assert model.layer_names == ("hidden", "features")
    assert load_audited(run, STORE).split is None
    given = load_audited(load_model(run), small_store)
    np.testing.assert_array_equal(given.features(IMAGES), model.features(IMAGES))
    with pytest.raises(ConfigError, match="a run keeps the size"):
        load_audited(run, small_store, declared={"size": (5, 5)})


def test_an_import_path_with_weights(tmp_path: Path) -> None:
    model = load_audited("auditing.toys:tiny", STORE)
    assert (model.name, model.kind) == ("tiny", "auditing.toys:tiny")
    np.testing.assert_allclose(model.features(IMAGES), features_of_tiny(), atol=1e-6)
    zeros = {name: torch.zeros_like(tensor) for name, tensor in TinyNet().state_dict().items()}
    save_file(zeros, tmp_path / "zeros.safetensors")
    weighted = load_audited("auditing.toys:tiny", STORE, weights=tmp_path / "zeros.safetensors")
    assert not weighted.features(IMAGES).any()


def test_a_file_beside_the_user_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_very_own_nets.py").write_text("def flat():\n    return lambda images: images.flatten(1)\n")
    for name in ("my_very_own_nets:flat", "my_very_own_nets.py:flat", f"{tmp_path}/my_very_own_nets.py:flat"):
        model = load_audited(name, STORE)
        assert (model.name, model.kind) == ("flat", name)
        assert model.features(IMAGES).shape == (6, 144)


def test_an_untrained_network_with_an_encoder_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "nets.py"
    path.write_text("from torch import nn\ndef flat(image_shape):\n    return nn.Flatten()\n")
    model = load_audited(f"random:{path}:flat", STORE)
    assert model.features(IMAGES).shape == (6, 144)
    assert model.kind == f"random ({path}:flat encoder)"


@pytest.mark.filterwarnings("ignore:.*torch.jit.(trace|trace_method).* is deprecated:DeprecationWarning")
def test_torchscript(tmp_path: Path) -> None:
    traced = torch.jit.trace(TinyNet().eval(), torch.zeros(1, 1, 12, 12))  # type: ignore[no-untyped-call]
    traced.save(str(tmp_path / "tiny.pt"))
    np.testing.assert_allclose(
        load_audited(tmp_path / "tiny.pt", STORE).features(IMAGES), features_of_tiny(), atol=1e-6
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("batch", [None, 4])
def test_torch_export(tmp_path: Path, batch: int | None) -> None:
    shapes = None if batch else ({0: torch.export.Dim("images")},)
    program = torch.export.export(TinyNet(3).eval(), (torch.zeros(batch or 2, 3, 9, 10),), dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "tiny.pt2")
    model = load_audited(tmp_path / "tiny.pt2", STORE)
    assert (model.batch, model.preprocessing.size, model.preprocessing.channels) == (batch, (9, 10), 3)
    own = load_audited(TinyNet(3), STORE, declared={"size": (9, 10), "channels": 3})
    np.testing.assert_allclose(model.features(IMAGES), own.features(IMAGES), atol=1e-6)
    np.testing.assert_allclose(model.features(IMAGES, "body.0"), own.features(IMAGES, "body.0"), atol=1e-6)


def write_onnx(path: Path, sides: list[int | str], double: bool = False) -> None:
    """A graph that halves images, flattens them and doubles the outcome."""
    import onnx

    kind = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
    half, two = (onnx.helper.make_tensor(name, kind, [], [value]) for name, value in (("half", 0.5), ("two", 2.0)))
    nodes = [
        onnx.helper.make_node("Mul", ["images", "half"], ["halved"]),
        onnx.helper.make_node("Flatten", ["halved"], ["flat"]),
        onnx.helper.make_node("Mul", ["flat", "two"], ["features"]),
    ]
    shown = onnx.helper.make_tensor_value_info("images", kind, sides)
    given = onnx.helper.make_tensor_value_info("features", kind, None)
    graph = onnx.helper.make_graph(nodes, "flatten", [shown], [given], [half, two])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)


def test_onnx(tmp_path: Path) -> None:
    write_onnx(tmp_path / "flat.onnx", ["n", 1, "h", "w"])
    model = load_audited(tmp_path / "flat.onnx", STORE)
    np.testing.assert_allclose(model.features(IMAGES), IMAGES.reshape(6, -1) / 255, rtol=1e-6)
    both = model.layer_features(IMAGES, ("output", "flat"))
    np.testing.assert_allclose(both["flat"], both["output"] / 2)
    assert model.layer_names == ("halved", "flat", "features")
    write_onnx(tmp_path / "fixed.onnx", [4, 3, 5, 6])
    fixed = load_audited(tmp_path / "fixed.onnx", STORE)
    assert fixed.batch == 4
    assert fixed.preprocessing.in_words(STORE.image_shape) == "5 x 6 x 3, mean 0, std 1"
    assert fixed.features(IMAGES).shape == (6, 90)


def test_onnx_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"nonsense")
    with data_error("bad.onnx", "no ONNX file"):
        load_audited(tmp_path / "bad.onnx", STORE)
    write_onnx(tmp_path / "double.onnx", [1, 1, 12, 12], double=True)
    with data_error("double.onnx", "one input of float or uint8 images", "tensor(double)"):
        load_audited(tmp_path / "double.onnx", STORE)


class Camera(torch.nn.Module):
    """TinyNet as it is exported for a camera: uint8 images, channels last or first, scaled inside."""

    def __init__(self, channels: int, layout: str) -> None:
        super().__init__()
        self.net, self.layout = TinyNet(channels), layout

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        pixels = images.to(torch.float32) / 255
        features: torch.Tensor = self.net(pixels.permute(0, 3, 1, 2) if self.layout == "nhwc" else pixels)
        return features


def images_for(channels: int, layout: str, count: int = 2) -> torch.Tensor:
    """uint8 images of 9 x 10."""
    shape = (count, 9, 10, channels) if layout == "nhwc" else (count, channels, 9, 10)
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def assert_takes_uint8(model: AuditedModel, channels: int, layout: str) -> None:
    assert (model.preprocessing.dtype, model.preprocessing.layout) == ("uint8", layout)
    sized = replace(model.preprocessing, size=(9, 10), channels=channels)
    own = load_audited(TinyNet(channels), STORE, declared={"size": (9, 10), "channels": channels})
    found = replace(model, preprocessing=sized).features(IMAGES)
    np.testing.assert_allclose(found, own.features(IMAGES), atol=0.02)  # of images that were rounded
    assert "uint8 (N, H, W, C)" in sized.in_words((12, 12, 1)) or layout == "nchw"


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("channels", "layout"), [(1, "nhwc"), (3, "nhwc"), (3, "nchw")])
def test_a_program_with_uint8_input(tmp_path: Path, channels: int, layout: str) -> None:
    program = torch.export.export(Camera(channels, layout).eval(), (images_for(channels, layout),))
    torch.export.save(program, tmp_path / "camera.pt2")
    model = load_audited(tmp_path / "camera.pt2", STORE)
    assert (model.preprocessing.size, model.preprocessing.channels) == ((9, 10), channels)
    assert_takes_uint8(model, channels, layout)


@pytest.mark.filterwarnings("ignore:.*torch.jit.(trace|trace_method).* is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("channels", "layout"), [(1, "nhwc"), (3, "nchw")])
def test_a_script_with_uint8_input(tmp_path: Path, channels: int, layout: str) -> None:
    traced = torch.jit.trace(Camera(channels, layout).eval(), images_for(channels, layout))  # type: ignore[no-untyped-call]
    traced.save(str(tmp_path / "camera.pt"))
    model = load_audited(tmp_path / "camera.pt", STORE)
    assert_takes_uint8(model, channels, layout)
    assert "declare dtype=float32 if it takes 0 to 1" in model.notes[0]
    told = load_audited(tmp_path / "camera.pt", STORE, declared={"dtype": "float32"})
    assert (told.preprocessing.dtype, told.notes) == ("float32", ())


@pytest.mark.parametrize(
    ("sides", "layout"), [(["n", 12, 12, 1], "nhwc"), (["n", 1, "h", "w"], "nchw"), (["n", "h", "w", "c"], "nhwc")]
)
def test_onnx_with_uint8_input(tmp_path: Path, sides: list[int | str], layout: str) -> None:
    import onnx

    nodes = [
        onnx.helper.make_node("Cast", ["images"], ["cast"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Flatten", ["cast"], ["features"]),
    ]
    shown = onnx.helper.make_tensor_value_info("images", onnx.TensorProto.UINT8, sides)
    given = onnx.helper.make_tensor_value_info("features", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph(nodes, "flatten", [shown], [given])
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8),
        tmp_path / "camera.onnx",
    )
    model = load_audited(tmp_path / "camera.onnx", STORE)
    assert (model.preprocessing.dtype, model.preprocessing.layout) == ("uint8", layout)
    np.testing.assert_array_equal(model.features(IMAGES), IMAGES.reshape(6, -1))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny models of transformers, from their configurations."""
    import transformers

    folder = tmp_path_factory.mktemp("transformers")
    vit = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    resnet = {"embedding_size": 4, "hidden_sizes": [4, 8], "depths": [1, 1], "layer_type": "basic"}
    text = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    models = {
        "vit": transformers.ViTModel(transformers.ViTConfig(**vit, image_size=16, patch_size=8)),
        "resnet": transformers.ResNetModel(transformers.ResNetConfig(**resnet)),
        "text": transformers.BertModel(transformers.BertConfig(**text, vocab_size=20)),
    }
    for name, model in models.items():
        model.save_pretrained(folder / name)
    return {name: folder / name for name in models}


@pytest.mark.slow
def test_transformers(folders: dict[str, Path]) -> None:
    import transformers

    model = load_audited(folders["vit"], STORE)
    assert model.preprocessing.in_words(STORE.image_shape) == "16 x 16 x 3, mean 0.5, std 0.5"
    vit: Any = transformers.ViTModel.from_pretrained(folders["vit"]).eval()
    with torch.no_grad():
        tokens = vit(pixel_values=model.preprocessing(IMAGES)).last_hidden_state.numpy()
    np.testing.assert_allclose(model.features(IMAGES), tokens.mean(axis=1), atol=1e-5)
    assert model.features(IMAGES, "embeddings").shape == (6, 8)
    resnet = load_audited(folders["resnet"], STORE)
    assert resnet.kind == "transformers ResNetModel"
    assert resnet.features(IMAGES).shape == (6, 8)
    with data_error("BertModel takes input_ids, not images"):
        load_audited(folders["text"], STORE)


def test_a_folder_of_transformers_with_code_of_its_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object) -> str:
        raise AssertionError("the user was asked")

    monkeypatch.setattr("builtins.input", asked)
    code = {"AutoConfig": "own.Config", "AutoModel": "own.Model"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "very-own", "auto_map": code}))
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'w')\nConfig = Model = None\n")
    with data_error("code of its own (auto_map in config.json), which is not run here"):
        load_audited(tmp_path, STORE)
    assert not (tmp_path / "marker").exists()


@pytest.mark.slow
def test_the_processor_of_transformers_is_read(folders: dict[str, Path]) -> None:
    words = {
        '{"size": {"height": 20, "width": 24}, "image_mean": [0.1, 0.2, 0.3], "image_std": [1, 1, 2]}': (
            "20 x 24 x 3, mean 0.1 0.2 0.3, std 1 1 2"
        ),
        '{"size": {"shortest_edge": 20}, "do_normalize": false}': "20 x 20 x 3, mean 0, std 1",
        '{"size": 30, "crop_size": {"height": 18, "width": 18}, "do_center_crop": true}': (
            "18 x 18 x 3, mean 0.5, std 0.5"
        ),
    }
    for described, expected in words.items():
        (folders["resnet"] / "preprocessor_config.json").write_text(described)
        assert load_audited(folders["resnet"], STORE).preprocessing.in_words(STORE.image_shape) == expected
    (folders["resnet"] / "preprocessor_config.json").write_text('{"image_mean": 3, "image_std": 1}')
    with data_error("preprocessor_config.json", "damaged"):
        load_audited(folders["resnet"], STORE)


@pytest.mark.parametrize(("package", "where"), [("onnxruntime", "net.onnx"), ("transformers", "folder")])
def test_a_missing_package_is_named(package: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "net.onnx").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match=rf"needs the package {package}: pip install 'egoequiv\[\w+\]'"):
        load_audited(tmp_path / where, STORE)


class Ending(TinyNet):
    """Ends the program when it is made ready."""

    def train(self, mode: bool = True) -> Any:
        raise SystemExit(4)


def test_what_is_no_model_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ends_when_imported.py").write_text("import sys\nsys.exit()\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.pt").write_text("nonsense")
    (tmp_path / "text.pt2").write_text("nonsense")
    (tmp_path / "text.safetensors").write_text("nonsense")
    torch.save({"a": torch.zeros(1)}, tmp_path / "pickle.pt")
    save_file({"a": torch.zeros(1)}, tmp_path / "other.safetensors")
    tiny = {"where": "auditing.toys:tiny"}
    strange = partial(TinyNet.forward, TinyNet())
    strange.preprocessing = {"size": 12}  # type: ignore[attr-defined]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"where": tmp_path / "empty"}, "is no model: expected a run (model.json), or an export"),
        ({"where": tmp_path / "net.pth"}, "nothing is unpickled"),
        ({"where": tmp_path / "missing.onnx"}, "does not exist"),
        ({"where": tmp_path / "text.pt"}, "is not TorchScript"),
        ({"where": tmp_path / "pickle.pt"}, "nothing is unpickled"),
        ({"where": tmp_path / "text.pt2"}, "is no torch.export file"),
        ({"where": "what is this"}, "is no model: expected a folder"),
        ({"where": 7}, "a int is no model"),
        ({"where": "no.such.module:net"}, "there is no module 'no' on the Python path"),
        ({"where": "auditing.toys:nothing"}, "auditing.toys has no 'nothing'"),
        ({"where": tmp_path / "no_file.py:net"}, "no_file.py does not exist"),
        ({"where": "auditing.toys:not_a_model"}, "one that returns a int"),
        ({"where": "auditing.toys:SIDE"}, "found a int"),
        ({"where": "auditing.toys:failing_factory"}, "OSError: no such dial"),
        ({"where": "auditing.toys:ending_factory"}, "it called sys.exit('usage: train.py\\n --data FOLDER')"),
        ({"where": "ends_when_imported:net"}, "ends_when_imported.py line 2: it called sys.exit(), which it must not"),
        ({"where": strange}, "its attribute preprocessing is a dict; expected an egoequiv.Preprocessing"),
        ({"where": Ending()}, "it called sys.exit(4)"),
        ({"where": "pixels", "weights": "a.safetensors"}, "weights are for package.module:factory"),
        (tiny | {"weights": tmp_path / "missing.safetensors"}, "do not exist"),
        (tiny | {"weights": tmp_path / "text.safetensors"}, "is no safetensors file"),
        (tiny | {"weights": tmp_path / "other.safetensors"}, "does not fit auditing.toys:tiny"),
        (tiny | {"declared": {"colour": 3}}, "'colour' is no preprocessing"),
    ]
    for arguments, words in wrong:
        with pytest.raises(EgoEquivError) as caught:
            load_audited(store=STORE, **arguments)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)


def test_kinds_and_names(run: Path) -> None:
    assert (kind_of(run), kind_of("random:norb"), kind_of(TinyNet())) == ("run", "random", "object")
    assert name_of("some.package:net") == "net"
    assert name_of(run) == "run"
    assert name_of(TinyNet()) == "TinyNet"


def test_no_loader_lets_a_model_end_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def ending(*_: object) -> None:
        raise SystemExit(5)

    for kind in FOREIGN:
        monkeypatch.setitem(FOREIGN, kind, ending)
    with data_error("model TinyNet", "called sys.exit(5)"):
        load_audited(TinyNet(), STORE)


def test_the_scale_of_a_run_is_told_in_words(run: Path, small_store: FrameStore) -> None:
    seen = load_audited(run, small_store).preprocessing
    assert seen.in_words(small_store.image_shape).endswith(", images scaled to length about 1")
    pixels = small_store.images[:100] / 255
    assert seen.std[0] == pytest.approx(pixels.std(), rel=0.2)  # of the pixels themselves
    lengths = np.linalg.norm(seen(small_store.images).flatten(1).numpy(), axis=1)
    assert np.sqrt(np.mean(lengths**2)) == pytest.approx(1, rel=0.1)
