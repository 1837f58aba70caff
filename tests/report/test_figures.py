"""Figures: what is drawn is what was measured, nothing is cut or hidden, and nothing claims more than that."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from egoequiv.evaluation.measurement import Measurement
from egoequiv.evaluation.task import Task
from egoequiv.report.audit import audit_figure
from egoequiv.report.figures.chains import KINDS, chains_figure, chains_of
from egoequiv.report.figures.columns import chart_key, rho_chart, table_chart
from egoequiv.report.figures.curves import AUROC, curves_figure, mean_lines
from egoequiv.report.figures.drawing import CAPTION, WIDTH, as_picture, save_figure, save_figures
from egoequiv.report.figures.next_view import accuracy_figure, gallery_figure
from egoequiv.report.figures.retrieval import retrieval_figure
from egoequiv.report.figures.styles import COLORS, RIGHT, WRONG, draw_lines, row_styles
from egoequiv.report.figures.tasks import DRAWN, draw
from helpers import data_error
from report.made import (
    ATOMIC,
    CURVE,
    TOP1,
    UP,
    audit_table,
    chains,
    composition,
    declared_motions,
    full_table,
    measurement,
    next_view,
    retrieval,
    row,
    table,
)


def markers(axes: Axes, marker: str) -> list[float]:
    return [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == marker]


def spans(axes: Axes) -> list[tuple[float, float]]:
    """The ends of the drawn intervals."""
    ends = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
    return [(float(end[0]), float(end[1])) for end in ends if end[0] != end[1]]


def check_layout(figure: Figure) -> None:
    """Titles, legends and keys do not lie on each other, and none is cut."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    parts = [legend.get_window_extent(renderer) for legend in figure.legends]
    suptitle = getattr(figure, "_suptitle", None)
    parts += [suptitle.get_window_extent(renderer)] if suptitle is not None else []
    parts += [axes.get_tightbbox(renderer) for axes in figure.axes if axes.axison]
    for number, part in enumerate(parts):
        assert part.x0 > -1
        assert part.x1 < figure.bbox.width + 1
        assert not any(part.shrunk(0.98, 0.98).overlaps(other.shrunk(0.98, 0.98)) for other in parts[:number])


def test_the_dots_of_a_table() -> None:
    figure = table_chart(full_table(), [TOP1, ATOMIC])
    first, second = figure.axes
    assert markers(first, "o") == pytest.approx([25.0, 38.567], abs=1e-3)
    assert markers(first, "D") == [25.11, 38.48]
    assert markers(first, "|") == [4.0, pytest.approx(30.9), 4.0, pytest.approx(29.9)]
    assert markers(second, "v") == [pytest.approx(0.04)]  # without labels
    hollow = [line for line in first.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"]
    assert len(hollow) == 1  # below its nearest pixels
    key = chart_key(full_table(), [TOP1, ATOMIC])
    for words in ("over repetitions", "copy", "chance, nearest pixels", "open dots", "published for small NORB"):
        assert words in key
    assert "is better" not in key  # not the same for both
    check_layout(figure)


def test_a_key_says_no_more_than_is_drawn() -> None:
    plain = table([TOP1], row("a", {"top1": (1.0,)}))
    assert chart_key(plain, [TOP1]) == "Dots: one repetition; higher is better"
    assert chart_key(table([TOP1], row("a", {"top1": (1.0, 2.0)})), [TOP1]) == (
        "Dots: means over repetitions; higher is better"
    )


def test_intervals_take_three_repetitions_and_percentages_end_at_100() -> None:
    (axes,) = table_chart(table([TOP1], row("a", {"top1": (3.0, 33.0)})), [TOP1]).axes
    assert not spans(axes)
    (axes,) = table_chart(table([TOP1], row("a", {"top1": (60.0, 99.0, 100.0)})), [TOP1]).axes
    assert [high for _, high in spans(axes)] == [100.0]
    assert 100 < axes.get_xlim()[1] < 110  # room for the dot
    gap = TOP1.model_copy(update={"better": "neither"})
    (axes,) = table_chart(table([gap], row("a", {"top1": (-60.0, 99.0, 100.0)})), [gap]).axes
    assert axes.get_xlim()[0] < -100


def test_motions_share_a_scale_and_say_what_is_not_defined() -> None:
    figure = rho_chart(full_table())
    assert figure is not None
    up, right = figure.axes
    assert up.get_xlim() == right.get_xlim()
    assert [text.get_text() for text in right.texts] == ["not defined"]
    assert [label.get_text() for label in up.get_yticklabels()] == ["clsnet", "equiv", "equiv (no labels)"]
    assert rho_chart(table([TOP1], row("a", {"top1": (1.0,)}))) is None


def test_many_columns_are_in_several_rows_of_panels() -> None:
    metrics = [UP.model_copy(update={"name": f"m{k}", "title": f"R2 of quantity_{k} from z_i, z_j"}) for k in range(7)]
    figure = table_chart(table(metrics, row("a", {metric.name: (0.5,) for metric in metrics})), metrics)
    figure.draw_without_rendering()
    assert len({round(axes.get_position().y0, 3) for axes in figure.axes}) == 3
    assert figure.axes[0].get_title().replace("\n", " ") == metrics[0].title


def test_the_dots_of_an_audit(tmp_path: Path) -> None:
    figure = audit_figure(audit_table())
    assert [sorted(markers(axes, "o")) for axes in figure.axes] == [[0.25, 1.0], [0.5, 0.9]]
    assert [markers(axes, "|") for axes in figure.axes] == [[0.75], [0.85]]
    lines = [line for axes in figure.axes for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [line.get_xdata()[0] for line in lines] == [1.0, 0.9]
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["7.000 →", "not defined"]
    check_layout(figure)
    save_figure(figure, tmp_path / "audit.png")
    with Image.open(tmp_path / "audit.png") as picture:
        assert np.asarray(picture.convert("L")).std() > 5


def test_curves_of_one_run_and_of_many() -> None:
    figure = curves_figure({"a run": CURVE}, "the title of a run")
    titles = [axes.get_title() for axes in figure.axes]
    losses = ["loss: equivariance", "loss: drlim", "loss: the sum of the weighted terms"]
    assert titles == [*losses, "accuracy on validation frames, top-1 %"]
    assert figure.axes[3].lines[0].get_ydata().tolist() == pytest.approx([25.0, 50.0, 75.0, 100.0])
    assert figure.axes[3].get_ylim()[1] > 100
    rings = [line for line in figure.axes[2].lines if line.get_fillstyle() == "none" and len(line.get_xdata())]
    assert rings[0].get_ydata()[0] == 4.0
    check_layout(figure)
    many = curves_figure(dict.fromkeys(("clsnet", "equiv", "equiv (no labels)"), CURVE), panels=AUROC)
    assert [text.get_text() for text in many.legends[0].get_texts()] == [
        "clsnet",
        "equiv",
        "equiv (no labels)",
        "chance",
    ]
    check_layout(many)


def test_a_run_that_was_validated_once_shows_the_number() -> None:
    lines = [{"iteration": 50.0, "loss": 2.0}, {"iteration": 100.0, "loss": 1.0, "validation_top1": 0.5}]
    loss, accuracy = curves_figure({"a run": lines}).axes
    assert [text.get_text() for text in accuracy.texts] == ["50"]
    assert loss.get_xlim() == accuracy.get_xlim() == (0, pytest.approx(103))
    assert not loss.texts


def test_baselines_of_one_row_do_not_cover_each_other_and_stay_on_the_axis() -> None:
    rho = ATOMIC.model_copy(update={"baselines": {"copy": 1.0}, "better": "lower"})
    known = row("a", {rho.name: (0.5,)})
    entry = known.entries[rho.name].model_copy(update={"baselines": {"constant": 0.9, "untrained": 0.9, "far": 7.0}})
    one = table([rho], known.model_copy(update={"entries": {rho.name: entry}}))
    (axes,) = table_chart(one, [rho]).axes
    heights = [float(line.get_ydata()[0]) for line in axes.lines if line.get_marker() == "|"]
    assert len(heights) == 2
    assert heights[0] < heights[1] - 0.1
    (far,) = [text for text in axes.texts if text.get_text() == "→"]
    assert far.get_position()[0] == axes.get_xlim()[1] == pytest.approx(1.6)
    assert "short black lines: constant, far, untrained (from top to bottom, → beyond the axis)" in chart_key(
        one, [rho]
    )


def test_curves_that_coincide_are_all_seen() -> None:
    figure = Figure()
    axes = figure.subplots()
    points = [(float(k), 1.0) for k in range(30)]
    other = [(float(k), float(k)) for k in range(30)]
    draw_lines(axes, {"a": points, "b": points, "c": other}, row_styles(["a", "b", "c"]))
    a, b, c = axes.lines
    first, second = (line._unscaled_dash_pattern for line in (a, b))  # type: ignore[attr-defined]
    assert first[1] == second[1]
    assert {first[0], second[0]} == {0, first[1][0]}  # the dashes of one lie in the gaps of the other
    assert not c.is_dashed()
    assert len({line.get_markevery()[0] for line in (a, b)}) == 2
    (alone,) = _drawn({"a": [(1.0, 2.0)]})
    assert alone.get_marker() == "o"  # a single point makes no line


def _drawn(curves: dict[str, list[tuple[float, float]]]) -> list[object]:
    axes = Figure().subplots()
    draw_lines(axes, curves, row_styles(list(curves)))
    return list(axes.lines)


def test_what_was_not_logged_is_said() -> None:
    with data_error("clsnet", "auroc", "train again"):
        curves_figure({"clsnet": [{"iteration": 100, "loss": 1.0}]}, panels=AUROC)


def test_repetitions_are_averaged_as_far_as_they_go() -> None:
    lines = [[{"iteration": 1, "loss": 1.0}, {"iteration": 2, "loss": 2.0}], [{"iteration": 1, "loss": 3.0}]]
    assert mean_lines(lines) == [{"iteration": 1, "loss": 2.0}, {"iteration": 2, "loss": 2.0}]


def test_styles_distinguish_all_rows() -> None:
    names = [f"method {k}{words}" for k in range(2 * len(COLORS) + 3) for words in ("", " (no labels)")]
    styles = list(row_styles(names).values())
    assert len({(style.color, style.dash) for style in styles}) == len(names)
    assert len({(style.color, style.marker) for style in styles}) == len(names)
    equiv = row_styles(["drlim", "equiv", "equiv (no labels)"])
    assert equiv["equiv"].color == equiv["equiv (no labels)"].color != equiv["drlim"].color


def test_chains_of_one_run_and_of_several() -> None:
    figure = chains_figure({"equiv": chains()["chains"]})
    assert [axes.get_title() for axes in figure.axes] == ["up", "right", "up, right in turn"]
    product, own, _ = figure.axes[0].lines
    assert [product.get_label(), own.get_label()] == [words for words, _ in KINDS.values()]
    assert product.get_ydata()[1] == pytest.approx(0.3 * (1 + 0.2 * 2**1.5))
    assert product.get_xdata()[0] != own.get_xdata()[0]  # the same at one step, and both are seen
    assert len(figure.axes[0].collections) == 2
    assert figure.axes[0].get_ylim()[1] > 1
    check_layout(figure)
    several = chains_figure({name: chains(times)["chains"] for name, times in (("a", 1.0), ("b", 2.0))})
    assert [line.get_label() for line in several.axes[0].lines] == ["a", "b", "copying the features"]
    assert not several.axes[0].collections
    assert chains_of(measurement("composition", details={"chains": {"up": []}})) == {}
    assert draw(measurement("composition", details={"chains": {"up": []}})) == {}
    broken = {
        "chains": {
            "up": [{"steps": 1, "composed": {"rho": None, "interval": None}, "fitted": {"rho": 0.5, "interval": None}}]
        }
    }
    assert draw(measurement("composition", details=broken))["composition"].axes


@pytest.mark.parametrize("views", [2, 4])
def test_next_views(views: int) -> None:
    figure = accuracy_figure(next_view(views))
    chosen = next(line for line in figure.axes[0].lines if line.get_label() == "chosen move")
    assert chosen.get_ydata().tolist() == [40.0 + 3 * count for count in range(1, views + 1)]
    assert figure.axes[0].collections
    assert not accuracy_figure(next_view(views, interval=False)).axes[0].collections
    check_layout(figure)
    shown = [axes for axes in gallery_figure(next_view(views)).axes if axes.images]
    assert len(shown) == 4 * views + 1  # the last walk has ended after one view
    colors = {axes.get_xlabel(): axes.xaxis.label.get_color() for axes in shown}
    assert colors == {"✓ car": RIGHT, "✗ truck": WRONG}
    assert {axes.get_title() for axes in shown} == {"car", "→ right\n1.2 bits"}


def test_retrieved_pairs_of_another_motion_have_a_red_frame() -> None:
    figure = draw(retrieval(5))["retrieval"]
    (axes,) = figure.axes
    assert len(axes.images) == 5 * 3 * 2
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(frames) == 5 * 2
    assert all(patch.get_edgecolor() == to_rgba(WRONG) for patch in frames)
    said = [text.get_text() for text in axes.texts]
    assert said.count("nearest by features") == said.count("nearest by pixels") == 2  # over both columns
    first = retrieval(5).arrays["gallery_images"][0, 0, 0, :, :, 0]
    np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), first)
    assert len(draw(retrieval(1))["retrieval"].axes[0].images) == 6


@pytest.mark.parametrize(
    "figure", [gallery_figure(next_view(2, 12)), gallery_figure(next_view(4)), retrieval_figure(retrieval(5))]
)
def test_words_beside_photographs_are_as_large_as_the_small_text_of_a_page(figure: Figure) -> None:
    assert figure.get_figwidth() <= WIDTH  # a wider one is made smaller by the page, and its words too
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    said = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert len(said) > 10
    assert {text.get_fontsize() for text in said} == {CAPTION}
    boxes = [text.get_window_extent(renderer).shrunk(0.95, 0.95) for text in said]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_declared_motions_are_discs() -> None:
    (axes,) = draw(declared_motions())["motions"].axes
    assert [text.get_text() for text in axes.texts] == ["up (300)", "right (500)", "up+left (100)"]
    sizes = [float(disc.get_sizes()[0]) for disc in axes.collections]  # type: ignore[attr-defined]
    assert sizes == pytest.approx([540.0, 900.0, 180.0])
    filled = [len(disc.get_facecolor()) for disc in axes.collections]
    assert filled == [1, 1, 0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("azimuth (deg)", "elevation (deg)")


def test_a_task_may_bring_its_own_figures() -> None:
    def own(found: Measurement) -> dict[str, Figure]:
        figure = Figure()
        figure.suptitle(found.run)
        return {"mine": figure}

    task = Task("mine", "Mine", "", lambda *_: None, draw=own)  # type: ignore[arg-type,return-value]
    assert list(draw(measurement("mine"), task)) == ["mine"]
    assert draw(measurement("mine")) == {}
    assert draw(measurement("mine", problem="no poses"), task) == {}


@pytest.mark.parametrize("task", sorted(DRAWN))
def test_a_measurement_that_is_not_whole_is_one_clear_error(task: str) -> None:
    with data_error(task, "equiv-0", "measure it again"):
        draw(measurement(task, details={"chains": {"up": [3]}}, arrays={"gallery_images": np.zeros(3)}))


def test_figures_are_saved_and_embedded(tmp_path: Path) -> None:
    figures = {"composition": draw(composition("equiv"))["composition"], "retrieval": draw(retrieval())["retrieval"]}
    assert [path.name for path in save_figures(figures, tmp_path)] == ["composition.png", "retrieval.png"]
    chart, photo = (as_picture(figure, "alt", "caption") for figure in figures.values())
    assert chart.source.startswith("data:image/svg+xml;base64,")
    assert photo.source.startswith("data:image/webp;base64,")
    assert (chart.is_chart, photo.is_chart) == (True, False)
    again = as_picture(draw(composition("equiv"))["composition"], "alt", "caption")
    assert as_picture(draw(composition("equiv"))["composition"], "alt", "caption") == again  # the same to the byte
