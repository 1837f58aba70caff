"""The loader of ONNX files, run by onnxruntime; layers are the tensors inside, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import named_in_utf8
from egoequiv.models.exported import FEATURES, MOVED, ONNX_KEY, read_about
from egoequiv.models.foreign.layers import OUTPUT
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.optional import import_optional
from egoequiv.models.foreign.preprocessing import DType
from egoequiv.models.foreign.program import images_in, preprocessing_of
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.network import ALL

TYPES: dict[str, DType] = {"tensor(float)": "float32", "tensor(uint8)": "uint8"}


def load_onnx(spec: ModelSpec) -> AuditedModel:
    """An ONNX file; type, layout and sizes of its input are taken from it; its first output is its features."""
    onnx, onnxruntime = (import_optional(package, "export", spec.where) for package in ("onnx", "onnxruntime"))
    path = Path(spec.where)
    session = open_session(path)
    inputs, outputs = session.get_inputs(), [output.name for output in session.get_outputs()]
    said = session.get_modelmeta().custom_metadata_map.get(ONNX_KEY)
    exported = None if said is None else read_about(said, path)
    part = images_in(exported, spec)
    if exported is not None and exported.graph == MOVED:
        outputs = [FEATURES, *(name for name in outputs if name != FEATURES)]  # those before the motion come first
    elif len(inputs) != 1 or inputs[0].type not in TYPES:
        found = ", ".join(f"{one.name} {one.type}" for one in inputs)
        raise DataError(f"{path}: expected one input of float or uint8 images, found {found}")
    shape = [side if isinstance(side, int) else None for side in inputs[0].shape]
    batch, default = preprocessing_of(shape, TYPES[inputs[0].type])
    graph = onnx.load(path, load_external_data=False).graph
    inside = tuple(name for node in graph.node for name in node.output if name)

    @cache
    def opened(layers: tuple[str, ...]) -> Any:
        return open_session(path, layers) if layers else session

    def forward(images: Tensor, layers: Sequence[str]) -> dict[str, Any]:
        names = [outputs[0] if layer == OUTPUT else layer for layer in layers]
        running = opened(tuple(name for name in names if name not in outputs))
        given = {inputs[0].name: images.numpy()} | {one.name: _zeros(one, len(images)) for one in inputs[1:]}
        found = dict(zip(layers, running.run(names, given), strict=True))
        return {layer: value[:, part] if layer == OUTPUT and exported else value for layer, value in found.items()}

    on_cpu = ("ONNX files are run on the CPU, whatever --device says",) if spec.device != "cpu" else ()
    preprocessing = spec.preprocessing(default)
    kind = f"ONNX (onnxruntime {onnxruntime.__version__}){'' if spec.part == ALL else f', part {spec.part}'}"
    model = AuditedModel(spec.name, kind, preprocessing, forward, inside, batch, on_cpu)
    return model if exported is None else replace(model, exported=exported.config)


def is_onnx_of_run(path: Path) -> bool:
    """Whether a file was written by `egoequiv export`."""
    return ONNX_KEY in open_session(path).get_modelmeta().custom_metadata_map


def whole_onnx(path: Path) -> bytes:
    """A file with its weights in it, also where they are in another one beside it."""
    onnx = import_optional("onnx", "export", path)
    with named_in_utf8(path) as named:
        try:
            content: bytes = onnx.load(named).SerializeToString()
        except Exception as problem:  # of protobuf, which has no common base; more than 2 GB is one of them
            raise DataError(f"{path}: its weights cannot be read: {' '.join(str(problem).split())[:200]}") from problem
    return content


def _zeros(one: Any, count: int) -> NDArray[Any]:
    """No motion, or the first: what the moved graph of an export takes beside images, and its features do not see."""
    return np.zeros((count, *one.shape[1:]), np.float32 if one.type == "tensor(float)" else np.int64)


def open_session(path: Path, more_outputs: Sequence[str] = ()) -> Any:
    """A session of onnxruntime on the CPU.

    Tensors inside are made outputs of a copy of the graph, beside the file, where its weights may be.
    """
    onnxruntime = import_optional("onnxruntime", "export", path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        with named_in_utf8(path) as named:
            model: Any = str(named)
            if more_outputs:
                onnx = import_optional("onnx", "export", path)
                loaded = onnx.load(named)
                loaded.graph.output.extend(onnx.ValueInfoProto(name=name) for name in more_outputs)
                model = loaded.SerializeToString()
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except ConfigError:
        raise
    except Exception as problem:  # onnxruntime's own exceptions have no common base
        reason = " ".join(str(problem).split())
        raise DataError(f"{path} is no ONNX file that onnxruntime can run ({reason[:200]})") from None
