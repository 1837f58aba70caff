"""A run as a folder that can be taken along: weights, graphs for other programs, a model card and checksums."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from egoequiv.errors import ConfigError, DataError, EgoEquivError
from egoequiv.evaluation.forward_maps import learned_forward_maps
from egoequiv.evaluation.run_model import RunModel, open_run_model
from egoequiv.evaluation.task import OnProgress, silent
from egoequiv.exporting.card import CARD, write_card
from egoequiv.exporting.graphs import EncoderGraph, HeadGraph, MovedGraph, PreparedGraph, maps_graph
from egoequiv.exporting.programs import check_packages, joined, onnx_of, trace, write_onnx, write_program
from egoequiv.files import cannot_write, new_folder, read_json
from egoequiv.models import EgoNet, load_model
from egoequiv.models.checkpoint import RUN_KIND, Which
from egoequiv.models.checksums import write_checksums
from egoequiv.models.exported import AFTER, ENCODER, FEATURES, IMAGES, MAP, MAPS, MOTION, MOVED, about
from egoequiv.models.foreign.layers import OUTPUT
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.head import BackboneHead
from egoequiv.models.saved import SavedConfig, config_of, save_network
from egoequiv.plurals import plural
from egoequiv.training.run_folder import DATA, RunFolder

SCRIPT = "run_onnx.py"  # a module of this package that needs nothing else of it
PREPARED, VALUES = "prepared", "values"  # what a backbone takes, and what it gives, inside a graph
EXAMPLES = 2  # rows that a graph is traced with

# The settings that decide which frames of a store a run was trained on.
SPLITTING = ("split", "split_seed", "train_fraction", "max_gap_s", "place_m", "holdout_split", "holdout_fraction")


@dataclass(frozen=True)
class Graph:
    """One graph to write, with example inputs and the names of inputs and outputs."""

    name: str
    module: nn.Module
    examples: tuple[Tensor, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    front: Front | None = None  # what comes before it in the ONNX file


@dataclass(frozen=True)
class Front:
    """The preparing of images for a backbone that is an ONNX file; the graph then takes what a layer of it gives."""

    module: nn.Module
    examples: tuple[Tensor, ...]
    layer: str | None  # None: what the backbone returns


def export_run(run: str | Path, out: str | Path, which: Which = "last", on_step: OnProgress = silent) -> list[Path]:
    """Write a trained run into a folder for other programs.

    Args:
        run: The folder of a run.
        out: A folder that does not exist, or is empty.
        which: The last weights, or the best on validation frames.
        on_step: Called with ("graphs", graphs written, graphs in all).

    Returns:
        The files: config.json and model.safetensors; encoder, maps and moved as .onnx and .pt2 (the last two where the
        network has maps); README.md, the model card; run_onnx.py; checksums.txt.

    Example:
        >>> egoequiv.export_run("my-run", "my-model")  # doctest: +SKIP
    """
    run, out = Path(run), Path(os.path.abspath(out))
    check_packages()
    is_empty = out.is_dir() and not any(out.iterdir())
    if out.is_dir() and not is_empty:
        raise DataError(f"{out} is not empty: choose another folder for the export")
    model = open_trained(run, which)
    config = config_of(model.net, model.space, model.motions, trained_on(RunFolder(run)))
    graphs = graphs_of(model)
    try:
        with new_folder(out, overwrite=is_empty) as folder:
            save_network(folder, model.net, config)
            for done, graph in enumerate(graphs):
                on_step("graphs", done, len(graphs))
                _write_graph(folder, graph, config)
            on_step("graphs", len(graphs), len(graphs))
            shutil.copyfile(Path(__file__).with_name(SCRIPT), folder / SCRIPT)
            digest = sha256((run / f"{which}.safetensors").read_bytes()).hexdigest()
            write_card(folder / CARD, RunFolder(run), which, digest, config)
            write_checksums(folder)
            names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    except OSError as problem:
        raise cannot_write(out, problem) from problem
    return [out / name for name in names]


def open_trained(run: Path, which: Which = "last", device: str = "cpu") -> RunModel:
    """The model of a run; one without maps is opened also where its store is gone, because motions say nothing then."""
    net = load_model(run, which, device)
    try:
        return open_run_model(run, which, device)
    except EgoEquivError:
        if net.maps is not None or net.motion_maps is not None:
            raise
        return RunModel(net, None, {})


def trained_on(folder: RunFolder) -> dict[str, Any]:
    """Which frames a run has learned from: the fingerprint of its store and how it was split; empty if from none."""
    if not (folder.path / DATA).exists() or not folder.config().objective().terms:
        return {}
    settings = folder.config().model_dump(include=set(SPLITTING))
    return {"fingerprint": str(read_json(folder.path / DATA, RUN_KIND).get("fingerprint", "")), **settings}


def graphs_of(model: RunModel) -> list[Graph]:
    """The graphs of a model: the encoder, and with maps also the maps and both together."""
    net = model.net
    encoder, images, front = _encoder(net)
    name = IMAGES if front is None else VALUES
    graphs = [Graph(ENCODER, encoder, (images,), (name,), (FEATURES,), front)]
    affine = {}
    if model.space is not None and not model.takes_any:
        affine = learned_forward_maps(net, model.space, tuple(model.motions), net.mapped_part)
    maps = maps_graph(net, affine)
    if maps is not None:
        any_motion = torch.zeros(EXAMPLES, net.spec.motion_dim)
        motion = any_motion if model.takes_any else torch.zeros(EXAMPLES, dtype=torch.int64)
        moved = MovedGraph(encoder, maps, model.mapped)
        graphs.append(Graph(MAPS, maps, (motion,), (MOTION,), (MAP,)))
        graphs.append(Graph(MOVED, moved, (images, motion), (name, MOTION), (AFTER, FEATURES), front))
    return graphs


@torch.no_grad()
def _encoder(net: EgoNet) -> tuple[nn.Module, Tensor, Front | None]:
    """The encoder as a graph, an example of its input, and what comes before it."""
    images = torch.zeros(EXAMPLES, *net.spec.image_shape, dtype=torch.uint8)
    if not isinstance(net.encoder, BackboneHead):
        return EncoderGraph(net), images, None
    backbone = net.encoder.backbone
    if backbone.batch is not None:
        raise ConfigError(
            f"backbone {net.spec.encoder_settings['backbone']} takes {plural(backbone.batch, 'image')} at a time, and "
            "an export takes any number: write the backbone with an open number of images"
        )
    if backbone.is_torch:
        return EncoderGraph(net), images, None
    layer = None if backbone.layer == OUTPUT else backbone.layer
    values = backbone.values(images.permute(0, 3, 1, 2).float() / 255)
    return HeadGraph(net), values, Front(PreparedGraph(net), (images,), layer)


def _write_graph(folder: Path, graph: Graph, config: SavedConfig) -> None:
    what = f"encoder {config.spec.encoder}" if graph.name != MAPS else "the maps"
    program = trace(what, graph.module, graph.examples)
    said = about(graph.name, config)
    model = onnx_of(what, program, graph.inputs, graph.outputs)
    if graph.front is None:
        write_program(folder / f"{graph.name}.pt2", program, said)
    else:
        front = onnx_of(what, trace(what, graph.front.module, graph.front.examples), (IMAGES,), (PREPARED,))
        model = joined(what, front, folder / f"{BACKBONE}.onnx", graph.front.layer, model)
    write_onnx(folder / f"{graph.name}.onnx", model, said)
