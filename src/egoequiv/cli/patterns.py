"""`egoequiv patterns`: the main motions in a log."""

from __future__ import annotations

from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import output, print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, MaxGap, check_max_gap, names_in
from egoequiv.cli.stores import fetch
from egoequiv.plurals import plural

if TYPE_CHECKING:
    from egoequiv.pairs import Mining
    from egoequiv.store import FrameStore


MOST_COLUMNS = 3  # components of a motion: more leave no room for names, and are in patterns.json


def patterns(
    store: Annotated[
        str, typer.Argument(help="A store, also at a URL; or a folder or zip of KITTI raw, whose poses are read.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Where patterns.json and the figures go.")] = Path(
        "patterns"
    ),
    clusters: Annotated[int, typer.Option(min=1, help="Clusters of k-means.")] = 6,
    keep: Annotated[int, typer.Option(min=1, help="How many clusters to keep: those with the largest motions.")] = 3,
    max_gap: MaxGap = 1.0,
    motions: Annotated[
        str | None,
        typer.Option(
            show_default="the largest",
            help='Keep these: clusters by name, or such as "forward 2 m,forward 1 m and left turn 17 deg".',
        ),
    ] = None,
    space: Annotated[
        str | None, typer.Option(show_default="the store's own", help="planar, se2, se3 or columns:NAME,NAME.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The random seed of k-means.")] = 0,
    stability: Annotated[int, typer.Option(min=0, help="How many other seeds to compare with.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Cluster the motions between frames, keep the largest, and name them in plain words.

    patterns.json can be given to training with --set patterns=FILE. Poses are enough: images are needed only for
    the picture of sample pairs.

    Example: egoequiv patterns my-store -o my-patterns
    """
    from egoequiv.files import write_json
    from egoequiv.pairs import mine_patterns
    from egoequiv.pose import space_named

    check_max_gap(max_gap)
    names = names_in(motions and [motions])
    stability = 0 if names else stability  # named motions stay where they are
    begun = monotonic()
    seen_in = space_named(space) if space is not None else None  # before the store: a typing error is said at once
    opened = _open(store)
    if seen_in is not None:
        opened = opened.in_space(seen_in)
    with progress_bar() as progress:
        mining = mine_patterns(
            opened,
            clusters=clusters,
            keep=keep,
            max_gap_s=max_gap,
            motions=names,
            seed=seed,
            stability_seeds=stability,
            on_progress=progress,
        )
    described = _describe(mining, stability, max_gap, seed)
    write_json(out / "patterns.json", mining.patterns.describe() | described)
    files = _draw(opened, mining, max_gap, out)
    if as_json:
        print_json(described | {"files": files})
        return
    _show(mining, described)
    peak_mb = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    output().print(f"took {monotonic() - begun:.1f} s, and at most {peak_mb:.0f} MB of memory")
    say(f"saved: {', '.join(files)}")


def _open(store: str) -> FrameStore:
    """A store, or the poses of KITTI drives as one."""
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from egoequiv.catalog import open_source
    from egoequiv.errors import DataError
    from egoequiv.files import kind_of_folder
    from egoequiv.store import FrameStore, ingest
    from egoequiv.store.remote import is_url

    path = Path(store)
    if is_url(store) or kind_of_folder(path) is not None or not path.exists():
        fetch(store)
        return FrameStore.open(store)
    try:
        source = open_source("kitti", path, camera="none")
    except DataError as problem:
        raise DataError(f"{path} is neither a frame store (it has no store.json) nor KITTI raw: {problem}") from problem
    for kind, texts in (("remark", source.remarks), ("note", source.notes)):
        for text in texts:
            say(f"{kind}: {text}")
    with TemporaryDirectory() as folder:  # poses alone are held in memory once they are read
        return replace(ingest(source, Path(folder) / "poses"), path=path)


def _describe(mining: Mining, stability: int, max_gap_s: float, seed: int) -> dict[str, Any]:
    axes = mining.patterns.space.axes
    return {
        "patterns": [
            {
                "name": name,
                "kept": k < len(mining.patterns),
                "pairs": count,
                **{
                    f"{axis.name}_{axis.unit}".rstrip("_"): float(value)
                    for axis, value in zip(axes, mining.patterns.centres[k], strict=True)
                },
            }
            for k, (name, count) in enumerate(zip(mining.patterns.cluster_names(), mining.counts, strict=True))
        ],
        "pairs": mining.motions,
        "clustered": mining.clustered,
        "max_gap_s": max_gap_s,
        "seed": seed,
        "stability": {"other_seeds": stability, "largest_shift_in_spreads": mining.wandering} if stability else None,
    }


def _draw(store: FrameStore, mining: Mining, max_gap_s: float, out: Path) -> list[str]:
    from egoequiv.report.figures.drawing import save_figure
    from egoequiv.report.motion_figures import clusters_figure, clusters_of, sample_pairs, write_interactive_scatter
    from egoequiv.report.pictures import save_picture

    gap = "" if store.times_s is None else f" of at most {max_gap_s:g} s"
    title = f"{plural(mining.motions, 'motion')}{gap}: patterns kept in colour, dropped in gray"
    clusters = clusters_of(mining)
    save_figure(clusters_figure(clusters, title), out / "motions.png")
    write_interactive_scatter(clusters, title, out / "motions.html")
    files = [out / "patterns.json", out / "motions.png", out / "motions.html"]
    if store.has_images:
        save_picture(sample_pairs(store, mining, max_gap_s), out / "pairs.png")
        files.append(out / "pairs.png")
    return [str(path) for path in files]


def _show(mining: Mining, described: dict[str, Any]) -> None:
    """The clusters, what k-means looked at, and how far other seeds end from it."""
    from egoequiv.blocks import Grid, Text

    axes = mining.patterns.space.axes
    if len(axes) > MOST_COLUMNS:
        axes = ()
    heads = ("pattern", *(f"{axis.name} {axis.unit}".strip() for axis in axes), "pairs", "share")
    rows = [
        (
            row["name"],
            *(f"{value:.2f}" for value in centre[: len(axes)]),
            row["pairs"],
            f"{100 * row['pairs'] / mining.motions:.1f} %",
        )
        for row, centre in zip(described["patterns"], mining.patterns.centres, strict=True)
    ]
    looked = "all" if mining.clustered == mining.motions else f"{mining.clustered:,} at random"
    lines = [Text(f"{plural(mining.motions, 'motion')}, k-means on {looked}")]
    if described["stability"]:
        seeds = f"stability: from {described['stability']['other_seeds']} other seeds no kept centre moved by more than"
        lines.append(Text(f"{seeds} {mining.wandering:.3f} standard deviations of the motions"))
    show([Grid.of("", heads, rows), *lines])
