"""`--labels labels.csv` of train and evaluate."""

import json
from pathlib import Path

import numpy as np
import pytest

from logs.table import write_csv, write_pictures
from running import Cli

SHORT = ("--iterations", 5, "--set", "split=by-recording", "--set", "batch_size=8")


@pytest.fixture
def drives(tmp_path: Path, cli: Cli) -> Path:
    """Eight recordings of 24 pictures that turn, and two tables of labels."""
    files = [f"r{r}/{r}_{k}.png" for r in range(8) for k in range(24)]
    write_pictures(tmp_path / "log", files, (16, 16))
    k = np.arange(len(files))
    columns = {"file": files, "time": 0.1 * k, "x": 0.1 * k, "y": 0 * k, "yaw_deg": 3 * (k % 24)}
    write_csv(tmp_path / "log" / "log.csv", columns)
    write_csv(tmp_path / "weather.csv", {"file": files[::2], "weather": ["sun", "rain"] * (len(files) // 4)})
    distances = [*np.sin(k / 5), 1.0]
    write_csv(tmp_path / "distance.csv", {"file": [*files, "gone.png"], "distance": distances})
    cli("ingest", "table", tmp_path / "log", "-o", tmp_path / "store", "--workers", 1)
    return tmp_path


@pytest.mark.slow
def test_classes_of_a_table_are_learned_and_recognised(drives: Path, cli: Cli) -> None:
    run = drives / "run"
    cli("train", drives / "store", "--labels", drives / "weather.csv", "-o", run, *SHORT)
    config = json.loads((run / "config.json").read_text())
    assert config["labels"] == str((drives / "weather.csv").resolve())
    found = json.loads(cli("evaluate", run, "--task", "recognition", "--json").out)["measurements"][0]
    assert found["problem"] is None
    assert found["details"]["classes"] == ["rain", "sun"]
    again = json.loads(cli("evaluate", run, "--labels", drives / "weather.csv", "--json").out)["measurements"]
    names = [value["metric"]["name"] for one in again for value in one["values"]]
    assert "top1" in names
    assert "label_top1" in names
    (drives / "weather.csv").write_text((drives / "weather.csv").read_text().replace("sun", "fog"))
    cli("train", "-o", run, "--resume", "--iterations", 30, code=2)


@pytest.mark.slow
def test_numbers_are_read_from_features_beside_pixels_and_the_untrained_network(drives: Path, cli: Cli) -> None:
    run, table = drives / "run", drives / "distance.csv"
    method = ("--method", "equiv")
    assert "--no-labels" in cli("train", drives / "store", "--labels", table, "-o", run, *SHORT, *method, code=2).err
    cli("train", drives / "store", "--no-labels", "-o", run, *SHORT)
    shown = cli("evaluate", run, "--labels", f"{table}:distance")
    assert "1 of 193 rows belong to no frame" in " ".join(shown.out.split())
    found = json.loads(cli("evaluate", run, "--labels", table, "--task", "readout", "--json").out)["measurements"][0]
    first, second = found["values"][:2]
    assert (first["metric"]["name"], second["metric"]["name"]) == ("R2 of distance", "rms error of distance")
    assert set(first["baselines"]) == {"pixels", "untrained", "mean"}
    plain = json.loads(cli("evaluate", run, "--task", "readout", "--json").out)["measurements"][0]
    assert not any("distance" in value["metric"]["name"] for value in plain["values"])
    assert "is not a table of labels" in cli("evaluate", run, "--labels", "labels.xls", code=2).err


@pytest.mark.slow
def test_a_log_learns_from_classes_and_not_from_numbers(drives: Path, cli: Cli) -> None:
    cli("train", drives / "log", "--labels", drives / "weather.csv", "-o", drives / "one", *SHORT)
    assert json.loads((drives / "one" / "config.json").read_text())["use_labels"] is True
    told = cli("train", drives / "log", "--labels", drives / "distance.csv", "-o", drives / "two", *SHORT).err
    assert "holds numbers: they are not learned from" in " ".join(told.split())
    assert json.loads((drives / "two" / "config.json").read_text())["use_labels"] is False
    shown = cli("evaluate", drives / "two", "--task", "readout").out
    assert "R2 of distance" in " ".join(shown.split())
