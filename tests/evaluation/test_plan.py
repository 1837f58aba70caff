"""The task `plan`, on features whose maps are known."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from egoequiv.errors import ConfigError
from egoequiv.evaluation import plan_task
from egoequiv.evaluation.plan_conditions import (
    STEP_COSTS,
    Outcome,
    errands_of,
    prepare,
    tried_errands,
    with_step_cost,
)
from egoequiv.evaluation.plan_models import Planned, fitted, measure_errors, reliable
from egoequiv.evaluation.plan_result import GREEDY, RANDOM, RUN, SAME, Condition
from egoequiv.evaluation.plan_task import plan
from egoequiv.evaluation.plan_walks import Errands, greedy_walks, random_walks
from egoequiv.evaluation.pose_grid import PoseGrid, partners, pose_grid, things_of
from egoequiv.evaluation.task import Finding, TaskData, TaskOptions, silent
from egoequiv.pairs import Split
from egoequiv.store import FrameStore
from evaluation.task_worlds import FRAMES, made_data, turning_world
from helpers import AZIMUTHS, ELEVATIONS, data_error

TOYS, LIGHTS = 6, 2


def lit_world(noise: float, seed: int = 0) -> tuple[FrameStore, np.ndarray]:
    """Toys in two lights each: the second light adds an offset to the features."""
    store, z = turning_world(TOYS * LIGHTS, noise, seed)
    toy, light = store.recording // LIGHTS, store.recording % LIGHTS
    z = z[(toy * LIGHTS) * FRAMES + np.arange(len(z)) % FRAMES]  # both lights show one toy
    z = np.column_stack([z + 0.05 * light[:, None], np.random.default_rng(1).normal(0, noise + 1e-3, len(z))])
    attributes = {"toy": toy.astype(str), "light": light.astype(str)}
    return replace(store, attributes=attributes, labels=toy, class_names=tuple(map(str, range(TOYS)))), z


def lit_data(noise: float = 0.0) -> TaskData:
    store, z = lit_world(noise)
    return made_data(store, z, np.flatnonzero(store.recording >= (TOYS - 2) * LIGHTS))


def values_of(found: Finding) -> dict[str, float]:
    return {value.name: value.value for value in found.values}


def test_exact_features_reach_every_goal_by_the_shortest_way() -> None:
    found = plan(lit_data(), TaskOptions(), silent)
    values = values_of(found)
    assert values["success"] == values["success_other"] == 100
    assert values["excess"] == 0
    assert values["stops"] == 100
    assert values["stops_other"] > 90
    first = found.values[0]
    assert set(first.baselines) == {GREEDY, RANDOM, "pixels"}
    assert first.baselines[RANDOM] < first.baselines[GREEDY] < 100
    assert list(found.details["conditions"]) == [SAME, "other light"]


def test_noise_costs_success_and_stays_above_chance() -> None:
    values = plan(lit_data(0.6), TaskOptions(), silent).values
    assert 30 < values[0].value < 99.9
    assert values[0].value > values[0].baselines[RANDOM]


def test_a_seed_gives_the_same_walks_and_another_one_others() -> None:
    data = lit_data(0.6)
    first, again, other = (plan(data, TaskOptions(seed=seed), silent) for seed in (0, 0, 1))
    assert first.details == again.details
    assert first.details != other.details
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(array, again.arrays[name])


def test_errors_are_not_measured_in_the_recordings_that_are_walked_in() -> None:
    data, grid, planned = planned_world(0.6)
    training = grid.only(data.split.train)
    other = planned.z.copy()
    other[data.split.validation] = 7.0
    ways = [prepare(replace(planned, z=z), training, [(0, 0), (2, 3)], 0) for z in (planned.z, other)]
    np.testing.assert_array_equal(ways[0].spread, ways[1].spread)


def test_the_cost_of_a_step_is_chosen_in_training_recordings_for_every_way_to_plan() -> None:
    data, grid, planned = planned_world(0.6)
    training = grid.only(data.split.train)
    errands = tried_errands(training, [(0, 0), (2, 3), (4, 4)], 0)
    assert {int(training.recordings[own.walked]) for own in errands} == {0, 2, 4}
    weighted = prepare(planned, training, [(0, 0), (2, 3)], 0)
    made: list[int] = []
    chosen = with_step_cost(weighted, training, errands, made.append)
    assert sum(made) == len(STEP_COSTS) * sum(len(own.start) for own in errands)
    reached = []
    for cost in STEP_COSTS:
        walks = [walk for own in errands for walk in replace(weighted, step_cost=cost).walks(training, own, [True])]
        reached.append(sum(int((walk.arrived >= 0).sum()) for walk in walks))
    assert reached[STEP_COSTS.index(chosen.step_cost)] == max(reached) > min(reached)
    assert with_step_cost(weighted, training, [], made.append).step_cost == weighted.step_cost
    found = plan(data, TaskOptions(), silent)
    for condition in found.details["conditions"].values():
        assert set(condition["step_costs"]) == {RUN, "pixels"}
        assert set(condition["step_costs"].values()) <= set(STEP_COSTS)
    assert sum(note.startswith("cost of a step, ") for note in found.notes) == 2


def _keep(seen: list[tuple[str, int, int]], what: str, done: int, total: int) -> None:
    seen.append((what, done, total))


def test_progress_counts_all_walks_of_all_ways_and_ends_at_the_total() -> None:
    data = lit_data(0.6)
    for seen in ([], []):  # the second time the walks by pixels are known
        found = plan(data, TaskOptions(), partial(_keep, seen))
        totals = {total for _, _, total in seen}
        done = [count for _, count, _ in seen]
        assert len(totals) == 1
        assert done == sorted(done)
        assert (done[0], done[-1]) == (0, totals.pop())
        assert done[-1] > 2 * 2 * sum(one["walks"] for one in found.details["conditions"].values())
        assert len(set(done)) > 20


def test_features_or_maps_that_are_not_finite_are_one_line() -> None:
    store, z = lit_world(0.0)
    z[7] = np.nan
    with data_error("features of frame 7 are not finite"):
        plan(made_data(store, z, np.flatnonzero(store.recording >= 8)), TaskOptions(), silent)
    _, _, planned = planned_world()
    with data_error("composed maps of motions are not finite"):
        replace(planned, maps=np.full_like(planned.maps, np.inf))


def test_settings_come_from_other_things_than_those_walked_around(monkeypatch: pytest.MonkeyPatch) -> None:
    store, z = turning_world(14, 0.3)
    store = replace(store, labels=np.full(len(store), -1), class_names=())  # each recording is a thing of its own
    walked: list[set[int]] = []
    drawn = plan_task.errands_of

    def draw(grid: PoseGrid, *given: Any) -> list[Errands]:
        walked.append(set(grid.recordings.tolist()))
        return drawn(grid, *given)

    tuned: list[set[int]] = []
    tried = plan_task.tried_errands
    monkeypatch.setattr(plan_task, "errands_of", draw)
    monkeypatch.setattr(
        plan_task,
        "tried_errands",
        lambda grid, *given: tuned.append(set(grid.recordings.tolist())) or tried(grid, *given),
    )
    found = plan(made_data(store, z, np.flatnonzero(store.recording >= 2)), TaskOptions(), silent)
    assert (walked, tuned) == ([set(range(2, 14)) - tuned[0]], tuned)
    assert (len(tuned[0]), len(walked[0])) == (3, 9)
    assert any("are from 3 other validation recordings, of things that are not walked around" in n for n in found.notes)
    few = plan(made_data(store, z, np.flatnonzero(store.recording >= 5)), TaskOptions(), silent)  # 9 things
    assert tuned[1] == set(range(5))
    assert any("are from training recordings" in note for note in few.notes)


def test_a_split_that_divides_recordings_walks_over_training_frames_and_says_so() -> None:
    store, z = lit_world(0.0)
    validation = np.sort(np.random.default_rng(0).choice(len(store), len(store) // 3, replace=False))
    found = plan(made_data(store, z, validation), TaskOptions(), silent)
    assert found.values[0].value == 100
    assert any("it divides recordings" in note for note in found.notes)


def test_frames_that_are_all_measured_leave_none_to_measure_errors_on() -> None:
    data = lit_data()
    every = np.arange(len(data.store))
    with pytest.raises(ConfigError, match="all frames are measured"):
        plan(replace(data, split=Split(every, every, "all")), TaskOptions(), silent)


def test_places_of_a_grid_and_where_motions_lead() -> None:
    store, _ = turning_world(3)
    grid = pose_grid(store)
    assert grid.rows.shape == (3, ELEVATIONS * AZIMUTHS)
    assert (np.sort(grid.rows.ravel()) == np.arange(len(store))).all()
    names = grid.displacements.motions
    for place in range(ELEVATIONS * AZIMUTHS):
        pose = store.poses[grid.rows[0, place]]
        up, right = (grid.after[place, names.index(name)] for name in ("up", "right"))
        assert (up < 0) == (pose[0] == store.poses[:, 0].max())
        turned = store.poses[grid.rows[0, right]]
        assert turned[1] == (pose[1] + 360 / AZIMUTHS) % 360
    cut = grid.only(np.setdiff1d(np.arange(len(store)), grid.rows[0, 5]))
    assert not (cut.after_in(0) == 5).any()
    assert (cut.after_in(1) == 5).any()


def test_a_store_of_another_kind_of_poses_is_one_line() -> None:
    from egoequiv.pose import PlanarSpace
    from helpers import bare_store

    store = bare_store(np.zeros((4, 2)), [0, 0, 1, 1], space=PlanarSpace())
    with data_error("on a grid of poses"):
        pose_grid(store)


def test_partners_differ_in_one_attribute_alone() -> None:
    store, _ = lit_world(0.0)
    attribute, found = partners(store, np.arange(TOYS * LIGHTS))
    assert attribute == "light"
    assert found == {number: [number ^ 1] for number in range(TOYS * LIGHTS)}
    assert partners(store, np.arange(0, TOYS * LIGHTS, 2)) == ("", {})
    assert partners(replace(store, attributes={}), np.arange(4)) == ("", {})


def test_recordings_without_a_label_are_not_partners() -> None:
    store, z = lit_world(0.0)
    only_light = {"light": store.attributes["light"]}
    unknown = replace(store, labels=np.full(len(store), -1), class_names=(), attributes=only_light)
    assert partners(unknown, np.arange(TOYS * LIGHTS)) == ("", {})
    found = plan(made_data(unknown, z, np.flatnonzero(store.recording >= 8)), TaskOptions(), silent)
    assert list(found.details["conditions"]) == [SAME]
    assert any("recordings without a label are not paired" in note for note in found.notes)


def test_errors_of_a_condition_that_training_recordings_lack_are_said_to_be_of_another() -> None:
    store, z = lit_world(0.0)
    words = "no recordings for the settings are paired by other light"
    assert not any(words in note for note in plan(lit_data(), TaskOptions(), silent).notes)
    light = np.where(store.recording < 8, "0", store.attributes["light"])
    dim = replace(store, attributes={**store.attributes, "light": light})
    found = plan(made_data(dim, z, np.flatnonzero(store.recording >= 8)), TaskOptions(), silent)
    assert list(found.details["conditions"]) == [SAME, "other light"]
    assert any(words in note for note in found.notes)


def test_a_baseline_whose_maps_cannot_be_fitted_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = np.random.default_rng(0).normal(size=(TOYS * LIGHTS * FRAMES, 100_000)).astype(np.float32)
    monkeypatch.setattr(plan_task, "pixel_features", lambda store, train: wide)  # too many numbers for so few pairs
    found = plan(lit_data(), TaskOptions(), silent)
    assert found.values[0].value == 100
    assert set(found.values[0].baselines) == {GREEDY, RANDOM}
    assert any(note.startswith("pixels left out: ") and "too few for a map" in note for note in found.notes)


def test_differences_to_baselines_are_paired_by_thing() -> None:
    grid = pose_grid(lit_world(0.0)[0])
    errands = [Errands(k, k, np.array([0, 1]), np.array([2, 3]), np.array([2, 2])) for k in range(10)]
    own, other = np.full(20, 2), np.full(20, 2)
    other[::4] = -1  # one of four walks of each thing
    outcomes = {RUN: Outcome(own, own > 0), GREEDY: Outcome(other)}
    condition = Condition(SAME, grid, errands, outcomes, np.arange(12) // 2)
    gain = condition.gains()[GREEDY]
    assert gain["difference"] == 25
    assert gain["interval"] == pytest.approx([25, 25])  # things do not differ, though recordings do
    alone = replace(condition, things=None).gains()[GREEDY]
    assert alone["interval"][0] < 24 < 26 < alone["interval"][1]
    said = [note for note in plan(lit_data(), TaskOptions(), silent).notes if note.startswith("success, other light")]
    assert len(said) == 1
    assert "above pixels: +" in said[0]


def test_intervals_are_over_things_where_recordings_show_the_same() -> None:
    found = plan(lit_data(0.6), TaskOptions(), silent)  # two toys in two lights: four recordings
    assert {value.note for value in found.values} == {"what is measured comes from 2 things, and an interval needs 5"}
    store, z = lit_world(0.6)
    found = plan(made_data(store, z, np.flatnonzero(store.recording >= 6)), TaskOptions(), silent)
    assert not np.isfinite(found.values[0].interval).any()  # six recordings, of three toys
    alone = made_data(replace(store, attributes={}), z, np.flatnonzero(store.recording >= 6))
    assert np.isfinite(plan(alone, TaskOptions(), silent).values[0].interval).all()
    assert any("intervals are over things" in note for note in found.notes)


def test_a_recording_without_a_label_is_a_thing_of_its_own() -> None:
    store, _ = lit_world(0.0)
    labels = np.where(store.recording < 3, -1, store.labels)
    assert things_of(replace(store, labels=labels)).tolist() == [-1, -2, -3, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def planned_world(noise: float = 0.0) -> tuple[TaskData, PoseGrid, Planned]:
    data = lit_data(noise)
    grid = pose_grid(data.store)
    return data, grid, fitted(data, grid, data.features)


def test_fitted_maps_are_composed_for_every_displacement() -> None:
    _, grid, planned = planned_world()
    predicted = planned.predict(planned.z[grid.rows[10]])
    for k in range(0, len(grid.displacements), 7):
        here = np.flatnonzero(grid.reached[:, k] >= 0)
        wanted = planned.z[grid.rows[10][grid.reached[here, k]]]
        np.testing.assert_allclose(predicted[here, k, :4], wanted[:, :4], atol=0.15)


def test_errors_are_measured_between_the_recordings_of_a_pair() -> None:
    _, grid, planned = planned_world()
    same = measure_errors(planned, grid, [(8, 8)])
    other = measure_errors(planned, grid, [(8, 9)])
    assert same.spread[0] == 0
    assert other.spread[0] == pytest.approx(4 * 0.05**2, rel=0.05)  # the offset of the light in four features
    assert same.spread.shape == (len(grid.displacements),)


def test_weighted_features_predict_as_before_in_their_own_coordinates() -> None:
    _, grid, planned = planned_world(0.3)
    errors = measure_errors(planned, grid, [(0, 1), (2, 3)])
    weighted = reliable(planned, errors)
    ratio = np.linalg.eigvalsh(errors.covariance)
    after = np.linalg.eigvalsh(measure_errors(weighted, grid, [(0, 1), (2, 3)]).covariance)
    assert after[-1] / after[0] < 0.5 * ratio[-1] / max(ratio[0], 1e-9)
    weights = np.linalg.lstsq(planned.z.astype(np.float64), weighted.z, rcond=None)[0]
    np.testing.assert_allclose(planned.predict(planned.z[:3]) @ weights, weighted.predict(weighted.z[:3]), atol=1e-2)


def line(places: int) -> np.ndarray:
    """Places in a row: the first motion leads on, the second back."""
    after = np.stack([np.arange(1, places + 1), np.arange(-1, places - 1)], axis=1)
    after[-1, 0] = -1
    return after


def test_a_greedy_walk_counts_every_try() -> None:
    views = np.arange(6.0, dtype=np.float32)[:, None]
    errands = Errands(0, 0, np.array([2, 2]), np.array([4, 1]), np.array([2, 1]))
    found = greedy_walks(line(6), errands, views, views[errands.goal])
    assert found.tolist() == [2, 3]  # to the left it first tries the right neighbour, and goes back


def test_a_random_walk_arrives_with_the_probability_of_its_moves() -> None:
    """From the end of a row of two places, the only move is to the other; of three, the middle one has two moves."""
    errands = Errands(0, 0, np.full(4_000, 0), np.full(4_000, 2), np.full(4_000, 2))
    moves = random_walks(line(3), errands, np.random.default_rng(0))  # at most 6 moves: 3 chances of one half
    assert set(moves.tolist()) == {2, 4, 6, -1}
    assert (moves >= 0).mean() == pytest.approx(7 / 8, abs=0.02)


def test_errands_are_between_the_frames_that_are_measured() -> None:
    store, _ = lit_world(0.0)
    grid = pose_grid(store)
    frames = grid.rows[3, :5]
    (errands,) = errands_of(grid, [(3, 3)], frames, 100, seed=0)
    np.testing.assert_array_equal(
        errands.steps, grid.displacements.steps[grid.between[errands.start, errands.goal]]
    )  # no place lacks a picture
    assert len(errands.start) == 20  # every ordered pair of five
    assert set(errands.start) == set(errands.goal) == set(range(5))
    assert (errands.start != errands.goal).all()
    assert errands_of(grid, [(2, 2)], frames, 100, seed=0) == []


def test_goals_of_a_grid_with_holes_can_be_reached_and_the_shortest_way_goes_round_the_holes() -> None:
    store, _ = turning_world(2)
    grid = pose_grid(store)
    azimuth, low = store.poses[grid.rows[0], 1], store.poses[grid.rows[0], 0] == store.poses[:, 0].min()
    parted = grid.rows[0, np.isin(azimuth, [60, 240])]  # between azimuths 120, 180 and 300, 0 no way leads
    (errands,) = errands_of(grid.only(np.setdiff1d(grid.rows, parted)), [(0, 0)], grid.rows[0], 1_000, seed=0)
    side = np.isin(azimuth, [120, 180])
    np.testing.assert_array_equal(side[errands.start], side[errands.goal])
    assert len(errands.start) == 2 * 8 * 7

    holes = np.concatenate([grid.rows[0, (azimuth == 60) & ~low], grid.rows[0, azimuth == 240]])
    (errands,) = errands_of(grid.only(np.setdiff1d(grid.rows, holes)), [(0, 0)], grid.rows[0], 1_000, seed=0)
    top = store.poses[grid.rows[0], 0] == store.poses[:, 0].max()
    start, goal = (int(np.flatnonzero(top & (azimuth == one))[0]) for one in (0, 120))
    (found,) = np.flatnonzero((errands.start == start) & (errands.goal == goal))
    assert errands.steps[found] == 2 + 2 * (ELEVATIONS - 1)  # down, two to the right, and up again
