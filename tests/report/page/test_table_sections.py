"""What the sections of a table say."""

from math import nan

from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import Published
from egoequiv.experiments.table import compare_rows
from egoequiv.report.page import table_sections
from egoequiv.report.page.blocks import Block, Grid, Picture, Points, Text
from egoequiv.report.page.published_section import published_blocks
from egoequiv.report.page.table_sections import results_blocks


def table(*values: float, about: dict[str, str] | None = None) -> Table:
    rows = [
        Row(method, labels, {"rho_atomic": Result(tuple(times * value for value in values))})
        for method, labels, times in (("a", True, 1), ("b", True, 2), ("a", False, 1), ("b", False, 3))
    ]
    rows[0].published["rho_atomic"] = Published(0.5)
    tests = [*compare_rows(rows[:2], "rho_atomic"), *compare_rows(rows[2:], "rho_atomic")]
    return Table("Toys", ("rho_atomic",), rows, tests, about or {}, "small NORB")


def texts(blocks: list[Block]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, Text))


def test_errors_and_intervals_are_announced_where_there_are_any() -> None:
    one, two, three = (results_blocks(table(*values)) for values in ((1.0,), (1.0, 2.0), (1.0, 2.0, 2.1)))
    assert texts(one).startswith("One repetition, which says nothing of chance; then")
    assert "standard error over 2 repetitions, too few for an interval" in texts(two)
    assert "over 3 repetitions, below it the 95 % interval" in texts(three)
    cells = [next(block.rows[0][1] for block in blocks if isinstance(block, Grid)) for blocks in (one, two, three)]
    assert [len(cell.small) for cell in cells] == [1, 1, 2]  # the paper's, and the interval
    assert cells[0].text == "1.000"


def test_the_caption_tells_of_what_is_drawn() -> None:
    rows = [Row("equiv", True, {"top1": Result((1.0, 2.0, 3.0))}), Row("equiv", False, {"top1": Result((1.0,) * 3)})]
    (picture,) = (b for b in results_blocks(Table("Toys", ("top1",), rows)) if isinstance(b, Picture))
    assert picture.caption == "Dots with their 95 % intervals over repetitions, open ones of rows without labels."


def test_rows_with_and_without_labels_are_named() -> None:
    (points,) = (block for block in table_sections.tests_blocks(table(0.1, 0.11, 0.13)) if isinstance(block, Points))
    assert [item.split(";")[0] for item in points.items] == [
        "rho atomic, with labels: best is a, 0.113 ± 0.009",
        "rho atomic, without labels: best is a (no labels), 0.113 ± 0.009",
    ]


def test_other_images_than_the_papers_are_told() -> None:
    made = texts(published_blocks(table(1.0, about={"data": "embedded turntable"})))
    assert "embedded turntable: these are other images than the paper's (small NORB)" in made
    assert "One repetition says nothing of chance" in made
    assert "other images" not in texts(published_blocks(table(1.0, about={"data": "norb"})))
    assert "Two repetitions say nothing of chance" in texts(published_blocks(table(1.0, 1.5)))
    assert "other images" in texts(published_blocks(table(1.0), {"video": "embedded drive", "labelled": "the video"}))


def test_what_is_not_defined_is_explained_where_the_reason_is_known() -> None:
    rows = [Row(name, True, {"rho_atomic": Result((nan,))}) for name in ("a", "b", "c")]
    reasons = {(name, "rho_atomic"): "7 pairs are too few" for name in ("a", "b")}
    told = texts(results_blocks(Table("Toys", ("rho_atomic",), rows), reasons=reasons))
    assert "rho atomic is not defined for a, b: 7 pairs are too few." in told
