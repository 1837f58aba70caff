"""`egoequiv methods`: what can be trained."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from egoequiv.cli.console import output, print_json


def methods(as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False) -> None:
    """List the methods and the loss terms each is made of."""
    from egoequiv.methods import METHODS

    if as_json:
        print_json({name: {"about": m.about, "terms": [t.name for t in m.terms]} for name, m in METHODS.items()})
        return
    table = Table("method", "what it learns from", "terms")
    for name, method in METHODS.items():
        table.add_row(name, method.about, " + ".join(repr(term) for term in method.terms))
    output().print(table)
