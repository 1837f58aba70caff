"""Tables as text, figures and pictures."""

import csv
import json
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import compare_rows
from egoequiv.report.figures import curves_figure, rho_figure, save_figure
from egoequiv.report.pictures import contact_sheet, picture_grid, save_picture
from egoequiv.report.tables import interval_of, save_table, show, title_of, to_csv, to_markdown
from egoequiv.store import FrameStore


def table() -> Table:
    accuracy, error = Result((25.0, 27.0)), Result((0.9, 0.8))
    undefined = {"rho_up": Result((0.5, math.nan))}
    rows = [
        Row("clsnet", True, {"top1": accuracy, "rho_up": error}, {"top1": Published(25.1, 0.7)}),
        Row("equiv", False, undefined, settings={"weight": {"equivariance": 1.0}}, diverged=1),
    ]
    return Table("Toys", ("top1", "rho_up"), rows, compare_rows(rows, "rho_up"), {"split": "paper"})


def test_markdown_shows_measured_beside_published() -> None:
    text = to_markdown(table())
    assert "| clsnet | 26.00 ± 1.00 (25.10 ± 0.70) | 0.850 ± 0.050 |" in text
    assert "| equiv (no labels) (1 diverged) | - | not defined |" in text
    assert "weight.equivariance=1" in text
    assert "| split | paper |" in text


def test_csv_has_a_line_for_each_metric() -> None:
    lines = list(csv.DictReader(to_csv(table()).splitlines()))
    assert [(line["method"], line["metric"]) for line in lines] == [
        ("clsnet", "top1"),
        ("clsnet", "rho_up"),
        ("equiv", "rho_up"),
    ]
    assert float(lines[0]["mean"]) == 26.0
    assert lines[0]["published"] == "25.1"
    assert lines[1]["published"] == ""


def test_a_single_repetition_has_no_error() -> None:
    assert show(Result((12.5,)), "top1") == "12.50"
    assert show(None, "top1") == "-"


def test_a_table_of_one_repetition_without_settings_says_no_more() -> None:
    text = to_markdown(Table("Task slowness", ("a",), [Row("equiv", True, {"a": Result((1.0,))})], about={"seed": 0}))
    assert "Measured in one repetition." in text
    assert "±" not in text
    assert "settings" not in text


def test_intervals_take_three_repetitions() -> None:
    assert interval_of(Result((1.0, 2.0))) is None
    assert interval_of(Result((1.0, 2.0, math.nan))) is None
    assert interval_of(None) is None
    assert interval_of(Result((1.0, 2.0, 3.0))) == Result((1.0, 2.0, 3.0)).interval()


def test_names_of_several_words_are_left_as_they_are() -> None:
    assert title_of("R2 of yaw_deg from z_i, z_j") == "R2 of yaw_deg from z_i, z_j"
    assert title_of("rho_right turn 23°") == "rho right turn 23°"
    assert title_of("some_metric") == "some metric"
    assert title_of("top1") == "top-1 %"


def test_tables_are_saved_in_four_forms(tmp_path: Path) -> None:
    paths = save_table(table(), tmp_path)
    assert [path.name for path in paths] == ["table.md", "table.csv", "table.tex", "table.json"]
    assert json.loads(paths[3].read_text())["rows"][1]["metrics"]["rho_up"]["mean"] is None


def test_figures_are_drawn(tmp_path: Path) -> None:
    save_figure(rho_figure(table()), tmp_path / "rho.png")
    metrics = [{"iteration": k, "loss": 1 / k, "validation_loss": 2 / k, "validation_top1": 0.1 * k} for k in (1, 2, 3)]
    save_figure(curves_figure(metrics, "a run"), tmp_path / "curves.png")
    for name in ("rho.png", "curves.png"):
        with Image.open(tmp_path / name) as picture:
            assert np.asarray(picture.convert("L")).std() > 5  # something is drawn


def test_nothing_touches_the_top_or_is_written_over_bars() -> None:
    metrics = [{"iteration": k, "loss": 1 / k, "validation_top1": 0.1 * k} for k in (1, 2, 3)]
    assert curves_figure(metrics, "a run").axes[1].get_ylim()[1] > 31
    figure = rho_figure(table())
    assert not figure.axes[0].texts
    assert "copying the features" in [text.get_text() for text in figure.legends[0].get_texts()]
    plt.close("all")


def test_the_contact_sheet_shows_every_class(small_store: FrameStore, tmp_path: Path) -> None:
    sheet = contact_sheet(small_store, columns=4, thumbnail=24)
    assert sheet.width > 4 * 24
    assert sheet.height > 24 * len(small_store.class_names)
    save_picture(sheet, tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 500


def test_a_grid_puts_images_in_their_places() -> None:
    white, black = np.full((4, 6, 1), 255, np.uint8), np.zeros((4, 6, 1), np.uint8)
    grid = np.asarray(picture_grid([[white, black]], [""]).convert("L"))
    assert (grid == 0).sum() == black.size
