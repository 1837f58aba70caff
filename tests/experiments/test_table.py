"""Tables: rows, comparisons and their JSON."""

import json
import math
from dataclasses import replace

import pytest
from scipy import stats

from egoequiv.errors import DataError
from egoequiv.evaluation import Result
from egoequiv.experiments import Row, Table
from egoequiv.experiments.published import NORB, Published
from egoequiv.experiments.table import compare_rows


def table() -> Table:
    rows = [
        Row("clsnet", True, {"top1": Result((25.0, 27.0, 26.0))}, {"top1": Published(25.11, 0.72)}),
        Row("equiv", True, {"top1": Result((30.0, 31.0, 33.0)), "rho_up": Result((math.nan, 0.5, 0.6))}),
        Row("drlim", True, {"top1": Result((30.0, 31.0))}, diverged=1),
    ]
    return Table("A table", ("top1", "rho_up"), rows, compare_rows(rows, "top1"))


def test_json_has_the_promised_shape() -> None:
    described = json.loads(json.dumps(table().describe(), allow_nan=False))
    first = described["rows"][0]
    assert first["method"] == "clsnet"
    assert first["labels"] is True
    assert first["metrics"]["top1"]["mean"] == 26.0
    assert first["metrics"]["top1"]["stderr"] == pytest.approx(1 / math.sqrt(3))
    assert first["metrics"]["top1"]["published"] == 25.11
    assert described["rows"][1]["metrics"]["rho_up"]["mean"] is None


def test_a_table_comes_back_from_its_description() -> None:
    described = json.loads(json.dumps(replace(table(), published_on="small NORB").describe(), allow_nan=False))
    again = Table.from_description(described, "table.json")
    assert again.describe() == described
    assert again.rows[0].published["top1"] == Published(25.11, 0.72)
    assert math.isnan(again.rows[1].metrics["rho_up"].values[0])
    with pytest.raises(DataError, match=r"table.json holds no table .* make it anew"):
        Table.from_description({"title": "a", "columns": [], "rows": [{}]}, "table.json")


def test_comparisons_are_paired_and_leave_out_diverged_rows() -> None:
    (only,) = table().comparisons
    assert (only.a, only.b) == ("equiv", "clsnet")
    assert only.difference == pytest.approx(16 / 3)
    assert only.p_value == pytest.approx(stats.ttest_rel((30.0, 31.0, 33.0), (25.0, 27.0, 26.0)).pvalue)


def test_rows_are_found_by_method() -> None:
    assert table().row("equiv").metrics["top1"].values == (30.0, 31.0, 33.0)
    with pytest.raises(KeyError, match="labels=False"):
        table().row("equiv", labels=False)


def test_published_averages_are_those_of_the_single_motions() -> None:
    for key, metrics in NORB.items():
        if "rho_up" in metrics:
            atomic = (metrics["rho_up"].mean + metrics["rho_right"].mean) / 2
            composite = sum(metrics[f"rho_{name}"].mean for name in ("up+right", "up+left", "down+right")) / 3
            assert metrics["rho_atomic"].mean == pytest.approx(atomic, abs=1e-3), key
            assert metrics["rho_composite"].mean == pytest.approx(composite, abs=1e-3), key
