"""Faults put into logs: the pieces, the plain checks, the statistics by hand, and the experiment on a small drive."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from doctor.conftest import Kept
from egoequiv.doctor.logged import LoggedMotion
from egoequiv.engines import LocalEngine
from egoequiv.errors import ConfigError
from egoequiv.experiments.faults import experiment
from egoequiv.experiments.faults.experiment import FaultOptions, FaultResults, find_faults, reproduce_doctor
from egoequiv.experiments.faults.pieces import cut_recordings
from egoequiv.experiments.faults.rivals import mean_flow_score, one_less_correlation, pixel_difference
from egoequiv.experiments.faults.scores import alarm_row, auroc, fault_row, offset_row
from egoequiv.experiments.faults.seen import Pictures, Seen, keep_seen, kept_seen, mean_flow
from egoequiv.experiments.faults.trials import UNTOUCHED, Trial, all_trials, chosen_trials, put_in
from egoequiv.experiments.faults.verdicts import TrialVerdicts, Verdict
from egoequiv.experiments.visual.features import VisualOptions, reproduce_visual
from egoequiv.odometry.steps import key_frames, visual_steps
from egoequiv.pose import DRIVING_POSES, PlanarSpace
from egoequiv.pose.camera import Lens
from egoequiv.report.fault_tables import fault_blocks, save_fault_tables
from egoequiv.sources import Source
from egoequiv_worlds import drive


def plain(count: int, name: str = "r", hz: float = 10.0) -> Kept:
    return Kept(name, np.zeros((count, 4, 6), np.uint8), np.zeros((count, 9)), np.arange(count) / hz)


def verdict(piece: str, score: float, offset_s: float = math.nan, recording: str = "", **scores: float) -> Verdict:
    return Verdict(
        piece=piece,
        recording=recording or piece,
        scores={"axes and signs": score, "agreement": 0.1, **scores},
        rivals={"pixel difference": 1 - score, "mean flow": math.nan},
        offset_s=offset_s,
        step_s=0.1,
        turned_deg=30.0,
    )


def by_trial(**trials: list[Verdict]) -> dict[str, TrialVerdicts]:
    return {name: TrialVerdicts(trial=name, verdicts=verdicts) for name, verdicts in trials.items()}


@pytest.fixture(scope="module")
def two_drives() -> Source:
    source = drive(seed=5, drives_per_area=1, seconds=10.0, width=160, height=48)
    kept: list[Kept] = []
    for recording in source.recordings[1:3]:
        pictures = np.stack([recording.image(frame) for frame in range(len(recording))])
        kept.append(Kept(recording.name, pictures, recording.poses, recording.times_s))
    return Source("drive", PlanarSpace(), kept, pose_names=DRIVING_POSES)


def test_recordings_are_cut_into_equal_pieces_and_short_ones_left_out() -> None:
    pieces = cut_recordings([plain(451, "long"), plain(30, "short"), plain(60, "one")], 15.0)
    assert [(one.part.name, len(one.part)) for one in pieces] == [
        ("long 1/3", 150),
        ("long 2/3", 150),
        ("long 3/3", 151),
        ("one", 60),
    ]
    assert [one.number for one in pieces] == [0, 0, 0, 2]
    assert pieces[1].part.times_s is not None
    assert pieces[1].part.times_s[0] == 0
    assert [len(one.part) for one in cut_recordings([plain(451), plain(3)], None)] == [451]


def test_auroc_by_hand_and_beside_scikit_learn() -> None:
    faulty, sound = np.array([3.0, 1.0, 0.0]), np.array([0.0, 2.0, 0.0])
    # 3 wins three times; 1 twice; 0 has two ties and one loss: 6 of 9.
    assert auroc(faulty, sound, np.arange(3)).value == pytest.approx(6 / 9)
    assert math.isnan(auroc(faulty, sound, np.arange(3)).stderr)  # three groups are too few
    rng = np.random.default_rng(0)
    faulty, sound = rng.normal(1, 1, 40).round(1), rng.normal(0, 1, 40).round(1)
    truth = np.repeat([1, 0], 40)
    found = auroc(faulty, sound, np.arange(40) // 4)
    assert found.value == pytest.approx(roc_auc_score(truth, np.concatenate([faulty, sound])))
    left_out = [
        roc_auc_score(
            np.repeat([1, 0], 36), np.concatenate([np.delete(one, np.s_[k : k + 4]) for one in (faulty, sound)])
        )
        for k in range(0, 40, 4)
    ]
    jackknife = math.sqrt(9 / 10 * sum((found.value - one) ** 2 for one in left_out))
    assert found.stderr == pytest.approx(jackknife)


def test_faults_of_the_log_itself_are_left_out_by_hand() -> None:
    sound = [verdict(f"p{k}", 0.2, duplicates=score) for k, score in enumerate((3.0, 0.9))]
    faulty = [verdict("p0", 1.4, duplicates=3.0), verdict("p1", 1.2, duplicates=0.9)]
    trials = by_trial(untouched=sound, wrong=faulty)
    row = fault_row("log", Trial("wrong", "wrong", ("axes and signs",)), [trials])
    assert row is not None
    assert row.auroc_turning.value == pytest.approx((0.5 + 1 + 0 + 1) / 4)  # 3 and 1.2 against 3 and 0.9
    assert row.auroc_unreported.value == pytest.approx(1.0)  # 1.4 and 1.2 against 0.2 and 0.9
    meant = fault_row("log", Trial("wrong", "wrong", ("duplicates",)), [trials])
    assert meant is not None
    assert meant.auroc_unreported.value == meant.auroc_turning.value  # the check that is meant for the fault counts


def test_rows_of_faults_alarms_and_offsets_by_hand() -> None:
    names = [f"p{k}" for k in range(6)]
    sound = [verdict(name, score) for name, score in zip(names, (0, 0, 0, 0.5, 0, 1.5), strict=True)]
    sound[0] = sound[0].model_copy(update={"scores": {"axes and signs": 0.0, "agreement": math.nan}, "turned_deg": 4.9})
    faulty = [verdict(name, score) for name, score in zip(names[:5], (2.0, math.nan, 0.8, 3.0, 4.0), strict=True)]
    faulty[2] = verdict("p2", 0.8, order=1.2)
    row = fault_row("log", Trial("wrong", "wrong", ("axes and signs",)), [by_trial(untouched=sound, wrong=faulty)])
    assert row is not None
    assert (row.pieces, row.turning, row.groups) == (5, 4, "recordings")
    assert row.found.value == pytest.approx(4 / 5)  # by order, in one of them
    assert row.named.value == pytest.approx(3 / 5)
    # Sound ones have 0.1 of agreement but for the first (0) and the fourth (0.5); so has the second of the faulty.
    assert row.auroc.value == pytest.approx((4 * 5 + 1 + 3 / 2) / 25)
    assert row.auroc_meant.value == pytest.approx((4 * 5 + 4 / 2) / 25)
    assert row.auroc_unreported.value == row.auroc_turning.value  # no piece of the five has a fault as it is
    alarms = alarm_row("log", "15 s", [by_trial(untouched=sound)])
    assert alarms.alarms.value == pytest.approx(1 / 6)
    assert alarms.checks == {"axes and signs": 1}
    trials = [Trial("late", "clock offset", strength={"offset_s": 0.3})]
    before = [verdict("a", 0, 0.01), verdict("b", 0, math.nan), verdict("c", 0, 0.0)]
    after = [verdict("a", 9, 0.315), verdict("b", 9, math.nan), verdict("c", 9, 0.35)]
    offset = offset_row("log", "15 s", trials, [by_trial(untouched=before, late=after)])
    assert offset is not None
    assert (offset.injected, offset.told) == (3, pytest.approx(2 / 3))
    assert offset.median_s == pytest.approx((0.015 + 0.05) / 2)
    assert offset.own_median_s == pytest.approx((0.005 + 0.05) / 2)
    assert (offset.near, offset.within_frame) == (0.5, 1.0)


def test_the_plain_checks_follow_pictures_that_follow_the_log() -> None:
    texture = np.random.default_rng(0).integers(0, 255, (48, 400)).astype(np.float64)
    texture = (texture + np.roll(texture, 1, 1) + np.roll(texture, 1, 0) + np.roll(texture, 2, 1)) / 4
    shifts = np.array([0, 1, 3, 0, 2, 4, 0, 1, 3, 2])  # pixels to the right from frame to frame: turns to the left
    places = 200 - np.cumsum(shifts)
    pictures = np.stack([texture[:, place : place + 96] for place in places]).astype(np.uint8)
    assert mean_flow(pictures[1], pictures[2])[0] > 0.5 * 3 / 96
    recording = Kept("r", pictures, np.zeros((10, 9)), np.arange(10) / 10)
    seen = Pictures(recording, Lens.of_view(60.0, (48, 96))).seen(recording, np.arange(10))
    turned = np.zeros((10, 3))
    turned[:, 2] = np.cumsum(shifts)
    motion = LoggedMotion(np.arange(10) / 10, turned, np.full((10, 3), np.nan))
    assert mean_flow_score(seen, motion) < 0.2
    assert pixel_difference(seen, motion) < 0.3
    other = LoggedMotion(np.arange(10) / 10, -turned, np.full((10, 3), np.nan))
    assert mean_flow_score(seen, other) > 1.8
    assert pixel_difference(seen, other) == pytest.approx(pixel_difference(seen, motion))  # it sees no direction
    assert one_less_correlation(np.arange(9.0), 2 * np.arange(9.0)) == pytest.approx(0.0)
    assert math.isnan(one_less_correlation(np.arange(9.0), np.ones(9)))


@pytest.mark.slow
def test_pictures_that_are_looked_at_once_show_the_steps_of_the_odometry(two_drives: Source, tmp_path: Path) -> None:
    part = cut_recordings(two_drives.recordings, None)[0].part
    lens = Lens.of_view(80.0, (48, 160))
    seen = Pictures(part, lens).seen(part, np.arange(len(part)))
    steps = visual_steps(part, lens, key_frames(part))
    assert np.allclose(seen.steps.rotation_deg, steps.rotation_deg, equal_nan=True)
    assert np.allclose(seen.steps.length_ratio, steps.length_ratio, equal_nan=True)
    assert np.isfinite(steps.length_ratio).mean() > 0.5
    middle = seen.at(np.arange(40, 90))
    assert len(middle.glances) == 50
    assert np.array_equal(middle.steps.first, np.arange(49))
    assert np.allclose(middle.steps.rotation_deg, steps.rotation_deg[40:89], equal_nan=True)
    keep_seen(tmp_path / "a.npz", {"x": middle})
    again = kept_seen(tmp_path / "a.npz")
    assert again is not None
    assert isinstance(again["x"], Seen)
    assert np.array_equal(again["x"].glances.thumbnails, middle.glances.thumbnails)
    (tmp_path / "a.npz").write_bytes(b"not an archive")
    assert kept_seen(tmp_path / "a.npz") is None


def test_every_trial_names_checks_that_there_are() -> None:
    from egoequiv.doctor.diagnosis import MOTION_CHECKS
    from egoequiv.doctor.pictures import PICTURE_CHECKS

    known = {*MOTION_CHECKS, *PICTURE_CHECKS}
    assert all(trial.meant and set(trial.meant) <= known for trial in all_trials()[1:])
    assert len({trial.file_name for trial in all_trials()}) == len(all_trials())
    assert [trial.name for trial in chosen_trials(["yaw"])] == [UNTOUCHED, "flipped yaw"]
    with pytest.raises(ConfigError, match="--faults typo"):
        chosen_trials(["typo"])
    steering = Kept("r", np.zeros((30, 4, 6), np.uint8), np.zeros((30, 2)), np.arange(30) / 10)
    made = put_in(chosen_trials(["yaw"])[1], [steering], ("steering", "throttle"), 0)
    assert isinstance(made[0], str)
    assert "needs poses" in made[0]


@pytest.mark.slow
def test_the_experiment_on_two_drives_and_how_it_goes_on(
    two_drives: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = FaultOptions(tmp_path, faults=["frozen", "offset -300", "shuffled"], engine=LocalEngine(1))
    results = find_faults({"drive": two_drives}, options)
    rows = {row.fault: row for row in results.faults}
    assert set(rows) == {"frozen for 1 s", "clock offset -300 ms", "shuffled"}
    assert rows["frozen for 1 s"].auroc_meant.value == 1.0
    assert rows["frozen for 1 s"].pieces == 2
    assert math.isnan(rows["frozen for 1 s"].auroc.low)  # two pieces have no interval
    assert {(row.log, row.cut) for row in results.alarms} == {("drive", "15 s"), ("drive", "30 s"), ("drive", "whole")}
    saved = save_fault_tables(results, tmp_path)
    assert [path.name for path in saved] == ["faults.md", "faults.csv", "faults.json"]
    assert "| frozen for 1 s | 2 |" in saved[0].read_text()
    lines = list(csv.DictReader(saved[1].read_text().splitlines()))
    frozen = next(line for line in lines if line["row"] == "frozen for 1 s" and line["metric"] == "found")
    assert float(frozen["value"]) == rows["frozen for 1 s"].found.value
    assert FaultResults.model_validate_json(saved[2].read_bytes()).logs == results.logs
    assert fault_blocks(results)
    # What is finished is not made again, and gives the same tables.
    for name in ("watch", "Pictures", "judge"):
        monkeypatch.setattr(experiment, name, lambda *_, name=name, **__: pytest.fail(f"{name} was called again"))
    again = find_faults({"drive": two_drives}, options)
    assert json.loads(again.model_dump_json()) == json.loads(results.model_dump_json())


def test_two_logs_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "log").mkdir(parents=True)
    logs = [tmp_path / "a" / "log", tmp_path / "b" / "log"]
    with pytest.raises(ConfigError, match="two logs have the name log"):
        reproduce_doctor(FaultOptions(tmp_path, logs))
    with pytest.raises(ConfigError, match="two logs have the name log"):
        reproduce_visual(VisualOptions(out=tmp_path, data=logs))
