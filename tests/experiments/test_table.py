"""Tables: rows, cells over repetitions, comparisons, and their JSON."""

import json
import math
from pathlib import Path

import pytest
from scipy import stats

from egoequiv.errors import DataError
from egoequiv.evaluation.metric import BEST, Value
from egoequiv.evaluation.statistics import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import NORB, Published
from egoequiv.experiments.table import compare_rows, entries_of
from tables import RHO_UP, TOP1, entry, measurement, row, table_of


def table() -> Table:
    rows = [
        row("clsnet", {"top1": entry(25.0, 27.0, 26.0)}, published={"top1": Published(25.11, 0.72)}),
        row("equiv", {"top1": entry(30.0, 31.0, 33.0), "rho_up": entry(math.nan, 0.5, 0.6)}),
        row("drlim", {"top1": entry(30.0, 31.0)}, diverged=1),
    ]
    return table_of(rows, [TOP1, RHO_UP], comparisons=compare_rows(rows, "top1"))


def test_a_table_comes_back_from_its_file(tmp_path: Path) -> None:
    table().save(tmp_path / "table.json")
    text = (tmp_path / "table.json").read_text()
    assert "NaN" not in text
    described = json.loads(text)
    assert described["rows"][0]["published"]["top1"] == {"mean": 25.11, "stderr": 0.72}
    assert described["rows"][1]["entries"]["rho_up"]["result"]["values"] == [None, 0.5, 0.6]
    again = Table.load(tmp_path / "table.json")
    assert again.model_dump_json() == table().model_dump_json()
    assert math.isnan(again.rows[1].entries["rho_up"].result.values[0])


@pytest.mark.parametrize(
    "change", [{"rows": [{}]}, {"columns": [1]}, {"about": ["a"]}, {"title": None}, {"format": "other"}, {"new": 1}]
)
def test_a_damaged_table_is_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "table.json").write_text(json.dumps(json.loads(table().model_dump_json()) | change))
    with pytest.raises(DataError, match=r"table.json is not a table .*: repeat the command") as caught:
        Table.load(tmp_path / "table.json")
    assert "\n" not in str(caught.value)


def test_comparisons_are_paired_and_leave_out_diverged_rows() -> None:
    (only,) = table().comparisons
    assert (only.a, only.b, only.repetitions) == ("equiv", "clsnet", 3)
    assert only.difference == pytest.approx(16 / 3)
    assert only.p_value == pytest.approx(stats.ttest_rel((30.0, 31.0, 33.0), (25.0, 27.0, 26.0)).pvalue)


def test_rows_are_paired_by_their_seeds() -> None:
    first = row("x", {"top1": entry(1.0, 5.0, 9.0)})
    shifted = row("y", {"top1": entry(1.0, 5.0, 9.0)}, seeds=((1, 0), (2, 0), (3, 0)))
    turned = row("z", {"top1": entry(9.0, 1.0, 5.0)}, seeds=((2, 0), (0, 0), (1, 0)))
    training = row("w", {"top1": entry(1.0, 5.0, 9.0)}, unfinished=((1, 0),))
    assert compare_rows([first, shifted], "top1") == []  # two seeds in common
    (test,) = compare_rows([first, turned], "top1")
    assert (test.a, test.b, test.difference, test.p_value) == ("z", "x", 0.0, 1.0)
    assert compare_rows([first, training], "top1") == []  # one of three is still in training


def test_rows_are_found_by_name() -> None:
    assert table().row("equiv").entries["top1"].result.values == (30.0, 31.0, 33.0)
    with pytest.raises(KeyError, match="no row"):
        table().row("equiv (no labels)")


def test_cells_are_means_over_repetitions() -> None:
    each = [
        [measurement(Value(metric=RHO_UP, value=0.5, interval=(0.4, 0.6), baselines={"constant": 0.7}))],
        [measurement(Value(metric=RHO_UP, value=0.7, interval=(0.6, 0.8), baselines={"constant": 0.9}))],
    ]
    (metric,), entries = entries_of(each)
    assert metric == RHO_UP
    cell = entries["rho_up"]
    assert cell.result == Result((0.5, 0.7))
    assert all(map(math.isnan, cell.interval))  # two repetitions say too little
    assert cell.shown_interval(RHO_UP) is cell.over_repetitions() is None
    assert cell.baselines == pytest.approx({"constant": 0.8})


def test_the_interval_is_that_of_the_mean_and_not_the_mean_of_the_intervals() -> None:
    values = (0.5, 0.7, 0.6)
    each = [[measurement(Value(metric=RHO_UP, value=value, interval=(0.4, 0.9)))] for value in values]
    one, three = (entries_of(each[:count])[1]["rho_up"] for count in (1, 3))
    assert one.interval == one.shown_interval(RHO_UP) == (0.4, 0.9)  # over recordings
    half = 4.3027 * 0.1 / math.sqrt(3)  # Student's t with two degrees of freedom
    assert three.interval == three.shown_interval(RHO_UP) == pytest.approx((0.6 - half, 0.6 + half), abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"is_percent": True}, (0.0, 100.0)),
        ({"within": (0.0, 1.0)}, (0.0, 1.0)),
        ({"within": (None, 1.0)}, (-70.0, 1.0)),
        ({"within": (0.0, None)}, (0.0, 130.0)),
        ({}, (-70.0, 130.0)),
    ],
)
def test_an_interval_is_cut_to_what_the_metric_can_be(
    changes: dict[str, object], expected: tuple[float, float]
) -> None:
    metric = RHO_UP.model_copy(update={"within": (None, None), **changes})
    assert metric.cut((-70.0, 130.0)) == expected
    cell = entry(-70.0, 30.0, 130.0)
    wide = cell.result.interval()
    assert cell.shown_interval(metric) == (max(wide[0], metric.cut(wide)[0]), min(wide[1], metric.cut(wide)[1]))
    assert cell.over_repetitions() == wide  # a test of chance needs the whole width


def test_what_one_repetition_lacks_is_not_defined_and_says_why() -> None:
    few = Value(metric=RHO_UP, value=math.nan, note="9 pairs are too few")
    fine = Value(metric=RHO_UP, value=0.5)
    _, entries = entries_of([[measurement(fine)], [measurement(few)], [measurement()]])
    assert [math.isnan(value) for value in entries["rho_up"].result.values] == [False, True, True]
    assert entries["rho_up"].note == "in 1 of 3 repetitions 9 pairs are too few"


def test_cells_that_no_baseline_is_below_are_marked() -> None:
    rows = [
        row("a", {"rho_up": entry(0.6, baselines={"constant": 0.7})}),
        row("b", {"rho_up": entry(0.8, baselines={"constant": 0.7})}),
        row("c", {"rho_up": entry(1.2)}),
    ]
    shown = table_of(rows, [RHO_UP])
    assert [shown.is_marked(one, RHO_UP) for one in rows] == [False, True, True]


def test_a_mean_over_motions_is_marked_where_each_motion_is_in_all_repetitions() -> None:
    """In the second repetition one baseline is best for each motion, so that there the best of each is no further."""
    mean = RHO_UP.model_copy(update={"name": "rho_atomic", "motion": None})
    first = Value(metric=mean, value=0.6, baselines={"constant": 0.9, "pixels": 0.8, BEST: 0.5})
    second = Value(metric=mean, value=0.6, baselines={"constant": 0.9, "pixels": 0.55})
    metrics, entries = entries_of([[measurement(first)], [measurement(second)]])
    assert entries["rho_atomic"].baselines[BEST] == pytest.approx((0.5 + 0.55) / 2)
    one = row("a", entries)
    assert table_of([one], metrics).is_marked(one, mean)


def test_published_averages_are_those_of_the_single_motions() -> None:
    for key, metrics in NORB.items():
        if "rho_up" in metrics:
            atomic = (metrics["rho_up"].mean + metrics["rho_right"].mean) / 2
            composite = sum(metrics[f"rho_{name}"].mean for name in ("up+right", "up+left", "down+right")) / 3
            assert metrics["rho_atomic"].mean == pytest.approx(atomic, abs=1e-3), key
            assert metrics["rho_composite"].mean == pytest.approx(composite, abs=1e-3), key


def test_published_values_of_the_next_view() -> None:
    published = {
        method: (values["one_view"].mean, values["two_views"].mean)
        for (method, _), values in NORB.items()
        if "one_view" in values
    }
    assert published == {
        "random": (4.0, 4.0),
        "temporal": (29.6, 31.9),
        "drlim": (14.89, 17.95),
        "equiv": (38.52, 43.86),
        "equiv+drlim": (38.46, 43.18),
    }


def test_a_row_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Row(name="a", method="a").name = "b"  # type: ignore[misc]
