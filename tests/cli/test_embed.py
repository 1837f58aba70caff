"""`egoequiv embed` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from egoequiv import embed
from egoequiv.exporting import load_backbone
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.checkpoint import save_spec, save_tensors
from egoequiv.store import FrameStore
from logs.lerobot import write_v21
from logs.video import moving_pictures, write_video
from running import Cli


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with two checkpoints that differ, of a network for images of 8 x 10 in colour."""
    for seed, which in enumerate(("last", "best")):
        net = EgoNet(NetSpec("norb", (8, 10, 3)))
        initialise(net, torch.Generator().manual_seed(seed))
        state = {f"model.{name}": value for name, value in net.state_dict().items()}
        save_spec(tmp_path / "run", net.spec)
        save_tensors(tmp_path / "run" / f"{which}.safetensors", state, {})
    return tmp_path / "run"


def test_images_of_another_size_and_colour_are_converted_and_it_is_said(
    cli: Cli, run: Path, small_store: FrameStore, tmp_path: Path
) -> None:
    printed = cli("embed", run, small_store.path, "-o", tmp_path / "z.parquet")
    assert "images of 12 x 12 x 1 are brought to the 8 x 10 x 3 that the network was trained on" in printed.err
    assert f"144 x 100 features in {tmp_path / 'z.parquet'}" in printed.err
    found = np.stack(pq.read_table(tmp_path / "z.parquet")["features"].to_pylist()).astype(np.float32)
    assert np.array_equal(found, embed(run, small_store, fit=True))


def test_the_checkpoint_is_chosen(cli: Cli, run: Path, small_store: FrameStore, tmp_path: Path) -> None:
    told = {}
    for which in ("last", "best"):
        out = tmp_path / f"{which}.npy"
        options = ("-o", out, "--checkpoint", which, "--device", "cpu", "--json")
        told[which] = json.loads(cli("embed", run, small_store.path, *options).out)
        assert told[which]["files"] == [str(out), str(tmp_path / f"{which}.frames.parquet")]
        assert (told[which]["checkpoint"], told[which]["frames"], told[which]["features"]) == (which, 144, 100)
    last, best = (np.load(tmp_path / f"{which}.npy") for which in ("last", "best"))
    assert not np.allclose(last, best)


def test_what_cannot_be_done_is_one_line(cli: Cli, run: Path, small_store: FrameStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "cannot write" in cli("embed", run, small_store.path, "-o", tmp_path / "file" / "z.npy", code=2).err
    assert "device" in cli("embed", run, small_store.path, "--device", "abacus", code=2).err
    (tmp_path / "empty" / "sub").mkdir(parents=True)
    assert f"{tmp_path / 'empty'} is an empty folder: give" in cli("embed", run, tmp_path / "empty", code=2).err


def write_photos(folder: Path, count: int) -> None:
    folder.mkdir()
    for k in range(count):
        Image.fromarray(np.full((20, 30, 3), (k, 2 * k, 90), np.uint8)).save(folder / f"photo{k}.png")


def test_pictures_a_folder_and_a_video_are_embedded_as_they_are(cli: Cli, run: Path, tmp_path: Path) -> None:
    write_photos(tmp_path / "photos", 12)
    write_video(tmp_path / "clip.mp4", moving_pictures(6, 32, 48))
    out = tmp_path / "z.parquet"
    printed = cli("embed", run, tmp_path / "photos" / "photo1*.png", tmp_path / "clip.mp4", "-o", out, "--json")
    assert json.loads(printed.out)["frames"] == 3 + 6
    table = pq.read_table(out)
    assert table["file"].to_pylist()[:3] == ["photo1.png", "photo10.png", "photo11.png"]
    assert table["frame"].to_pylist() == [0, 1, 2, 0, 1, 2, 3, 4, 5]
    assert table["time_s"].to_pylist()[3:5] == pytest.approx([0, 1 / 30])
    assert set(table["input"].to_pylist()) == {str(tmp_path / "photos" / "photo1*.png"), str(tmp_path / "clip.mp4")}
    one = np.full((1, 8, 10, 3), (10, 20, 90), np.uint8)
    np.testing.assert_allclose(table["features"][1].as_py(), embed(run, one)[0], rtol=1e-4, atol=1e-3)


def test_a_broken_picture_stops_it_or_is_left_out(cli: Cli, run: Path, tmp_path: Path) -> None:
    write_photos(tmp_path / "photos", 4)
    (tmp_path / "photos" / "photo2.png").write_text("no picture")
    failed = cli("embed", run, tmp_path / "photos", "-o", tmp_path / "z.npy", code=2)
    (line,) = (line for line in failed.err.splitlines() if "error" in line)
    assert "photo2.png" in line
    assert "--skip-broken" in line
    assert not list(tmp_path.glob("*z*"))
    printed = cli("embed", run, tmp_path / "photos", "-o", tmp_path / "z.npy", "--skip-broken")
    assert "1 frame has no features" in printed.err
    assert len(np.load(tmp_path / "z.npy")) == 3


def test_features_go_into_a_copy_of_a_lerobot_data_set(cli: Cli, run: Path, tmp_path: Path) -> None:
    root, copy = tmp_path / "robot", tmp_path / "copy"
    write_v21(root, (12, 9))
    printed = cli("embed", run, "--append-to", root, "-o", copy, "--column", "observation.view", "--json")
    assert json.loads(printed.out)["frames"] == 21
    assert "observation.view" in cli("inspect", copy, "--json").out
    assert (
        "has a feature 'observation.view'"
        in cli("embed", run, "--append-to", copy, "-o", tmp_path / "b", "--column", "observation.view", code=2).err
    )
    assert "leave out IMAGES" in cli("embed", run, root, "--append-to", root, "-o", tmp_path / "b", code=2).err
    read = ("--append-to", root, "-o", tmp_path / "b", "--read", "columns=action")
    assert "camera and match" in cli("embed", run, *read, code=2).err
    assert "observation.images.front" in cli("embed", run, *read[:-1], "camera=back", code=2).err


def test_options_that_do_not_fit_are_refused(cli: Cli, run: Path, small_store: FrameStore, tmp_path: Path) -> None:
    assert "nothing to embed" in cli("embed", run, code=2).err
    assert "--column is for --append-to" in cli("embed", run, small_store.path, "--column", "z", code=2).err
    assert "no file matches" in cli("embed", run, tmp_path / "*.jpg", code=2).err
    assert "--read says how a log is read" in cli("embed", run, small_store.path, "--read", "camera=x", code=2).err


def test_an_export_gives_the_features_of_its_run(cli: Cli, run: Path, small_store: FrameStore, tmp_path: Path) -> None:
    load_backbone(run).save_pretrained(tmp_path / "export")
    for model in (run, tmp_path / "export"):
        cli("embed", model, small_store.path, "-o", tmp_path / f"{model.name}.npy")
    one, other = (np.load(tmp_path / name) for name in ("run.npy", "export.npy"))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    failed = cli("embed", tmp_path / "export", small_store.path, "--checkpoint", "best", code=2)
    assert "is an export, with weights of its own" in failed.err
