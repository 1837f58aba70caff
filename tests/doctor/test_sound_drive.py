"""A drive of the embedded world at the size of the documented commands, where nearly every check can tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egoequiv.doctor.diagnosis import check_motion
from egoequiv.doctor.examine import examine
from egoequiv.engines import LocalEngine
from egoequiv_worlds import drive


def test_a_car_that_crawls_and_stops_under_a_noisy_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGOEQUIV_CACHE", str(tmp_path))
    world = drive(drives_per_area=1, seconds=12.0, width=310, height=94)
    crawls, turns = (
        examine(replace(world, recordings=world.recordings[k : k + 1]), engine=LocalEngine(1)) for k in (0, 1)
    )
    assert crawls.recordings[0].faults == []
    one = turns.recordings[0]
    assert one.faults == []
    unsure = {finding.check for finding in one.findings if not finding.can_tell}
    assert unsure == {"agreement", "right recording"}  # it turns little, and there is no other recording
    motion = one.comparison.motion
    before = np.maximum(np.arange(len(motion.times_s)) - 4, 0)
    late = replace(motion, turned_deg=motion.turned_deg[before], moved=motion.moved[before], poses=None)
    faults = [found for found in check_motion(one.comparison.with_motion(late)).findings if found.is_fault]
    assert [found.check for found in faults] == ["clock offset"]
    assert dict(faults[0].values)["offset_s"] == pytest.approx(0.4, abs=0.06)
