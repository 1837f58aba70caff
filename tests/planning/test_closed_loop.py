"""Many walks at once do what one walk after the other does."""

from itertools import pairwise

import numpy as np
import pytest

from egoequiv.errors import ConfigError, DataError
from egoequiv.models.motion_model import Features
from egoequiv.planning import Planner, measure_spread
from egoequiv.planning.averaging import average_in
from egoequiv.planning.belief import Belief, guess_spread
from egoequiv.planning.closed_loop import Places, walk_all
from egoequiv.planning.displacements import do_commute, net_displacements
from planning.worlds import HEIGHTS, TURNS, CarModel, RingModel, RingWorld, picture, ring_space

PLACES = [(height, turn) for height in range(HEIGHTS) for turn in range(TURNS)]
LARGEST = np.array([10.0 * (HEIGHTS - 1), 180.0])


class Blurred(RingModel):
    """The same ring, with features that differ from what maps predict by a noise of each place."""

    def embed(self, images: np.ndarray) -> Features:
        exact = super().embed(images)
        noise = [np.random.default_rng(image[0, :, 0]).normal(0, 0.35, exact.shape[1]) for image in images]
        return (exact + np.stack(noise)).astype(np.float32)


def ring_places(planner: Planner) -> Places:
    """Every place of the ring, what is predicted from it, and where motions lead."""
    assert planner.displacements is not None
    z = planner.model.embed(np.stack([picture(*place) for place in PLACES]))
    after = np.full((len(PLACES), 4), -1)
    for number, (height, turn) in enumerate(PLACES):
        for g, name in enumerate(planner.displacements.motions):
            world = RingWorld(height, turn)
            if world.move(name) is not None:
                after[number, g] = PLACES.index((world.height, world.turn))
    return Places(after, planner.displacements.predict(planner.model, z))


def test_many_walks_are_those_of_the_planner() -> None:
    model = Blurred()
    spread = 0.1 + 0.05 * net_displacements(ring_space(), model.motions, 12, LARGEST).steps
    planner = Planner(model, largest=LARGEST, spread=spread)
    assert planner.displacements is not None
    places, rng = ring_places(planner), np.random.default_rng(0)
    start, goal = rng.integers(0, len(PLACES), (2, 40))
    goals = places.predicted[goal, 0]
    walks = walk_all(planner.displacements, spread, places, start, goal, goals, np.full(40, 25), is_told=False)
    lengths = []
    for n in range(40):
        world = RingWorld(*PLACES[start[n]])
        walk = planner.reach(world.view(), goals[n], world.move, most_moves=25)
        if walk.status == "lost":  # many walks at once do not ask whether the goal is of another thing
            continue
        assert PLACES.index((world.height, world.turn)) == walks.ended[n]
        assert (walk.status == "there") == walks.says_there[n]
        lengths.append(len(walk.motions))
        assert lengths[-1] == (walks.path[n] >= 0).sum() - 1
    assert len(lengths) > 30
    assert max(lengths) > 5


def test_a_walk_that_is_told_searches_on_and_ends_at_the_goal() -> None:
    planner = Planner(Blurred(), largest=LARGEST)
    assert planner.displacements is not None
    places, rng = ring_places(planner), np.random.default_rng(1)
    start, goal = rng.integers(0, len(PLACES), (2, 60))
    spread = 0.1 + 0.05 * planner.displacements.steps
    far = np.full(60, 3 * len(PLACES))
    told = walk_all(planner.displacements, spread, places, start, goal, places.predicted[goal, 0], far, is_told=True)
    assert (told.arrived >= 0).mean() > 0.9
    assert (told.ended[told.arrived >= 0] == goal[told.arrived >= 0]).all()
    for path in told.path:  # every move leads to a neighbour
        seen = path[path >= 0]
        assert all(b in places.after[a] for a, b in pairwise(seen))
    few = walk_all(
        planner.displacements, spread, places, start, goal, places.predicted[goal, 0], np.full(60, 2), is_told=True
    )
    np.testing.assert_array_equal(few.arrived >= 0, (told.arrived >= 0) & (told.arrived <= 2))


def test_displacements_are_those_of_the_grid_by_shortest_ways() -> None:
    space = ring_space()
    found = net_displacements(space, space.named_motions(), 20, LARGEST)
    assert len(found) == (2 * HEIGHTS - 1) * TURNS
    up, around = np.abs(found.vectors[:, 0]) / 10, np.abs(found.vectors[:, 1]) * TURNS / 360
    np.testing.assert_array_equal(found.steps, np.rint(up + around))
    assert (np.diff(found.steps) >= 0).all()
    half = found.find(np.array([[0.0, 180.0], [0.0, -180.0], [0.0, 179.99999999], [5.0, 0.0]]))
    assert half[0] == half[1] == half[2] >= 0
    assert half[3] == -1
    for k in (0, 7, len(found) - 1):
        assert found.onward[k, k] == 0
        vectors = space.compose(np.zeros((1, 2)) + found.vectors[k], -found.vectors[[k]])
        np.testing.assert_allclose(vectors, 0, atol=1e-9)


def test_motions_commute_on_a_grid_and_not_in_the_plane() -> None:
    space = ring_space()
    assert do_commute(space, space.named_motions())
    car = CarModel()
    assert car.space is not None
    assert not do_commute(car.space, car.motions)


def test_predictions_are_averaged_by_how_reliable_they_are() -> None:
    """Two views of one place with spreads 1 and 2: their weights are 1 and 1/4, so the mean is 4/5 and 1/5."""
    space = ring_space()
    found = net_displacements(space, {name: m for name, m in space.named_motions().items() if name == "right"}, 2)
    spread = np.array([1.0, 1.0, 2.0])  # to stay, one step, two steps
    belief = Belief(found, spread, np.zeros((1, 1), np.float32))
    belief.see(np.array([[[9.0], [9.0], [10.0]]], np.float32))
    belief.move(np.array([0]))
    belief.see(np.array([[[9.0], [5.0], [0.0]]], np.float32))
    assert belief.predicted[0, 2, 0] == pytest.approx((10 / 4 + 5) / (1 / 4 + 1))
    assert belief.distances()[0, 2] == pytest.approx(6.0)
    belief.see(np.array([[[0.0], [0.0], [0.0]]], np.float32))  # the same place again says nothing new
    assert belief.predicted[0, 2, 0] == pytest.approx(6.0)


def test_errors_are_measured_between_frames_of_one_recording() -> None:
    model = Blurred()
    planner = Planner(model, most_steps=3)
    assert planner.displacements is not None
    z = model.embed(np.stack([picture(*place) for place in PLACES] * 2))
    z[len(PLACES) :] += 100.0  # another recording
    poses = np.array([(10.0 * height, turn * 360.0 / TURNS) for height, turn in PLACES] * 2)
    recording = np.repeat([0, 1], len(PLACES))
    spread = measure_spread(planner, z[: len(PLACES)], poses[: len(PLACES)], recording[: len(PLACES)])
    assert spread[0] == 0
    # the noise of both places: 5 features, rotated or not
    np.testing.assert_allclose(spread[1:].mean(), 2 * 5 * 0.35**2, rtol=0.2)
    both = measure_spread(planner, z, poses, recording)
    assert both[1:].max() > 10  # a rotation of what is far from 0
    assert both[0] == 0
    with pytest.raises(DataError, match="no two of 2 frames"):
        measure_spread(planner, z[:2], poses[:2], np.array([0, 1]))
    with pytest.raises(DataError, match="commute"):
        measure_spread(Planner(CarModel()), z[:2], poses[:2], np.array([0, 1]))


def ring_belief(cost: float | np.ndarray = 0.0, walks: int = 1) -> Belief:
    """Walks that look from the same place of the ring at a goal three steps to the right."""
    model = RingModel()
    found = net_displacements(ring_space(), model.motions, 12, LARGEST)
    z = model.embed(np.stack([picture(2, 0), picture(2, 3)]))
    spread = 0.1 + 0.0 * found.steps
    belief = Belief(found, spread, np.repeat(z[1:], walks, axis=0), step_cost=cost)
    belief.see(np.repeat(found.predict(model, z[:1]), walks, axis=0))
    return belief


def test_a_closed_ring_is_walked_round_the_other_way() -> None:
    belief = ring_belief()
    names = belief.displacements.motions
    right, left, up = (names.index(name) for name in ("right", "left", "up"))
    assert belief.displacements.rings[[right, left, up]].tolist() == [TURNS, TURNS, 0]
    assert belief.displacements.opposite[[right, left]].tolist() == [left, right]
    best = belief.best()
    assert belief.next_motion(best)[0] == right
    belief.block(np.array([right]))
    assert not belief.is_out.any()  # nothing is beyond a place of a ring
    assert belief.best()[0] == best[0]
    assert belief.counts_to(best)[0, [right, left]].tolist() == [0, TURNS - 3]
    assert belief.next_motion(best)[0] == left
    for _ in range(TURNS - 3):  # it does not turn back halfway
        assert belief.next_motion(belief.best())[0] == left
        belief.move(np.array([left]))
    assert belief.next_motion(belief.best())[0] == -1

    belief = ring_belief()
    belief.block(np.array([right]))
    belief.block(np.array([left]))  # closed on both sides: the places beyond are out
    assert belief.is_out.any()
    assert belief.best()[0] != best[0]
    belief.block(np.array([up]))
    assert belief.is_out[0, belief.displacements.next_places[0, up]]


def test_an_arc_of_a_ring_is_walked_back_and_what_is_beyond_both_ends_is_out() -> None:
    belief = ring_belief()
    found = belief.displacements
    right, left = (found.motions.index(name) for name in ("right", "left"))
    belief.block(np.array([right]))
    for _ in range(3):
        belief.move(np.array([left]))
    back = np.array([found.next_places[0, right]])  # to a place that was just passed
    assert belief.counts_to(back)[0, [right, left]].tolist() == [1, 0]
    belief.block(np.array([left]))
    ring = found.along(right)[(found.counts[:, [k for k in range(4) if k not in (right, left)]] == 0).all(axis=1)]
    same = np.flatnonzero((found.counts[:, [k for k in range(4) if k not in (right, left)]] == 0).all(axis=1))
    is_out = {int(turn): bool(belief.is_out[0, place]) for turn, place in zip(ring, same, strict=True)}
    assert {turn for turn, out in is_out.items() if not out} == {0, TURNS - 1, TURNS - 2, TURNS - 3}
    assert belief.counts_to(back)[0, [right, left]].tolist() == [1, 0]


def test_a_planner_goes_round_a_gap_of_a_ring() -> None:
    model, world = RingModel(), RingWorld(2, 0)

    def move(motion: str) -> np.ndarray | None:
        if motion == "right" and world.turn == 1:  # a gap between 1 and 2
            return None
        return world.move(motion)

    planner = Planner(model, largest=LARGEST, spread=np.full(len(Planner(model, largest=LARGEST).displacements), 0.1))
    walk = planner.reach(world.view(), picture(2, 4), move)
    assert walk.status == "there"
    assert (world.height, world.turn) == (2, 4)
    assert walk.blocked == ((1, "right"),)
    assert walk.motions == ("right", *["left"] * (TURNS - 3))


def test_the_cost_of_a_step_is_of_each_walk() -> None:
    belief = ring_belief(np.array([0.0, 1e3]), walks=2)
    far, near = belief.best()
    assert belief.displacements.steps[far] == 3
    assert belief.displacements.steps[near] == 1  # any place at all that is nearer
    belief.keep(np.array([False, True]))
    assert belief.best()[0] == near


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_a_cost_of_a_step_that_is_no_cost_is_refused(cost: float) -> None:
    with pytest.raises(ConfigError, match="cost of a step"):
        Planner(RingModel(), step_cost=cost)


def test_features_that_are_not_finite_are_one_line() -> None:
    class Diverged(RingModel):
        def embed(self, images: np.ndarray) -> Features:
            return np.full_like(super().embed(images), np.nan)

    with pytest.raises(DataError, match="features of the view are not finite"):
        Planner(Diverged()).plan(picture(0, 0), picture(1, 1))


def test_the_mean_of_predictions_is_that_of_plain_arrays() -> None:
    rng = np.random.default_rng(0)
    mean, predicted = rng.normal(size=(3, 5, 4)).astype(np.float32), rng.normal(size=(2, 6, 4)).astype(np.float32)
    rows, onward = np.array([1, 0, 1]), rng.integers(0, 6, (3, 5))
    share, goal = rng.uniform(0.1, 1, (3, 5)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float32)
    share[1, 2] = 0
    wanted = mean + share[..., None] * (predicted[rows[:, None], onward] - mean)
    squared = np.full((3, 5), np.inf)
    average_in(mean, squared, predicted, rows, onward, share, goal)
    np.testing.assert_allclose(mean, wanted, rtol=1e-5, atol=1e-6)
    assert np.isinf(squared[1, 2])
    known = share > 0
    np.testing.assert_allclose(squared[known], np.square(wanted - goal[:, None]).sum(axis=2)[known], rtol=1e-4)


def test_a_guess_of_errors_grows_with_the_way_and_levels_off() -> None:
    planner = Planner(RingModel())
    assert planner.displacements is not None
    z = planner.model.embed(np.stack([picture(0, 0), picture(3, 5)]))
    spread = guess_spread(planner.displacements, planner.displacements.predict(planner.model, z[:1])[0], z[1])
    assert spread[0] == 0
    up = [spread[planner.displacements.find(np.array([[10.0 * k, 0.0]]))[0]] for k in range(1, 9)]
    assert (np.diff(up) > 0).all()
    assert (np.diff(up, 2) < 0).all()
