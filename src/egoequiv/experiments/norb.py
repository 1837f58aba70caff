"""The NORB columns of the paper: recognition of 25 toys, and equivariance with labels and without."""

from __future__ import annotations

from egoequiv.catalog import open_source
from egoequiv.errors import ConfigError
from egoequiv.experiments.options import Effort, ReproduceOptions, Scale, Settings
from egoequiv.experiments.published import NORB, NORB_NAME, Key
from egoequiv.experiments.recipe import Recipe, chosen_keys, make_rows
from egoequiv.experiments.stores import about_frames, experiment_store, pixel_row
from egoequiv.experiments.table import Table, compare_rows, merge_rows
from egoequiv.methods import MODERN
from egoequiv.pairs import make_split
from egoequiv.store import FrameStore

WHOLE = Scale()
QUICK = Scale(repeats=2, iterations=3_000, size=32, lightings=2, select=False)
PER_CLASS = 6
LABELLED = ("random", "clsnet", "temporal", "drlim", "equiv", "equiv+drlim", "equiv-narrow", "equiv+views")
BEYOND = ("recording+motion",)  # not in the paper; in the table if it is named
UNLABELLED = ("temporal", "drlim", "equiv", "equiv+drlim", "equiv+apart")

# What --select chose on small NORB, all but when to stop; used with --no-select.
CHOSEN: dict[Key, Settings] = {
    ("random", True): {},
    ("clsnet", True): {"learning_rate": 0.01},
    ("temporal", True): {"learning_rate": 0.01, "weight": {"slowness": 0.316}},
    ("drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 3.16}},
    ("equiv", True): {"learning_rate": 0.01, "weight": {"equivariance": 0.316}},
    ("equiv+drlim", True): {"learning_rate": 0.01, "weight": {"slowness": 3.16, "equivariance": 0.01}},
    ("equiv-narrow", True): {"learning_rate": 0.01, "weight": {"equivariance": 1.0}},
    ("equiv+views", True): {"learning_rate": 0.01, "weight": {"equivariance": 1.0}},
    ("temporal", False): {"learning_rate": 0.001},
    ("drlim", False): {"learning_rate": 0.1},
    ("equiv", False): {"learning_rate": 0.01},
    ("equiv+drlim", False): {"learning_rate": 0.1},
    ("equiv+apart", False): {"learning_rate": 0.1},
    ("recording+motion", True): {},
    ("recording+motion", False): {},
}


def reproduce_norb(options: ReproduceOptions) -> dict[str, Table]:
    """Measure every row of the NORB columns, beside the published ones; one table for each split."""
    effort, keys = options.effort(WHOLE, QUICK), _keys(options)
    store = _store(options, effort)
    splits = options.splits or ("paper",)
    tables = {}
    for kind in splits:
        split = make_split(store, kind)
        recipe = Recipe(
            name=f"{effort.size}-{kind}",
            base={"data": str(store.path), "encoder": "norb", "per_class": PER_CLASS, "split": kind},
            keys=keys,
            chosen=CHOSEN,
            published=NORB,
            extra=_extra_settings,
        )
        each = [pixel_row(store, split, PER_CLASS, effort.repeats), *make_rows(recipe, effort)]
        metrics, rows = merge_rows(each)
        with_labels = [row for row in rows if row.uses_labels]
        tables["table" if len(splits) == 1 else f"table-{kind}"] = Table(
            title=f"{'Small NORB' if options.data else 'Turntable'}: recognition and equivariance",
            metrics=metrics,
            columns=tuple(
                one.name
                for one in metrics
                if one.name == "top1" or (one.family in ("rho", "ratio") and not one.is_detail)
            ),
            rows=rows,
            comparisons=[
                *compare_rows(with_labels, "top1"),
                *compare_rows(with_labels, "rho_atomic"),
                *compare_rows([row for row in rows if not row.uses_labels], "rho_atomic"),
            ],
            about={
                "data": options.data.name if options.data else "embedded turntable",
                "frames": len(store),
                **about_frames(effort, store, split, kind, PER_CLASS),
            },
            published_on=NORB_NAME,
        )
    return tables


def _keys(options: ReproduceOptions) -> list[Key]:
    """The rows of the table that come from runs."""
    beyond = [method for method in BEYOND if method in (options.methods or ())]
    labelled = ((method, True) for method in (*LABELLED, *beyond))
    unlabelled = ((method, False) for method in (*UNLABELLED, *beyond))
    keys = chosen_keys([*labelled, *unlabelled], options.methods)
    kept = [key for key in keys if options.rows == "all" or key[1] == (options.rows == "labelled")]
    if not kept:
        raise ConfigError(
            f"none of the methods {', '.join(options.methods or ())} has {options.rows} runs in this table"
        )
    return kept


def _store(options: ReproduceOptions, effort: Effort) -> FrameStore:
    """The store of the experiment, made once; another size or world has another one."""
    made_from = {"data": str(options.data.resolve()) if options.data else None, "part": options.part}
    if options.data:
        return experiment_store(effort, "norb", made_from, open_source("norb", options.data, part=options.part))
    source = open_source("turntable", lightings=effort.lightings)
    return experiment_store(effort, f"turntable-{effort.lightings}", made_from, source)


def _extra_settings(key: Key, iterations: int) -> Settings:
    """The rows that are not trained as the paper's are.

    `equiv+apart` without labels shows how far optimisation goes: large batches and a rate that falls to zero. Methods
    that are not in the paper have their own encoder, and a batch of theirs holds several times as many images.
    """
    if key[0] in BEYOND:
        short = max(1, iterations // 10)
        return {**MODERN, "weight": {"relative": 10.0}, "iterations": short, "validate_every": -(-short // 100) * 100}
    if key == ("equiv+apart", False):
        short = max(1, iterations // 4)
        return {"batch_size": 128, "decay": "cosine", "iterations": short, "validate_every": -(-short // 100) * 100}
    return {}
