"""The curves of the slowness AUROC."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from egoequiv.report.auroc_figure import auroc_figure
from egoequiv.report.figures import save_figure
from helpers import data_error

DRLIM = [
    {"iteration": 0, "auroc": 0.9, "validation_auroc": 0.88},
    {"iteration": 50, "loss": 0.3},
    {"iteration": 100, "loss": 0.2, "auroc": 0.99, "validation_auroc": 0.97},
]
EQUIV = [{"iteration": 100, "loss": 0.1, "auroc": 0.4}]


def test_every_run_has_a_curve_in_both_panels() -> None:
    figure = auroc_figure({"drlim": DRLIM, "equiv": EQUIV}, "a title")
    training, validation = figure.axes
    assert (training.get_title(), validation.get_title()) == ("training pairs", "validation pairs")
    drlim, equiv, chance = training.lines
    assert drlim.get_xydata().tolist() == [[0, 0.9], [100, 0.99]]
    assert equiv.get_xydata().tolist() == [[100, 0.4]]
    assert equiv.get_marker() == "o"  # a single point makes no line
    assert set(chance.get_ydata()) == {0.5}
    assert validation.lines[0].get_xydata().tolist() == [[0, 0.88], [100, 0.97]]
    assert training.get_ylim()[0] < 0.4  # worse than chance is seen too
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["drlim", "equiv"]
    plt.close(figure)


def test_the_figure_is_saved(tmp_path: Path) -> None:
    save_figure(auroc_figure({"drlim": DRLIM}, "a title"), tmp_path / "auroc.png")
    with Image.open(tmp_path / "auroc.png") as picture:
        assert np.asarray(picture).std() > 5


def test_runs_that_have_not_measured_it_are_named() -> None:
    with data_error("clsnet", "'auroc'", "train anew"):
        auroc_figure({"clsnet": [{"iteration": 100, "loss": 1.0}]}, "a title")
