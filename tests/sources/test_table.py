"""Pictures or a video beside a table."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from egoequiv.catalog import open_log, open_source
from egoequiv.errors import ConfigError, DataError
from egoequiv.pose import ColumnsSpace, NoMotion, PlanarSpace, SE2Space, SE3Space
from egoequiv.sources.formats import guess_format
from egoequiv.store import ingest
from logs.table import prepare, write_csv, write_pictures
from logs.video import write_video

Columns = dict[str, Any]


def names(count: int) -> list[str]:
    return [f"{k}.png" for k in range(count)]


def folder_of(path: Path, columns: Columns, count: int = 12, table: str = "log.csv") -> Path:
    """Pictures 0.png, 1.png, ... and a table."""
    write_pictures(path, names(count))
    write_csv(path / table, columns)
    return path


def test_a_row_for_each_picture_with_poses_in_the_plane(tmp_path: Path) -> None:
    k = np.arange(12)
    columns = {"file": names(12), "t": 0.1 * k, "x": 0.5 * k, "y": 0.1 * k, "yaw": np.deg2rad(-175 - k), "load": k}
    source = open_source("table", folder_of(tmp_path / "drive", columns))
    (recording,) = source.recordings
    assert isinstance(source.space, SE2Space)
    assert source.pose_columns == ("x_m", "y_m", "yaw_deg", "load")
    assert recording.name == "drive"
    np.testing.assert_allclose(recording.times_s, 0.1 * k)
    np.testing.assert_allclose(recording.poses, np.stack([0.5 * k, 0.1 * k, -175.0 - k, k], axis=1))
    assert [recording.file_name(n) for n in (2, 10)] == ["2.png", "10.png"]
    assert any("taken as radians" in note for note in source.remarks)
    store = ingest(pickle.loads(pickle.dumps(source)), tmp_path / "store", progress=False)
    np.testing.assert_allclose(store.pose_columns["load"], k)


@pytest.mark.parametrize(
    ("head", "settings"),
    [
        (("tx", "ty", "tz", "qx", "qy", "qz", "qw"), {}),
        (("p_RS_R_x [m]", "p_RS_R_y [m]", "p_RS_R_z [m]", "q_RS_x []", "q_RS_y []", "q_RS_z []", "q_RS_w []"), {}),
        (("pose.position.x", "pose.position.y", "pose.position.z", *(f"pose.orientation.{c}" for c in "xyzw")), {}),
        (("px_mm", "py_mm", "pz_mm", "quat_x", "quat_y", "quat_z", "quat_w"), {}),
        (("a", "b", "c", "d", "e", "f", "g"), {"position": "a,b,c", "rotation": "g,d,e,f", "quaternion": "wxyz"}),
    ],
)
def test_poses_in_space(tmp_path: Path, head: tuple[str, ...], settings: Columns) -> None:
    random = np.random.default_rng(0)
    place, turn = random.normal(size=(12, 3)), Rotation.random(12, random_state=1)
    scale = 1000 if "mm" in head[0] else 1
    values = np.concatenate([scale * place, turn.as_quat()], axis=1)
    columns = {"filename": names(12), **dict(zip(head, values.T, strict=True))}
    source = open_source("table", folder_of(tmp_path, columns), axes="opencv", **settings)
    assert isinstance(source.space, SE3Space)
    poses = source.recordings[0].poses
    np.testing.assert_allclose(poses[:, :3], place, atol=1e-9)
    # The camera looks along z: the x axis of a store.
    ahead = Rotation.from_quat(poses[:, 3:]).apply([1.0, 0.0, 0.0])
    np.testing.assert_allclose(ahead, turn.apply([0.0, 0.0, 1.0]), atol=1e-6)


def test_roll_pitch_and_yaw_in_degrees(tmp_path: Path) -> None:
    k = np.arange(12)
    columns = {"file": names(12), "x": k, "y": k, "z": k, "roll": 0 * k, "pitch": 0 * k, "yaw_deg": 90 + k}
    source = open_source("table", folder_of(tmp_path, columns))
    ahead = Rotation.from_quat(source.recordings[0].poses[:, 3:]).apply([1.0, 0.0, 0.0])
    np.testing.assert_allclose(ahead[0], [0, 1, 0], atol=1e-9)
    assert "axes ros" in source.convention


def test_rows_at_their_own_times_are_interpolated_at_the_stamps_in_names(tmp_path: Path) -> None:
    stamps = [f"{1305031102 + 0.033 * k:.6f}" for k in range(12)]
    write_pictures(tmp_path / "rgb", [f"{stamp}.jpg" for stamp in stamps])
    t = 1305031102 + 0.01 * np.arange(30)
    write_csv(tmp_path / "poses.csv", {"timestamp": [f"{v:.6f}" for v in t], "x": t - t[0], "y": 0 * t, "yaw": 0 * t})
    source = open_source("table", tmp_path)
    (recording,) = source.recordings
    assert len(recording) == 9  # 0.29 s of poses
    np.testing.assert_allclose(recording.poses[:, 0], 0.033 * np.arange(9), atol=1e-6)
    assert any("3 of 12 frames left out: 3 after it ends" in note for note in source.notes)
    later = open_source("table", tmp_path, offset_s=0.02)
    np.testing.assert_allclose(later.recordings[0].poses[:, 0], 0.033 * np.arange(1, 10) - 0.02, atol=1e-6)
    assert [later.recordings[0].file_name(0)] == [f"{stamps[1]}.jpg"]


@pytest.mark.parametrize("name", ["times.txt", "frames.csv", "when.csv"])
def test_times_of_frames_in_a_second_table(tmp_path: Path, name: str) -> None:
    write_pictures(tmp_path, names(12))
    t = 0.05 * np.arange(30)
    write_csv(tmp_path / "poses.csv", {"time": t, "x": t, "y": 0 * t, "yaw": 0 * t})
    if name.endswith(".txt"):
        (tmp_path / name).write_text("".join(f"{0.1 * k:.3f}\n" for k in range(12)))
    else:
        write_csv(tmp_path / name, {"file": names(12), "time": [f"{0.1 * k:.3f}" for k in range(12)]})
    source = open_source("table", tmp_path, **({"times": name} if name == "when.csv" else {}))
    np.testing.assert_allclose(source.recordings[0].poses[:, 0], 0.1 * np.arange(12), atol=1e-9)


def test_rates_are_integrated_over_the_time_of_a_video(tmp_path: Path) -> None:
    prepare(tmp_path)
    source = open_source("table", tmp_path / "car")
    (recording,) = source.recordings
    assert isinstance(source.space, PlanarSpace)
    # 36 km/h are 10 m a second; frames are 0.1 s apart.
    np.testing.assert_allclose(recording.poses[:, 0], 1.0 * np.arange(60), atol=1e-6)
    np.testing.assert_allclose(recording.poses[:, 1], 0.5 * np.arange(60), atol=1e-6)
    assert len(list(recording.images(range(3)))) == 3


def test_a_video_with_a_clock_of_its_own_begins_at_the_first_row(tmp_path: Path) -> None:
    write_video(tmp_path / "clip.mkv", np.zeros((20, 16, 16), np.uint8), codec="ffv1", rate=10)
    t = 1714521600 + 0.1 * np.arange(20)
    write_csv(tmp_path / "clip.csv", {"time": [f"{v:.3f}" for v in t], "x": t - t[0], "y": 0 * t, "yaw": 0 * t})
    for path in (tmp_path, tmp_path / "clip.mkv", tmp_path / "clip.csv"):
        source = open_source("table", path)
        np.testing.assert_allclose(source.recordings[0].poses[:, 0], 0.1 * np.arange(20), atol=1e-6)
        assert any("clock of its own" in note for note in source.remarks)


def test_frames_by_number_of_the_video_or_of_the_picture(tmp_path: Path) -> None:
    k = np.arange(1, 13)
    write_pictures(tmp_path / "a", [f"img_{n:04d}.png" for n in range(100, 112)])
    write_csv(tmp_path / "a" / "log.csv", {"frame": 112 - k, "steering": k})
    source = open_source("table", tmp_path / "a")
    np.testing.assert_array_equal(source.recordings[0].poses[:, 0], k[::-1])
    (tmp_path / "b").mkdir()
    write_video(tmp_path / "b" / "clip.mkv", np.zeros((12, 16, 16), np.uint8), codec="ffv1")
    write_csv(tmp_path / "b" / "log.csv", {"frame": k, "steering": k})
    source = open_source("table", tmp_path / "b")
    assert isinstance(source.space, ColumnsSpace)
    np.testing.assert_array_equal(source.recordings[0].poses[:, 0], k)
    assert "frames are counted from 1" in " ".join(source.remarks)


def test_places_on_earth_become_metres(tmp_path: Path) -> None:
    k = np.arange(12)
    columns = {
        "file": names(12),
        "lat": [0.0, *(48 + 1e-5 * k[1:])],
        "lon": [0.0, *(9 + 0 * k[1:])],
        "yaw_deg": 90 + 0 * k,
    }
    source = open_source("table", folder_of(tmp_path, columns))
    poses = source.recordings[0].poses
    assert len(poses) == 11  # without the place 0, 0 of the row before the first fix
    np.testing.assert_allclose(poses[:, 0], 0, atol=1e-9)
    np.testing.assert_allclose(poses[:, 1], 6378137 * np.deg2rad(1e-5) * np.arange(11), rtol=1e-4)


def test_settings_in_a_file_and_the_command_line_wins(tmp_path: Path) -> None:
    k = np.arange(12)
    folder_of(tmp_path, {"when": 0.1 * k, "bild": names(12), "links": k, "rechts": -k})
    (tmp_path / "egoequiv.toml").write_text('[table]\nfile = "bild"\ntime = "when"\ncolumns = ["links", "rechts"]\n')
    assert open_source("table", tmp_path).space == ColumnsSpace(("links", "rechts"))
    assert open_source("table", tmp_path, columns="rechts").space == ColumnsSpace(("rechts",))
    (tmp_path / "egoequiv.toml").write_text('[table]\ncolums = "links"\n')
    with pytest.raises(ConfigError, match=r"egoequiv\.toml has no setting 'colums'"):
        open_source("table", tmp_path)
    (tmp_path / "egoequiv.toml").write_text("[table\n")
    with pytest.raises(DataError, match="is not TOML"):
        open_source("table", tmp_path)


def test_recordings_by_column_folder_and_video(tmp_path: Path) -> None:
    files = [f"{r}/{k}.png" for r in ("b", "a") for k in range(6)]
    write_pictures(tmp_path / "one", files)
    write_csv(tmp_path / "one" / "log.csv", {"file": files, "speed": range(12)})
    assert [r.name for r in open_source("table", tmp_path / "one").recordings] == ["b", "a"]
    (tmp_path / "two").mkdir()
    for name in ("x", "y"):
        write_video(tmp_path / "two" / f"{name}.mkv", np.zeros((6, 16, 16), np.uint8), codec="ffv1")
    columns = {
        "video": ["x"] * 6 + ["z"] * 3 + ["y"] * 6,
        "frame": [*range(6), *range(3), *range(6)],
        "steering": range(15),
    }
    write_csv(tmp_path / "two" / "log.csv", columns)
    source = open_source("table", tmp_path / "two")
    assert [(r.name, len(r)) for r in source.recordings] == [("x", 6), ("y", 6)]
    assert any("recording z left out" in note for note in source.notes)


def test_several_tables_and_cameras_are_listed(tmp_path: Path) -> None:
    folder_of(tmp_path / "left", {"file": names(12), "note": ["a"] * 12})
    for camera in ("left", "right"):
        write_pictures(tmp_path / camera, names(12))
    write_csv(tmp_path / "poses.csv", {"frame": range(12), "x": range(12), "y": range(12), "yaw_deg": range(12)})
    write_csv(tmp_path / "battery.csv", {"frame": range(12), "volts": range(12)})
    (tmp_path / "broken.csv").write_bytes(b"PK\x03\x04")
    source = open_source("table", tmp_path)
    assert isinstance(source.space, SE2Space)
    told = " ".join([*source.notes, *source.remarks])
    assert "table poses.csv of 2: choose with --read poses=battery.csv" in told
    assert "camera left of 2: choose with --read camera=right" in told
    assert "broken.csv left out" in told
    assert {(one.name, one.used) for one in source.listed} >= {("poses.csv", True), ("right", False)}
    other = open_source("table", tmp_path, poses="battery.csv", camera="right", columns="volts")
    assert other.space == ColumnsSpace(("volts",))


def test_paths_of_another_machine_are_followed_to_the_pictures_here(tmp_path: Path) -> None:
    write_pictures(tmp_path / "IMG", names(12))
    files = [*(f"/home/me/data/IMG/{name}" for name in names(6)), *(f"C:\\data\\IMG\\{k}.png" for k in range(6, 12))]
    write_csv(tmp_path / "driving_log.csv", {"center": files, "steering": range(12)})
    assert len(open_source("table", tmp_path).recordings[0]) == 12


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "../secret.png", "C:/secret.png"])
def test_files_outside_are_refused(tmp_path: Path, name: str) -> None:
    write_pictures(tmp_path, ["secret.png"])
    folder_of(tmp_path / "log", {"file": [*names(11), name], "steering": range(12)})
    with pytest.raises(DataError, match=r"log\.csv, line 13, column 'file': .* lies outside of") as raised:
        open_source("table", tmp_path / "log")
    assert "outside=true" in str(raised.value)
    source = open_source("table", tmp_path / "log", outside=True)
    assert len(source.recordings[0]) == (12 if name == "../secret.png" else 11)


def test_bad_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    k = np.arange(12).astype(object)
    x = list(k)
    x[3], x[4] = "nan", ""
    turn = {"qx": [0.0] * 12, "qy": [0.0] * 12, "qz": [0.0] * 12, "qw": [1.0] * 11 + [0.0]}
    files = [*names(10), "gone.png", "11.png"]
    columns = {"file": ["1.png" if k == 2 else name for k, name in enumerate(files)], "x": x, "y": k, "z": k, **turn}
    source = open_source("table", folder_of(tmp_path, columns))
    assert source.recordings[0].poses[:, 1].tolist() == [0, 1, 5, 6, 7, 8, 9]
    told = " ".join([*source.notes, *source.remarks])
    assert "3 of 12 rows left out" in told
    assert "the first in line 5" in told
    assert "1 picture is missing, such as 'gone.png', 1 name a picture again" in told


def test_pictures_alone_are_in_natural_order(tmp_path: Path) -> None:
    write_pictures(tmp_path / "ünï code", [f"b/img {k}.png" for k in range(12)])
    write_pictures(tmp_path / "ünï code", ["a/line\nbreak.png", "a/z.png"])
    source, title = open_log(tmp_path / "ünï code")
    assert title == "pictures without a table"
    assert isinstance(source.space, NoMotion)
    assert [(r.name, len(r)) for r in source.recordings] == [("a", 2), ("b", 12)]
    assert source.recordings[1].file_name(10) == "img 10.png"
    assert source.recordings[1].times_s is None
    timed = open_source("table", tmp_path / "ünï code", rate_hz=4)
    np.testing.assert_allclose(timed.recordings[1].times_s, 0.25 * np.arange(12))


def test_guesses_and_what_is_refused(tmp_path: Path) -> None:
    k = np.arange(12)
    folder = folder_of(tmp_path / "log", {"file": names(12), "x": k, "y": k, "yaw": k})
    assert guess_format(folder).title == "a table with pictures"
    assert guess_format(folder / "log.csv").source == "table"
    assert len(open_source("table", folder / "log.csv").recordings[0]) == 12
    for settings, message in (
        ({"position": "x,z"}, "position=x,z: log.csv has no column 'z'; it has file, x, y, yaw"),
        ({"rotation": "x,y"}, "rotation=x,y: expected 1 or 3 or 4 columns"),
        ({"angle_unit": "grad"}, "angle_unit=grad: expected auto, deg, rad"),
        ({"camera": "front", "file": ""}, "camera=front"),
        ({"rates": "x,y"}, "rates are integrated over time"),
    ):
        if message == "camera=front":
            write_csv(folder / "log.csv", {"x": k, "y": k, "yaw": k})
        with pytest.raises((ConfigError, DataError), match=message):
            open_source("table", folder, **settings)
        folder_of(folder, {"file": names(12), "x": k, "y": k, "yaw": k})
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="neither a table"):
        open_source("table", empty)
    write_csv(empty / "log.csv", {"file": ["a.png"], "x": [1]})
    with pytest.raises(DataError, match=r"no row belongs to a picture"):
        open_source("table", empty)
    with pytest.raises(DataError, match="does not exist"):
        open_source("table", tmp_path / "none")


def test_rows_and_frames_that_nothing_brings_together(tmp_path: Path) -> None:
    source = open_source("table", folder_of(tmp_path, {"steering": range(12)}))
    assert any("belong together in their order" in note for note in source.remarks)
    write_csv(tmp_path / "log.csv", {"steering": range(13)})
    with pytest.raises(DataError, match="has 13 rows for 12 frames"):
        open_source("table", tmp_path)


def test_degrees_that_are_declared_as_radians_are_noticed(tmp_path: Path) -> None:
    k = np.arange(12)
    folder = folder_of(tmp_path, {"file": names(12), "x": k, "y": k, "yaw": 30 * k})
    assert any("taken as degrees" in note for note in open_source("table", folder).remarks)
    notes = open_source("table", folder, angle_unit="rad").notes
    assert any("are they degrees" in note for note in notes)


def test_a_number_without_end_says_nothing_of_the_unit(tmp_path: Path) -> None:
    k = np.arange(12)
    yaw = [0.05 * one for one in k[:-1]] + [np.inf]
    folder = folder_of(tmp_path, {"file": names(12), "x": k, "y": k, "yaw": yaw})
    assert any("taken as radians, the largest is 0.5 " in note for note in open_source("table", folder).remarks)


def test_a_family_of_columns_with_a_hole_is_none(tmp_path: Path) -> None:
    k = np.arange(12)
    source = open_source(
        "table", folder_of(tmp_path, {"file": names(12), "x": k, "z": k, "qx": k, "qz": k, "steering": k})
    )
    assert source.space == ColumnsSpace(("steering",))


@pytest.mark.parametrize("cell", ["--", "x", "1 2"])
def test_a_column_of_the_motion_with_a_cell_that_is_no_number_is_named(tmp_path: Path, cell: str) -> None:
    """Without x there is no pose in the plane; what is left is other motion, and a note says why."""
    turn = 0.1 * np.arange(12)
    columns = {"file": names(12), "x": [*turn[:11], cell], "y": turn**2, "yaw": turn, "comment": ["fine"] * 12}
    source = open_source("table", folder_of(tmp_path, columns))
    assert isinstance(source.space, ColumnsSpace)
    told = f"a column of numbers is not used: log.csv, line 13, column 'x': expected a number, found {cell!r}"
    assert source.notes == (told,)


@pytest.mark.parametrize("lacking", ["y", "qy", "qz"])
def test_a_family_of_columns_with_one_missing_in_the_middle_is_none(tmp_path: Path, lacking: str) -> None:
    place = dict.fromkeys(("x", "y", "z", "qx", "qy", "qz"), np.arange(12.0)) | {"qw": np.ones(12)}
    place.pop(lacking)
    source = open_source("table", folder_of(tmp_path, {"file": names(12), **place}))
    if lacking == "y":
        assert "log.csv: no columns look like a position, so the camera turns and never moves" in source.notes
    else:
        assert not isinstance(source.space, SE3Space)


def test_positions_without_a_rotation_are_told_of(tmp_path: Path) -> None:
    source = open_source("table", folder_of(tmp_path, {"file": names(12), "x": np.arange(12), "y": np.arange(12)}))
    assert isinstance(source.space, ColumnsSpace)
    told = "log.csv: no columns look like a rotation, so the motion is the change of the position in the world"
    assert told in source.remarks


def test_missing_pictures_leave_a_gap_in_time_at_a_rate(tmp_path: Path) -> None:
    k = np.arange(12)
    there = [0, 1, 2, 6, 7, 9, 10, 11]
    write_pictures(tmp_path / "log", [f"{n}.png" for n in there])
    write_csv(tmp_path / "log" / "log.csv", {"file": names(12), "x": [*k[:7], "nan", *k[8:]], "y": k, "yaw_deg": k})
    (recording,) = open_source("table", tmp_path / "log", rate_hz=10).recordings
    np.testing.assert_allclose(recording.times_s, [0, 0.1, 0.2, 0.6, 0.9, 1.0, 1.1])
    assert recording.log_frames().tolist() == [0, 1, 2, 6, 9, 10, 11]
    write_pictures(tmp_path / "alone", [f"img_{10 * n:04d}.png" for n in there])
    (alone,) = open_source("table", tmp_path / "alone", rate_hz=10).recordings
    np.testing.assert_allclose(alone.times_s, 0.1 * np.array(there))
    write_pictures(tmp_path / "odd", [f"img_{n}.png" for n in (1, 4, 6, 11)])
    (odd,) = open_source("table", tmp_path / "odd", rate_hz=10).recordings
    np.testing.assert_allclose(odd.times_s, [0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("head", "rows", "told"),
    [
        ("time_ms", 400, ""),
        ("time [ms]", 400, ""),
        ("t", 400, "log.csv, column t: stamps are in ms, so they last about as long as the frames"),
        ("t", 40, "log.csv, column t: stamps are in ms, so they last about as long as the frames"),
    ],
)
def test_whole_milliseconds_of_a_fast_sensor(tmp_path: Path, head: str, rows: int, told: str) -> None:
    write_video(tmp_path / "clip.mkv", np.zeros((rows // 20, 16, 16), np.uint8), codec="ffv1", rate=10)
    k = np.arange(rows)
    write_csv(tmp_path / "log.csv", {head: 5 * k, "x": 0.005 * k, "y": 0 * k, "yaw_deg": 0 * k})
    source = open_source("table", tmp_path)
    (recording,) = source.recordings
    assert len(recording) == rows // 20
    np.testing.assert_allclose(recording.poses[:, 0], 0.1 * np.arange(rows // 20), atol=1e-9)
    assert [note for note in source.remarks if "stamps" in note] == ([told] if told else [])


def test_the_unit_in_the_name_of_a_time_is_not_believed_against_the_year(tmp_path: Path) -> None:
    k = np.arange(12)
    columns = {"file": names(12), "time_s": 1714521600000 + 100 * k, "x": k, "y": k, "yaw_deg": k}
    source = open_source("table", folder_of(tmp_path, columns))
    np.testing.assert_allclose(source.recordings[0].times_s, 0.1 * k)
    assert "log.csv, column time_s: stamps are in ms" in source.remarks


def test_times_of_frames_in_the_unit_of_their_column(tmp_path: Path) -> None:
    write_pictures(tmp_path, names(12))
    k = np.arange(12)
    write_csv(tmp_path / "times.csv", {"file": names(12), "time_us": 2000 * k})
    write_csv(tmp_path / "log.csv", {"time_us": 2000 * k, "x": k, "y": k, "yaw_deg": k})
    np.testing.assert_allclose(open_source("table", tmp_path, poses="log.csv").recordings[0].times_s, 0.002 * k)


@pytest.mark.parametrize("order", ["speed_kmh,yaw_rate_deg", "yaw_rate_deg,speed_kmh"])
def test_a_declared_speed_and_yaw_rate_are_told_apart_by_their_names(tmp_path: Path, order: str) -> None:
    k = np.arange(12)
    columns = {"file": names(12), "time": 0.1 * k, "yaw_rate_deg": 5 + 0 * k, "speed_kmh": 36 + 0 * k}
    source = open_source("table", folder_of(tmp_path, columns), rates=order)
    assert isinstance(source.space, PlanarSpace)
    np.testing.assert_allclose(source.recordings[0].poses[-1, :2], [11, 5.5])


def test_two_other_rates_are_integrals(tmp_path: Path) -> None:
    k = np.arange(12)
    columns = {"file": names(12), "time": 0.1 * k, "gyro_x": 1 + 0 * k, "gyro_y": 2 + 0 * k}
    source = open_source("table", folder_of(tmp_path, columns), rates="gyro_x,gyro_y")
    assert source.space == ColumnsSpace(("gyro_x over time", "gyro_y over time"))
    np.testing.assert_allclose(source.recordings[0].poses[-1, :2], [1.1, 2.2])


def test_an_offset_moves_the_motion_of_frames_at_a_rate(tmp_path: Path) -> None:
    k = np.arange(12)
    folder = folder_of(tmp_path, {"file": names(12), "x": k, "y": 0 * k, "yaw_deg": 0 * k})
    (recording,) = open_source("table", folder, rate_hz=10, offset_s=0.1).recordings
    np.testing.assert_allclose(recording.poses[:, 0], np.arange(11), atol=1e-9)
    assert [recording.file_name(0), recording.log_frames()[0]] == ["1.png", 1]


def test_drives_whose_folders_of_pictures_share_a_name_stay_apart(tmp_path: Path) -> None:
    files = [f"drive{d}/images/{k}.png" for d in (1, 2) for k in range(6)]
    write_pictures(tmp_path, files)
    write_csv(tmp_path / "log.csv", {"file": files, "steering": range(12)})
    source = open_source("table", tmp_path)
    assert [(r.name, len(r)) for r in source.recordings] == [("drive1/images", 6), ("drive2/images", 6)]
    elsewhere = [f"{'/home/me' if k % 2 else 'D:/data'}/{name}" for k, name in enumerate(files)]
    write_csv(tmp_path / "log.csv", {"file": elsewhere, "steering": range(12)})
    assert [len(r) for r in open_source("table", tmp_path).recordings] == [6, 6]


@pytest.mark.parametrize("frames", [range(1, 10), range(10), [0, *range(2, 11)], range(2, 12)])
def test_frames_are_counted_from_1_where_there_is_no_0(tmp_path: Path, frames: list[int]) -> None:
    write_video(tmp_path / "clip.mkv", np.zeros((12, 16, 16), np.uint8), codec="ffv1")
    write_csv(tmp_path / "log.csv", {"frame": frames, "steering": frames})
    source = open_source("table", tmp_path)
    numbers = source.recordings[0].log_frames()
    from_1 = min(frames) == 1
    assert numbers.tolist() == [frame - from_1 for frame in frames]
    assert any("frames are counted from 1" in note for note in source.remarks) == from_1


def test_a_row_0_without_a_motion_still_says_that_frames_are_counted_from_0(tmp_path: Path) -> None:
    write_video(tmp_path / "clip.mkv", np.zeros((12, 16, 16), np.uint8), codec="ffv1")
    write_csv(tmp_path / "log.csv", {"frame": range(9), "steering": ["nan", *range(1, 9)]})
    assert open_source("table", tmp_path).recordings[0].log_frames().tolist() == list(range(1, 9))


def test_pictures_of_another_camera_are_told_of(tmp_path: Path) -> None:
    write_pictures(tmp_path / "left", names(12))
    write_csv(tmp_path / "log.csv", {"file": [f"center/{name}" for name in names(12)], "steering": range(12)})
    (note,) = open_source("table", tmp_path).notes
    assert "12 of 12 pictures are read from another folder" in note
    assert "'left/0.png' for 'center/0.png'" in note
    for folder, count in (("/x/left", 0), ("x/left", 0), ("C:\\x\\left", 0), ("/x/center", 1)):
        write_csv(tmp_path / "log.csv", {"file": [f"{folder}/{name}" for name in names(12)], "steering": range(12)})
        assert len(open_source("table", tmp_path).notes) == count
    write_pictures(tmp_path / "right" / "images", [f"r{name}" for name in names(12)])
    write_csv(tmp_path / "log.csv", {"file": [f"front/images/r{name}" for name in names(12)], "steering": range(12)})
    assert len(open_source("table", tmp_path).notes) == 1


@pytest.mark.parametrize(
    ("head", "turn", "settings"),
    [("yaw_deg", 360.0, {}), ("heading", 360.0, {"columns": "heading"}), ("yaw [rad]", 2 * np.pi, {})],
)
def test_an_angle_alone_is_followed_past_a_whole_turn(
    tmp_path: Path, head: str, turn: float, settings: Columns
) -> None:
    true = turn * (0.4 + 0.03 * np.arange(12))
    columns = {"file": names(12), "time": 0.1 * np.arange(12), head: (true + turn / 2) % turn - turn / 2}
    source = open_source("table", folder_of(tmp_path, columns), **settings)
    assert isinstance(source.space, ColumnsSpace)
    np.testing.assert_allclose(np.diff(source.recordings[0].poses[:, 0]), 0.03 * turn)
    assert any("a whole turn is" in note for note in source.remarks)


def test_steering_does_not_go_round(tmp_path: Path) -> None:
    columns = {"file": names(12), "steering_deg": [170, -170] * 6}
    source = open_source("table", folder_of(tmp_path, columns))
    assert source.recordings[0].poses[:2, 0].tolist() == [170, -170]


@pytest.mark.parametrize(
    ("speed", "rate"),
    [("speed_m/s", "yaw_rate_deg/s"), ("speed_m_s", "yaw_rate_deg_s"), ("speed [m/s]", "yaw_rate [deg/s]")],
)
def test_units_a_second_in_names(tmp_path: Path, speed: str, rate: str) -> None:
    k = np.arange(12)
    columns = {"file": names(12), "time_s": 0.1 * k, speed: 10 + 0 * k, rate: 5 + 0 * k}
    source = open_source("table", folder_of(tmp_path, columns))
    assert isinstance(source.space, PlanarSpace)
    np.testing.assert_allclose(source.recordings[0].poses[-1, :2], [11, 5.5])


@pytest.mark.parametrize("numbers", [range(1, 5), range(4)])
def test_a_quaternion_whose_order_is_not_said_is_told_of(tmp_path: Path, numbers: range) -> None:
    k = np.arange(12)
    turn = {f"q{n}": (n == numbers[-1]) + 0 * k for n in numbers}
    folder = folder_of(tmp_path, {"file": names(12), "x": k, "y": k, "z": k, **turn})
    columns = ",".join(turn)
    (note,) = open_source("table", folder).notes
    assert note.startswith(f"log.csv: {', '.join(turn)} look like a quaternion")
    assert f"--read rotation={columns} --read quaternion=xyzw (or wxyz)" in note
    source = open_source("table", folder, rotation=columns, quaternion="xyzw")
    assert isinstance(source.space, SE3Space)
    assert source.notes == ()


@pytest.mark.parametrize("offset", [0.0, 0.05])
def test_rates_are_not_integrated_over_a_gap(tmp_path: Path, offset: float) -> None:
    write_video(tmp_path / "clip.mkv", np.zeros((40, 16, 16), np.uint8), codec="ffv1", rate=10)
    t = np.array([0.01 * k for k in range(400) if not 100 <= k < 250])
    columns = {"time": [f"{1714521600 + v:.2f}" for v in t], "speed": np.where(t < 1, 10, 0), "yaw_rate": 0 * t}
    write_csv(tmp_path / "clip.csv", columns)
    source = open_source("table", tmp_path, offset_s=offset)
    first, second = source.recordings
    assert [first.name, second.name] == [f"{tmp_path.name}/1", f"{tmp_path.name}/2"]
    late = int(offset > 0)
    assert first.log_frames().tolist() == list(range(late, 10 + late))[: len(first)]
    np.testing.assert_allclose(np.diff(first.poses[:, 0]), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.diff(second.poses[:, 0]), 0.0, atol=1e-6)
    assert second.log_frames()[0] == 25 + late
    assert second.attributes["start"] == f"{1714521602.5 + 0.1 * late:.1f}00000000"
    np.testing.assert_allclose(second.times_s[:3], [0, 0.1, 0.2])
    assert any("cut into 2 recordings" in note for note in source.notes)


def test_rates_of_pictures_are_cut_where_rows_are_missing(tmp_path: Path) -> None:
    k = np.array([*range(5), 30, *range(60, 66)])
    columns = {"file": names(12), "time": 0.1 * k, "speed": 1 + 0 * k, "yaw_rate": 0 * k, "label": k}
    source = open_source("table", folder_of(tmp_path, columns))
    assert [(len(r), r.file_name(0), r.labels[0]) for r in source.recordings] == [(5, "0.png", "0"), (6, "6.png", "60")]
    assert any("1 frame between two gaps is left out" in note for note in source.notes)
