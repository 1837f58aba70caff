"""The charts of a report: nothing in them is cut, and nothing claims more than was measured."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.report.page.charts import column_chart, curves_chart
from egoequiv.report.styles import row_styles


def table(values: tuple[float, ...], column: str = "top1") -> Table:
    return Table("Toys", (column,), [Row("equiv", labels, {column: Result(values)}) for labels in (True, False)])


def widths(axes: Axes) -> list[tuple[float, float]]:
    """The ends of the drawn intervals."""
    ends = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    return [(float(end[0]), float(end[1])) for end in ends]


def test_two_repetitions_have_no_interval() -> None:
    (axes,) = column_chart(table((3.0, 33.0)), ("top1",)).axes
    assert not widths(axes)
    assert axes.get_xlim()[1] < 30
    plt.close("all")


def test_percentages_end_at_0_and_100() -> None:
    (axes,) = column_chart(table((60.0, 99.0, 100.0)), ("top1",)).axes
    assert all(high == 100 for _, high in widths(axes))
    assert 100 < axes.get_xlim()[1] < 110  # room for the dot
    (axes,) = column_chart(table((-60.0, 99.0, 100.0), "difference"), ("difference",)).axes
    assert axes.get_xlim()[0] < -100
    plt.close("all")


@pytest.mark.parametrize("column", ["top5", "rho_up", "AUROC, validation frames"])
def test_equal_values_are_not_at_the_edge(column: str) -> None:
    (axes,) = column_chart(table((0.9,), column), (column,)).axes
    low, high = axes.get_xlim()
    assert low == 0
    assert high > 0.9 * 1.05
    plt.close("all")


def test_many_columns_are_in_several_rows_of_panels() -> None:
    columns = tuple(f"R2 of quantity_{k} from z_i, z_j" for k in range(7))
    rows = [Row("equiv", True, {column: Result((0.5,)) for column in columns})]
    figure = column_chart(Table("Toys", columns, rows), columns)
    assert len({axes.get_position().y0 for axes in figure.axes}) == 3
    assert figure.axes[0].get_title().replace("\n", " ") == columns[0]
    plt.close("all")


def test_curves_have_the_style_of_their_row_and_do_not_touch_the_top() -> None:
    lines = [{"iteration": 0, "equivariance": 1.0}, {"iteration": 10, "equivariance": 0.5}]
    styles = row_styles(["drlim", "equiv", "equiv (no labels)"])
    figure = curves_chart({"equiv": lines, "equiv (no labels)": lines}, styles)
    with_labels, without = figure.axes[0].lines
    assert with_labels.get_color() == without.get_color() == styles["equiv"].color
    assert (with_labels.get_linestyle(), without.get_linestyle()) == ("-", "--")
    assert figure.axes[0].get_ylim()[1] > 1.05
    plt.close("all")
