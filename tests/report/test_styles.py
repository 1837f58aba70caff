"""Every row has a look of its own, the same in every figure of a page."""

from egoequiv.report.styles import COLORS, row_styles


def test_a_row_without_labels_has_the_colour_of_its_method() -> None:
    styles = row_styles(["equiv", "drlim", "equiv (no labels)", "drlim (no labels) 2"])
    assert [style.color for style in styles.values()] == [COLORS[0], COLORS[1], COLORS[0], COLORS[2]]
    assert [style.dash for style in styles.values()] == ["-", "-", "--", "--"]
    assert [style.is_filled for style in styles.values()] == [True, True, False, False]
    assert styles["equiv"].face == COLORS[0]


def test_more_rows_than_colours_are_told_apart() -> None:
    names = [f"method {k}{words}" for k in range(2 * len(COLORS) + 3) for words in ("", " (no labels)")]
    styles = list(row_styles(names).values())
    assert len({(style.color, style.dash) for style in styles}) == len(names)
    assert len({(style.color, style.marker, style.is_filled) for style in styles}) == len(names)
    assert len({(style.color, style.hatch) for style in styles}) == len(names)
