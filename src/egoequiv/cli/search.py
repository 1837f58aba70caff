"""`egoequiv search`: greedy selection of rate and weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egoequiv.cli.console import print_json, progress_bar, say, show
from egoequiv.cli.options import AsJson, Where, grouped, numbers_in
from egoequiv.cli.settings import EncoderName, parse_settings
from egoequiv.cli.stores import fetch

if TYPE_CHECKING:
    from egoequiv.training.search import Selection


@grouped
def search(
    store: Annotated[str, typer.Argument(help="The store to learn from: a folder or a URL.")],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="Where the runs and selection.json go.")] = Path("search"),
    methods: Annotated[str, typer.Option(help="Which methods, in this order.")] = "temporal,drlim,equiv,equiv+drlim",
    rates: Annotated[str | None, typer.Option(help="Learning rates to try, such as 0.1,0.01.")] = None,
    weights: Annotated[str | None, typer.Option(help="Loss weights to try, such as 0.1,0.316,1.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds tried for each weight; the mean decides.")] = 2,
    rate_seeds: Annotated[int, typer.Option(min=1, help="Seeds tried for each learning rate.")] = 5,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="Iterations of each run; by default the method's, or 15,000.")
    ] = None,
    encoder: EncoderName = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any other training setting.")] = None,
    where: Where,
    as_json: AsJson = False,
) -> None:
    """Choose the learning rate and the loss weights, on a part cut from the training frames.

    The learning rate is chosen on clsnet, then each method's weights at that rate, or at its own where it has one. The
    validation frames are never looked at, and a run that diverges has lost. Repeat the command to go on after a stop.

    Example: egoequiv search toys -o my-search --methods equiv
    """
    from egoequiv.method_names import get_method
    from egoequiv.training import make_config
    from egoequiv.training.search import LEARNING_RATES, WEIGHTS, GreedySearch

    names = [name.strip() for name in methods.split(",")]
    for name in names:
        get_method(name)
    base = {"data": store, "validate_every": 1_000, **parse_settings(settings or [])}
    base |= {name: value for name, value in (("iterations", iterations), ("encoder", encoder)) if value is not None}
    shared = make_config({**base, "method": "equiv"})
    tried: dict[str, Any] = {
        "learning_rates": LEARNING_RATES if rates is None else numbers_in(rates, "--rates"),
        "weights": WEIGHTS if weights is None else numbers_in(weights, "--weights"),
        "rate_seeds": range(rate_seeds),
        "seeds": range(seeds),
    }
    _note_slow_losses(base, names)
    fetch(shared.data, shared.labels)
    with where.open() as engine, progress_bar() as progress:
        selection = GreedySearch(base=base, out=out, engine=engine, on_note=say, on_progress=progress, **tried).run(
            names
        )
    if as_json:
        print_json({"rows": _rows(selection), **selection.describe()})
    else:
        from egoequiv.report.search import search_blocks

        show(search_blocks(selection, names))


def _note_slow_losses(base: dict[str, Any], names: Sequence[str]) -> None:
    """Say which losses make the search slower than it might be."""
    from egoequiv.training import make_config
    from egoequiv.training.many import stacking_notes

    notes = [note for name in names for note in stacking_notes(make_config({**base, "method": name}))]
    for note in dict.fromkeys(notes):
        say(f"note: {note}")


def _rows(selection: Selection) -> list[dict[str, Any]]:
    """The trials in the shape that all results commands share."""
    return [
        {
            "method": trial.method,
            "labels": True,
            "metrics": {
                "score": {"mean": None if isnan(trial.score) else trial.score, "stderr": None, "published": None}
            },
            "settings": trial.settings,
        }
        for trial in selection.trials
    ]
