"""`egoequiv methods`: what can be trained."""

from __future__ import annotations

from typing import Annotated

import typer

from egoequiv.cli.console import output, print_json
from egoequiv.cli.options import AsJson


def methods(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="These alone, also your own as package.module:name or path/to/file.py:name, and sums of methods and "
            "losses such as equiv+file.py:name.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods and the loss terms each is made of.

    Example: egoequiv methods
    """
    from egoequiv.blocks import Grid
    from egoequiv.methods import get_method, list_methods
    from egoequiv.report.terminal import print_blocks

    found = {name: get_method(name) for name in names or list_methods()}
    if as_json:
        print_json({name: {"about": m.about, "terms": [t.name for t in m.terms]} for name, m in found.items()})
        return
    rows = [(name, method.about, " + ".join(map(repr, method.terms))) for name, method in found.items()]
    print_blocks([Grid.of("", ("method", "what it learns from", "terms"), rows, is_words=True)], output())
