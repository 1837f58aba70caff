"""Every kind of model that the program can look into, and how the kind of a model is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from egoequiv.errors import ConfigError, DataError
from egoequiv.files import kind_of_folder
from egoequiv.models.checkpoint import MODEL
from egoequiv.models.foreign.calls import described, prints_aside
from egoequiv.models.foreign.efficientnet import load_efficientnet
from egoequiv.models.foreign.huggingface import load_huggingface
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.module import MODELS, NO_PICKLE, load_import, load_torchscript, wrap_callable
from egoequiv.models.foreign.onnx import is_onnx_of_run, load_onnx
from egoequiv.models.foreign.program import is_program_of_run, load_program
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.network import EgoNet
from egoequiv.models.pretrained import NAME
from egoequiv.models.saved import is_saved

FOREIGN: dict[str, Callable[[ModelSpec], AuditedModel]] = {
    NAME: load_efficientnet,
    "import path": load_import,
    "TorchScript": load_torchscript,
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
    f"a folder of a run, of an export or of transformers, a file .onnx, .pt2, .pt or .ts, {NAME}, "
    "package.module:factory, path/to/file.py:factory, pixels, random, or random:ENCODER such as random:norb"
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
    if text.partition(":")[0] in (*BASELINES, NAME) and not path.exists():
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


def load_foreign(spec: ModelSpec, kind: str) -> AuditedModel:
    """Load a model of one of the kinds in `FOREIGN`."""
    try:
        with prints_aside():
            return FOREIGN[kind](spec)
    except SystemExit as problem:
        raise DataError(f"model {spec.name}: {described(problem)}") from problem
