"""Loaders of models that torch runs: modules by import path, functions and TorchScript files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import named_in_utf8
from egoequiv.models.foreign.calls import FAULTS, described, one_line
from egoequiv.models.foreign.layers import OUTPUT, module_names, run_with_layers
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.preprocessing import Layout, Preprocessing
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.names import Door
from egoequiv.user_code import user_code

NO_PICKLE = "nothing is unpickled here"
FLOAT = 6  # float32, as scripts number types


@dataclass(frozen=True, eq=False)
class TorchForward:
    """Runs a model on a device; `call` is the module itself, or what runs it and picks its output."""

    module: nn.Module
    call: Callable[[Tensor], Any]
    device: str = "cpu"

    def __call__(self, images: Tensor, layers: Sequence[str]) -> dict[str, Any]:
        return run_with_layers(self.module, self.call, images.to(self.device), layers)


def wrap_module(spec: ModelSpec, default: Preprocessing | None = None, kind: str = "nn.Module") -> AuditedModel:
    """A module that takes float32 images (N, C, H, W); one that has a `preprocessing` of its own says how."""
    module = spec.where
    default = default or _own_preprocessing(spec)
    try:
        module = module.to(spec.device).eval()
    except FAULTS as problem:
        raise DataError(f"model {spec.name}: it cannot be brought to {spec.device}: {described(problem)}") from problem
    forward = TorchForward(module, module, spec.device)
    return AuditedModel(spec.name, kind, spec.preprocessing(default), forward, module_names(module))


def wrap_callable(spec: ModelSpec) -> AuditedModel:
    """A module, or any other function of float32 images (N, C, H, W), values of 0 to 1, that returns features."""
    if isinstance(spec.where, nn.Module):
        return wrap_module(spec)
    call = spec.where

    def forward(images: Tensor, _layers: Sequence[str]) -> dict[str, Any]:
        return {OUTPUT: call(images.to(spec.device))}

    return AuditedModel(spec.name, "function", spec.preprocessing(_own_preprocessing(spec)), forward)


def _own_preprocessing(spec: ModelSpec) -> Preprocessing:
    """What a model declares in its attribute `preprocessing`, else values of 0 to 1."""
    try:
        own = getattr(spec.where, "preprocessing", None)
    except FAULTS as problem:
        raise DataError(f"model {spec.name}: its attribute preprocessing: {described(problem)}") from problem
    if own is not None and not isinstance(own, Preprocessing):
        raise ConfigError(
            f"model {spec.name}: its attribute preprocessing is a {type(own).__name__}; expected an "
            "egoequiv.Preprocessing, or none"
        )
    return own or Preprocessing()


MODELS: Door[Callable[[], Any]] = Door("model", {}, "egoequiv.models", "a function that builds a model")


def load_import(spec: ModelSpec) -> AuditedModel:
    """What a named function builds, with weights from a safetensors file if one is given."""
    where = str(spec.where)
    factory = MODELS.find(where)
    with user_code(f"model {where}"):
        built = factory()
    if not callable(built):
        raise DataError(
            f"model {where}: expected a function that builds a model, found one that returns a {type(built).__name__}"
        )
    if spec.weights is not None:
        _put_weights(built, spec.weights, where)
    return replace(wrap_callable(replace(spec, where=built)), kind=where)


def _put_weights(module: Any, path: Path, whose: str) -> None:
    if not isinstance(module, nn.Module):
        raise ConfigError(f"weights {path}: {whose} builds no nn.Module to put them into")
    if not path.is_file():
        raise DataError(f"weights {path} do not exist or are no file")
    try:
        with named_in_utf8(path) as named:
            tensors = load_file(named)
    except SafetensorError as problem:
        raise DataError(f"{path} is no safetensors file ({problem}); {NO_PICKLE}, convert the weights first") from None
    try:
        module.load_state_dict(tensors)
    except FAULTS as problem:
        raise DataError(f"{path} does not fit {whose}: {described(problem)}") from None


def load_torchscript(spec: ModelSpec) -> AuditedModel:
    """A TorchScript file; the layers inside cannot be looked into."""
    try:
        with warnings.catch_warnings():
            # TorchScript is on its way out, but files of it are about; of this one warning the user knows.
            warnings.filterwarnings("ignore", message=".*torch.jit.load.* is deprecated", category=DeprecationWarning)
            with named_in_utf8(Path(spec.where)) as named:
                module = torch.jit.load(str(named), map_location=spec.device)  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as problem:
        raise DataError(
            f"{spec.where} is not TorchScript ({first_sentence(problem)}); {NO_PICKLE}: save weights as safetensors "
            "and name what builds the model as package.module:factory"
        ) from None
    module.eval()
    forward = TorchForward(module, module, spec.device)
    default, notes = script_input(module, spec)
    return AuditedModel(spec.name, "TorchScript", spec.preprocessing(default), forward, notes=notes)


def script_input(module: Any, spec: ModelSpec) -> tuple[Preprocessing, tuple[str, ...]]:
    """What a script takes, from what it does first: a cast to float means uint8, a permutation channels last."""
    graph = module.inlined_graph
    images = list(graph.inputs())[1:2]
    casts = [use.user for one in images for use in one.uses() if use.user.kind() in ("aten::to", "aten::float")]
    layout: Layout = "nhwc" if any(_moves_channels(node) for node in graph.findAllNodes("aten::permute")) else "nchw"
    if not any(node.kind() == "aten::float" or _constant(list(node.inputs())[1]) == FLOAT for node in casts):
        return Preprocessing(layout=layout), ()
    words = f"{spec.name}: the file casts its input to float, so it is shown uint8 values of 0 to 255"
    notes = () if "dtype" in spec.declared else (f"{words}; declare dtype=float32 if it takes 0 to 1",)
    return Preprocessing(dtype="uint8", layout=layout), notes


def _moves_channels(permutation: Any) -> bool:
    """Whether a node permutes (N, H, W, C) to (N, C, H, W)."""
    order = list(permutation.inputs())[1].node()
    return [_constant(side) for side in order.inputs()] == [0, 3, 1, 2]


def _constant(value: Any) -> Any:
    return value.toIValue() if value.node().kind() == "prim::Constant" else None


def first_sentence(problem: BaseException) -> str:
    """The first sentence of the message of an error."""
    return one_line(str(problem)).split(". ")[0][:120]
