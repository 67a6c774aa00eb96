import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim.discovery import Simulation
from claim.errors import InputError
from claim.learning.goals import GoalHeuristic, geometric_sum, goal_of, neighbours_of_start
from claim.networks import Network

# Degree 3, so r = 2; K_1 = 2 * 3 = 6; 2 + 6 + 12 + 24 + 48 = 92 people: four layers below the start people.
TREE = GoalHeuristic(people=92, edges=138, average_influence=10, start_size=2)


def layer_sum(start_size: int, first_layer: float, r: float, p_prime: float, layers: int) -> float:
    return start_size + sum(first_layer * r ** (i - 1) * p_prime**i for i in range(1, layers + 1))


def test_layers_by_hand() -> None:
    assert TREE.branching == 2
    assert TREE.assumed_first_layer == 6
    assert TREE.layers(6) == pytest.approx(4)
    assert TREE.layers(90) == 1
    assert TREE.layers(30) == pytest.approx(2)  # 30 + 60
    assert TREE.layers(20) == pytest.approx(math.log2(1 + 90 / 20))


def test_expected_influence_by_hand() -> None:
    assert TREE.expected(6, 0.5) == pytest.approx(2 + 4 * 3)  # p' r = 1: every layer adds 6 / 2
    assert TREE.expected(6, 0.25) == pytest.approx(2 + 1.5 + 0.75 + 0.375 + 0.1875)
    assert TREE.expected(6, 0.0) == 2
    assert TREE.expected(6, 1.0) == pytest.approx(92)
    assert TREE.expected(0, 0.5) == 2


def test_goal_uses_the_contacts_of_the_start_people() -> None:
    assert TREE.expected(6, TREE.p_prime) == pytest.approx(10)
    assert TREE.goal(6) == pytest.approx(10)
    assert TREE.goal(30) == pytest.approx(2 + 30 * TREE.p_prime * (1 + 2 * TREE.p_prime))
    assert TREE.goal(0) == 2
    assert TREE.goal(6, start_size=1) != TREE.goal(6)
    assert TREE.goal(0, start_size=1) == 1


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
@pytest.mark.parametrize("r", [0.5, 1.0, 1.7, 4.0])
@pytest.mark.parametrize("p_prime", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_closed_form_is_the_sum_of_layers(layers: int, r: float, p_prime: float) -> None:
    people = layer_sum(3, 7, r, 1.0, layers)
    heuristic = GoalHeuristic(people, (r + 1) * people / 2, 5, start_size=3)
    assert heuristic.layers(7) == pytest.approx(layers)
    assert heuristic.expected(7, p_prime) == pytest.approx(layer_sum(3, 7, r, p_prime, layers))


def test_shrinking_layers_that_never_use_up_everybody() -> None:
    heuristic = GoalHeuristic(people=100, edges=75, average_influence=10, start_size=5)  # r = 0.5
    assert heuristic.layers(7.5) == math.inf  # at most 7.5 * 2 people in all layers
    assert heuristic.expected(7.5, 1.0) == pytest.approx(5 + 15)
    assert heuristic.expected(7.5, 0.5) == pytest.approx(layer_sum(5, 7.5, 0.5, 0.5, 60))
    assert heuristic.layers(60) == pytest.approx(math.log(1 - 95 * 0.5 / 60) / math.log(0.5))


@pytest.mark.parametrize("edges", [0, 20, 50])
def test_nobody_with_a_further_contact_means_one_layer(edges: int) -> None:
    heuristic = GoalHeuristic(people=100, edges=edges, average_influence=7, start_size=5)
    assert heuristic.branching == 0
    assert heuristic.layers(10) == 1
    assert heuristic.expected(10, 0.3) == pytest.approx(8)


def test_layers_are_continuous_where_the_formula_changes() -> None:
    near_one = [GoalHeuristic(100, 100 * (1 + r) / 2, 10, 5).layers(10) for r in (1 - 1e-9, 1.0, 1 + 1e-9)]
    assert near_one == pytest.approx([9.5] * 3)
    assert TREE.layers(90 - 1e-9) == pytest.approx(TREE.layers(90 + 1e-9))
    sums = [geometric_sum(x, 3.7) for x in (1 - 1e-9, 1.0, 1 + 1e-9)]
    assert sums == pytest.approx([3.7] * 3)


def test_a_first_layer_larger_than_the_network_is_cut() -> None:
    assert TREE.layers(500) == 1
    assert TREE.expected(500, 0.1) == TREE.expected(90, 0.1) == pytest.approx(2 + 9)


@pytest.mark.parametrize(("influence", "p_prime"), [(0, 0.0), (2, 0.0), (92, 1.0), (500, 1.0)])
def test_influence_out_of_reach_takes_the_closest_probability(influence: float, p_prime: float) -> None:
    assert GoalHeuristic(92, 138, influence, 2).p_prime == p_prime


def test_fewer_people_than_start_people() -> None:
    heuristic = GoalHeuristic(people=3, edges=2, average_influence=3, start_size=5)
    assert heuristic.goal(4) == 5


@pytest.mark.parametrize("wrong", [{"people": 0}, {"edges": -1}, {"average_influence": math.nan}, {"people": math.inf}])
def test_estimates_have_to_make_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        GoalHeuristic(**{"people": 10, "edges": 10, "average_influence": 5, "start_size": 2, **wrong})  # type: ignore[arg-type]


def test_heuristics_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        TREE.people = 3  # type: ignore[misc]


def test_family_averages() -> None:
    networks = [Network.from_edges([0, 1], [1, 2]), Network.from_edges([0, 1, 2, 3], [1, 2, 3, 4])]
    heuristic = GoalHeuristic.of_networks(networks, [2.0, 4.0], start_size=1)
    assert heuristic == GoalHeuristic(people=4, edges=3, average_influence=3, start_size=1)
    assert GoalHeuristic.of_networks(networks, 3.0, start_size=1) == heuristic
    with pytest.raises(InputError, match="at least one network"):
        GoalHeuristic.of_networks([], 3.0)


def test_neighbours_of_start_do_not_count_start_people() -> None:
    network = Network.from_edges([0, 0, 1, 2, 5], [1, 2, 2, 3, 6])
    study = Simulation(network, [0, 1], np.random.default_rng(0))
    assert neighbours_of_start(study.discovered) == 1
    goal = goal_of(TREE, study.discovered)[0]
    assert goal == TREE.goal(1, 2)
    study.ask(study.people.index(2))  # later surveys do not move the goal
    assert goal_of(TREE, study.discovered)[0] == goal


estimates = st.floats(0, 1e6, allow_nan=False)


@given(
    people=st.floats(1e-3, 1e6), edges=estimates, influence=estimates, size=st.integers(0, 50), first=st.floats(0, 1e6)
)
def test_goals_are_finite_and_within_bounds(
    people: float, edges: float, influence: float, size: int, first: float
) -> None:
    heuristic = GoalHeuristic(people, edges, influence, size)
    assert 0 <= heuristic.p_prime <= 1
    goal = heuristic.expected(first, heuristic.p_prime)
    assert math.isfinite(goal)
    assert size <= goal <= max(people, size) * (1 + 1e-12)


@given(
    people=st.integers(6, 5000),
    degree=st.floats(0, 30),
    first=st.integers(0, 6000),
    p=st.floats(0, 1),
    step=st.floats(0, 1),
)
def test_expected_influence_never_falls_with_the_probability(
    people: int, degree: float, first: int, p: float, step: float
) -> None:
    heuristic = GoalHeuristic(people, degree * people / 2, 10, 5)
    lower, higher = heuristic.expected(first, p), heuristic.expected(first, min(p + step, 1.0))
    assert lower <= higher + 1e-9 * people


@given(people=st.integers(20, 5000), degree=st.floats(0.5, 30), share=st.floats(0, 1))
def test_the_search_finds_an_influence_within_reach(people: int, degree: float, share: float) -> None:
    reachable = GoalHeuristic(people, degree * people / 2, 0, 5)
    most = reachable.expected(reachable.assumed_first_layer, 1.0)
    heuristic = GoalHeuristic(people, degree * people / 2, 5 + share * (most - 5), 5)
    reached = heuristic.expected(heuristic.assumed_first_layer, heuristic.p_prime)
    assert reached == pytest.approx(heuristic.average_influence, rel=1e-6)
