"""The settings of a training run: typed, frozen, checked when built, saved with the run."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from egoequiv.errors import ConfigError
from egoequiv.method_names import declared_name, full_method_name, get_method
from egoequiv.methods import DEFAULT, Method, numbers_of
from egoequiv.models.encoders import code_of, encoder_settings, get_encoder
from egoequiv.names import full_name, is_code, load_code
from egoequiv.pairs.splits import AUTO
from egoequiv.store.remote import full_place


def _split_names(value: object) -> object:
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_split_names)]
MOST = 2**31 - 1  # of what is counted: beyond it there is nothing to compute, only an overflow
PositiveInt = Annotated[int, Field(ge=1, le=MOST)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
# Kept as full paths or URLs, so that a run can be evaluated and resumed from any folder.
StorePath = Annotated[str, AfterValidator(full_place)]
MethodName = Annotated[str, BeforeValidator(full_method_name)]
EncoderName = Annotated[str, BeforeValidator(full_name)]


class TrainConfig(BaseModel):
    """Everything that decides what a run computes; the same config on the same machine gives the same bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # what is learned, and from what
    data: StorePath = Field(description="the store with the motion pairs")
    method: MethodName = Field(DEFAULT, description="which sum of losses; `egoequiv methods` lists them")
    use_labels: bool = Field(True, description="off: the unsupervised losses alone")
    labels: StorePath | None = Field(
        None, description="a table of labels (labels.csv, labels.csv:COLUMN), or another store for the labelled images"
    )
    label_column: str = Field("label", description="the class: label, or an attribute such as category")
    per_class: PositiveInt = Field(6, description="labelled images per class")
    all_labels: bool = Field(False, description="on: all labelled training images, however many a class has")
    space: str | None = Field(None, description="the motion space: planar, se2, se3, columns:A,B; None: the store's")
    motions: Names | None = Field(
        None,
        description="the motions that are used in training: steps of a grid (up,right), by default one along each "
        "axis; else clusters by name or motions such as forward 2 m and left turn 17°, by default the largest clusters",
    )
    patterns: StorePath | None = Field(None, description="mined patterns: the file that `egoequiv patterns` wrote")
    clusters: PositiveInt = Field(6, description="clusters of motions, where patterns are mined")
    keep: PositiveInt = Field(3, description="how many clusters are kept as patterns")
    keep_from: Literal["training", "both"] = Field(
        "training", description="kept motions occur in training frames, or by their poses in both parts of the split"
    )
    max_gap_s: Annotated[float, Field(gt=0)] = Field(1.0, description="motion pairs are at most this far apart")
    motion_pairs: int = Field(48_000, ge=4, le=MOST, description="mined pairs at most, one in four with a pattern")
    clip_s: Annotated[float, Field(ge=1e-3, le=MOST)] = Field(
        2.0, description="frames of one clip show the same things: so many seconds of a recording; without times, all"
    )
    clip_pairs: PositiveInt = Field(4, description="pairs from one clip in a batch")
    pairs_across: str | None = Field(
        None,
        description="an attribute such as toy: recordings of a grid with one value of it show the same at one pose, "
        "and pairs go from one of them to another",
    )
    neighbour_gap_s: Annotated[float, Field(gt=0)] = Field(2.0, description="neighbours are at most this far apart")
    neighbour_pairs: int = Field(50_000, ge=4, le=MOST, description="slowness pairs, one in four a neighbour")

    # which frames
    split: str = Field(
        "auto",
        description="auto, paper, by-recording, by-time, by-place, by-ATTRIBUTE, by-ATTRIBUTE:VALUE,VALUE or given",
    )
    place_m: float | None = Field(
        None, gt=0, description="by-place: how far the parts are apart; None: as far as the camera moves in max_gap_s"
    )
    same_place_m: float | None = Field(
        None,
        gt=0,
        description="frames of one place are at most so far apart; None: as far as the camera moves in 0.3 s",
    )
    label_split: str | None = Field(None, description="of the labels' own store; None: given if it has parts, or split")
    split_seed: Seed = Field(0, description="another seed, another split of the same kind")
    train_fraction: float = Field(0.67, gt=0, lt=1, description="about this part of the frames is for training")
    holdout_split: str | None = Field(None, description="how the holdout is cut; None: like the split")
    holdout_fraction: float = Field(0.0, ge=0, lt=1, description="above 0: validate on this part of the training part")

    # the network and its optimisation
    encoder: EncoderName = Field(
        "auto",
        description="norb: two full layers; kitti: three convolutions and a full layer; residual: a small residual "
        "network; vit: a small vision transformer; efficientnet-lite0: trained on ImageNet; pixels: none, the image "
        "itself; auto: by the images; or your own, as module:name or file.py:name",
    )
    encoder_settings: dict[str, Any] = Field(default_factory=dict, description="encoder.SETTING, such as feature_dim")
    normalise: Literal["dataset", "image"] = Field(
        "dataset", description="pixels are centred and scaled by the statistics of all images, or of each image"
    )
    augment: Literal["none", "light", "strong-light", "light+shift"] = Field(
        "none",
        description="light: train under random changes of light; strong-light: under larger ones, which also change "
        "brightness by a random curve; light+shift: of place and size in the picture too, for methods without motion",
    )
    augment_labelled: Literal["none", "shift+mirror"] = Field(
        "none",
        description="shift+mirror: labelled training images are also shifted, resized and mirrored at random, with "
        "any method",
    )
    equivariant_share: float = Field(
        0.5, gt=0, lt=1, description="of the features, where a method divides them into an invariant and this part"
    )
    motion_maps: Literal["generators", "blocks", "network"] = Field(
        "generators",
        description="maps of any motion: exp(sum y_k A_k), A_k whole or in blocks; or by a small network",
    )
    map_init: Literal["identity", "xavier"] = Field("identity", description="how the equivariance maps begin")
    weight: dict[str, float] = Field(default_factory=dict, description="weight.TERM of each loss term")
    margin: dict[str, float] = Field(default_factory=dict, description="margin.TERM of each contrastive term")
    term_settings: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="NUMBER.TERM: any other number"
    )
    optimizer: Literal["sgd", "adam", "adamw"] = Field("sgd", description="how the weights are changed")
    learning_rate: float = Field(0.01, gt=0, description="of the optimizer")
    decay: Literal["none", "cosine", "one-cycle"] = Field(
        "none", description="how the learning rate falls over the run; one-cycle: it first rises, over 30 % of the run"
    )
    momentum: float = Field(0.9, ge=0, lt=1, description="of sgd")
    weight_decay: float = Field(0.0, ge=0, description="of the optimizer")
    batch_size: PositiveInt = Field(16, description="labelled images, and pairs of each kind, in one iteration")
    iterations: Annotated[int, Field(ge=0, le=MOST, description="how long to train")] = 15_000
    seed: Seed = Field(0, description="draws the initial weights and the labelled images")
    pair_seed: Seed = Field(0, description="draws the order of the pairs")

    # where and how often
    device: str = Field("auto", description="where torch computes: auto, cpu, cuda, cuda:1, mps")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="in which the encoder computes")
    threads: int | None = Field(None, ge=1, le=1024, description="of torch; None: as many as torch chooses")
    log_every: PositiveInt = Field(100, description="iterations between two lines of metrics.jsonl")
    checkpoint_every: PositiveInt = Field(500, description="iterations between two checkpoints")
    validate_every: PositiveInt = Field(1_000, description="iterations between two validations")

    def objective(self) -> Method:
        """The method with this config's weights and margins."""
        method = get_method(self.method)
        if not self.use_labels:
            method = method.without_labels()
        return method.with_settings(self.weight, self.margin, self.term_settings)

    @property
    def method_name(self) -> str:
        """The method's name for tables: of code, the name that it declares."""
        return declared_name(self.method)


FIELDS = frozenset(TrainConfig.model_fields)


def make_config(values: Mapping[str, Any]) -> TrainConfig:
    """Build a config and say in one line what is wrong with it."""
    try:
        config = TrainConfig(**_with_terms(_with_defaults(values)))
    except ValidationError as problem:
        raise ConfigError(_explain(problem)) from problem
    if config.encoder != AUTO:  # otherwise they are checked when the encoder is chosen
        checked = encoder_settings(config.encoder, config.encoder_settings)
        config = config.model_copy(update={"encoder_settings": checked})
    if not config.use_labels and get_method(config.method).terms and not config.objective().terms:
        raise ConfigError(f"method {config.method!r} learns from labels only: leave out --no-labels")
    if config.objective().terms and not config.iterations:
        raise ConfigError("iterations=0 trains nothing: give at least 1, or --method random for the untrained network")
    if "view" in config.objective().streams and config.augment == "none":
        raise ConfigError(
            f"method {config.method!r} compares views of an image under different light: set augment=light"
        )
    if config.augment == "light+shift" and any(term.needs_motion for term in config.objective().terms):
        raise ConfigError(
            f"method {config.method!r} learns from motion, which shifted pictures do not show: set augment=light"
        )
    if config.augment_labelled != "none" and "labelled" not in config.objective().streams:
        raise ConfigError(f"augment_labelled={config.augment_labelled}: this run learns from no labelled images")
    if config.motions is not None and config.patterns is not None:
        raise ConfigError("motions and patterns both say which motions are learned: give one of them")
    for name in ("checkpoint_every", "validate_every"):
        if getattr(config, name) % config.log_every:
            raise ConfigError(f"{name}={getattr(config, name)} must be a multiple of log_every={config.log_every}")
    return config


def import_code(method: str | None, encoder: str | None, settings: Mapping[str, Any] | None = None) -> None:
    """Import the method, the encoder and the backbone that a user has named: a run may then name the same code."""
    if method is not None:
        get_method(method)
    if encoder is not None and encoder != AUTO:
        get_encoder(encoder)
    for name in code_of("", settings or {}):
        if is_code(name):
            load_code(name)


def _with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, those of the method for what is not given."""
    method = full_method_name(values.get("method", TrainConfig.model_fields["method"].default))
    return {**(get_method(method).defaults if isinstance(method, str) else {}), **values}


def _with_terms(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with NUMBER.TERM in its place where a term of the method has such a number."""
    method = values.get("method", TrainConfig.model_fields["method"].default)
    asked = [name for name, value in values.items() if isinstance(value, Mapping) and name not in FIELDS]
    if not asked:
        return dict(values)
    known = {name for term in get_method(str(full_method_name(method))).terms for name in numbers_of(term)}
    moved = {name: values[name] for name in asked if name in known}
    kept = {name: value for name, value in values.items() if name not in moved}
    return {**kept, "term_settings": {**values.get("term_settings", {}), **moved}}


def _explain(problem: ValidationError) -> str:
    first = problem.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = get_close_matches(key, TrainConfig.model_fields, 1)
        hint = f", did you mean {near[0]!r}" if near else ""
        return f"setting {key!r} is not known{hint}; the settings are {', '.join(TrainConfig.model_fields)}"
    return f"setting {key}={first['input']!r}: {first['msg']}"
