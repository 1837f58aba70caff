"""`egoequiv serve`: what it refuses in one line, and a whole life from the first line to SIGTERM."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation.run_model import open_run_model
from egoequiv.models.foreign import optional
from egoequiv.pose import Axis, GridSpace, space_named
from egoequiv.serving.gallery import Gallery
from egoequiv.store import FrameStore
from egoequiv.training import TrainConfig, run_training
from helpers import started, wait_for
from running import Cli, make_cli
from serving.known import TOKEN, png, text_of


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.delenv("EGOEQUIV_TOKEN", raising=False)
    return make_cli(monkeypatch, capsys)


@pytest.fixture(scope="module")
def run(small_store: FrameStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("serve") / "run"
    settings = {"method": "recording+motion", "use_labels": False, "iterations": 2, "encoder": "norb", "batch_size": 8}
    run_training(TrainConfig(data=str(small_store.path), **settings), out)
    return out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 can be reached by other machines: give a token"),
        (["--token-file", "absent"], "absent: No such file or directory"),
        (["--store", "absent"], "absent"),
        (["--device", "abacus"], "device 'abacus' cannot be used here"),
        (["--runtime", "onnx"], "is a run, which torch computes: export it first"),
        (["--port", "1", "--host", "203.0.113.7", "--token-file", "token"], "--host 203.0.113.7 --port 1: "),
    ],
)
def test_what_cannot_work_is_one_line(
    cli: Cli, run: Path, arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("token").write_text(TOKEN)
    said = cli("serve", run, "--port", "0", *arguments, code=2).err
    assert words in said
    assert said.count("\n") == 1


def test_what_is_no_run_is_one_line(cli: Cli, tmp_path: Path) -> None:
    assert cli("serve", tmp_path, "--port", "0", code=2).err.count("\n") == 1


def test_a_missing_package_is_one_line(cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> None:
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(optional, "import_module", lacking)
    said = cli("serve", run, code=2).err
    assert said == "egoequiv: error: `egoequiv serve` needs the package fastapi: pip install 'egoequiv[serve]'\n"


def test_a_store_of_another_motion_space_is_refused(run: Path, small_store: FrameStore) -> None:
    other = small_store.in_space(space_named("none"))
    assert len(Gallery.embed(open_run_model(run), other, lambda *_: None).rows) == len(small_store)
    tilted = small_store.in_space(GridSpace((Axis("elevation", "deg", 5.0, "up", "down"),)))
    with pytest.raises(ConfigError, match="another motion space"):
        Gallery.embed(open_run_model(run), tilted, lambda *_: None)


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_from_the_first_line_to_the_last(
    run: Path, small_store: FrameStore, tmp_path: Path, stop: signal.Signals
) -> None:
    shutil.copytree(run, tmp_path / "run")
    command = [sys.executable, "-m", "egoequiv", "serve", "run", "--store", str(small_store.path), "--port", "0"]
    environment = {**os.environ, "EGOEQUIV_TOKEN": TOKEN}
    with started(command, cwd=tmp_path, stderr=subprocess.PIPE, env=environment) as process:
        check_life(process, small_store, stop)


def check_life(process: subprocess.Popen[str], store: FrameStore, stop: signal.Signals) -> None:
    assert process.stderr is not None
    lines: list[str] = []
    wait_for(lambda: lines.append(process.stderr.readline()) or "serving" in lines[-1] or not lines[-1])
    place = re.search(r"serving run at http://(127\.0\.0\.1:\d+)/", lines[-1])
    assert place, lines
    connection = http.client.HTTPConnection(place[1], timeout=60)
    body = json.dumps({"views": [{"image": text_of(png(store.images[3]))}, {"frame": 3}]})
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    connection.request("POST", "/v1/embed", body, headers)
    one, other = json.loads(connection.getresponse().read())["features"]
    assert one == pytest.approx(other, abs=1e-5)
    connection.request("GET", "/v1/description")
    assert connection.getresponse().status == 401
    process.send_signal(stop)
    assert "stopped after 2 requests" in process.stderr.read()
    assert process.wait() == 0
    connection.close()
