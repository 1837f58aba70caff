"""From a plain video to poses and rho, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from egoequiv.store import FrameStore
from egoequiv.store import motion as store_motion
from egoequiv_worlds import drive
from logs.video import moving_pictures, write_video
from running import Cli, make_cli


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path) -> Cli:
    monkeypatch.setenv("EGOEQUIV_CACHE", str(cache))  # pictures are watched once for all tests
    return make_cli(monkeypatch, capsys)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short drives as videos."""
    folder = tmp_path_factory.mktemp("clips")
    source = drive(drives_per_area=1, seconds=6.0, width=256, height=96)
    for number in (1, 2):
        recording = source.recordings[number]
        images = np.stack([recording.image(frame) for frame in range(40)])
        write_video(folder / f"{recording.attributes['location']}.mkv", images, codec="ffv1", rate=10, gop=20)
    return folder


@pytest.mark.slow
def test_ingest_finds_poses_and_does_it_once(clips: Path, tmp_path: Path, cli: Cli) -> None:
    told = cli("ingest", "video", clips, "-o", tmp_path / "store", "--poses", "visual", "--fov", 81, "--size", "24x64")
    store = FrameStore.open(tmp_path / "store")
    assert store.space.describe() == {"kind": "scale-free"}
    assert {"visual_rotation_error_deg", "visual_inliers"} <= set(store.pose_columns)
    assert len(store) == 80
    assert "lens given: field of view 81°" in told.err
    shown = cli("info", tmp_path / "store").out
    assert "usual steps" in next(line for line in shown.splitlines() if line.startswith("pose        x from "))
    assert "x_m" not in shown
    assert "pose        qw from " in shown
    again = cli("ingest", "video", clips, "-o", tmp_path / "store", "--poses", "visual", "--fov", 81, "--size", "24x64")
    assert "is there already" in again.err
    cli("ingest", "video", clips, "-o", tmp_path / "store", "--poses", "visual", "--fov", 60, "--size", "24x64", code=2)
    images = (tmp_path / "store" / "frames.npy").read_bytes()
    cli("ingest", "video", clips, "-o", tmp_path / "twice", "--poses", "visual", "--fov", 81, "--size", "24x64")
    assert (tmp_path / "twice" / "frames.npy").read_bytes() == images
    assert (tmp_path / "twice" / "index.parquet").read_bytes() == (tmp_path / "store" / "index.parquet").read_bytes()


@pytest.mark.slow
def test_structure_from_motion_finds_poses_and_does_it_once(clips: Path, tmp_path: Path, cli: Cli) -> None:
    (clip,) = clips.glob("residential.mkv")
    command = ("ingest", "video", clip, "-o", tmp_path / "store", "--poses", "sfm", "--fov", 81, "--size", "24x64")
    cli(*command)
    store = FrameStore.open(tmp_path / "store")
    assert store.space.describe() == {"kind": "scale-free"}
    assert {"visual_rotation_error_deg", "visual_inliers"} <= set(store.pose_columns)
    assert len(store) == 40
    assert "is there already" in cli(*command).err
    cli("train", tmp_path / "store", "-o", tmp_path / "run", "--poses", "sfm", code=2)


@pytest.mark.slow
def test_train_goes_from_a_video_to_rho(clips: Path, tmp_path: Path, cli: Cli) -> None:
    run = ("train", clips, "-o", tmp_path / "run", "--fov", 81, "--iterations", 2, "--set", "clusters=3")
    told = cli(*run, "--set", "keep=2", "--json")
    assert "remark: the log has no poses: they are found in the pictures; --poses log does not use them" in told.err
    result = json.loads(told.out)
    assert "equivariance" in json.dumps(result["measurements"])
    assert FrameStore.open(tmp_path / "run-frames").space.describe() == {"kind": "scale-free"}


def test_log_keeps_a_video_without_poses(clips: Path, tmp_path: Path, cli: Cli) -> None:
    cli("ingest", "video", clips, "-o", tmp_path / "store", "--poses", "log")
    assert FrameStore.open(tmp_path / "store").space.describe() == {"kind": "none"}


def test_pictures_that_tell_nothing_are_taken_without_poses(tmp_path: Path, cli: Cli) -> None:
    write_video(tmp_path / "clip.mkv", moving_pictures(12), codec="ffv1", rate=5)
    told = cli("ingest", "video", tmp_path / "clip.mkv", "-o", tmp_path / "store")
    assert "remark: no poses: " in told.err
    assert FrameStore.open(tmp_path / "store").space.describe() == {"kind": "none"}
    told = cli("ingest", "video", tmp_path / "clip.mkv", "-o", tmp_path / "other", "--poses", "visual", code=2)
    assert "tell no motion" in told.err
    assert not (tmp_path / "other").exists()


def test_without_opencv_one_line_names_the_extra(
    clips: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    monkeypatch.setattr(store_motion, "find_spec", lambda _: None)
    told = cli("ingest", "video", clips, "-o", tmp_path / "store", "--poses", "visual", code=2)
    assert "pip install 'egoequiv[vision]'" in told.err
    cli("ingest", "video", clips, "-o", tmp_path / "store", "--size", "24x64")
    assert FrameStore.open(tmp_path / "store").space.describe() == {"kind": "none"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--poses", "gps"), "--poses gps: expected log, visual or sfm"),
        (("--poses", "visual", "--fov", "200"), "--fov 200: expected the horizontal field of view"),
        (("--poses", "log", "--fov", "70"), "--fov is for poses that are seen in the pictures: add --poses visual"),
        (("--poses", "visual", "--scale", "speed"), "--scale speed: the log has no such column"),
    ],
)
def test_wrong_options_are_one_line(
    clips: Path, tmp_path: Path, cli: Cli, options: tuple[str, ...], message: str
) -> None:
    told = cli("ingest", "video", clips, "-o", tmp_path / "store", *options, code=2)
    assert message in told.err
    assert not (tmp_path / "store").exists()


def test_inspect_says_that_poses_can_be_found(clips: Path, cli: Cli) -> None:
    told = json.loads(cli("inspect", clips, "--json").out)
    assert any("--poses visual" in remark for remark in told["remarks"])
    assert told["commands"][0].endswith("-o run --poses visual")
