"""Every kind of model that can be audited, and how its kind is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from egoequiv.auditing.audited import AuditedModel
from egoequiv.auditing.exported_runs import load_saved
from egoequiv.auditing.foreign import described, prints_aside
from egoequiv.auditing.huggingface_models import load_huggingface
from egoequiv.auditing.onnx_models import is_onnx_of_run, load_onnx
from egoequiv.auditing.program_models import is_program_of_run, load_program
from egoequiv.auditing.spec import ModelSpec
from egoequiv.auditing.torch_models import (
    MODELS,
    NO_PICKLE,
    load_import,
    load_pixels,
    load_random,
    load_run,
    load_torchscript,
    wrap_callable,
)
from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import readable
from egoequiv.files import kind_of_folder
from egoequiv.models import EgoNet
from egoequiv.models.checkpoint import MODEL
from egoequiv.models.network import ALL
from egoequiv.models.saved import is_saved
from egoequiv.names import is_code, short_name
from egoequiv.store import FrameStore

Loader = Callable[[ModelSpec, FrameStore], AuditedModel]

LOADERS: dict[str, Loader] = {
    "pixels": load_pixels,
    "random": load_random,
    "run": load_run,
    "import path": load_import,
    "TorchScript": load_torchscript,
    "export": load_saved,
    "torch.export": load_program,
    "ONNX": load_onnx,
    "transformers": load_huggingface,
    "object": wrap_callable,
}

SUFFIXES = {".pt": "TorchScript", ".ts": "TorchScript", ".pt2": "torch.export", ".onnx": "ONNX"}
WITH_PARTS = ("run", "export", "torch.export", "ONNX")  # of files, those that `egoequiv export` wrote
PICKLES = (".pth", ".pkl", ".pickle", ".ckpt", ".bin")
BASELINES = ("pixels", "random")
EXPECTED = (
    "a folder of a run, of an export or of transformers, a file .onnx, .pt2, .pt or .ts, package.module:factory, "
    "path/to/file.py:factory, pixels, random, or random:ENCODER such as random:norb"
)


def kind_of(where: Any) -> str:
    """Which loader a model is for, from what it looks like."""
    if not isinstance(where, str | Path):
        if isinstance(where, EgoNet):
            return "run"
        if callable(where):
            return "object"
        raise ConfigError(f"a {type(where).__name__} is no model: give {EXPECTED}, an nn.Module or a function")
    text, path = str(where), Path(where)
    if text.partition(":")[0] in BASELINES and not path.exists():
        return text.partition(":")[0]
    if path.is_dir():
        if (path / MODEL).exists():
            return "run"
        if is_saved(path):
            return "export"
        if (path / "config.json").exists():
            return "transformers"
        raise DataError(
            f"{path} is {kind_of_folder(path) or 'no model'}: expected a run ({MODEL}), or an export or a folder of "
            "transformers (config.json)"
        )
    if path.suffix.lower() in PICKLES:
        raise ConfigError(
            f"{path} is a pickle, and {NO_PICKLE}: convert the weights to safetensors, name what builds the model as "
            "package.module:factory, and give the file with --weights"
        )
    if path.suffix.lower() in SUFFIXES:
        if not path.exists():
            raise DataError(f"{path} does not exist")
        return SUFFIXES[path.suffix.lower()]
    if MODELS.has(text):
        return "import path"
    raise ConfigError(f"{text} is no model: expected {EXPECTED}")


def is_of_run(where: Any) -> bool:
    """Whether a model is a run or was exported from one, so that it may have parts of features."""
    kind, path = kind_of(where), Path(str(where))
    if kind == "torch.export":
        return is_program_of_run(path)
    return is_onnx_of_run(path) if kind == "ONNX" else kind in WITH_PARTS


def load_audited(
    where: Any,
    store: FrameStore,
    *,
    name: str | None = None,
    weights: str | Path | None = None,
    declared: Mapping[str, Any] | None = None,
    device: str = "cpu",
    part: str = ALL,
) -> AuditedModel:
    """Load a model of any kind to be audited on a store; `declared` holds size, channels, mean and std.

    Of a run or an export that has parts, `part` is the part of its features that is measured.
    """
    kind = kind_of(where)
    own_weights = Path(weights) if weights else None
    spec = ModelSpec(name or name_of(where), where, own_weights, dict(declared or {}), device, part)
    if part != ALL and kind not in WITH_PARTS:
        raise ConfigError(
            f"model {spec.name}: only runs and their exports have parts of features; measure all of this one"
        )
    if spec.weights is not None and kind != "import path":
        raise ConfigError(
            f"model {spec.name}: weights are for package.module:factory and file.py:factory; this one has its own"
        )
    try:
        with prints_aside():
            return LOADERS[kind](spec, store)
    except SystemExit as problem:
        raise DataError(f"model {spec.name}: {described(problem)}") from problem


def name_of(where: Any) -> str:
    """A short name: of a path its end, of an import path what comes after the colon."""
    if not isinstance(where, str | Path):
        return str(getattr(where, "__name__", type(where).__name__))
    if is_code(str(where)) and kind_of(where) == "import path":
        return short_name(str(where))
    return readable(Path(where).name or str(where))
