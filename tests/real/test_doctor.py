"""The doctor on real logs: nothing wrong where nothing is, and what is put in is found with the fix that repairs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egoequiv.catalog import open_log
from egoequiv.doctor.diagnosis import MOTION_CHECKS
from egoequiv.doctor.examine import Diagnosis, examine

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doctor")


@pytest.fixture
def diagnose(real_data: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("EGOEQUIV_CACHE", str(cache))  # pictures are watched once for all tests

    def run(
        log: str, *, only: int | None = None, first: int | None = None, fov: float | None = None, **settings: str
    ) -> Diagnosis:
        source, _ = open_log(real_data / log, **settings)
        kept = source.recordings if only is None else [source.recordings[only]]
        if first is not None:
            kept = [one.part(one.name, np.arange(first)) for one in kept]
        return examine(replace(source, recordings=kept), lens=fov)

    return run


def values(diagnosis: Diagnosis, check: str) -> dict[str, float]:
    return next(dict(one.values) for one in diagnosis.recordings[0].findings if one.check == check)


def test_tum_is_sound_and_its_offset_is_found(diagnose) -> None:  # type: ignore[no-untyped-def]
    half = 400  # frames, 13 seconds
    sound = diagnose("tum_fr1_xyz", fov=63.5, first=half)
    assert sound.faults == []
    own = values(sound, "clock offset")["offset_s"]
    assert abs(own) < 0.02
    late = diagnose("tum_fr1_xyz", fov=63.5, first=half, offset_s="0.2")
    assert [fault.check for fault in late.faults] == ["clock offset"]
    assert values(late, "clock offset")["offset_s"] == pytest.approx(0.2 + own, abs=0.01)
    turned = diagnose("tum_fr1_xyz", fov=63.5, first=half, axes="opengl")
    assert [fault.fix for fault in turned.faults] == ["--read axes=right,down,forward"]


def test_kitti_is_sound(diagnose) -> None:  # type: ignore[no-untyped-def]
    found = diagnose("kitti", drives="2011_09_26_drive_0013")
    assert found.faults == []
    assert abs(values(found, "clock offset")["offset_s"]) < 0.02


def test_the_throttle_of_the_tub_is_negative_where_it_drives_forward(diagnose) -> None:  # type: ignore[no-untyped-def]
    found = diagnose("donkey_tub", only=3, fov=100.0)
    motion = {fault.text for fault in found.faults if fault.check in MOTION_CHECKS}
    assert len(motion) == 1
    assert "the sign of throttle" in motion.pop()
