"""The audit: how equivariant the features of any vision models are, on any store with poses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoequiv.auditing.fits import CANDIDATES, Fit
from egoequiv.auditing.frame_choice import FramesOf, choose_frames
from egoequiv.auditing.loaders import load_audited
from egoequiv.auditing.motion_error import measure_motion
from egoequiv.auditing.pair_choice import LIMIT, choose_motions, divide_store
from egoequiv.auditing.parts import PairParts
from egoequiv.auditing.table import AuditRow, AuditTable, MotionAudit, MotionPairCounts
from egoequiv.errors import ConfigError, DataError
from egoequiv.evaluation.equivariance import Features
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.models.foreign.layers import Pooling, check_layer, check_pooling
from egoequiv.models.foreign.loaders import BASELINES
from egoequiv.models.foreign.model import AuditedModel
from egoequiv.pairs import MotionPatterns
from egoequiv.pairs.candidates import Indices
from egoequiv.store import FrameStore

BATCH = 64
UNSTEADY = 1e-4  # of the largest feature: more than rounding makes of the same images
TRIED = 4  # images that every model is tried on before any of them is measured


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is the same for all models."""

    store: FrameStore
    frames: Indices  # (N,) store rows whose features are needed, in order
    parts: Sequence[PairParts]
    layers: Sequence[str]
    pooling: Pooling
    candidates: Sequence[Fit]
    batch_size: int
    on_progress: OnProgress

    def layers_of(self, model: AuditedModel) -> tuple[str, ...]:
        """What a model returns, or its layer in place of that, and those of the given layers that it has."""
        return tuple(dict.fromkeys([model.layer, *(layer for layer in self.layers if layer in model.layer_names)]))


def audit(
    models: Any,
    store: FrameStore | str | Path,
    *,
    motions: Sequence[str] | MotionPatterns | None = None,
    layers: Sequence[str] = (),
    pooling: Pooling = "mean",
    baselines: bool = True,
    limit: int = LIMIT,
    frames: FramesOf = "auto",
    hold_out: str = "recording",
    max_gap_s: float = 1.0,
    batch_size: int = BATCH,
    device: str = "cpu",
    seed: int = 0,
    candidates: Sequence[Fit] = CANDIDATES,
    on_progress: OnProgress = silent,
) -> AuditTable:
    """Measure the equivariance error rho of models for each motion, all of them on the same pairs of frames.

    The pairs of a motion are divided into three parts, by whole recordings where there are enough: one to fit every
    candidate of the map, one to choose the candidate, one to measure.

    Args:
        models: one model, a list of them, or a dict by name; each an AuditedModel or what `load_audited` takes.
        store: frames with poses.
        motions: names of motions, or patterns; by default all steps of a grid, or what is mined from the poses.
        layers: names of layers that are measured too, in the models that have them.
        pooling: what becomes of maps and tokens: their "mean" over places, or "flatten".
        baselines: whether pixels and a random network are measured too.
        limit: at most so many pairs of a motion.
        frames: "validation", the frames that no run among the models was trained on; "all"; or "auto": the
            validation frames if a run was trained on this store, else all.
        hold_out: what is never both fitted and measured: "recording", "label" or the name of an attribute.
        max_gap_s: pairs are at most so many seconds apart.
        batch_size: images at a time.
        device: where torch computes.
        seed: of the division into parts.
        candidates: the fits to choose from.
        on_progress: called with what is done, how much of it, and how much there is.

    Returns:
        The table: rho of each model, layer and motion with its interval, and notes on what limits it.
    """
    check_pooling(pooling)
    if batch_size < 1:
        raise ConfigError(f"batch_size must be 1 or more images at a time, found {batch_size}")
    opened = store if isinstance(store, FrameStore) else FrameStore.open(store)
    patterns = choose_motions(opened, motions, max_gap_s)
    audited = _load(models, opened, baselines, device)
    chosen, notes = choose_frames(opened, audited, frames, hold_out, max_gap_s)
    parts, own_notes = divide_store(
        opened, chosen, patterns, max_gap_s=max_gap_s, hold_out=hold_out, limit=limit, seed=seed
    )
    rows = np.unique(np.concatenate([part.rows() for part in parts]))
    plan = _Plan(opened, rows, parts, layers, pooling, candidates, batch_size, on_progress)
    return _audit_models(audited, plan, hold_out, [*notes, *own_notes])


def _audit_models(audited: Sequence[AuditedModel], plan: _Plan, hold_out: str, notes: list[str]) -> AuditTable:
    """Try every model before anything that takes long, then measure one after the other."""
    for layer in plan.layers:
        whose = ", ".join(model.name for model in audited if model.layer_names) or "these models"
        check_layer(layer, [name for model in audited for name in model.layer_names], whose)
    tried = [_try(model, plan) for model in audited]
    rows = _with_references([row for model, _ in tried for row in _audit_model(model, plan)])
    notes += [note for model, own in tried for note in (*model.notes, *own)]
    notes += [
        f"{row.name}, {found.motion}: not defined, because the two images of a pair have the same features"
        for row in rows
        for found in row.motions
        if isnan(found.rho)
    ]
    counts = tuple(_counts(part) for part in plan.parts)
    return AuditTable(
        plan.store.place, len(plan.frames), hold_out, plan.pooling, counts, rows, tuple(dict.fromkeys(notes))
    )


def _with_references(rows: Sequence[AuditRow]) -> tuple[AuditRow, ...]:
    """The rows of models with what the rows of the baselines have for each motion."""
    known = {row.name: row for row in rows if row.name in BASELINES}

    def referred(found: MotionAudit) -> MotionAudit:
        others = {name: row.of(found.motion) for name, row in known.items()}
        ratios = {name: other.ratio_of_means for name, other in others.items()}
        return replace(found, baselines={name: other.rho for name, other in others.items()}, ratio_baselines=ratios)

    return tuple(
        row if row.model in BASELINES else replace(row, motions=tuple(map(referred, row.motions))) for row in rows
    )


def _load(models: Any, store: FrameStore, baselines: bool, device: str) -> list[AuditedModel]:
    """All models under names of their own, the baselines first."""
    asked: list[tuple[str | None, Any]]
    if isinstance(models, Mapping):
        asked = [(str(name), where) for name, where in models.items()]
    else:
        asked = [(None, where) for where in (models if isinstance(models, list | tuple) else [models])]
    loaded: list[AuditedModel] = []
    for name, where in asked:
        if isinstance(where, AuditedModel):
            model = replace(where, name=name or where.name)
        else:
            model = load_audited(where, store, name=name, device=device)
        model.preprocessing.shape(store.image_shape)  # refuses channels that do not go together
        loaded.append(replace(model, name=_free_name(model.name, {other.name for other in loaded})))
    if baselines:
        loaded = _with_baselines(loaded, store, device)
    if not loaded:
        raise ConfigError("no model was named; give at least one")
    return loaded


def _with_baselines(models: Sequence[AuditedModel], store: FrameStore, device: str) -> list[AuditedModel]:
    """The baselines that are not among the models, then these; no other model may go by the name of a baseline."""
    added = []
    for baseline in (load_audited(name, store, device=device) for name in BASELINES):
        same = next((model for model in models if model.name == baseline.name), None)
        if same is None:
            added.append(baseline)
        elif same.kind != baseline.kind:
            raise ConfigError(
                f"model {same.name} ({same.kind}) has the name of a baseline: give it another, as in NAME=MODEL, or "
                "leave the baselines out with --no-baselines (baselines=False)"
            )
    return [*added, *models]


def _try(model: AuditedModel, plan: _Plan) -> tuple[AuditedModel, list[str]]:
    """Run a model on a few images, twice, and note what is odd; in other channels, if it takes them in no other way."""
    images = plan.store.images[plan.frames[:TRIED]]
    layers = plan.layers_of(model)
    try:
        first = model.layer_features(images, layers, plan.pooling)
    except DataError:
        changed = model.in_other_channels(images)
        if changed is None:
            raise
        model, first = changed, changed.layer_features(images, layers, plan.pooling)
    again = model.layer_features(images, layers, plan.pooling)
    for layer, values in first.items():
        model.check_count(layer, values.shape[1], again[layer].shape[1])
        if np.abs(values - again[layer]).max() > UNSTEADY * np.abs(values).max():
            return model, [f"{model.name}: not deterministic, its features of the same images differ between two calls"]
    return model, []


def _free_name(name: str, taken: set[str]) -> str:
    return name if name not in taken else next(n for k in count(2) if (n := f"{name} ({k})") not in taken)


def _audit_model(model: AuditedModel, plan: _Plan) -> list[AuditRow]:
    """One row for the model, and one for each given layer that it has."""
    rows: list[AuditRow] = []
    seen = model.preprocessing.in_words(plan.store.image_shape)
    with TemporaryDirectory(prefix="egoequiv-audit-") as folder:  # features may be too many for memory
        features = _features(model, plan, Path(folder))
        total = len(features) * len(plan.parts)
        for layer, values in features.items():
            found: list[MotionAudit] = []
            for part in plan.parts:
                plan.on_progress(f"maps of {model.name}", len(rows) * len(plan.parts) + len(found), total)
                found.append(measure_motion(_by_rows(values, plan.frames), part, plan.candidates))
            rows.append(AuditRow(model.name, model.kind, layer, values.shape[1], seen, tuple(found)))
        plan.on_progress(f"maps of {model.name}", total, total)
    return rows


def _features(model: AuditedModel, plan: _Plan, folder: Path) -> dict[str, NDArray[np.float32]]:
    """Features (frames, D) of each layer, in files of a folder."""
    features: dict[str, NDArray[np.float32]] = {}
    layers, frames = plan.layers_of(model), plan.frames
    for start in range(0, len(frames), plan.batch_size):
        plan.on_progress(f"features of {model.name}", start, len(frames))
        images = plan.store.images[frames[start : start + plan.batch_size]]
        for number, (layer, values) in enumerate(model.layer_features(images, layers, plan.pooling).items()):
            if layer not in features:
                shape = (len(frames), values.shape[1])
                path = folder / f"{number}.npy"
                features[layer] = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
            model.check_count(layer, features[layer].shape[1], values.shape[1])
            features[layer][start : start + len(values)] = values
    plan.on_progress(f"features of {model.name}", len(frames), len(frames))
    return features


def _by_rows(values: NDArray[np.float32], frames: Indices) -> Callable[[Indices], Features]:
    """Features by store rows, from those of `frames`."""

    def features(rows: Indices) -> Features:
        found: NDArray[np.float32] = values[np.searchsorted(frames, rows)]
        return found

    return features


def _counts(parts: PairParts) -> MotionPairCounts:
    return MotionPairCounts(
        motion=parts.motion,
        fitted=len(parts.fit),
        chosen_on=len(parts.choose),
        measured=len(parts.measure),
        groups_measured=len(np.unique(parts.measure.group)),
        divided_by=parts.by,
    )
