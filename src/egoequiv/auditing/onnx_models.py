"""The loader of ONNX files, run by onnxruntime; layers are the tensors inside, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from torch import Tensor

from egoequiv.auditing.audited import AuditedModel
from egoequiv.auditing.layers import OUTPUT
from egoequiv.auditing.optional import import_optional
from egoequiv.auditing.preprocessing import DType
from egoequiv.auditing.spec import ModelSpec
from egoequiv.auditing.torch_models import preprocessing_of
from egoequiv.errors import DataError
from egoequiv.store import FrameStore

TYPES: dict[str, DType] = {"tensor(float)": "float32", "tensor(uint8)": "uint8"}


def load_onnx(spec: ModelSpec, store: FrameStore) -> AuditedModel:  # noqa: ARG001, as all loaders have it
    """An ONNX file; type, layout and sizes of its input are taken from it; its first output is its features."""
    onnx, onnxruntime = (import_optional(package, "export", spec.where) for package in ("onnx", "onnxruntime"))
    path = Path(spec.where)
    session = open_session(path)
    inputs, outputs = session.get_inputs(), [output.name for output in session.get_outputs()]
    if len(inputs) != 1 or inputs[0].type not in TYPES:
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
        return dict(zip(layers, running.run(names, {inputs[0].name: images.numpy()}), strict=True))

    on_cpu = ("ONNX files are run on the CPU, whatever --device says",) if spec.device != "cpu" else ()
    preprocessing = spec.preprocessing(default)
    kind = f"ONNX (onnxruntime {onnxruntime.__version__})"
    return AuditedModel(spec.name, kind, preprocessing, forward, inside, batch, on_cpu)


def open_session(path: Path, more_outputs: Sequence[str] = ()) -> Any:
    """A session; tensors inside are made outputs of a copy of the graph, beside the file, where its weights may be."""
    onnx, onnxruntime = (import_optional(package, "export", path) for package in ("onnx", "onnxruntime"))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        model: Any = str(path)
        if more_outputs:
            loaded = onnx.load(path)
            loaded.graph.output.extend(onnx.ValueInfoProto(name=name) for name in more_outputs)
            model = loaded.SerializeToString()
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # onnxruntime's own exceptions have no common base
        reason = " ".join(str(problem).split())
        raise DataError(f"{path} is no ONNX file that onnxruntime can run ({reason[:200]})") from None
