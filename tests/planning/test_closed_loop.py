"""Many walks at once do what one walk after the other does."""

from itertools import pairwise

import numpy as np
import pytest

from egoequiv.errors import DataError
from egoequiv.models.motion_model import Features
from egoequiv.planning import Planner, measure_spread
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


def test_a_guess_of_errors_grows_with_the_way_and_levels_off() -> None:
    planner = Planner(RingModel())
    assert planner.displacements is not None
    z = planner.model.embed(np.stack([picture(0, 0), picture(3, 5)]))
    spread = guess_spread(planner.displacements, planner.displacements.predict(planner.model, z[:1])[0], z[1])
    assert spread[0] == 0
    up = [spread[planner.displacements.find(np.array([[10.0 * k, 0.0]]))[0]] for k in range(1, 9)]
    assert (np.diff(up) > 0).all()
    assert (np.diff(up, 2) < 0).all()
