"""A report as one page that needs nothing but itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from egoequiv import __version__

if TYPE_CHECKING:
    from egoequiv.report.sections import Report


def to_html(report: Report) -> str:
    """The page: style, script and figures are in it, and whatever a name holds is shown as it is."""
    environment = Environment(
        loader=PackageLoader("egoequiv.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(report=report, version=__version__)
