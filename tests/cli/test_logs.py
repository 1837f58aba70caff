"""Logs as they are: inspected, ingested by a guess, learned from, embedded and audited by their path alone."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.store import FrameStore
from egoequiv.store.logs import LogOptions, store_at
from logs import euroc
from logs.motion import camera_to_world
from running import Cli


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six drives in the raw layout of KITTI, rendered."""
    from egoequiv.catalog import find_writer, open_source

    folder = tmp_path_factory.mktemp("logs") / "kitti"
    source = open_source("drive", drives_per_area=2, seconds=8, height=32, width=64)
    find_writer("drive")[1](source, folder, None)
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_inspect_says_what_a_log_holds_and_what_to_type(cli: Cli, drives: Path) -> None:
    shown = cli("inspect", drives).out
    assert "KITTI raw (source kitti)" in shown
    found = json.loads(cli("inspect", drives, "--json").out)
    source = FrameStore.open(_ingested(cli, drives))
    assert found["frames"] == len(source)
    assert found["recordings"] == len(source.recording_names)
    assert found["image_size"] == [32, 64]
    assert found["rate_hz"] == pytest.approx(10, rel=0.05)
    assert found["gaps"] == 0
    steps = np.linalg.norm(
        np.diff(np.stack([source.pose_columns[c] for c in ("x_m", "y_m", "z_m")], 1), axis=0), axis=1
    )
    same = np.diff(source.recording) == 0
    assert found["way_m"] == pytest.approx(steps[same].sum(), rel=1e-6)
    assert found["commands"][0] == f"egoequiv train {drives} -o run"
    lens = source.lens(source.recording_names[0])
    assert lens is not None
    assert f"field of view {lens.view_deg:.0f}° (calib_cam_to_cam.txt)" in shown
    assert found["lenses"][source.recording_names[0]] == {**asdict(lens), "distortion": []}
    assert set(found["lenses"]) == set(source.recording_names)
    assert "also fit" not in shown


def test_inspect_says_what_else_a_log_may_be(cli: Cli, drives: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    shutil.copytree(drives, both)
    for name in ("sequences", "poses"):
        (both / name).mkdir()
    remark = "the files also fit KITTI odometry (--source kitti-odometry)"
    assert remark in json.loads(cli("inspect", both, "--json").out)["remarks"]
    assert remark not in cli("inspect", both, "--source", "kitti", "--json").out


def test_inspect_says_which_recordings_have_a_lens(cli: Cli, tmp_path: Path) -> None:
    for number, focal in enumerate((458.654, 300.0, None)):
        euroc.write(tmp_path / "flights" / f"V{number}", camera_to_world(60), cameras=("cam0",))
        sensor = tmp_path / "flights" / f"V{number}" / "mav0" / "cam0" / "sensor.yaml"
        text = sensor.read_text()
        sensor.write_text(
            text.replace("intrinsics", "unknown") if focal is None else text.replace("458.654", str(focal))
        )
    shown = " ".join(cli("inspect", "flights").out.replace("│", " ").split())
    assert "field of view 79° to 103°, with distortion (sensor.yaml), of 2 of 3 recordings" in shown
    table = " ".join(cli("inspect", "flights/V2").out.replace("│", " ").split())
    assert "lens not given" in table
    assert json.loads(cli("inspect", "flights/V2", "--json").out)["lenses"] == {}


def _ingested(cli: Cli, drives: Path) -> str:
    said = cli("ingest", drives, "-o", "guessed").err
    assert f"{drives} is KITTI raw: egoequiv ingest kitti" in said
    return "guessed"


def test_a_guessed_store_is_the_named_one(cli: Cli, drives: Path) -> None:
    cli("ingest", "kitti", drives, "-o", "named")
    _ingested(cli, drives)
    assert Path("named/frames.npy").read_bytes() == Path("guessed/frames.npy").read_bytes()
    assert Path("named/index.parquet").read_bytes() == Path("guessed/index.parquet").read_bytes()


@pytest.mark.slow
def test_one_command_from_a_log_to_rho(cli: Cli, drives: Path) -> None:
    few = ("--iterations", 5, "--set", "batch_size=8")
    done = cli("train", drives, "-o", "run", *few, "--json")
    found = json.loads(done.out)
    assert [one["subject"]["task"] for one in found["measurements"]] == ["equivariance", "log"]
    store = FrameStore.open("run-frames")
    assert store.image_shape == (32, 64, 3)  # already small enough; a backbone sees colours
    assert "no labels are used" in done.err
    assert "verdict: these features are" in found["verdict"]
    written = Path("run-frames/frames.npy").stat().st_mtime_ns
    again = cli("train", drives, "-o", "run", "--resume", *few)
    assert "ingested before" in again.err
    assert Path("run-frames/frames.npy").stat().st_mtime_ns == written
    assert "rho" in again.out
    cli("embed", "run", drives, "-o", "features.parquet")
    cli("evaluate", "run", drives)
    cli("audit", "run", "--store", drives, "--limit", 60)


@pytest.mark.slow
def test_the_frames_of_a_run_are_never_replaced(cli: Cli, drives: Path, tmp_path: Path) -> None:
    log = shutil.copytree(drives, tmp_path / "log")
    assert "iterations=0 trains nothing" in cli("train", log, "-o", "run", "--iterations", 0, code=2).err
    assert not Path("run-frames").exists()
    cli("train", log, "-o", "run", "--encoder", "norb", "--iterations", 1)
    frames = Path("run-frames/frames.npy").read_bytes()
    assert "holds a run already" in cli("train", tmp_path, "-o", "run", code=2).err
    next(log.rglob("oxts/data/0000000003.txt")).unlink()
    assert "holds other frames than" in cli("train", log, "-o", "run", "--resume", code=2).err
    assert Path("run-frames/frames.npy").read_bytes() == frames
    assert "setting 'lerning_rate'" in cli("train", log, "-o", "new", "--set", "lerning_rate=1", code=2).err
    assert not Path("new-frames").exists()  # settings are checked before the log is read


def test_what_changes_a_log_is_seen(tmp_path: Path) -> None:
    """A table given as a file: its pictures, also behind a link, and its rows belong to it."""
    (tmp_path / "elsewhere").mkdir()
    for k in range(12):
        Image.fromarray(np.full((8, 9), 9 * k, np.uint8)).save(tmp_path / "elsewhere" / f"{k}.png")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "img").symlink_to(tmp_path / "elsewhere")
    rows = "\n".join(f"img/{k}.png,{k / 10},{k},0,0" for k in range(12))
    (tmp_path / "log" / "log.csv").write_text(f"file,time,x,y,yaw\n{rows}\n")

    def store() -> str:
        return store_at(tmp_path / "log" / "log.csv")

    first = store()
    assert store() == first
    Image.fromarray(np.full((8, 9), 200, np.uint8)).save(tmp_path / "elsewhere" / "3.png")
    second = store()
    assert second != first
    (tmp_path / "log" / "log.csv").write_text(f"file,time,x,y,yaw\n{rows}\n".replace(",5,", ",55,"))
    assert store() not in (first, second)


@pytest.mark.parametrize(
    ("name", "contents"), [("log.bag", b"#ROSBAG V2.0\n"), ("log.csv", b"a,b\n1,2\n"), ("log.xyz", b"\x80\x04K\x01.")]
)
def test_an_unknown_file_says_what_was_looked_for(cli: Cli, tmp_path: Path, name: str, contents: bytes) -> None:
    (tmp_path / name).write_bytes(contents)
    for command in (("inspect",), ("ingest",), ("train",)):
        said = cli(*command, tmp_path / name, code=2).err
        assert "cut short" not in said
        assert len(said.strip().splitlines()) == 1
    if name == "log.xyz":
        assert "its format is not known; `egoequiv ingest --list`" in said
        assert "docs/extend/source.md" in said


def test_a_run_is_no_store(cli: Cli, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("config.json", "data.json"):
        (run / name).write_text("{}")
    for words in (("view", run, "-o", tmp_path / "view.html"), ("doctor", run)):
        assert "is a run, not a log: its frames are those of `data` in its config.json" in cli(*words, code=2).err


def test_what_is_missing(cli: Cli, tmp_path: Path) -> None:
    assert "does not exist" in cli("inspect", tmp_path / "none", code=2).err
    assert "does not exist" in cli("train", tmp_path / "none", code=2).err
    assert "give a source" in cli("ingest", code=2).err


def test_options_of_logs_are_refused_for_stores(cli: Cli, drives: Path) -> None:
    cli("ingest", drives, "-o", "store")
    said = cli("train", "store", "--size", "32", "-o", "run", code=2).err
    assert "--size says how a log is read" in said


def test_strict_stops_at_what_is_left_out_and_not_at_choices(cli: Cli, tmp_path: Path) -> None:
    euroc.write(tmp_path / "flight", camera_to_world(60, 0.01, 0.3))
    told = "camera cam0 of 2: choose with --read camera=cam1"
    assert f"remark: {told}" in cli("inspect", "flight").out.replace("\n  ", " ")
    assert f"remark: {told}" in cli("ingest", "flight", "-o", "whole", "--strict").err
    meta = json.loads(Path("whole/store.json").read_text())
    assert (meta["notes"], meta["remarks"]) == ([], [told])
    assert json.loads(cli("info", "whole", "--json").out)["remarks"] == [told]
    next(tmp_path.glob("flight/mav0/cam0/data/*.png")).unlink()
    said = cli("ingest", "flight", "-o", "part", "--strict", code=2).err
    assert "1 of 6 pictures are missing" in said
    assert not Path("part").exists()
    assert "note: flight: 1 of 6 pictures are missing" in cli("ingest", "flight", "-o", "part").err


def test_the_sources_are_listed(cli: Cli) -> None:
    shown = cli("ingest", "--list").out
    assert "kitti-odometry" in shown
    assert "turntable" in shown


@pytest.mark.parametrize("kind", ["colour", "gray", "gray stored in colour"])
def test_colour_that_is_dropped_is_said(cli: Cli, tmp_path: Path, kind: str) -> None:
    log = tmp_path / "pictures"
    log.mkdir()
    rng = np.random.default_rng(0)
    for k in range(3):
        gray = rng.integers(0, 256, (8, 8, 1), np.uint8)
        pixels = {"colour": rng.integers(0, 256, (8, 8, 3), np.uint8), "gray": gray[..., 0]}.get(
            kind, gray.repeat(3, 2)
        )
        Image.fromarray(pixels).save(log / f"{k}.png")
    (log / "poses.csv").write_text("file,time_s,x,y\n" + "".join(f"{k}.png,{k},{k},0\n" for k in range(3)))
    words = "remark: the pictures have colour, and it is dropped: --color keeps it"
    assert (words in cli("ingest", log, "-o", "gray").err) == (kind == "colour")
    assert words not in cli("ingest", log, "-o", "kept", "--color").err
    said: list[str] = []
    store_at(log, tmp_path / "store", say=said.append)
    assert (words in said) == (kind == "colour")
    said.clear()
    store_at(log, tmp_path / "same", LogOptions(is_for_network=True), say=said.append)
    assert words not in said
