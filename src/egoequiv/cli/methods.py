"""`egoequiv methods`: what can be trained."""

from __future__ import annotations

from typing import Annotated

import typer

from egoequiv.cli.console import print_json, show
from egoequiv.cli.options import AsJson


def methods(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="Only these methods; your own as package.module:name or path/to/file.py:name, and sums of methods and "
            "losses such as equiv+file.py:name.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods and the losses each is made of, and the settings of those that are named.

    Example: egoequiv methods recording+motion
    """
    from egoequiv.blocks import Grid
    from egoequiv.method_names import get_method, list_methods
    from egoequiv.methods import numbers_of

    found = {name: get_method(name) for name in names or list_methods()}
    if as_json:
        print_json(
            {
                name: {
                    "about": m.about,
                    "terms": [t.name for t in m.terms],
                    "numbers": {f"{key}.{t.name}": value for t in m.terms for key, value in numbers_of(t).items()},
                    "defaults": dict(m.defaults),
                }
                for name, m in found.items()
            }
        )
        return
    rows = [
        (name, m.about, " + ".join(t.name if t.part == "all" else f"{t.name} ({t.part})" for t in m.terms))
        for name, m in found.items()
    ]
    show([Grid.of("", ("method", "what it learns", "losses"), rows, is_words=True)])
    for name, method in found.items() if names else ():
        numbers = [f"{key}.{t.name}={value:g}" for t in method.terms for key, value in numbers_of(t).items()]
        defaults = [f"{key}={value}" for key, value in method.defaults.items()]
        grid = Grid.of("", (f"{name}: settings that `--set` changes",), [(line,) for line in [*numbers, *defaults]])
        show([grid] if numbers else [])
