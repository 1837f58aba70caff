"""`egoequiv embed` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from egoequiv import embed
from egoequiv.models import EgoNet, NetSpec, initialise
from egoequiv.models.checkpoint import save_spec, save_tensors
from egoequiv.store import FrameStore
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
