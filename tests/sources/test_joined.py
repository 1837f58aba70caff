"""Several logs as one source, and as one store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from egoequiv.errors import DataError
from egoequiv.pairs import make_split
from egoequiv.pairs.shared import comparable_places
from egoequiv.store import FrameStore
from egoequiv.store.logs import Logs, store_at


def write_log(folder: Path, frames: int, columns: str = "x,y,yaw") -> str:
    """A folder with a table of pictures, times and poses."""
    folder.mkdir(parents=True)
    rows = [f"file,time_s,{columns}"]
    for frame in range(frames):
        Image.fromarray(np.full((8, 8), 10 * frame, np.uint8)).save(folder / f"{frame}.png")
        rows.append(f"{frame}.png,{frame},{','.join(str(frame) for _ in columns.split(','))}")
    (folder / "poses.csv").write_text("\n".join(rows))
    return str(folder / "poses.csv")


def test_logs_become_recordings_of_one_store_that_is_divided_as_told(tmp_path: Path) -> None:
    learned = (write_log(tmp_path / "monday", 5), write_log(tmp_path / "tuesday", 4))
    tested = (write_log(tmp_path / "friday", 3),)
    store = FrameStore.open(store_at(Logs(learned, tested), tmp_path / "frames"))
    assert [name.split("/")[0] for name in store.recording_names] == ["monday", "tuesday", "friday"]
    split = make_split(store)
    assert (split.kind, len(split.train), len(split.validation)) == ("given", 9, 3)
    assert store.images[split.validation][:, 0, 0, 0].tolist() == [0, 10, 20]
    assert len(np.unique(comparable_places(store))) == 3  # maps of their own


def test_logs_in_one_map_share_places(tmp_path: Path) -> None:
    learned = (write_log(tmp_path / "monday", 5), write_log(tmp_path / "tuesday", 4))
    store = FrameStore.open(store_at(Logs(learned, same_map=True), tmp_path / "frames"))
    assert len(np.unique(comparable_places(store))) == 1
    assert make_split(store).kind == "by-recording"


def test_a_store_is_used_again_until_a_log_changes(tmp_path: Path) -> None:
    logs = Logs((write_log(tmp_path / "a", 5), write_log(tmp_path / "b", 4)))
    said: list[str] = []
    for _ in range(2):
        store_at(logs, tmp_path / "frames", say=said.append)
    assert "ingested before" in said[-1]
    write_log(tmp_path / "c", 3)
    with pytest.raises(DataError, match="holds other frames"):
        store_at(Logs((*logs.learned, str(tmp_path / "c" / "poses.csv"))), tmp_path / "frames", may_replace=False)


@pytest.mark.parametrize(("columns", "words"), [("gps,imu", "need the same columns"), (None, "does not exist")])
def test_logs_that_do_not_fit_are_refused(tmp_path: Path, columns: str | None, words: str) -> None:
    first = write_log(tmp_path / "a", 5)
    other = str(tmp_path / "none.csv") if columns is None else write_log(tmp_path / "b", 5, columns)
    with pytest.raises(DataError, match=words):
        store_at(Logs((first, other)), tmp_path / "frames")
    assert not (tmp_path / "frames").exists()
