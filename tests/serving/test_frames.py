"""Stored frames: thinned galleries, the frame after a motion in a video, maps, and what is prepared beside requests."""

import asyncio
import threading
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as PillowImage

from egoequiv.errors import DataError
from egoequiv.pose import PlanarSpace
from egoequiv.serving.atlas import COLUMNS, map_of, sheet_png
from egoequiv.serving.gallery import Gallery
from egoequiv.serving.limits import LONGEST_REASON, Refusal, one_line
from egoequiv.serving.moves import Moves
from egoequiv.serving.prepared import Prepared
from egoequiv.store import FrameStore
from helpers import bare_store
from serving.known import KnownModel


def drive() -> FrameStore:
    """Two drives at 10 Hz, 1 m a frame; the second one turns left by 2 degrees a frame."""
    along, time = np.arange(30.0), np.arange(30) / 10
    straight, curve = np.stack([along, 0 * along], axis=1), np.stack([along, 2 * along], axis=1)
    return bare_store(np.concatenate([straight, curve]), [0] * 30 + [1] * 30, [*time, *time], space=PlanarSpace())


MOTIONS = {"forward 10 m": np.array([10.0, 0.0]), "left turn 20°": np.array([10.0, 20.0])}


def test_the_frame_after_a_motion_in_a_video() -> None:
    moves = Moves(drive(), MOTIONS)
    assert moves.after(3, "forward 10 m") == 13
    assert moves.after(3, "left turn 20°") is None  # the first drive is straight
    assert moves.after(33, "left turn 20°") == 43
    assert moves.after(25, "forward 10 m") is None  # it ends at 29
    assert moves.follow(3, ["forward 10 m", "forward 10 m"]) == 23
    assert moves.follow(3, ["forward 10 m"] * 3) is None
    assert moves.after(3, "fly") is None


def test_pairs_of_a_video_are_of_one_recording_with_their_motion() -> None:
    store = drive()
    i, j, motion = Moves(store, MOTIONS).pairs
    assert len(i) > 20
    assert (store.recording[i] == store.recording[j]).all()
    np.testing.assert_allclose(motion, store.space.difference(store.poses[i], store.poses[j]))
    kind = Moves(store, MOTIONS).assign(motion)
    assert set(kind.tolist()) == {-1, 0, 1}
    assert (store.recording[i[kind == 1]] == 1).all()


def test_frames_that_are_not_searched_are_still_known(small_store: FrameStore) -> None:
    model = KnownModel(small_store)
    gallery = Gallery.embed(model, small_store, lambda *_: None, most=10)
    assert len(gallery.rows) == 10
    assert gallery.rows[[0, -1]].tolist() == [0, len(small_store) - 1]
    assert gallery.known(1) is None
    wanted = model.embed(small_store.images[1:2])[0]
    assert gallery.rank(wanted, "all", 1) is None
    assert {found.row for found in gallery.nearest(wanted, "all", 50)} == set(gallery.rows.tolist())
    brute = np.linalg.norm(gallery.features - wanted, axis=1)
    assert [found.row for found in gallery.nearest(wanted, "all", 3)] == gallery.rows[np.argsort(brute)[:3]].tolist()
    place, distance = gallery.rank(wanted, "all", int(gallery.rows[4])) or (0, 0.0)
    assert (place, distance) == ((brute < brute[4]).sum() + 1, pytest.approx(brute[4], abs=1e-3))


def test_features_that_are_not_finite_are_refused(small_store: FrameStore) -> None:
    with pytest.raises(DataError, match="not finite"):
        Gallery(small_store, np.arange(2), np.full((2, 10), np.nan, np.float32), KnownModel(small_store))


def test_maps_of_ways_and_of_frames_without_poses(small_store: FrameStore) -> None:
    model = KnownModel(small_store)
    gallery = Gallery.embed(model, small_store, lambda *_: None)
    placed = {"x_m": np.arange(144.0), "y_m": np.arange(144.0) ** 2}
    for changes, kind in (({"pose_columns": placed}, "way"), ({}, "line")):
        bare = replace(small_store, space=PlanarSpace(), poses=np.zeros((144, 2)), **{"pose_columns": {}, **changes})
        drawn = map_of(Gallery(bare, gallery.rows, gallery.features, model), 2)
        assert drawn["kind"] == kind
        assert [point["row"] for point in drawn["points"]] == list(range(48, 72))
        assert drawn["points"][3]["x"] == (51.0 if kind == "way" else 3.0)
    sheet = PillowImage.open(BytesIO(sheet_png(gallery, 2)))
    assert sheet.size == (12 * COLUMNS, 12 * 2)  # 24 frames in rows of 20
    np.testing.assert_array_equal(np.asarray(sheet)[12:24, 12:24], small_store.images[48 + COLUMNS + 1, ..., 0])
    with pytest.raises(Refusal, match="recordings 0 to 5"):
        map_of(gallery, 6)


def test_what_is_prepared_is_made_once_and_outlives_who_waits() -> None:
    gate, made = threading.Event(), []

    def make() -> str:
        assert gate.wait(60)
        made.append(1)
        return "value"

    async def run() -> list[str]:
        prepared = Prepared(make)
        impatient = asyncio.create_task(prepared.get())
        await asyncio.sleep(0)
        impatient.cancel()
        gate.set()
        return [await prepared.get(), await prepared.get()]

    assert asyncio.run(run()) == ["value", "value"]
    assert made == [1]


def test_what_cannot_be_prepared_says_so_each_time() -> None:
    def make() -> str:
        raise DataError("no labels")

    async def run() -> None:
        prepared = Prepared(make)
        for _ in range(2):
            with pytest.raises(DataError, match="no labels"):
                await prepared.get()

    asyncio.run(run())


@pytest.mark.parametrize("text", ["a\nb\r\n\tc", "\ud800 half a character", "x" * 10_000, "caf\u00e9"])
def test_reasons_are_one_short_line_of_utf8(text: str) -> None:
    line = one_line(text)
    assert line.encode("utf-8")
    assert len(line) <= LONGEST_REASON
    assert len(line.splitlines()) == 1
