"""The loader of torch.export files; type, layout and sizes of exported inputs, for ONNX too."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, get_args
from zipfile import BadZipFile, ZipFile

import torch
from torch import Tensor

from egoequiv.errors import ConfigError, DataError
from egoequiv.file_names import named_in_utf8
from egoequiv.models.checksums import check_file
from egoequiv.models.exported import MAPS, MOVED, PROGRAM_KEY, ExportedFile, read_about
from egoequiv.models.foreign.archive import check_archive, tensors_only
from egoequiv.models.foreign.layers import module_names
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.module import NO_PICKLE, TorchForward, first_sentence
from egoequiv.models.foreign.preprocessing import DType, Preprocessing
from egoequiv.models.foreign.spec import ModelSpec
from egoequiv.models.network import ALL


def load_program(spec: ModelSpec) -> AuditedModel:
    """A torch.export file; type, layout and sizes of its input are taken from it."""
    path = Path(spec.where)
    check_archive(path)
    said: dict[str, Any] = {PROGRAM_KEY: ""}
    program, inside = _load(spec, said)
    exported = read_about(said[PROGRAM_KEY], path) if said[PROGRAM_KEY] else None
    part = images_in(exported, spec)
    takes = _inputs(program)

    def features(images: Tensor) -> Any:
        if exported is None:
            return inside(images)
        if exported.graph != MOVED:
            return inside(images)[:, part]
        still = torch.zeros(len(images), *takes[1].shape[1:], dtype=takes[1].dtype, device=images.device)
        return inside(images, still)[1][:, part]  # the features before the motion, whatever it is

    batch, default = _program_input(takes, path)
    model = AuditedModel(
        spec.name,
        "torch.export",
        spec.preprocessing(default),
        TorchForward(inside, features, spec.device),
        module_names(inside),
        batch,
    )
    if exported is None:
        return model
    named = model if spec.part == ALL else replace(model, kind=f"torch.export, part {spec.part}")
    return replace(named, exported=exported.config)


def images_in(exported: ExportedFile | None, spec: ModelSpec) -> slice:
    """The features of a graph that are measured; a graph that takes no images is refused, and parts of other files."""
    if exported is None:
        if spec.part != ALL:
            raise ConfigError(
                f"model {spec.name}: only runs and their exports have parts of features; measure all of this one"
            )
        return slice(None)
    if exported.graph == MAPS:
        raise DataError(f"{spec.where}: it makes maps of motions and takes no images; audit the encoder beside it")
    check_file(Path(spec.where))
    try:
        return exported.config.part(spec.part)
    except ConfigError as problem:
        raise ConfigError(f"model {spec.name}: {problem}") from problem


def is_program_of_run(path: Path) -> bool:
    """Whether a file was written by `egoequiv export`; one that is no program is refused later."""
    try:
        with ZipFile(path) as archive:
            return any(name.endswith(f"/extra/{PROGRAM_KEY}") for name in archive.namelist())
    except (BadZipFile, OSError):
        return False


def _load(spec: ModelSpec, said: dict[str, Any]) -> tuple[torch.export.ExportedProgram, Any]:
    """The program and the module it makes; nothing but tensors is unpickled."""
    logger = logging.getLogger("torch.export")
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)  # it logs a traceback of what is one line here
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning)  # of torch about itself
            warnings.filterwarnings("ignore", category=UserWarning)  # of pickles, which are refused
            with tensors_only(), named_in_utf8(Path(spec.where)) as named:
                program = torch.export.load(str(named), extra_files=said)
            return program, torch.export.unflatten(program).to(spec.device)
    except UnpicklingError:
        raise DataError(
            f"{spec.where} holds more than tensors, and {NO_PICKLE}: save it without such objects"
        ) from None
    except Exception as problem:
        raise DataError(f"{spec.where} is no torch.export file ({first_sentence(problem)})") from None
    finally:
        logger.setLevel(level)


def _inputs(program: torch.export.ExportedProgram) -> list[Any]:
    """What stands for each input that a user gives."""
    names = program.graph_signature.user_inputs
    nodes = [node for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    return [node.meta["val"] for node in nodes]


def _program_input(takes: Sequence[Any], path: Path) -> tuple[int | None, Preprocessing]:
    """The number of images that a program takes at a time, None for any, and how it takes them."""
    if not takes:
        return None, Preprocessing()
    dtype = str(getattr(takes[0], "dtype", "float32")).removeprefix("torch.")
    if dtype not in get_args(DType):
        raise DataError(f"{path}: it takes {dtype}; expected an input of float32 or uint8 images")
    shape = [side if isinstance(side, int) else None for side in takes[0].shape]
    return preprocessing_of(shape, "uint8" if dtype == "uint8" else "float32")


def preprocessing_of(shape: Sequence[int | None], dtype: DType) -> tuple[int | None, Preprocessing]:
    """Batch and preprocessing for an exported input whose open sides are None.

    Channels are on the side that has 1 or 3 of them; where both or none have, they come first in float images and
    last in uint8 ones, as cameras and stores have them.
    """
    if len(shape) != 4:
        return None, Preprocessing(dtype=dtype)
    first, last = shape[1] in (1, 3), shape[3] in (1, 3)
    is_last = last if first != last else dtype == "uint8"
    batch, *sides = shape
    channels, height, width = (sides[2], *sides[:2]) if is_last else sides
    size = (height, width) if height and width else None
    return batch, Preprocessing(size, channels, dtype=dtype, layout="nhwc" if is_last else "nchw")
