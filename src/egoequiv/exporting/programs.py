"""Graphs as files: torch.export programs, and ONNX made from them; both say what they are, and neither says where."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.exported import ONNX_KEY, PROGRAM_KEY
from egoequiv.models.foreign.optional import import_optional
from egoequiv.user_code import FAULTS, one_line

OPSET = 18  # known to onnxruntime since 1.14
BATCH = "batch"  # the name of the open side
FRONT, MIDDLE = "front.", "backbone."  # before the names of tensors, where three graphs become one
NOISY = ("torch.export", "torch.onnx", "torch._dynamo", "onnxscript", "onnx_ir")
PRIVATE = ("stack_trace", "from_node")  # they hold paths of this machine


def check_packages() -> None:
    """Refuse to begin where a package is missing that is needed at the end."""
    for package in ("onnx", "onnxscript", "onnxruntime"):
        import_optional(package, "export", "egoequiv export")


def trace(what: str, module: nn.Module, inputs: Sequence[Tensor]) -> torch.export.ExportedProgram:
    """Trace a module with any number of rows; `what` names it in the error."""
    batch = torch.export.Dim(BATCH, min=1)
    try:
        with _quiet(), torch.no_grad():
            return torch.export.export(module.eval(), tuple(inputs), dynamic_shapes=tuple({0: batch} for _ in inputs))
    except FAULTS as problem:
        raise ConfigError(f"{what} cannot be exported: torch.export says {_first_line(problem)}") from problem


def write_program(path: Path, program: torch.export.ExportedProgram, about: Mapping[str, Any]) -> None:
    """Write a torch.export file."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            for name in PRIVATE:
                node.meta.pop(name, None)
    file = BytesIO()  # torch ends the process if the name of a file is not UTF-8
    with _quiet():
        torch.export.save(program, file, extra_files={PROGRAM_KEY: json.dumps(about)})
    try:
        path.write_bytes(file.getvalue())
    except OSError as problem:
        raise DataError(f"cannot write {path.name}: {_first_line(problem)}") from problem


def onnx_of(what: str, program: torch.export.ExportedProgram, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
    """A program as an ONNX model, with its weights in it."""
    try:
        with _quiet(), torch.no_grad():
            made = torch.onnx.export(
                program,
                dynamo=True,
                opset_version=OPSET,
                input_names=list(inputs),
                output_names=list(outputs),
                external_data=False,
                verbose=False,
            )
            assert made is not None
            model: Any = made.model_proto
    except FAULTS as problem:
        raise ConfigError(f"{what} cannot be exported to ONNX: {_first_line(problem)}") from problem
    for node in [*model.graph.node, *(inner for function in model.functions for inner in function.node)]:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = BATCH
    del model.graph.value_info[:], model.graph.metadata_props[:]
    return model


def joined(what: str, front: Any, backbone: Path, layer: str | None, back: Any) -> Any:
    """One ONNX model of three, each of which takes what the one before gives: first what it takes first.

    Args:
        what: for messages.
        front: what gives the input of the backbone.
        backbone: an ONNX file.
        layer: the tensor in it that is read; None: its first output.
        back: what takes that.
    """
    onnx = import_optional("onnx", "export", "egoequiv export")
    try:
        middle = onnx.load(backbone)
        if [(one.domain, one.version) for one in middle.opset_import] != [("", OPSET)]:
            middle = onnx.version_converter.convert_version(middle, OPSET)
        middle.ir_version = front.ir_version
        read = layer or middle.graph.output[0].name
        del middle.graph.output[:], middle.graph.value_info[:], middle.metadata_props[:]
        middle.graph.output.append(onnx.helper.make_value_info(read, back.graph.input[0].type))
        front, middle = (onnx.compose.add_prefix(one, name) for one, name in ((front, FRONT), (middle, MIDDLE)))
        prepared = (front.graph.output[0].name, middle.graph.input[0].name)
        half = onnx.compose.merge_models(front, middle, io_map=[prepared])
        model = onnx.compose.merge_models(half, back, io_map=[(f"{MIDDLE}{read}", back.graph.input[0].name)])
    except FAULTS as problem:
        raise ConfigError(f"{what} cannot be joined with {backbone}: {_first_line(problem)}") from problem
    shown = model.graph.input[0]
    for node in model.graph.node:
        node.input[:] = [name.removeprefix(FRONT) if name == shown.name else name for name in node.input]
    shown.name = shown.name.removeprefix(FRONT)
    return model


def write_onnx(path: Path, model: Any, about: Mapping[str, Any]) -> None:
    """Write an ONNX model, and what it says about itself."""
    onnx = import_optional("onnx", "export", "egoequiv export")
    onnx.helper.set_model_props(model, {ONNX_KEY: json.dumps(about)})
    path.write_bytes(model.SerializeToString())


@contextmanager
def _quiet() -> Iterator[None]:
    """What torch prints, logs and warns about its own insides is not for the user."""
    loggers = [logging.getLogger(name) for name in NOISY]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        try:
            for logger in loggers:
                logger.setLevel(logging.CRITICAL)
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def _first_line(problem: BaseException) -> str:
    """The kind of an error and the first sentence of what may be pages."""
    words = next((line for line in str(problem).splitlines() if line.strip()), "")
    return f"{type(problem).__name__}{': ' if words else ''}{one_line(words)[:200]}"
