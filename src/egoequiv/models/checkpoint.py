"""Networks on disk: weights as safetensors, everything else as JSON; nothing is unpickled."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from egoequiv.errors import DataError
from egoequiv.file_names import named_in_utf8
from egoequiv.files import read_json, replacing, write_json
from egoequiv.models.devices import choose_device
from egoequiv.models.network import EgoNet, NetSpec
from egoequiv.names import check_recorded
from egoequiv.user_code import is_built_in

MODEL = "model.json"
FORMAT, VERSION = "egoequiv-model", 1
RUN_KIND = "a run (made by `egoequiv train`)"
Which = Literal["last", "best"]


def save_spec(run: Path, spec: NetSpec) -> None:
    """Write the description of the network beside its checkpoints."""
    write_json(run / MODEL, {"format": FORMAT, "version": VERSION, **spec.describe()})


def load_spec(run: Path) -> NetSpec:
    """Read what `save_spec` wrote."""
    description = read_json(run / MODEL, RUN_KIND)
    try:
        spec = NetSpec.from_description(description)
    except DataError as problem:
        raise DataError(f"{run / MODEL}: {problem}") from problem
    if (description.get("format"), description.get("version")) != (FORMAT, VERSION):
        raise DataError(f"{run / MODEL}: expected {FORMAT} version {VERSION}; train again")
    check_recorded("encoder", spec.code, run)
    return spec


def save_tensors(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and a JSON object as one safetensors file, whole or not at all."""
    with replacing(path) as temporary:
        plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        owners = {tensor.data_ptr(): name for name, tensor in plain.items()}
        # Of weights that a network uses in two places, each gets a copy: in the file, no two tensors share memory.
        plain = {name: t if owners[t.data_ptr()] == name else t.clone() for name, t in plain.items()}
        try:
            save_file(plain, temporary, {"egoequiv": json.dumps(meta, sort_keys=True)})
        except SafetensorError as problem:
            raise DataError(f"cannot write {path}: {problem}") from problem


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote."""
    try:
        with named_in_utf8(path) as named, safe_open(named, framework="pt") as file:
            # Cloned, so that no tensor depends on how the file happened to be aligned in memory.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
            meta = json.loads((file.metadata() or {}).get("egoequiv", "{}"))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {path.parent} holds no finished checkpoint") from None
    except (SafetensorError, json.JSONDecodeError) as problem:
        raise DataError(f"{path} is damaged ({problem}); train again, or use another checkpoint") from problem
    return tensors, meta


def load_meta(path: Path) -> dict[str, Any]:
    """The JSON object of a file that `save_tensors` wrote, without its tensors."""
    try:
        with named_in_utf8(path) as named, safe_open(named, framework="pt") as file:
            meta = json.loads((file.metadata() or {}).get("egoequiv", "{}"))
    except (SafetensorError, json.JSONDecodeError, OSError) as problem:
        raise DataError(f"{path} is damaged ({problem}): remove it to begin again") from problem
    return meta if isinstance(meta, dict) else {}


def load_model(run: str | Path, which: Which = "last", device: str = "cpu") -> EgoNet:
    """The trained network of a run folder, ready to encode images."""
    run = Path(run)
    net = EgoNet(load_spec(run))
    path = run / f"{which}.safetensors"
    tensors, _ = load_tensors(path)
    put_weights(net, tensors, path)
    return net.to(choose_device(device)).eval()


def put_weights(net: EgoNet, tensors: dict[str, Tensor], path: Path) -> None:
    """Copy the tensors named `model.*` into the network."""
    state = {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name.startswith("model.")}
    try:
        net.load_state_dict(state)
    except RuntimeError as problem:
        reason = shorten(str(problem), 300, placeholder=" ...")
        changed = "" if is_built_in(net.encoder) else f", or the code of {net.spec.encoder} has changed since training"
        raise DataError(f"{path} does not fit {path.parent / MODEL}{changed}: {reason}") from problem
