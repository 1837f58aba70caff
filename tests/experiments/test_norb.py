"""The NORB recipe, on a small embedded world."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError, DataError
from egoequiv.experiments import ReproduceOptions, Scale, Table
from egoequiv.experiments.norb import BEYOND, CHOSEN, LABELLED, UNLABELLED, reproduce_norb
from egoequiv.experiments.stores import PIXELS
from egoequiv.training.run_folder import RunFolder
from helpers import draw_small_toys

SMALL = Scale(repeats=2, iterations=60, search_iterations=40, size=12, lightings=1, select=False)


def one_table(options: ReproduceOptions) -> Table:
    (table,) = reproduce_norb(options).values()
    return table


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> ReproduceOptions:
    options = ReproduceOptions(tmp_path_factory.mktemp("table"), scale=SMALL, engine=LocalEngine(1))
    with pytest.MonkeyPatch.context() as patched:
        draw_small_toys(patched)
        one_table(replace(options, methods=("random",)))  # the store is made
    return options


def elsewhere(options: ReproduceOptions, out: Path, **changes: Any) -> ReproduceOptions:
    """The same in another folder, with a copy of the store: drawing it takes longest."""
    shutil.copytree(options.out / "stores", out / "stores")
    return replace(options, out=out, **changes)


@pytest.mark.slow
def test_every_row_of_the_table_is_measured(options: ReproduceOptions) -> None:
    table = one_table(options)
    assert [(row.method, row.uses_labels) for row in table.rows] == [
        (PIXELS, True),
        *((method, True) for method in LABELLED),
        *((method, False) for method in UNLABELLED),
    ]
    for row in table.rows[1:]:
        assert ("top1" in row.entries) == row.uses_labels
        assert len(row.entries["rho_up+left"].result.values) == 2
    assert table.row("random").mean("top1") < 15
    assert table.row(PIXELS).mean("top1") > 10
    assert table.row("equiv (no labels)").published["rho_atomic"].mean == 0.0304
    assert 0 < table.about["leaked_validation_frames"] <= table.about["validation_frames"]
    assert not table.comparisons  # two repetitions are too few for a test


@pytest.mark.slow
def test_finished_runs_are_not_done_again(options: ReproduceOptions) -> None:
    first = one_table(replace(options, methods=("drlim",)))
    weights = options.out / f"runs-preset-12-paper-{SMALL.iterations}" / "drlim-labels-0" / "last.safetensors"
    written = weights.stat().st_mtime_ns
    assert one_table(replace(options, methods=("drlim",))).model_dump_json() == first.model_dump_json()
    assert weights.stat().st_mtime_ns == written


@pytest.mark.slow
def test_selected_settings_are_used(options: ReproduceOptions, tmp_path: Path) -> None:
    small = elsewhere(options, tmp_path, methods=("drlim",), select=True)
    table = one_table(small)
    (run,) = (small.out / f"runs-12-paper-{SMALL.iterations}").glob("drlim-labels*-1")
    config = RunFolder(run).config()
    chosen = table.row("drlim").settings
    assert config.learning_rate == chosen["learning_rate"]
    assert config.weight == chosen["weight"]
    assert config.iterations == chosen["iterations"] in (SMALL.iterations // 2, SMALL.iterations)
    searched = list((small.out / f"search-12-paper-{SMALL.search_iterations}").glob("drlim,*"))
    assert all(RunFolder(run).config().holdout_fraction > 0 for run in searched)
    assert len(searched) == 2 * 7 + 2 + 3  # weights, when to stop, rates without labels


def test_there_are_settings_for_every_row() -> None:
    labelled, unlabelled = (*LABELLED, *BEYOND), (*UNLABELLED, *BEYOND)
    assert set(CHOSEN) == {*((m, True) for m in labelled), *((m, False) for m in unlabelled)}


@pytest.mark.slow
def test_an_output_folder_belongs_to_its_data(options: ReproduceOptions, tmp_path: Path) -> None:
    small = elsewhere(options, tmp_path, methods=("random",))
    reproduce_norb(small)
    (tmp_path / "stores" / "turntable-1-12.json").write_text('{"data": "elsewhere"}')
    with pytest.raises(DataError, match="other data"):
        reproduce_norb(small)


def test_bad_options_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="repeats"):
        reproduce_norb(ReproduceOptions(tmp_path, repeats=0))
    with pytest.raises(ConfigError, match="'magic' is not known"):
        reproduce_norb(ReproduceOptions(tmp_path, methods=("magic",)))
