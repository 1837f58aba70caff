"""Plans where the right answer is known: features on a torus, and a car in the plane."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egoequiv.errors import ConfigError, DataError
from egoequiv.planning import Planner
from planning.worlds import HEIGHTS, TURNS, CarModel, RingModel, RingWorld, picture

PLACES = st.tuples(st.integers(0, HEIGHTS - 1), st.integers(0, TURNS - 1))


def shortest(start: tuple[int, int], goal: tuple[int, int]) -> int:
    around = abs(start[1] - goal[1])
    return abs(start[0] - goal[0]) + min(around, TURNS - around)


@pytest.mark.parametrize("takes_any", [True, False])
def test_a_plan_is_the_shortest_way(takes_any: bool) -> None:
    planner = Planner(RingModel(takes_any))
    plan = planner.plan(picture(1, 1), picture(2, 10))
    assert plan.status == "go"
    assert sorted(plan.motions) == ["left", "left", "left", "up"]
    assert plan.predicted == pytest.approx(0, abs=1e-5)
    assert plan.distance > 1


@settings(max_examples=40, deadline=None)
@given(PLACES, PLACES)
def test_every_goal_is_reached_by_a_shortest_way(start: tuple[int, int], goal: tuple[int, int]) -> None:
    planner = Planner(RingModel())
    world = RingWorld(*start)
    walk = planner.reach(world.view(), picture(*goal), world.move)
    assert walk.status == "there"
    assert (world.height, world.turn) == goal
    assert len(walk.motions) == shortest(start, goal) == len(walk.distances) - 1
    assert not walk.blocked


def test_features_are_planned_as_images_are() -> None:
    model = RingModel()
    planner = Planner(model)
    z = model.embed(np.stack([picture(0, 0), picture(2, 5)]))
    assert planner.plan(z[0], z[1]) == planner.plan(picture(0, 0), picture(2, 5))


def test_there_is_where_no_motion_brings_it_nearer_or_where_the_user_says() -> None:
    model = RingModel()
    assert Planner(model).plan(picture(1, 1), picture(1, 1)).status == "there"
    assert Planner(model, there=10.0).plan(picture(1, 1), picture(4, 7)).status == "there"
    assert Planner(model, there=1e-3).plan(picture(1, 1), picture(1, 1)).status == "there"


def test_another_thing_is_lost() -> None:
    plan = Planner(RingModel()).plan(picture(1, 1), picture(3, 4, thing=5))
    assert plan.status == "lost"
    assert plan.motions == ()


class Walled(RingWorld):
    """A ring whose upper half is not there."""

    def move(self, motion: str) -> np.ndarray | None:
        return None if motion == "up" and self.height == 1 else super().move(motion)


def test_a_blocked_motion_is_tried_once_and_the_places_beyond_are_given_up() -> None:
    world = Walled(1, 1)
    walk = Planner(RingModel(), there=1e-3).reach(world.view(), picture(3, 2), world.move, most_moves=30)
    assert [name for _, name in walk.blocked] == ["up", "down"]  # each wall once
    assert world.height <= 1


def test_no_place_is_visited_twice_while_others_are_left() -> None:
    world = RingWorld(2, 0)
    goal = RingModel().embed(picture(2, 6)[None])[0] + np.float32(0.3)  # as near as nothing is to it
    walk = Planner(RingModel(), there=1e-3).reach(world.view(), goal, world.move, most_moves=20)
    place, seen = (2, 0), {(2, 0)}
    for name in walk.motions[:12]:
        up, right = {"up": (1, 0), "down": (-1, 0), "right": (0, 1), "left": (0, -1)}[name]
        place = (place[0] + up, (place[1] + right) % TURNS)
        seen.add(place)
    assert len(seen) > 10


def test_moves_run_out() -> None:
    world = RingWorld(0, 0)
    walk = Planner(RingModel()).reach(world.view(), picture(4, 6), world.move, most_moves=3)
    assert walk.status == "go"
    assert len(walk.motions) == 3


def test_motions_that_do_not_commute_are_searched_in_order() -> None:
    planner = Planner(CarModel(), most_steps=6)
    assert planner.displacements is None
    start = np.array([0, 0, 1, 0], np.float32)
    goal = np.array([2, 1, 0, 1], np.float32)  # two ahead, turn left, one ahead
    plan = planner.plan(start, goal)
    assert plan.motions == ("forward", "forward", "left turn", "forward")
    assert plan.predicted == pytest.approx(0, abs=1e-5)
    assert planner.plan(goal, goal).status == "there"


def test_a_car_drives_to_its_goal_and_is_told_what_is_not_possible() -> None:
    model, state = CarModel(), np.array([[0, 0, 1, 0]], np.float32)
    tried = []

    def move(name: str) -> np.ndarray | None:
        nonlocal state
        tried.append(name)
        if name == "left turn":
            return None
        state = model.after(state, name)
        return state[0]

    goal = np.array([1, -1, 0, -1], np.float32)
    walk = Planner(model, most_steps=6).reach(state[0], goal, move, most_moves=12)
    assert walk.status == "there"
    np.testing.assert_allclose(state[0], goal, atol=1e-5)
    assert walk.motions == ("forward", "right turn", "forward")


def test_only_the_named_motions_are_planned() -> None:
    planner = Planner(RingModel(), ["right", "up"])
    assert planner.plan(picture(0, 1), picture(0, 0)).motions == ("right",) * (TURNS - 1)


@pytest.mark.parametrize(
    ("motions", "words"), [(["fly"], "'fly' is not known"), ([], "name some"), (["up"] * 2, "once")]
)
def test_wrong_motions_are_one_line(motions: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Planner(RingModel(), motions)


def test_wrong_looks_and_settings_are_one_line() -> None:
    planner = Planner(RingModel())
    with pytest.raises(DataError, match="expected an image of uint8, 1 x 3 x 1, or 5 features"):
        planner.plan(np.zeros((2, 2, 1), np.uint8), picture(0, 0))
    with pytest.raises(DataError, match="expected 5 finite features"):
        planner.plan(np.full(5, np.nan), picture(0, 0))
    with pytest.raises(ConfigError, match=r"found .my-run.: open a run or an export"):
        Planner("my-run")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="at least one step"):
        Planner(RingModel(), most_steps=0)
    with pytest.raises(ConfigError, match="0 or more"):
        Planner(RingModel(), there=-1.0)


def test_costs_are_the_squared_distances_at_the_end_of_each_candidate() -> None:
    model = RingModel()
    step = torch.from_numpy(np.stack([model.motions["up"], model.motions["right"], np.zeros(2)]))  # (3, 2)
    candidates = torch.stack([step[[0, 1]], step[[1, 1]], step[[2, 2]]])[None]  # (1, 3, 2, 2)
    looks = {"pixels": np.stack([picture(1, 1)] * 3)[None], "goal": np.stack([picture(2, 2)] * 3)[None]}
    cost = Planner(model).get_cost(looks, candidates)
    z = model.embed(np.stack([picture(2, 2), picture(1, 3), picture(1, 1)])).astype(np.float64)
    np.testing.assert_allclose(cost.numpy(), np.square(z - z[0]).sum(axis=1)[None], atol=1e-5)
    blocks = Planner(model).get_cost(looks, candidates.reshape(1, 3, 1, 4))
    torch.testing.assert_close(cost, blocks)


def test_costs_of_named_motions_take_the_largest_number() -> None:
    model = RingModel(takes_any=False)
    planner = Planner(model)
    scores = torch.zeros(1, 1, 1, len(planner.motions))
    scores[..., planner.motions.index("up")] = 1.0
    z = torch.from_numpy(model.embed(np.stack([picture(1, 1), picture(2, 1)])))
    cost = planner.get_cost({"pixels": z[:1, None], "goal": z[1:, None]}, scores)
    assert cost.shape == (1, 1)
    assert float(cost) == pytest.approx(0, abs=1e-6)


def test_a_solver_of_another_package_finds_the_way() -> None:
    """The cross-entropy method in the form that stable-worldmodel has it: sample, keep the best, sample again."""
    model = RingModel()
    planner = Planner(model)
    looks = {"pixels": np.stack([picture(1, 1)] * 200)[None], "goal": np.stack([picture(3, 3)] * 200)[None]}
    generator = torch.Generator().manual_seed(0)
    mean, spread = torch.zeros(3, 2), torch.full((3, 2), 30.0)
    for _ in range(20):
        candidates = mean + spread * torch.randn(1, 200, 3, 2, generator=generator)
        best = planner.get_cost(looks, candidates)[0].topk(20, largest=False).indices
        mean, spread = candidates[0, best].mean(0), candidates[0, best].std(0)
    np.testing.assert_allclose(mean.sum(0).numpy(), [20.0, 60.0], atol=2.0)


def test_wrong_actions_are_one_line() -> None:
    planner = Planner(RingModel())
    looks = {"pixels": np.stack([picture(1, 1)])[None], "goal": np.stack([picture(1, 1)])[None]}
    with pytest.raises(DataError, match="expected actions of 2 numbers"):
        planner.get_cost(looks, torch.zeros(1, 1, 1, 3))
    with pytest.raises(DataError, match="expected actions \\("):
        planner.get_cost(looks, torch.zeros(1, 2))
    with pytest.raises(DataError, match="expected 'goal'"):
        planner.get_cost({"pixels": looks["pixels"]}, torch.zeros(1, 1, 1, 2))
    with pytest.raises(DataError, match="between 0 and 1"):
        planner.get_cost(looks | {"goal": np.full((1, 1, 1, 3, 1), 7.0)}, torch.zeros(1, 1, 1, 2))
