"""The loader of Hugging Face transformers: vision models in a local folder; nothing is fetched, nothing unpickled."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from egoequiv.errors import DataError
from egoequiv.files import read_json
from egoequiv.models.foreign.layers import module_names
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.models.foreign.module import TorchForward
from egoequiv.models.foreign.optional import import_optional
from egoequiv.models.foreign.preprocessing import Preprocessing
from egoequiv.models.foreign.spec import ModelSpec

PROCESSOR = "preprocessor_config.json"
HALF = (0.5,)
SMALLEST_PATCH, DEEPEST_STRIDE = 8, 32  # of smaller patches, networks of stages make larger ones


def load_huggingface(spec: ModelSpec) -> AuditedModel:
    """The model in a folder with config.json and safetensors; its features are last_hidden_state, pooled."""
    folder = Path(spec.where)
    transformers = import_optional("transformers", "huggingface", folder)
    logging = transformers.utils.logging
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # of weights that are missing, such as those of a pooler: the same every time
            model, loading = transformers.AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
    except Exception as problem:
        if "auto_map" in read_json(folder / "config.json", "a folder of transformers"):
            raise DataError(
                f"{folder}: it would have to be loaded by code of its own (auto_map in config.json), which is not run "
                "here: name what builds the model as package.module:factory"
            ) from None
        raise DataError(f"{folder}: transformers cannot load it: {' '.join(str(problem).split())[:300]}") from None
    finally:
        logging.set_verbosity(verbosity)
        logging.enable_progress_bar()
    if getattr(model, "main_input_name", "pixel_values") != "pixel_values":
        raise DataError(f"{folder}: a {type(model).__name__} takes {model.main_input_name}, not images")
    model = model.to(spec.device).eval()

    may_interpolate = "interpolate_pos_encoding" in signature(model.forward).parameters
    known = _size(getattr(model.config, "image_size", None))

    def features(images: Tensor) -> Any:
        more = {"interpolate_pos_encoding": True} if may_interpolate and tuple(images.shape[2:]) != known else {}
        found = model(pixel_values=images, **more)
        if getattr(found, "last_hidden_state", None) is None:
            raise DataError("it gives no last_hidden_state")
        return found.last_hidden_state

    missing = sorted(name for name in loading["missing_keys"] if not name.startswith("pooler."))
    notes = (
        (f"{spec.name}: {len(missing)} weights are missing in its file and random: {missing[0]}",) if missing else ()
    )
    kind = f"transformers {type(model).__name__}"
    preprocessing = spec.preprocessing(_preprocessing(folder, model.config))
    forward = TorchForward(model, features, spec.device)
    patch = getattr(model.config, "patch_size", None)
    return AuditedModel(
        spec.name,
        kind,
        preprocessing,
        forward,
        module_names(model),
        notes=notes,
        licence=_licence(folder),
        patch=patch if isinstance(patch, int) and patch >= SMALLEST_PATCH else DEEPEST_STRIDE,
    )


def _preprocessing(folder: Path, config: Any) -> Preprocessing:
    """From preprocessor_config.json if there is one, else size and channels from config.json, and values of -1 to 1."""
    channels = getattr(config, "num_channels", 3)
    size = _size(getattr(config, "image_size", None))
    if not (folder / PROCESSOR).exists():
        return Preprocessing(size, channels, HALF, HALF)
    processor = read_json(folder / PROCESSOR, "a folder of transformers")
    try:
        cropped = processor.get("crop_size") if processor.get("do_center_crop") else None
        size = _size(cropped) or _size(processor.get("size")) or size
        if not processor.get("do_normalize", True):
            return Preprocessing(size, channels)
        mean, std = (tuple(map(float, processor.get(name, HALF))) for name in ("image_mean", "image_std"))
        return Preprocessing(size, channels, mean, std)
    except (TypeError, ValueError, AttributeError) as problem:
        raise DataError(f"{folder / PROCESSOR} is damaged ({problem}): declare size, mean and std") from problem


def _licence(folder: Path) -> str:
    """What the model card in the folder says; nothing where there is none."""
    card = folder / "README.md"
    head = card.read_text("utf-8", "replace").split("---")[1:2] if card.is_file() else []
    said = dict(re.findall(r"^(license(?:_name)?):[ \t]*(\S.*)$", "".join(head), re.MULTILINE))
    return str(said.get("license_name") or said.get("license") or "").strip(" '\"")


def _size(described: Any) -> tuple[int, int] | None:
    """Height and width, from any of the ways in which they are written down."""
    if isinstance(described, dict):
        edge = described.get("shortest_edge")
        described = (described.get("height", edge), described.get("width", edge))
        if None in described:
            return None
    if isinstance(described, int | float):
        described = (described, described)
    return (int(described[0]), int(described[1])) if described else None
