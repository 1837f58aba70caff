"""7-Scenes: sequences, their parts, and poses that are not valid."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.pose import SE3Space
from egoequiv.sources import seven_scenes
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from helpers import data_error
from logs.motion import camera_to_world
from logs.seven_scenes import pose_text, prepare, write


def test_a_camera_that_goes_forward_and_turns_left(tmp_path: Path) -> None:
    write(tmp_path / "seq-01", ending="jpg")
    source = seven_scenes(tmp_path / "seq-01")
    (recording,) = source.recordings
    assert recording.name == "seq-01"
    motions = SE3Space().difference(recording.poses[:-1], recording.poses[1:])
    assert motions == pytest.approx(np.tile([0.1, 0, 0, 0, 0, 3.0], (59, 1)), abs=1e-4)
    assert recording.poses[:, :3] == pytest.approx(camera_to_world()[:, :3, 3], abs=1e-6)
    assert recording.times_s == pytest.approx(np.arange(60) / 30)
    assert recording.file_name(2) == "frame-000002.color.jpg"
    assert source.remarks == ("7-Scenes has no times: they are frame numbers at 30 Hz, the rate of its camera",)
    assert seven_scenes(tmp_path / "seq-01", rate_hz=10).recordings[0].times_s == pytest.approx(np.arange(60) / 10)


def test_the_parts_of_a_scene_and_of_several(tmp_path: Path) -> None:
    prepare(tmp_path)
    source = seven_scenes(tmp_path / "kitchen")
    assert {r.name: r.attributes["part"] for r in source.recordings} == {"seq-01": "train", "seq-02": "test"}
    write(tmp_path / "chess" / "seq-02", camera_to_world(3))
    several = seven_scenes(tmp_path)
    parts = {r.name: r.attributes.get("part") for r in several.recordings}
    assert parts == {"chess/seq-02": None, "kitchen/seq-01": "train", "kitchen/seq-02": "test"}
    assert [r.attributes["world"] for r in several.recordings] == ["chess", "kitchen", "kitchen"]
    assert several.notes[-1].endswith("so without a part: chess/seq-02")
    for path in (tmp_path, tmp_path / "kitchen", tmp_path / "kitchen" / "seq-01"):
        assert guess_format(path).source == "seven-scenes"
    store = ingest(source, tmp_path / "store", size=(8, 8), progress=False)
    assert set(store.attribute("part")) == {"train", "test"}


def test_poses_that_are_not_valid_are_left_out_and_counted(tmp_path: Path) -> None:
    write(tmp_path, camera_to_world(12))
    bad = {
        1: "nan " * 16,
        2: pose_text(np.zeros((4, 4))),
        3: pose_text(np.diag([-1.0, 1.0, 1.0, 1.0])),
        4: "1 0 0 0\n0 1 0",
        5: "a word",
        6: "",
    }
    for number, text in bad.items():
        (tmp_path / f"frame-{number:06d}.pose.txt").write_text(text)
    (tmp_path / "frame-000007.pose.txt").unlink()
    (tmp_path / "frame-000008.color.png").unlink()
    (tmp_path / "frame-000009.pose.txt").write_bytes(b"\xff\xfe\x00")
    source = seven_scenes(tmp_path)
    (recording,) = source.recordings
    assert [recording.image(k)[0, 0] for k in range(len(recording))] == [0, 10, 11]
    assert recording.times_s == pytest.approx(np.array([0, 10, 11]) / 30)
    assert "2 frames have a picture or a pose alone and are left out, first 7" in source.notes[0]
    assert "7 of 10 poses left out" in source.notes[1]
    assert "'frame-000001.color.png'" in source.notes[1]


def test_a_sequence_without_a_valid_pose_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "seq-01", camera_to_world(3))
    write(tmp_path / "seq-02", np.zeros((3, 4, 4)))
    source = seven_scenes(tmp_path)
    assert len(source.recordings) == 1
    assert source.notes[-1].startswith("recording 'seq-02' left out: seq-02: 3 of 3 poses left out")
    with data_error("seq-02: 3 of 3 poses left out", "with the rotation 0 0 0 0"):
        seven_scenes(tmp_path / "seq-02")


def test_an_archive_is_read_in_place(tmp_path: Path) -> None:
    write(tmp_path / "seq-01", camera_to_world(3))
    with zipfile.ZipFile(tmp_path / "scene.zip", "w") as archive:
        for file in (tmp_path / "seq-01").iterdir():
            archive.write(file, f"seq-01/{file.name}")
    (recording,) = pickle.loads(pickle.dumps(seven_scenes(tmp_path / "scene.zip").recordings))
    assert recording.image(2)[0, 0] == 2


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with data_error("has no frame-000000.color.png"):
        seven_scenes(tmp_path)
    (tmp_path / "seq-01.zip").write_bytes(b"PK")
    with data_error("unpack seq-01.zip and the others first"):
        seven_scenes(tmp_path)
    write(tmp_path, camera_to_world(2))
    with pytest.raises(ConfigError, match="rate_hz must be above 0"):
        seven_scenes(tmp_path, rate_hz=0)
    for file in tmp_path.glob("*.pose.txt"):
        file.unlink()
    with data_error("has no pictures"):
        seven_scenes(tmp_path)
