"""A real Donkeycar tub, with records that were lost and deleted, and a clock that was set back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from egoequiv.sources import donkey
from egoequiv.sources.formats import guess_format


def test_what_is_there(real_data: Path) -> None:
    path = real_data / "donkey_tub"
    assert guess_format(path).source == "donkey"
    source = donkey(path)
    assert source.notes == (
        f"{path}: 1 of 1910 records cannot be read, the first is zero bytes",
        f"{real_data / 'donkey_tub'}: 79 indexes from 12 to 1999 have no record that can be read",
        "donkey_tub: 403 of 1909 records are marked as deleted and left out: keep them with --read deleted=keep",
        "donkey_tub: the rates have 46 gaps, 32.4 s together, the longest 3.42 s: there the integral is a guess, as if "
        "they changed evenly in between",
    )
    assert [len(recording) for recording in source.recordings] == [4, 146, 217, 244, 45, 344, 172, 315, 19]
    for recording in source.recordings:
        assert recording.times_s is not None
        assert (np.diff(recording.times_s) > 0).all()
        assert np.diff(recording.times_s).max() <= 5.0
        assert np.abs(recording.poses[:, :2]).max() <= 1.0
    assert source.recordings[3].image(7).shape == (120, 160, 3)


def test_deleted_records_may_be_kept(real_data: Path) -> None:
    source = donkey(real_data / "donkey_tub", deleted="keep")
    assert source.frame_count == 1909
    assert len(source.recordings) == 8  # seven pauses of more than 5 s, of which one is a clock that was set back
    assert ["deleted" in note for note in source.notes] == [False] * 3
