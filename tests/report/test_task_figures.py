"""Figures of tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.evaluation.composition import composition
from egoequiv.evaluation.next_view_task import next_view
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.tasks import TASKS
from egoequiv.report.chain_figure import chain_figure, composition_figures
from egoequiv.report.next_view_figures import RIGHT, WRONG, accuracy_figure, next_view_figures
from egoequiv.report.task_figures import TASK_FIGURES, save_drawings
from evaluation.task_worlds import FRAMES, MadeData, made_data, telling_world, turning_world


@pytest.fixture(scope="module")
def telling() -> MadeData:
    store, z = telling_world()
    rng = np.random.default_rng(0)
    pictured = replace(store, images=rng.integers(0, 256, (len(store), 8, 12, 1), np.uint8))
    return made_data(pictured, z, np.arange(8 * FRAMES, 12 * FRAMES))


def has_drawn(path: Path) -> bool:
    with Image.open(path) as picture:
        return min(picture.size) > 200 and float(np.asarray(picture.convert("L")).std()) > 5


def test_every_drawn_task_is_a_task() -> None:
    assert set(TASK_FIGURES) <= set(TASKS)
    assert {"next-view", "composition"} <= set(TASK_FIGURES)


@pytest.mark.parametrize("steps", [1, 3])
def test_next_views_are_drawn(telling: MadeData, steps: int, tmp_path: Path) -> None:
    found = next_view(telling, TaskOptions(motions=("up", "down", "right"), steps=steps, neighbours=5))
    drawings = next_view_figures(found, telling)
    lines = drawings["next-view"].axes[0].get_lines()
    chosen = next(line for line in lines if line.get_label() == "chosen move")
    np.testing.assert_allclose(chosen.get_ydata(), [found.accuracy("chosen", n) for n in range(1, steps + 2)])
    views = [axes for axes in drawings["next-view-gallery"].axes if axes.images]
    colors = {axes.get_xlabel()[0]: axes.xaxis.label.get_color() for axes in views}
    assert {"✓": RIGHT, "✗": WRONG}.items() >= colors.items()
    assert len(views) > 12
    if steps > 1:
        return  # drawing takes seconds, and is the same
    paths = save_drawings(drawings, tmp_path)
    assert [path.name for path in paths] == ["next-view.png", "next-view-gallery.png"]
    assert all(has_drawn(path) for path in paths)


def test_fewer_than_five_recordings_have_no_interval_to_draw(telling: MadeData) -> None:
    found = next_view(telling, TaskOptions(motions=("up", "down", "right"), neighbours=5))
    for count, drawn in ((1, False), (4, False), (5, True)):
        these = replace(found, recording=np.arange(len(found.recording)) % count)
        assert bool(accuracy_figure(these).axes[0].collections) == drawn


def test_chains_are_drawn(tmp_path: Path) -> None:
    store, z = turning_world(30, noise=0.3)
    found = composition(made_data(store, z, np.arange(len(store))), TaskOptions())
    panels = chain_figure(found).axes
    assert [axes.get_title() for axes in panels] == ["up", "right", "up, right in turn"]
    product = panels[1].get_lines()[0]
    np.testing.assert_allclose(product.get_ydata(), [error.composed.rho for error in found.chains["right"]])
    widest = max(getattr(e, kind).interval[1] for kind in ("composed", "fitted") for e in found.chains["right"])
    one = chain_figure(replace(found, chains={"right": found.chains["right"]}))
    assert one.axes[0].get_ylim()[1] > max(1, widest)
    one.draw_without_rendering()
    legend = one.legends[0].get_window_extent()
    assert 0 <= legend.x0 < legend.x1 <= one.bbox.width
    data = made_data(store, z, np.arange(len(store)))
    (path,) = save_drawings(composition_figures(found, data), tmp_path)
    assert has_drawn(path)
    assert composition_figures(replace(found, chains={"up": []}), data) == {}
