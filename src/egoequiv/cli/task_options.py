"""The options of tasks: which of them, and how they are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.options import PartOption, names_in, numbers_in
from egoequiv.errors import ConfigError

if TYPE_CHECKING:
    from egoequiv.store import FrameStore

ALL = "all"
TaskNames = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        help="equivariance, recognition, maps, next-view, composition, retrieval, analogy, probe, readout, prediction, "
        "plan, slowness, places, motions, or all; or your own, as module:name or file.py:name. Separate several by "
        "commas, or repeat the option.",
    ),
]


@dataclass(frozen=True)
class TaskSettings:
    """Options of tasks."""

    motions: Annotated[
        str | None,
        typer.Option(show_default="the task's own", help="For tasks: these motions, such as up,down,up+right."),
    ] = None
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=50,
            show_default="1 and 5",
            help="For next-view: the number of further views; for composition: of steps of the longest chain.",
        ),
    ] = None
    neighbours: Annotated[
        int | None, typer.Option(min=1, show_default="25", help="For next-view: how many nearest training pairs vote.")
    ] = None
    hold_out: Annotated[
        str | None,
        typer.Option(
            show_default="recording",
            help="What separates fitting from measuring: recording, label, or an attribute.",
        ),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", min=0, show_default="0", help="For tasks: the random seed.")] = (
        None
    )
    part: PartOption = None
    fit_on: Annotated[
        str | None,
        typer.Option(
            "--fit-on",
            metavar="half|training",
            show_default="half on a grid, training in video",
            help="For equivariance and composition: fit maps on a random half of the validation pairs, as the paper "
            "does, or on pairs of training frames. For composition, the default is half in video too.",
        ),
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(
            "--label-column",
            show_default="that of the run",
            help="For probe: label, an attribute, or a column of numbers such as steering.",
        ),
    ] = None
    per_class: Annotated[
        str | None,
        typer.Option(
            "--per-class", show_default="6,20", help="For probe: how many labels of each class, separated by commas."
        ),
    ] = None
    labelled_frames: Annotated[
        int | None,
        typer.Option(min=10, show_default="200", help="For probe: how many labelled frames, where labels are numbers."),
    ] = None
    draws: Annotated[
        int | None, typer.Option(min=1, show_default="5", help="For probe: how often labels are drawn.")
    ] = None
    reference: Annotated[
        str | None,
        typer.Option(
            show_default="the store of the run",
            help="For places: the traverse that is searched: a recording of the store, or another store or log.",
        ),
    ] = None
    query: Annotated[
        str | None,
        typer.Option(
            show_default="the same drive, later",
            help="For places: the traverse with the query frames: a recording of the store, or another store or log.",
        ),
    ] = None
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            show_default="2 frames, or by the poses",
            help="For places: how far a match may be off: a number of frames such as 2, or metres such as 5m.",
        ),
    ] = None
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="FILE",
            show_default="poses, or the order of frames",
            help="For places: a table with the columns query,reference (frames that show one place), or "
            "recording,frame,x,y and perhaps z (metres).",
        ),
    ] = None
    revisit_s: Annotated[
        float | None,
        typer.Option(
            "--revisit",
            show_default="30",
            help="For places within one drive: only frames this many seconds earlier count as an earlier visit.",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Those that were given, as `TaskOptions` takes them."""
        names = None if self.motions is None else tuple(names_in([self.motions]))
        counts = None if self.per_class is None else numbers_in(self.per_class, "--per-class", int)
        given = {**asdict(self), "motions": names, "per_class": counts}
        return {name: value for name, value in given.items() if value is not None}


def tasks_in(given: Sequence[str] | None, default: Sequence[str] = ()) -> list[str]:
    """The tasks of these names; `all` means every one that is built in."""
    from egoequiv.evaluation.tasks import TASKS, get_tasks
    from egoequiv.experiments.measure import BASIC

    names = names_in(given) or list(default)
    return list(get_tasks([name for name in TASKS if name not in BASIC] if ALL in names else names))


def check_hold_out(hold_out: str, stores: Iterable[FrameStore]) -> None:
    """Refuse an attribute that none of the stores has, for tasks too that hold nothing out."""
    if hold_out in ("recording", "label"):
        return
    problem = None
    for store in stores:
        try:
            store.attribute(hold_out)
            return
        except ConfigError as lacking:
            problem = lacking
    if problem is not None:
        raise ConfigError(f"--hold-out {hold_out}: {problem}; or give recording or label") from problem
