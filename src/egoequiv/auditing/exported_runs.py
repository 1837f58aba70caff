"""Exports of runs among the audited models: their parts, and the frames that they were trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from egoequiv.auditing.audited import AuditedModel
from egoequiv.auditing.spec import ModelSpec
from egoequiv.auditing.torch_models import wrap_net
from egoequiv.errors import ConfigError, DataError
from egoequiv.models.checksums import check_file
from egoequiv.models.exported import MAPS, ExportedFile
from egoequiv.models.network import ALL
from egoequiv.models.saved import CONFIG, WEIGHTS, SavedConfig, load_config, load_network
from egoequiv.store import FrameStore
from egoequiv.store.frame_store import META
from egoequiv.training.config import make_config
from egoequiv.training.data import split_of


def load_saved(spec: ModelSpec, store: FrameStore) -> AuditedModel:
    """The network of an export, or of a folder that `save_pretrained` wrote."""
    spec.refuse_declarations("an export keeps the size, mean and std it was trained with")
    folder = Path(spec.where)
    for name in (CONFIG, WEIGHTS):
        check_file(folder / name)
    config = load_config(folder)
    return with_training(wrap_net(spec, load_network(folder, config), "export"), config, store)


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


def with_training(model: AuditedModel, config: SavedConfig, store: FrameStore) -> AuditedModel:
    """The model with the split of the run that it was exported from, where the store is the one of that run."""
    known = str(config.trained_on.get("fingerprint", "")).split()
    if not known or not (store.path / META).exists() or store.fingerprint() not in known:
        return model
    if store.fingerprint() != known[0]:  # the store of its labelled images
        return replace(model, notes=(f"{model.name} was trained on labelled images of this store, measured here too",))
    return replace(model, split=split_of(store, make_config(_settings(config.trained_on, model.name))))


def _settings(trained_on: Mapping[str, object], name: str) -> dict[str, object]:
    """The settings of a run that decide its split; they name no code."""
    return {"data": name, "method": "random"} | {key: one for key, one in trained_on.items() if key != "fingerprint"}
