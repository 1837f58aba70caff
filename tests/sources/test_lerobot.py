"""LeRobot data sets: every row with the frame that it was recorded with, and what disk and metadata disagree about."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_source
from egoequiv.errors import BrokenFrameError, ConfigError, DataError
from egoequiv.pose import ColumnsSpace, NoMotion, SE3Space
from egoequiv.sources import Source
from egoequiv.sources.formats import guess_format
from egoequiv.sources.lerobot_frames import match_rows
from egoequiv.sources.lerobot_motion import telling_columns
from egoequiv.store import ingest
from helpers import data_error
from logs.lerobot import (
    CAMERA,
    JOINTS,
    RATE_HZ,
    data_file,
    frame_of,
    joints,
    levels,
    png,
    table,
    video_file,
    write_info,
    write_table,
    write_v3,
    write_v21,
)
from logs.video import moving_pictures, write_video


def read(root: Path, **settings: Any) -> Source:
    return open_source("lerobot", root, **{"columns": "observation.state", **settings})


def noted(source: Source, text: str) -> bool:
    return any(text in note for note in (*source.notes, *source.remarks))


def shown(source: Source, recording: int, first: int = 0) -> list[int]:
    """The numbers of the frames that the pictures of a recording show."""
    one = pickle.loads(pickle.dumps(source.recordings[recording]))
    return [frame_of(image, first) for image in one.images(range(len(one)))]


def test_version_2_has_a_recording_for_each_episode(tmp_path: Path) -> None:
    write_v21(tmp_path)
    source = read(tmp_path)
    assert [one.name for one in source.recordings] == ["episode_000000", "episode_000001"]
    assert source.space == ColumnsSpace(JOINTS)
    assert source.notes == ()
    for number, count in enumerate((12, 9)):
        np.testing.assert_allclose(source.recordings[number].poses, joints(count, number))
        np.testing.assert_allclose(source.recordings[number].times_s, np.arange(count) / RATE_HZ, atol=1e-6)
        assert shown(source, number) == list(range(count))
        assert source.recordings[number].attributes == {"task": "lift the cup"}
    assert guess_format(tmp_path).source == guess_format(data_file(tmp_path, 1)).source == "lerobot"


def test_version_3_finds_episodes_inside_one_table_and_one_video(tmp_path: Path) -> None:
    write_v3(tmp_path)
    source = read(tmp_path)
    assert source.notes == ()
    for number, (first, count) in enumerate(((0, 12), (12, 9), (21, 15))):
        np.testing.assert_allclose(source.recordings[number].poses, joints(count, number))
        assert shown(source, number, first) == list(range(count))
        assert source.recordings[number].times_s[0] == 0
    store = ingest(source, tmp_path / "store", size=(8, 8), workers=2, progress=False)
    assert [frame_of(image) for image in store.images] == list(range(36))


def test_version_3_without_metadata_of_episodes_takes_rows_for_frames_where_they_fit(tmp_path: Path) -> None:
    write_v3(tmp_path, meta=False)
    source = read(tmp_path)
    assert shown(source, 1, 12) == list(range(9))
    assert noted(source, "meta/episodes does not say where they begin")
    folder = tmp_path / "videos" / CAMERA / "chunk-000"
    write_video(folder / "file-000.mp4", levels(30))
    source = read(tmp_path)
    assert [one.name for one in source.recordings] == ["episode_000000", "episode_000001"]
    assert noted(source, "recording episode_000002 left out: meta/episodes does not say where it begins")


def test_a_file_inside_stands_for_the_data_set_and_a_table_for_its_episode(tmp_path: Path) -> None:
    write_v21(tmp_path)
    assert len(read(tmp_path / "meta" / "info.json").recordings) == 2
    (one,) = read(data_file(tmp_path, 1)).recordings
    assert one.name == "episode_000001"


def test_other_logs_below_a_data_set_are_what_they_are(tmp_path: Path) -> None:
    write_v21(tmp_path)
    own = (tmp_path / "meta" / "info.json", data_file(tmp_path, 1), video_file(tmp_path, 1))
    assert {guess_format(path).source for path in (tmp_path, *own)} == {"lerobot"}
    others = {"raw/run.bag": "ros", "data/run.bag": "ros", "raw/clip.mp4": "video", "videos/my clip.mp4": "video"}
    for name, source in others.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        if source == "ros":
            (tmp_path / name).write_bytes(b"#ROSBAG V2.0\n")
        else:
            write_video(tmp_path / name, moving_pictures(3))
        assert guess_format(tmp_path / name).source == source
    (tmp_path / "raw" / "poses.csv").write_text("file,x,y\nclip.mp4,0,1\nclip.mp4,1,1\n")
    assert guess_format(tmp_path / "raw" / "poses.csv").source == "table"
    assert guess_format(tmp_path / "raw").source == "ros"


def test_files_are_found_where_the_metadata_is_wrong(tmp_path: Path) -> None:
    """Folder, codec, size and numbers of info.json are wrong; one video and one table are missing."""
    write_v21(tmp_path, (5, 6, 7, 8), total_episodes=50)
    (tmp_path / "videos").rename(tmp_path / "video")
    (tmp_path / "video" / "chunk-000" / CAMERA / "episode_000001.mp4").unlink()
    data_file(tmp_path, 2).unlink()
    info = json.loads((tmp_path / "meta" / "info.json").read_text())
    info["features"][CAMERA] |= {"shape": [480, 640, 3], "info": {"video.codec": "av1"}}
    (tmp_path / "meta" / "info.json").write_text(json.dumps(info))
    source = read(tmp_path)
    assert [one.name for one in source.recordings] == ["episode_000000", "episode_000003"]
    assert shown(source, 1) == list(range(8))
    assert noted(source, "info.json lists 50 episodes, 3 are here")
    assert noted(source, "videos are not at videos/chunk-")
    assert noted(source, "are av1, they are h264")
    assert noted(source, "are 480 x 640 x 3, they are 32 x 48")
    assert noted(source, f"recording episode_000001 left out: its video of {CAMERA} is not there")


def test_rows_are_matched_by_time_and_not_by_number(tmp_path: Path) -> None:
    """The video lacks frames 3 and 4: a match by number would shift all that follow."""
    write_v21(tmp_path, (12,))
    kept = np.array([0, 1, 2, *range(5, 12)])
    write_video(video_file(tmp_path, 0), levels(12)[kept], pts=np.round(kept * 1000 / RATE_HZ))
    source = read(tmp_path)
    assert shown(source, 0) == kept.tolist()
    np.testing.assert_allclose(source.recordings[0].poses, joints(12)[kept])
    assert noted(source, "episode_000000 (12 rows, 10 frames)")
    assert noted(source, "within half a frame of their time: episode_000000 (2 of 12)")


def test_a_video_that_is_longer_or_shorter_than_its_table(tmp_path: Path) -> None:
    write_v21(tmp_path, (12, 12))
    write_video(video_file(tmp_path, 0), levels(20))
    write_video(video_file(tmp_path, 1), levels(7))
    source = read(tmp_path)
    assert shown(source, 0) == list(range(12))
    assert shown(source, 1) == list(range(7))
    assert noted(source, "table and video differ in length: episode_000000 (12 rows, 20 frames), episode_000001 (12 ")


def test_a_video_with_a_clock_of_another_rate_is_left_out_or_matched_by_number(tmp_path: Path) -> None:
    write_v21(tmp_path, (12, 12))
    write_video(video_file(tmp_path, 0), levels(12), rate=15)
    source = read(tmp_path)
    assert [one.name for one in source.recordings] == ["episode_000001"]
    assert noted(source, "episode_000000 left out: 12 frames over 0.733 s in the video, 12 rows over 0.367 s")
    assert shown(read(tmp_path, match="number"), 0) == list(range(12))


def test_match_rows_by_hand() -> None:
    frames = np.arange(5) * 100
    rows, found = match_rows(np.array([-60, -40, 110, 130, 300, 449, 470]), frames)
    assert rows.tolist() == [1, 2, 4, 5]  # -60 and 470 are too far, 130 is further from frame 1 than 110
    assert found.tolist() == [0, 1, 3, 4]
    assert [part.tolist() for part in match_rows(np.array([0, 251, 460]), frames)] == [[0, 1], [0, 3]]
    assert [len(part) for part in match_rows(np.arange(3), np.empty(0, np.int64))] == [0, 0]


@pytest.mark.parametrize("row_group_size", [1000, 3])
def test_pictures_inside_a_table(tmp_path: Path, row_group_size: int) -> None:
    key, root = "observation.image", tmp_path / "data set"
    write_info(root, "v2.1", 1, {key: {"dtype": "image", "shape": [32, 48, 3]}})
    (root / "images").mkdir()
    (root / "images" / "9.png").write_bytes(png(levels(1, 9)[0]))
    (tmp_path / "secret.png").write_bytes(png(levels(1)[0]))
    cells = [{"bytes": png(image), "path": None} for image in levels(9)]
    cells += [{"bytes": None, "path": "images/9.png"}, {"bytes": None, "path": "../secret.png"}]
    cells += [{"bytes": b"not a picture", "path": None}]
    write_table(data_file(root, 0), table(12, 0, more={key: cells}), row_group_size)
    source = read(root)
    (one,) = source.recordings
    assert list(one.starts()) == list(range(0, 12, row_group_size))
    for frames in (range(12), range(4, 8), range(11, 12)):
        decoded = list(one.images(frames))
        for frame, image in zip(frames, decoded, strict=True):
            if frame < 10:
                assert frame_of(image) == frame
            else:
                assert isinstance(image, BrokenFrameError)
    store = ingest(source, tmp_path / "store", size=(8, 8), workers=1, progress=False)
    assert [frame_of(image) for image in store.images] == list(range(10))
    assert noted(Source("", NoMotion(), [], notes=tuple(store.meta["notes"])), "2 pictures could not be read")


def test_a_camera_is_chosen_by_its_key_or_the_last_part_of_it(tmp_path: Path) -> None:
    other = "observation.images.wrist"
    write_v21(tmp_path, (6,), more={other: {"dtype": "video"}, "observation.images.lost": {"dtype": "video"}})
    video_file(tmp_path, 0, other).parent.mkdir()
    write_video(video_file(tmp_path, 0, other), levels(6, first=20))
    source = read(tmp_path)
    assert noted(source, f"camera {CAMERA} of 2: choose another with --read camera={other}")
    assert [(one.name, one.used) for one in source.listed if one.kind == "camera"] == [
        (CAMERA, True),
        (other, False),
        ("observation.images.lost", False),
    ]
    for name in (other, "wrist"):
        assert shown(read(tmp_path, camera=name), 0, 20) == list(range(6))
    with pytest.raises(ConfigError, match="expected one of"):
        read(tmp_path, camera="left")
    with pytest.raises(DataError, match="is listed, but no file of it is there"):
        read(tmp_path, camera="lost")


def test_depth_is_not_the_camera_by_default(tmp_path: Path) -> None:
    """Neither if its name says so nor if info.json does."""
    write_v21(tmp_path, (6,))
    info = json.loads((tmp_path / "meta" / "info.json").read_text())
    depth = {"a.depth": {"dtype": "video"}, "b": {"dtype": "video", "info": {"video.is_depth_map": True}}}
    info["features"] = depth | info["features"]
    (tmp_path / "meta" / "info.json").write_text(json.dumps(info))
    for name in depth:
        video_file(tmp_path, 0, name).parent.mkdir()
        write_video(video_file(tmp_path, 0, name), levels(6, first=30))
    assert shown(read(tmp_path), 0) == list(range(6))
    assert shown(read(tmp_path, camera="depth"), 0, 30) == list(range(6))


def test_a_feature_of_one_number_is_a_column(tmp_path: Path) -> None:
    write_v21(tmp_path, (6,))
    speeds = {"observation.speed": np.arange(6.0), "observation.gear": [[k] for k in range(6)]}
    write_table(data_file(tmp_path, 0), table(6, 0, more=speeds))
    source = read(tmp_path, columns="observation.speed,gear")
    assert source.space == ColumnsSpace(("speed", "gear"))
    np.testing.assert_allclose(source.recordings[0].poses, np.repeat(np.arange(6.0)[:, None], 2, axis=1))


@pytest.mark.parametrize(
    ("settings", "names", "values"),
    [
        ({"columns": "observation.state.elbow"}, ("elbow",), lambda k: [np.sin(k)]),
        ({"columns": "action"}, JOINTS, lambda k: [k + 1, np.sin(k) + 1, 8 + 0 * k]),
        (
            {"columns": "observation.state.grip, action.grip"},
            ("observation.state.grip", "action.grip"),
            lambda k: [7 + 0 * k, 8 + 0 * k],
        ),
        ({"rates": "observation.state.grip"}, ("grip",), lambda k: [7 * k / RATE_HZ]),
        ({"columns": "action.elbow", "rates": "observation.state.grip"}, ("elbow", "grip"), None),
    ],
)
def test_columns_are_chosen_by_name(tmp_path: Path, settings: dict[str, str], names: tuple[str], values: Any) -> None:
    write_v21(tmp_path, (12,))
    source = open_source("lerobot", tmp_path, **settings)
    assert source.space == ColumnsSpace(names)
    if values is not None:
        expected = np.stack(values(np.arange(12.0)), axis=1)
        np.testing.assert_allclose(source.recordings[0].poses, expected, atol=1e-5)


def test_wrong_names_of_columns_are_one_line(tmp_path: Path) -> None:
    write_v21(tmp_path, (12,))
    with pytest.raises(ConfigError, match=r"column 'knee' is not there: .*observation\.state\.shoulder"):
        read(tmp_path, columns="knee")
    with pytest.raises(ConfigError, match="column 'elbow' is in more than one feature"):
        read(tmp_path, columns="elbow")
    with pytest.raises(ConfigError, match="two motions"):
        read(tmp_path, columns="action", poses="action")
    with pytest.raises(ConfigError, match="has 3 columns: expected 7"):
        read(tmp_path, columns="", poses="action")


def test_the_default_motion_is_the_few_columns_that_explain_the_others(tmp_path: Path) -> None:
    k = np.arange(40)
    swing, turn = np.sin(k / 5), np.cos(k / 3)
    state = np.stack([swing, 250 * swing, 0 * k + 1, turn, turn + 0.01 * swing, 3 + 0.001 * turn], axis=1)
    assert sorted(telling_columns([state], 3))[-1] < 5  # never the constant and the almost constant one
    assert len({int(column > 2) for column in telling_columns([state], 2)}) == 2  # one of each movement
    assert telling_columns([np.ones((5, 4))], 3) == []
    assert telling_columns([], 3) == []
    write_v21(tmp_path, (40,))
    write_table(data_file(tmp_path, 0), table(40, 0, **{"observation.state": list(state)}))
    source = read(tmp_path, columns="")
    assert len(source.space.pose_names) in (2, 3)
    assert noted(source, "of 6 columns of observation.state, those that explain most of the others (")
    assert noted(source, "choose others with --read columns=NAME,NAME")


@pytest.mark.parametrize("names", [None, ["motors"], {"motors": [1, 2]}, [["a", "a", "b"]], "abc", [None, {}, []]])
def test_names_that_do_not_fit_are_numbers(tmp_path: Path, names: Any) -> None:
    write_v21(tmp_path, (5,), more={"observation.state": {"dtype": "float32", "names": names}})
    assert read(tmp_path).space == ColumnsSpace(("state.0", "state.1", "state.2"))


def moving_camera(count: int) -> tuple[np.ndarray, Rotation]:
    """A level camera (OpenCV axes: z forward) that looks along the world's x and turns left by 9 degrees a step."""
    level = Rotation.from_matrix(np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]]))
    return np.stack([np.arange(count), np.zeros(count), np.ones(count)], axis=1), Rotation.from_euler(
        "z", 9.0 * np.arange(count)[:, None], degrees=True
    ) * level


@pytest.mark.parametrize("form", ["xyzw", "wxyz", "matrix", "named"])
def test_a_pose_of_the_camera_is_found_and_turned(tmp_path: Path, form: str) -> None:
    position, rotation = moving_camera(6)
    quaternion = rotation.as_quat()
    name, info, settings = "observation.camera_pose", {}, {}
    if form == "matrix":
        matrices = np.tile(np.eye(4), (6, 1, 1))
        matrices[:, :3, :3], matrices[:, :3, 3] = rotation.as_matrix(), position
        values = [matrix.tolist() for matrix in matrices]
    else:
        order = [0, 1, 2, 3] if form == "xyzw" else [3, 0, 1, 2]
        values = list(np.concatenate([position, quaternion[:, order]], axis=1))
        if form == "named":
            info = {name: {"dtype": "float32", "names": ["x", "y", "z", "cam_qw", "cam_qx", "cam_qy", "cam_qz"]}}
        elif form == "wxyz":
            settings = {"quaternion": "wxyz"}
    write_v21(tmp_path, (6,), more=info)
    write_table(data_file(tmp_path, 0), table(6, 0, more={name: values}))
    source = read(tmp_path, columns="", **settings)
    assert source.space == SE3Space()
    poses = source.recordings[0].poses
    np.testing.assert_allclose(poses[:, :3], position, atol=1e-6)
    # In the axes of a store (x forward, z up) the camera only turns about z.
    found = Rotation.from_quat(poses[:, 3:]).as_rotvec(degrees=True)
    np.testing.assert_allclose(found, np.stack([np.zeros(6), np.zeros(6), 9.0 * np.arange(6)], axis=1), atol=1e-5)
    assert noted(source, "axes opencv by its name")
    assert "observation.camera_pose" in source.convention


def test_numbers_that_are_not_a_pose_are_not_taken_for_one(tmp_path: Path) -> None:
    """Seven joints with the name of a pose: the state is used; if they are named as poses, one line says why not."""
    write_v21(tmp_path, (6,))
    write_table(data_file(tmp_path, 0), table(6, 0, more={"observation.base_pose": list(np.full((6, 7), 3.0))}))
    assert read(tmp_path, columns="").space != SE3Space()
    with pytest.raises(DataError, match="expected 1: are these the right columns"):
        read(tmp_path, columns="", poses="base_pose")


def test_poses_that_were_lost_are_left_out(tmp_path: Path) -> None:
    position, rotation = moving_camera(6)
    values = np.concatenate([position, rotation.as_quat()], axis=1)
    values[2] = 0
    values[4, 0] = np.nan
    write_v21(tmp_path, (6,))
    write_table(data_file(tmp_path, 0), table(6, 0, more={"head_pose": list(values)}))
    source = read(tmp_path, columns="", poses="head_pose", axes="opencv")
    np.testing.assert_allclose(source.recordings[0].poses[:, 0], [0, 1, 3, 5])
    assert shown(source, 0) == [0, 1, 3, 5]
    assert noted(source, "rows whose motion is not known: episode_000000 (2 of 6)")


def test_stamps_that_are_odd_are_named(tmp_path: Path) -> None:
    write_v21(tmp_path, (12,) * 5)
    stamps = np.arange(12) / RATE_HZ
    swapped, broken, repeated = stamps[[0, 2, 1, *range(3, 12)]], stamps.copy(), stamps.copy()
    broken[4], repeated[6] = np.nan, repeated[5]
    for episode, values in enumerate((swapped, broken, repeated, 1.7e9 + stamps, None)):
        write_table(data_file(tmp_path, episode), table(12, episode, timestamp=values))
    source = read(tmp_path)
    assert [len(one) for one in source.recordings] == [12, 11, 11, 12, 12]
    np.testing.assert_allclose(source.recordings[0].poses[:, 0], [0, 2, 1, *range(3, 12)])
    assert shown(source, 0) == list(range(12))
    assert shown(source, 3) == shown(source, 4) == list(range(12))
    for text in ("out of order", "not numbers", "repeated", "time of day", "no column timestamp"):
        assert noted(source, text), text


def test_stamps_that_are_text_are_named(tmp_path: Path) -> None:
    write_v21(tmp_path, (12, 12))
    write_table(data_file(tmp_path, 0), table(12, 0, timestamp=[f"x{k}" for k in range(12)]))
    source = read(tmp_path)
    assert [one.name for one in source.recordings] == ["episode_000001"]
    assert noted(source, "the column timestamp has values that are not numbers")


def test_a_broken_episode_does_not_stop_the_others(tmp_path: Path) -> None:
    write_v21(tmp_path, (5,) * 7)
    data_file(tmp_path, 0).write_bytes(b"PAR1 cut")
    video_file(tmp_path, 1).write_bytes(b"not a video")
    write_table(data_file(tmp_path, 2), table(0, 2, **{"observation.state": []}))
    write_table(data_file(tmp_path, 3), table(5, 3, **{"observation.state": None}))
    ragged = [[1.0, 2.0, 3.0]] * 4 + [[1.0]]
    write_table(data_file(tmp_path, 4), table(5, 4, **{"observation.state": ragged}))
    write_table(data_file(tmp_path, 5), table(5, 5, **{"observation.state": [["a", "b", "c"]] * 5}))
    source = read(tmp_path)
    assert [one.name for one in source.recordings] == ["episode_000006"]
    assert any("episode_000000.parquet cannot be read as Parquet" in note for note in source.notes)
    assert noted(source, "1 more recordings or tables are left out")
    for episode, reason in (
        (1, "cannot be read as video"),
        (2, "has no rows"),
        (3, "has no feature"),
        (4, "from 1 to"),
    ):
        start = f"recording episode_{episode:06d} left out: "
        assert any(note.startswith(start) and reason in note for note in source.notes), reason


@pytest.mark.parametrize("odd", [b"\xff", 0.5, "x", [0], {"a": 0}])
def test_numbers_of_episodes_that_are_none_are_named(tmp_path: Path, odd: Any) -> None:
    write_v3(tmp_path, (5, 6))
    first = tmp_path / "data" / "chunk-000" / "file-000.parquet"
    whole = pq.read_table(first)
    pq.write_table(whole, first.with_name("file-001.parquet"))
    at = whole.column_names.index("episode_index")
    pq.write_table(whole.set_column(at, "episode_index", pa.array([odd] * whole.num_rows)), first)
    source = read(tmp_path)
    assert len(source.recordings) == 2
    assert noted(source, "file-000.parquet: the column episode_index has values that are no whole numbers")


def test_an_episode_in_two_tables_is_read_once(tmp_path: Path) -> None:
    write_v3(tmp_path, (5, 6))
    first = tmp_path / "data" / "chunk-000" / "file-000.parquet"
    pq.write_table(pq.read_table(first), tmp_path / "data" / "chunk-000" / "file-001.parquet")
    source = read(tmp_path)
    assert len(source.recordings) == 2
    assert noted(source, "recording episode_000000 left out: ")


def test_a_table_of_episodes_with_text_that_is_none_is_noted(tmp_path: Path) -> None:
    write_v3(tmp_path, (5, 6))
    (file,) = (tmp_path / "meta" / "episodes").rglob("*.parquet")
    known = pq.read_table(file)
    broken = pa.array([b"\xff"] * known.num_rows, pa.binary()).view(pa.string())
    pq.write_table(known.append_column("tasks of others", broken), file)
    assert noted(read(tmp_path), f"{file} cannot be read and is left out")


@pytest.mark.parametrize("contents", [b"", b"[]", b"{", b'"x"', b"\xff\xfe", b"[" * 100_000, b"null"])
def test_metadata_that_cannot_be_read_is_one_line(tmp_path: Path, contents: bytes) -> None:
    write_v21(tmp_path, (5,))
    (tmp_path / "meta" / "info.json").write_bytes(contents)
    with data_error("info.json"):
        read(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"features": None, "fps": "fast", "total_episodes": "many", "video_path": 3},
        {"features": {"observation.state": 5, CAMERA: []}, "fps": -1},
        {"video_path": "{episode_index:0999999999999d}/{a.__class__}{b}" + "{c}*[" * 200},
        {"codebase_version": None},
    ],
)
def test_odd_metadata_does_not_matter(tmp_path: Path, changed: dict[str, Any]) -> None:
    write_v21(tmp_path, (5,), **changed)
    (tmp_path / "meta" / "episodes.jsonl").write_text('{"episode_index": 0, "length": "x", "tasks": 3}\n[]\n{\n')
    source = read(tmp_path)
    assert shown(source, 0) == list(range(5))
    assert noted(source, "line 3 is not a JSON object")


def test_names_may_hold_spaces_newlines_and_other_letters(tmp_path: Path) -> None:
    root = tmp_path / "my data\nof é"
    write_v21(root, (5,))
    assert shown(read(root), 0) == list(range(5))


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "none")
    with pytest.raises(DataError, match=r"there is no meta/info\.json"):
        read(tmp_path)
    write_info(tmp_path, "v2.1", 0)
    with pytest.raises(DataError, match="has no tables"):
        read(tmp_path)
    write_table(data_file(tmp_path, 0), table(5, 0))
    with pytest.raises(DataError, match=rf"has no pictures: .*info\.json lists {CAMERA}"):
        read(tmp_path)
    video_file(tmp_path, 0).parent.mkdir(parents=True)
    video_file(tmp_path, 0).write_bytes(b"")
    with pytest.raises(DataError, match="no episode can be read: recording episode_000000 left out: "):
        read(tmp_path)


@pytest.mark.parametrize("name", ["info.json", "episodes.jsonl"])
def test_metadata_of_many_gigabytes_is_not_read(tmp_path: Path, name: str) -> None:
    write_v21(tmp_path)
    os.truncate(tmp_path / "meta" / name, 2**36)
    if name == "info.json":
        with pytest.raises(DataError, match=r"info\.json has 68,719,476,736 bytes"):
            read(tmp_path)
    else:
        assert noted(read(tmp_path), "episodes.jsonl has 68,719,476,736 bytes")
