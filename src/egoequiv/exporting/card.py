"""The model card of an export: what the model is, what it learned from, what was measured of it, and what was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from egoequiv import __version__
from egoequiv.blocks import Block, Code, Grid, Points, Section, Text
from egoequiv.evaluation.measurement import FOLDER, Measurement
from egoequiv.evaluation.metric import MARK, Value
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.tasks import TASKS
from egoequiv.file_names import readable
from egoequiv.files import write_text
from egoequiv.markdown import markdown_document
from egoequiv.models.checkpoint import Which
from egoequiv.models.head import NAME as BACKBONE
from egoequiv.models.network import ALL, EQUIVARIANT
from egoequiv.models.saved import KEPT, SavedConfig
from egoequiv.names import is_code, short_name
from egoequiv.pairs import closeness, near_copies_in_words
from egoequiv.plurals import plural
from egoequiv.training.run_folder import RunFolder

CARD = "README.md"
TAGS = ("egoequiv", "equivariance", "camera-motion", "onnx", "safetensors")
COUNTING = ("motions",)  # tasks that describe the data, not the features


def write_card(path: Path, run: RunFolder, which: Which, weights: str, config: SavedConfig) -> None:
    """Write the card of a run; only measurements of these weights, by the digest of their checkpoint, are shown."""
    found = measurements_of(run.path, weights)
    sections = [
        Section("Use it", _use(config)),
        Section("Data", _data(run, which)),
        Section("Motions", _motions(config)),
        Section("What was measured", _measured(found)),
        Section("What was not measured", [Points(_not_measured(found))]),
    ]
    head = ["---", "library_name: egoequiv", "pipeline_tag: image-feature-extraction", "tags:"]
    text = markdown_document(_title(run), _what(run, config), sections)
    write_text(path, readable("\n".join([*head, *(f"- {tag}" for tag in TAGS), "---", "", text])))


def measurements_of(run: Path, weights: str) -> list[Measurement]:
    """What was measured of these weights; of measurements that differ in the program alone, the newest."""
    newest: dict[str, Measurement] = {}
    paths = [path for path in (run / FOLDER).glob("*.json") if path.is_file()]
    for path in sorted(paths, key=lambda one: (one.stat().st_mtime_ns, one.name)):
        try:
            found = Measurement.model_validate_json(path.read_bytes())
        except (ValueError, OSError, RecursionError):
            continue  # it can be measured again
        if found.subject.weights == weights and found.problem is None:
            newest[found.subject.model_copy(update={"code": ""}).key] = found
    order = list(TASKS)
    return sorted(newest.values(), key=lambda one: order.index(one.task) if one.task in order else len(order))


def _title(run: RunFolder) -> str:
    return f"{run.config().method_name} features of {Path(run.config().data).name}"


def _what(run: RunFolder, config: SavedConfig) -> list[Block]:
    height, width, channels = config.image_shape
    colour = "gray" if channels == 1 else "RGB"
    encoder = short_name(config.spec.encoder)
    lines = [
        f"{config.feature_dim} features of {colour} images, {height} pixels high and {width} wide, by the encoder "
        f"{encoder}, trained by the method {run.config().method_name} and exported by egoequiv {__version__}."
    ]
    if config.motions or config.takes_any:
        lines.append("It has maps that predict what features become when the camera moves.")
    sizes = ", ".join(f"{name} ({part.start} to {part.stop - 1})" for name, part in config.parts().items())
    if config.spec.parts:
        lines.append(f"Parts of the features, each of length 1: {sizes}.")
    if is_code(config.spec.encoder):
        lines.append(
            "The encoder is code that is not part of egoequiv: model.safetensors needs that code, the files .onnx and "
            ".pt2 do not."
        )
    lines += _backbone(config)
    lines.append("A licence is not stated: it is for those to choose who own the images and the weights.")
    return [Text(line) for line in lines]


def _backbone(config: SavedConfig) -> list[str]:
    """Which network of others it begins with, how it is read, and under which licence it is."""
    about = config.preprocessing.get("backbone")
    if config.spec.encoder != BACKBONE or not isinstance(about, Mapping):
        return []
    settings = config.spec.encoder_settings
    trained = settings.get("fine_tune", 0)
    how = f"its last {plural(trained, 'block')} trained further" if trained else "its weights as they were"
    height, width = about["size"]
    name = settings.get("backbone", about["kind"])
    kept = KEPT.fullmatch(name) is not None
    lines = [
        f"Its backbone is {about['kind']} (weights {about['weights']}), with {how}: layer {about['layer']}, of "
        f"pictures of {height} x {width}, averaged to {about['grid']} cells. "
        f"Its licence: {about['licence'] or 'not stated'}."
    ]
    needed = (
        f"its copy {name} in this folder" if kept else f"the code {name}" if is_code(name) else f"the package {name}"
    )
    lines.append(
        f"With the backbone inside, the files .onnx and .pt2 need nothing else; model.safetensors needs {needed}."
    )
    if name.endswith(".onnx"):
        lines.append("There is no encoder.pt2 and no moved.pt2, because the backbone is an ONNX file.")
    return lines


def _use(config: SavedConfig) -> list[Block]:
    lines = [
        "run_onnx.py: features of pictures by onnxruntime and NumPy alone",
        "encoder.onnx, encoder.pt2: images uint8 (N, H, W, C), values 0 to 255, to features (N, D); images are "
        "normalised inside",
    ]
    if config.motions or config.takes_any:
        kind = "float32 (N, M)" if config.takes_any else "the number of a motion, int64 (N,)"
        lines += [
            f"moved.onnx, moved.pt2: images and motion, {kind}, to the mapped features after the motion (N, E) and the "
            "features before it (N, D)",
            f"maps.onnx, maps.pt2: motion, {kind}, to maps (N, E + 1, E): z @ map[:-1] + map[-1]",
        ]
    lines += [
        "config.json, model.safetensors: the network for egoequiv.load_backbone and egoequiv.open_model",
        "checksums.txt: for sha256sum --check",
    ]
    return [Code("python run_onnx.py picture.png"), Points(lines)]


def _data(run: RunFolder, which: Which) -> list[Block]:
    config, result = run.config(), run.result
    lines = [f"store: {Path(config.data).name}; labels used in training: {'yes' if config.use_labels else 'no'}"]
    if result is not None:
        lines += [
            f"{result.get('train_frames', 0):,} training frames, {result.get('validation_frames', 0):,} validation "
            f"frames, split {result.get('split', config.split)}",
            f"{result.get('leaked_validation_frames', 0):,} validation frames have {closeness(config.split)}",
        ]
        if (copies := result.get("near_copy_validation_frames")) is not None:
            said = near_copies_in_words(copies, result.get("validation_frames", 0))
            lines.append(f"{'warning: ' if copies else ''}{said}")
        if revisited := result.get("revisited_validation_frames", 0):
            lines.append(
                f"warning: {plural(revisited, 'validation frame is', 'validation frames are')} at a place that "
                "training frames show at another time"
            )
        if gone := run.collapsed_features:
            lines.append(f"warning: {gone} collapsed in training: they hardly differ between images")
    else:
        lines.append(f"warning: the run is {run.unfinished()}")
    chosen = "chosen on the validation frames" if which == "best" else "at the end of training"
    lines.append(f"{plural(config.iterations, 'iteration')}, seed {config.seed}; the weights are those {chosen}")
    return [Points(lines)]


def _motions(config: SavedConfig) -> list[Block]:
    if not config.motions and not config.takes_any:
        return [Text("The network has no maps: it does not predict features after a motion.")]
    mapped = "the equivariant part" if EQUIVARIANT in config.spec.parts else "all features"
    kind = "a map of every motion" if config.takes_any else "a map of each motion below, and of no other"
    axes = () if config.space is None else config.space.axes
    columns = [f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in axes]
    named = [(name, *(f"{value + 0.0:.4g}" for value in vector)) for name, vector in config.motions.items()]
    blocks: list[Block] = [Text(f"There is {kind}; maps act on {mapped}.")]
    if columns:
        blocks.append(Text(f"A motion is a vector of {', '.join(columns)}."))
    if config.takes_any and named:
        blocks.append(Grid.of("Motions with a name", ("motion", *columns), named))
    elif named:
        rows = [(str(number), *row) for number, row in enumerate(named)]
        blocks.append(Grid.of("Motions with their numbers, for maps and moved", ("number", "motion", *columns), rows))
    return blocks


def _measured(found: Sequence[Measurement]) -> list[Block]:
    if not found:
        return [Text("Nothing was measured of these weights. `egoequiv evaluate RUN` measures them.", "missing")]
    blocks: list[Block] = [
        Text(
            "One run with one seed. Intervals are 95 % intervals over recordings; where there is none, there were too "
            f"few recordings, or the number is a mean. {MARK} marks a number that is not better than each of its "
            "baselines, or of features that collapsed."
        )
    ]
    return [*blocks, *(_grid(one) for one in found)]


def _grid(one: Measurement) -> Grid:
    title = TASKS[one.task].title if one.task in TASKS else one.title or short_name(one.task)
    part = "" if one.part == ALL else f" of the part {one.part}"
    frames = f"{plural(one.frames, 'frame')} of {plural(one.recordings, 'recording')} of {one.store}"
    caption = f"{title}{part}{_settings(one)}, on {frames}, split {one.split}"
    shown = [value for value in one.values if not value.metric.is_detail] or one.values
    rows = [
        (value.metric.title, value.text(), value.metric.interval(value.interval) or "-", _beside(value))
        for value in shown
    ]
    notes = [TASKS[one.task].about] if one.task in TASKS else [one.about] if one.about else []
    leak = [f"{one.leaked:,} of the frames have {closeness(one.split)}."] if one.leaked else []
    leak += [f"{near_copies_in_words(one.near_copies, one.frames)}."] if one.near_copies else []
    return Grid.of(caption, ("metric", "value", "95 % interval", "baselines"), rows, [*notes, *leak, *one.notes])


def _settings(one: Measurement) -> str:
    """The settings that are not the default, such as " (steps 3)"."""
    own = {name: value for name, value in one.subject.settings.items() if name != "part"}
    usual = TaskOptions().only([name for name in own if hasattr(TaskOptions, name)])
    other = [f"{name} {value}" for name, value in own.items() if value != usual.get(name)]
    return f" ({', '.join(other)})" if other else ""


def _beside(value: Value) -> str:
    known: Mapping[str, float] = {name: one for name, one in value.all_baselines().items() if isfinite(one)}
    return ", ".join(f"{name} {value.metric.text(one)}" for name, one in known.items()) or "-"


def _not_measured(found: Sequence[Measurement]) -> list[str]:
    measured = {one.task for one in found}
    missing = [task for name, task in TASKS.items() if name not in measured and name not in COUNTING]
    lines = [f"{task.title} (`egoequiv evaluate RUN --task {task.name}`)" for task in missing]
    return [
        *lines,
        "other cameras, places, light and motions than those of the data above",
        "how much the numbers vary between trainings with other seeds",
        "safety: nothing here says that a robot may rely on these features",
    ]
