"""The figures of every task by name, drawn from what was measured alone."""

from __future__ import annotations

from matplotlib.figure import Figure

from egoequiv.errors import DataError
from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.task import Draw, Task
from egoequiv.report.figures.chains import composition_figures
from egoequiv.report.figures.next_view import next_view_figures
from egoequiv.report.figures.places import places_figures
from egoequiv.report.figures.plan import plan_figures
from egoequiv.report.figures.retrieval import retrieval_figures
from egoequiv.report.motion_figures import motions_figures
from egoequiv.user_code import user_code

# A task that is not part of the program brings its own function: `Task.draw`.
DRAWN: dict[str, Draw] = {
    "next-view": next_view_figures,
    "composition": composition_figures,
    "retrieval": retrieval_figures,
    "plan": plan_figures,
    "places": places_figures,
    "motions": motions_figures,
}


def draw(measurement: Measurement, task: Task | None = None) -> dict[str, Figure]:
    """The figures of a measurement by the names of their files; a task with a `draw` of its own draws them itself."""
    if measurement.problem is not None:
        return {}
    if task is not None and task.draw is not None:
        with user_code(f"the figures of {measurement.task} cannot be drawn"):
            return dict(task.draw(measurement))
    function = DRAWN.get(measurement.task)
    return {} if function is None else guarded(function, measurement)


def guarded(function: Draw, measurement: Measurement) -> dict[str, Figure]:
    """Figures by a function; one clear error where the measurement does not hold what it needs."""
    try:
        return dict(function(measurement))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as problem:
        raise DataError(
            f"the figures of {measurement.task} cannot be drawn from its measurement of {measurement.run} "
            f"({problem!r}): remove the folder measurements of the run, and measure it again"
        ) from problem
