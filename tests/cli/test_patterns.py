"""`egoequiv patterns`, and what `ingest`, `info` and `train` say of poses alone and of what was left out."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from drives import PLACES, drive_source, poses_only, write_kitti, write_scenes
from egoequiv.pairs import MinedPatterns, mine_patterns
from egoequiv.pose import PlanarSpace
from egoequiv.store import FrameStore, ingest
from running import Cli

pytestmark = pytest.mark.slow

LEGS = ((2.0, 5.0, 0.0), (2.0, 4.0, 16.0), (2.0, 14.0, 0.0), (2.0, 5.0, -15.0))
QUICK = ["--stability", "1"]


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingest(drive_source(3), tmp_path_factory.mktemp("drives") / "store", workers=1).path


@pytest.fixture(scope="module")
def poses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingest(poses_only(3), tmp_path_factory.mktemp("poses") / "store", workers=1).path


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of KITTI raw with one drive whose packets are damaged in part."""
    root = write_kitti(tmp_path_factory.mktemp("kitti") / "raw", drives=4, legs=LEGS)
    (root / "2011_09_26" / "2011_09_26_drive_9001_sync" / "oxts" / "data" / "0000000007.txt").write_text("49.0 8.4")
    return root


def error_of(cli: Cli, *arguments: object) -> str:
    """The one line that a command fails with."""
    failed = cli(*arguments, code=2)
    lines = [line for line in failed.err.splitlines() if line.strip()]
    assert [line.startswith("egoequiv: error: ") for line in lines] == [True], failed.err
    assert failed.out == ""
    return lines[0]


def test_files_are_written_and_told_of(cli: Cli, drives: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "patterns"
    done = cli("patterns", drives, "-o", out, *QUICK)
    assert sorted(path.name for path in out.iterdir()) == ["motions.html", "motions.png", "pairs.png", "patterns.json"]
    for name in ("patterns.json", "motions.png", "motions.html", "pairs.png"):
        assert str(out / name) in done.err.replace("\n", "")
    expected = mine_patterns(FrameStore.open(drives))
    for name, count in zip(expected.patterns.names, expected.counts, strict=False):
        (line,) = (line for line in done.out.splitlines() if f"{name} " in line and "dropped" not in line)
        assert f"{count:,}" in line
    assert done.out.count("dropped: ") == 3
    assert f"{expected.motions:,} motions, k-means on all" in done.out
    assert "from 1 other seeds no kept centre moved by more than" in done.out
    for name in ("motions.png", "pairs.png"):
        with Image.open(out / name) as picture:
            picture.load()
            assert min(picture.size) > 250
            assert len(np.unique(np.asarray(picture.convert("L")))) > 20


def test_the_page_needs_no_network(cli: Cli, poses: Path, tmp_path: Path) -> None:
    cli("patterns", poses, "-o", tmp_path, *QUICK)
    page = (tmp_path / "motions.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)\s*=\s*[\"']?https?:", page)
    assert "<script" in page


def test_the_json_says_what_the_file_says(cli: Cli, drives: Path, tmp_path: Path) -> None:
    done = cli("patterns", drives, "-o", tmp_path, "--json", "--seed", "4", "--max-gap", "0.5", *QUICK)
    said = json.loads(done.out)
    expected = mine_patterns(FrameStore.open(drives), max_gap_s=0.5, seed=4)
    assert [row["kept"] for row in said["patterns"]] == [True] * 3 + [False] * 3
    assert tuple(row["name"] for row in said["patterns"][:3]) == expected.patterns.names
    assert [row["pairs"] for row in said["patterns"]] == list(expected.counts)
    assert said["pairs"] == said["clustered"] == expected.motions
    assert (said["max_gap_s"], said["seed"]) == (0.5, 4)
    assert said["stability"]["other_seeds"] == 1
    for row, centre in zip(said["patterns"], expected.patterns.centres, strict=True):
        assert [row["forward_m"], row["yaw_deg"]] == centre.tolist()
    written = json.loads((tmp_path / "patterns.json").read_text())
    assert {key: written[key] for key in said if key != "files"} == {k: v for k, v in said.items() if k != "files"}
    assert MinedPatterns.from_description(written, "it").describe() == expected.patterns.describe()
    assert said["files"] == [str(tmp_path / n) for n in ("patterns.json", "motions.png", "motions.html", "pairs.png")]


def test_without_other_seeds_nothing_is_said_of_stability(cli: Cli, poses: Path, tmp_path: Path) -> None:
    assert json.loads(cli("patterns", poses, "-o", tmp_path, "--stability", "0", "--json").out)["stability"] is None
    assert "stability" not in cli("patterns", poses, "-o", tmp_path, "--stability", "0").out


def test_poses_alone_are_enough(cli: Cli, poses: Path, tmp_path: Path) -> None:
    done = cli("patterns", poses, "-o", tmp_path, "--json", *QUICK)
    assert "pairs.png" not in " ".join(json.loads(done.out)["files"])
    assert not (tmp_path / "pairs.png").exists()


def test_a_large_log_is_sampled_and_says_so(
    cli: Cli, poses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from egoequiv.pairs import mining

    monkeypatch.setattr(mining, "SAMPLE", 2_000)
    shown = cli("patterns", poses, "-o", tmp_path, *QUICK).out
    assert re.search(r"7,035 motions, k-means on [12],\d{3} at random", shown)


@pytest.mark.parametrize(
    ("space", "columns"),
    [
        ("se2", ["forward_m", "left_m", "yaw_deg"]),
        ("se3", ["forward_m", "left_m", "up_m", "roll_deg", "pitch_deg", "yaw_deg"]),
        ("columns:yaw_deg", ["yaw_deg"]),
        ("columns: yaw_deg , x_m", ["yaw_deg", "x_m"]),
    ],
)
def test_other_spaces(cli: Cli, poses: Path, tmp_path: Path, space: str, columns: list[str]) -> None:
    said = json.loads(cli("patterns", poses, "-o", tmp_path, "--space", space, "--json", *QUICK).out)
    assert [key for key in said["patterns"][0] if key not in ("name", "kept", "pairs")] == columns
    kind = space.split(":")[0]
    assert json.loads((tmp_path / "patterns.json").read_text())["space"]["kind"] == kind


def test_names_in_space_have_room(cli: Cli, poses: Path, tmp_path: Path) -> None:
    done = cli("patterns", poses, "-o", tmp_path, "--space", "se3", *QUICK)
    for pattern in json.loads((tmp_path / "patterns.json").read_text())["patterns"]:
        assert f"{pattern['name']} " in done.out
    assert "pan left" in done.out


def test_names_with_brackets_are_printed_as_they_are(cli: Cli, tmp_path: Path) -> None:
    from egoequiv.pose import ColumnsSpace
    from egoequiv.sources import Source

    drive = drive_source(1).recordings[0]
    columns = tuple(f"c[{k}]" for k in range(9))
    source = Source("odd", ColumnsSpace((columns[7], columns[8])), [drive], pose_names=columns, has_images=False)
    store = ingest(source, tmp_path / "store", workers=1)
    shown = cli("patterns", store.path, "-o", tmp_path / "out", *QUICK).out
    assert "more c[8]" in shown or "more c[7]" in shown


def test_an_unknown_space_is_told_before_anything_is_read(cli: Cli, tmp_path: Path) -> None:
    line = error_of(cli, "patterns", tmp_path / "nowhere", "-o", tmp_path / "out", "--space", "moon")
    assert "motion space 'moon' is not known; choose planar, se2, se3" in line
    assert not (tmp_path / "out").exists()


def test_a_space_without_its_columns_is_named(cli: Cli, poses: Path, small_store: FrameStore, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "out"]
    assert "'steering'" in error_of(cli, "patterns", poses, *out, "--space", "columns:steering")
    assert "columns" in error_of(cli, "patterns", poses, *out, "--space", "columns:")
    assert "no poses" in error_of(cli, "patterns", poses, *out, "--space", "none")
    assert "'forward_m'" in error_of(cli, "patterns", small_store.path, *out, "--space", "planar")
    assert not (tmp_path / "out").exists()


def test_more_than_all_cannot_be_kept(cli: Cli, poses: Path, tmp_path: Path) -> None:
    line = error_of(cli, "patterns", poses, "-o", tmp_path / "out", "--keep", "5", "--clusters", "4")
    assert "keep must be between 1 and clusters=4, found 5" in line
    for option in ("--keep", "--clusters"):
        assert "Invalid value" in cli("patterns", poses, option, "0", code=2).err


@pytest.mark.parametrize("gap", ["0", "-1", "nan", "inf"])
def test_a_gap_must_be_a_number_above_zero(cli: Cli, poses: Path, tmp_path: Path, gap: str) -> None:
    line = error_of(cli, "patterns", poses, "-o", tmp_path / "out", f"--max-gap={gap}")
    assert f"--max-gap must be a number of seconds above 0, found {gap}" in line
    assert not (tmp_path / "out").exists()


def test_too_many_clusters_are_told(cli: Cli, poses: Path, tmp_path: Path) -> None:
    assert "at most 1000, found 1001" in error_of(cli, "patterns", poses, "-o", tmp_path / "out", "--clusters", "1001")


def test_what_is_no_store_is_named(cli: Cli, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "out"]
    assert "nowhere does not exist" in error_of(cli, "patterns", tmp_path / "nowhere", *out)
    (tmp_path / "empty").mkdir()
    line = error_of(cli, "patterns", tmp_path / "empty", *out)
    assert "is neither a frame store" in line
    assert "no drive such as" in line
    (tmp_path / "notes.txt").write_text("hello")
    assert "notes.txt" in error_of(cli, "patterns", tmp_path / "notes.txt", *out)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "store.json").write_text("{")
    assert "store.json is damaged" in error_of(cli, "patterns", tmp_path / "broken", *out)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_kitti_raw(cli: Cli, raw: Path, tmp_path: Path) -> None:
    done = cli("patterns", raw, "-o", tmp_path / "out", "--json", *QUICK)
    said = json.loads(done.out)
    assert "note: 2011_09_26_drive_9001: 1 of 80 packets left out" in done.err
    cli("ingest", "kitti", raw, "-o", tmp_path / "poses", "--set", "camera=none")
    store = FrameStore.open(tmp_path / "poses")
    assert len(store) == 4 * 80 - 1
    assert not store.has_images
    assert store.class_names == PLACES
    assert said["pairs"] == mine_patterns(store).motions
    page = (tmp_path / "out" / "motions.html").read_bytes()
    again = cli("patterns", raw, "-o", tmp_path / "out", "--json", *QUICK)
    assert again.out == done.out
    assert (tmp_path / "out" / "motions.html").read_bytes() == page


def test_a_store_beside_the_patterns_is_left_alone(cli: Cli, raw: Path, poses: Path, tmp_path: Path) -> None:
    mine = tmp_path / "poses"
    shutil.copytree(poses, mine)
    cli("patterns", raw, "-o", tmp_path, *QUICK)
    assert (mine / "index.parquet").read_bytes() == (poses / "index.parquet").read_bytes()


def test_a_zip_of_kitti_raw(cli: Cli, raw: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "raw.zip", "w") as archive:
        for path in sorted(raw.rglob("*.txt")):
            archive.write(path, path.relative_to(raw))
    from_zip = json.loads(cli("patterns", tmp_path / "raw.zip", "-o", tmp_path / "a", "--json", *QUICK).out)
    from_folder = json.loads(cli("patterns", raw, "-o", tmp_path / "b", "--json", *QUICK).out)
    assert from_zip["patterns"] == from_folder["patterns"]


def test_training_takes_the_file(cli: Cli, drives: Path, tmp_path: Path) -> None:
    cli("patterns", drives, "-o", tmp_path, "--clusters", "4", "--keep", "2", *QUICK)
    few = ["--set", "log_every=2", "--set", "checkpoint_every=2", "--set", "validate_every=2", "--iterations", "2"]
    few += ["--set", f"patterns={tmp_path / 'patterns.json'}", "--per-class", "2", "--no-labels"]
    few += ["--set", "split=paper", "--method", "equiv"]
    trained = json.loads(cli("train", drives, "-o", tmp_path / "run", *few, "--json").out)
    assert len(trained["patterns"]) == 2
    (measured,) = json.loads(cli("evaluate", tmp_path / "run", "--task", "equivariance", "--json").out)["measurements"]
    assert [motion["motion"] for motion in measured["details"]["motions"]] == trained["patterns"]


def test_training_on_poses_alone_says_what_is_missing(cli: Cli, poses: Path, tmp_path: Path) -> None:
    line = error_of(cli, "train", poses, "-o", tmp_path / "run")
    assert "holds poses but no images, and training needs them" in line
    assert not (tmp_path / "run").exists()


def test_info_on_poses_alone(cli: Cli, poses: Path) -> None:
    shown = cli("info", poses)
    assert "frames      720 without images" in shown.out
    assert "0 x 0" not in shown.out
    assert "pose        forward_m from 0 to" in shown.out
    assert "mined, see `egoequiv patterns`" in shown.out
    assert "no contact sheet" in shown.err
    assert "--sheet" not in shown.err
    described = json.loads(cli("info", poses, "--json").out)
    assert described["contact_sheet"] is None
    assert described["image_shape"] == [0, 0, 1]
    assert described["time"] == "23.9 s"
    assert not (poses / "contact_sheet.png").exists()


def test_a_sheet_of_poses_alone_cannot_be_asked_for(cli: Cli, poses: Path, tmp_path: Path) -> None:
    assert "has only poses" in error_of(cli, "info", poses, "--sheet", tmp_path / "sheet.png")
    assert not (tmp_path / "sheet.png").exists()


def broken_scenes(folder: Path) -> Path:
    """Class folders in which one picture is cut short, and one lies in no class folder."""
    root = write_scenes(folder, classes=3, train=4, test=2, parts=False)
    whole = (root / "class-01" / "2.png").read_bytes()
    (root / "class-01" / "2.png").write_bytes(whole[: len(whole) // 2])
    (root / "stray.png").write_bytes(whole)
    return root


def test_ingest_tells_what_was_left_out(cli: Cli, tmp_path: Path) -> None:
    root = broken_scenes(tmp_path / "tree")
    done = cli("ingest", "scenes", root, "-o", tmp_path / "store", "--workers", "1", "--json")
    said = json.loads(done.out)
    assert (said["frames"], said["recordings"]) == (17, 3)
    stray, broken = said["notes"]
    assert stray == "images in no class folder, left out: 1"
    assert broken.startswith("1 picture could not be read and was left out: ")
    assert "class-01/2.png" in broken
    assert json.loads((tmp_path / "store" / "store.json").read_text())["notes"] == said["notes"]
    for note in said["notes"]:
        assert f"note: {note}" in done.err
    shown = cli("info", tmp_path / "store")
    assert "note        images in no class folder, left out: 1" in shown.out
    assert json.loads(cli("info", tmp_path / "store", "--json").out)["notes"] == said["notes"]


def test_many_notes_are_told_in_short(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from egoequiv.cli import ingest as command

    monkeypatch.setattr(command, "NOTES_SHOWN", 1)
    done = cli("ingest", "scenes", broken_scenes(tmp_path / "tree"), "-o", tmp_path / "store", "--workers", "1")
    assert done.err.count("note: ") == 2
    assert "1 more notes are in" in done.err


def test_strict_stops_at_anything_left_out(cli: Cli, tmp_path: Path) -> None:
    root = broken_scenes(tmp_path / "tree")
    arguments = ["ingest", "scenes", root, "-o", tmp_path / "store", "--workers", "1", "--strict"]
    assert "images in no class folder, left out: 1 (stopped because of strict)" in error_of(cli, *arguments)
    (root / "stray.png").unlink()
    failed = cli(*arguments, code=2)
    assert "class-01/2.png" in failed.err
    assert not (tmp_path / "store").exists()
    (root / "class-01" / "2.png").unlink()
    cli(*arguments)
    assert len(FrameStore.open(tmp_path / "store")) == 17


def test_ingest_of_poses_alone(cli: Cli, raw: Path, tmp_path: Path) -> None:
    done = cli("ingest", "kitti", raw, "-o", tmp_path / "store", "--set", "camera=none", "--workers", "1")
    assert "319 frames of 4 recordings, poses alone" in done.err
    assert FrameStore.open(tmp_path / "store").space == PlanarSpace()
    line = error_of(cli, "ingest", "kitti", raw, "-o", tmp_path / "strict", "--set", "camera=none", "--strict")
    assert "9001" in line
    assert not (tmp_path / "strict").exists()
