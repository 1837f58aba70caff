"""LeRobot: two real data sets, whose metadata is partly wrong."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from egoequiv.catalog import open_source
from egoequiv.evaluation.lerobot_copy import COLUMN, append_features
from egoequiv.evaluation.run_model import RunModel
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.pose import ColumnsSpace
from egoequiv.sources.formats import guess_format
from egoequiv.store import fit_image, ingest
from egoequiv.store.inputs import open_inputs


def test_version_3_is_read_although_its_metadata_is_wrong(real_data: Path) -> None:
    source = open_source("lerobot", real_data / "lerobot_v3")
    assert [(one.name, len(one)) for one in source.recordings] == [("episode_000003", 429), ("episode_000004", 395)]
    assert any("lists 50 episodes, 2 are here" in note for note in source.notes)
    assert any("videos are not at videos/" in note and "video/image/chunk-000" in note for note in source.notes)
    assert any("are h264, they are mpeg4" in note for note in source.notes)
    assert guess_format(real_data / "lerobot_v3").source == "lerobot"
    # Two joints of the arm and one of the hand, which moves in units of its own.
    assert source.space == ColumnsSpace(("right.joint_2.pos", "right.joint_6.pos", "right_hand.joint_6.pos"))


def test_version_3_shows_the_frames_that_another_decoder_finds_at_their_rows(real_data: Path) -> None:
    root = real_data / "lerobot_v3"
    source = open_source("lerobot", root, columns="state.left.joint_1.pos,state.right.joint_4.pos")
    episode = source.recordings[1]
    table = pq.read_table(root / "data" / "chunk-000" / "file-004.parquet")
    state = np.stack(table["state"].to_numpy())
    np.testing.assert_allclose(episode.poses, state[:, [0, 10]])
    np.testing.assert_allclose(episode.times_s, table["timestamp"].to_numpy(), atol=1e-6)
    opened = cv2.VideoCapture(str(root / "video" / "image" / "chunk-000" / "file-004.mp4"))
    other = [opened.read()[1][..., ::-1] for _ in range(206)]
    for frame, image in zip(range(200, 203), episode.images(range(200, 203)), strict=True):
        differences = [np.abs(np.asarray(image).astype(int) - one).mean() for one in other[198:]]
        assert int(np.argmin(differences)) + 198 == frame


@pytest.mark.parametrize("columns", ["", "observation.state.kLeftWristYaw", "observation.state", "action.kRightElbow"])
def test_version_2_1(real_data: Path, columns: str) -> None:
    source = open_source("lerobot", real_data / "lerobot_v21", columns=columns)
    assert [(one.name, len(one)) for one in source.recordings] == [("episode_000002", 343), ("episode_000010", 290)]
    assert {one.attributes["task"] for one in source.recordings} == {"Pick up the yellow bottle on the table."}
    assert len(source.space.pose_names) == {"": 3, "observation.state": 26}.get(columns, 1)
    assert any("lists 100 episodes, 2 are here" in note for note in source.notes)


def test_pictures_change_when_the_arms_move(real_data: Path, tmp_path: Path) -> None:
    """And not some time before or after: a table that is shifted against its video would show that."""
    source = open_source("lerobot", real_data / "lerobot_v21", columns="observation.state")
    store = ingest(source, tmp_path / "store", size=(48, 64), workers=1, progress=False)
    images = np.asarray(store.images).astype(float)
    step, shift = 5, 40
    for first, episode in zip((0, 343), source.recordings, strict=True):
        pictures, arms = images[first : first + len(episode)], episode.poses[:, :14]
        seen = np.abs(pictures[step:] - pictures[:-step]).mean(axis=(1, 2, 3))
        moved = np.abs(arms[step:] - arms[:-step]).sum(axis=1)
        together = np.corrcoef(seen, moved)[0, 1]
        assert together > 0.5
        assert together > np.corrcoef(seen[shift:], moved[:-shift])[0, 1] + 0.2
        assert together > np.corrcoef(seen[:-shift], moved[shift:])[0, 1] + 0.2


@pytest.mark.parametrize(("name", "table"), [("lerobot_v21", "episode_000010"), ("lerobot_v3", "file-004")])
def test_features_are_appended_to_a_copy(real_data: Path, tmp_path: Path, name: str, table: str) -> None:
    net = EgoNet(NetSpec("norb", (16, 24, 1)))
    initialise(net, torch.Generator().manual_seed(0))
    model, copy = RunModel(net, None, {}), tmp_path / "copy"
    before = {file: file.stat().st_mtime_ns for file in (real_data / name).rglob("*")}
    written = append_features(model, real_data / name, copy)
    assert {file: file.stat().st_mtime_ns for file in (real_data / name).rglob("*")} == before
    old = open_source("lerobot", real_data / name)
    new = open_source("lerobot", copy, columns=COLUMN)
    assert [(one.name, len(one)) for one in new.recordings] == [(one.name, len(one)) for one in old.recordings]
    assert written.frames == sum(map(len, old.recordings))
    last = old.recordings[1]
    images = [fit_image(image, 16, 24, 1) for image in last.images(range(20, 25))]  # type: ignore[arg-type]
    np.testing.assert_allclose(new.recordings[1].poses[20:25], model.embed(np.stack(images)), atol=1e-4)
    assert pq.read_schema(next(copy.rglob(f"{table}.parquet"))).names[-1] == COLUMN


def test_a_video_that_is_named_is_read_alone(real_data: Path) -> None:
    [video] = sorted((real_data / "lerobot_v21").glob("videos/*/observation.images.cam_high/episode_000010.mp4"))
    opened = open_inputs([str(video)])
    assert len(opened.frames) == 1
    assert len(opened) == 290
