"""A task of a user: measured, kept, shown in a report again and again, and checked before anything is kept."""

from pathlib import Path

import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.measurement import FOLDER
from egoequiv.evaluation.task import TaskOptions
from egoequiv.evaluation.tasks import get_tasks
from egoequiv.experiments import RunMeasurer
from egoequiv.experiments.collect import collect
from egoequiv.experiments.missing import measure_missing
from egoequiv.report.page import write_report
from egoequiv.store import FrameStore
from egoequiv.training import train
from egoequiv.training.run_folder import RunFolder

CODE = """
from egoequiv.blocks import Grid
from egoequiv.evaluation import Finding, Metric, Task, Value

VALUE = Value(metric=Metric(name="answer", title="the answer"), value=42.0)


def good(data, options, on_progress):
    return Finding([VALUE])


def nothing(data, options, on_progress):
    return None


def no_list(data, options, on_progress):
    return Finding(VALUE)


def short_row(data, options, on_progress):
    return Finding([VALUE], [Grid.of("t", ("a", "b"), [("x",)])])


def unfit_details(data, options, on_progress):
    return Finding([VALUE], details={"a": object()})


titled = Task("titled", "The Answer", "What is asked.", good)
of_motion = Task("moved", "Moved", "", good, of_motion=True)
untold = Task("untold", "Untold", None, good)
odd = Task("odd", "Odd", "", good, ("nothere",))
"""


@pytest.fixture
def run(small_store: FrameStore, tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    settings = {"method": "random", "encoder": "norb", "split": "paper", "per_class": 3}
    return train(small_store.path, tmp_path / "run", **settings).path


def test_a_report_shows_it_each_time(run: Path, tmp_path: Path) -> None:
    name = f"{tmp_path / 'mine.py'}:good"
    for _ in range(2):
        found, problems = measure_missing(collect(run), [name])
        assert problems == []
        page = write_report(run, tmp_path / "page.md", found=found, tasks=get_tasks([name])).read_text()
        assert "42.000" in page
    assert "42.000" in write_report(run, tmp_path / "page.html").read_text()  # as it was kept


def test_its_title_and_what_it_is_about_are_kept_with_the_numbers(run: Path, tmp_path: Path) -> None:
    (task,) = get_tasks([f"{tmp_path / 'mine.py'}:titled"]).values()
    RunMeasurer(run).measure(task)
    (tmp_path / "mine.py").unlink()
    page = write_report(run, tmp_path / "page.md").read_text()
    assert "## The Answer\n" in page
    assert "What is asked. Measured with seed 0." in page


def test_one_of_motion_measures_the_equivariant_part(run: Path, tmp_path: Path) -> None:
    store = RunFolder(run).config().data
    settings = {"encoder_settings": {"width": 4, "feature_dim": 4}, "use_labels": False, "iterations": 1}
    made = train(store, tmp_path / "parts", method="recording+motion", batch_size=8, **settings).path
    (task,) = get_tasks([f"{tmp_path / 'mine.py'}:of_motion"]).values()
    assert RunMeasurer(made).measure(task).part == "equivariant"
    (tmp_path / "mine.py").unlink()
    assert "## Moved\n" in write_report(made, tmp_path / "page.md").read_text()
    assert RunMeasurer(run).settled(task, None).part == "all"


def test_a_table_calls_a_method_as_it_calls_itself(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from egoequiv.losses import Classification\nfrom egoequiv.methods import Method\n"
    (tmp_path / "own.py").write_text(f"{code}MINE = Method('my own way', '', (Classification(),))\n")
    monkeypatch.chdir(tmp_path)
    store = RunFolder(run).config().data
    settings = {"encoder": "norb", "split": "paper", "per_class": 3, "iterations": 1}
    made = train(store, tmp_path / "other", method="own.py:MINE", **settings).path
    measure_missing(collect(made), [])
    (exhibit,) = collect(made)[0].exhibits
    assert [subject.name for subject in exhibit.subjects] == ["my own way"]
    assert exhibit.table is not None
    assert [row.name for row in exhibit.table.rows] == ["my own way"]
    assert RunFolder(made).config().method.endswith("/own.py:MINE")


@pytest.mark.parametrize("name", ["nothing", "no_list", "short_row", "unfit_details"])
def test_what_is_no_finding_is_one_line_and_not_kept(run: Path, tmp_path: Path, name: str) -> None:
    (task,) = get_tasks([f"{tmp_path / 'mine.py'}:{name}"]).values()
    measured = RunMeasurer(run).measure(task)
    assert measured.problem
    assert "\n" not in measured.problem
    assert not list(run.glob(f"{FOLDER}/*"))


def test_a_report_shows_the_part_that_the_task_is_meant_for(run: Path, tmp_path: Path) -> None:
    store = RunFolder(run).config().data
    settings = {"encoder_settings": {"width": 4, "feature_dim": 4}, "use_labels": False, "iterations": 1}
    made = train(store, tmp_path / "parts", method="recording+motion", batch_size=8, **settings).path
    for name in ("titled", "of_motion"):
        (task,) = get_tasks([f"{tmp_path / 'mine.py'}:{name}"]).values()
        for part in ("all", "equivariant", "invariant"):
            RunMeasurer(made).measure(task, TaskOptions(part=part))
    ((subject,),) = [exhibit.subjects for exhibit in collect(made)[0].exhibits]
    assert {one.title: one.part for one in subject.other_measurements()} == {
        "The Answer": "all",
        "Moved": "equivariant",
    }


def test_what_is_said_of_a_task_must_be_text(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="its about must be a text of one line, found None"):
        get_tasks([f"{tmp_path / 'mine.py'}:untold"])


def test_an_option_that_there_is_not_is_one_line(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no option 'nothere'"):
        get_tasks([f"{tmp_path / 'mine.py'}:odd"])
