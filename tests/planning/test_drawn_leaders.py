"""Leaders drawn by lot: their reach, and how many of them equal the chosen ones."""

from itertools import product

import numpy as np
import pytest

from claim.cascades import Worlds
from claim.networks import Network
from claim.planning import PlanSettings, plan
from claim.planning.drawn_leaders import compare_with_drawn, drawn_reach, leader_numbers, one_hop_chances

NETWORKS = {
    "star": Network.from_edges([0, 0, 0], [1, 2, 3]),
    "path": Network.from_edges([0, 1, 2], [1, 2, 3]),
    "triangle and a person without contacts": Network.from_edges([0, 1, 2, 2], [1, 2, 0, 3], n=5),
    "two pairs": Network.from_edges([0, 2], [1, 3]),
    "no contacts": Network.from_edges([], [], n=3),
}


def random_draws(network: Network) -> list[tuple[float, int | None]]:
    """Every outcome of one draw with its probability."""
    return [(1 / network.n, person) for person in range(network.n)]


def one_hop_draws(network: Network) -> list[tuple[float, int | None]]:
    found: list[tuple[float, int | None]] = []
    for person in range(network.n):
        contacts = network.contacts_of(person).tolist()
        found += [(1 / network.n / len(contacts), contact) for contact in contacts] or [(1 / network.n, None)]
    return found


@pytest.mark.parametrize("network", NETWORKS.values(), ids=list(NETWORKS))
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_the_reach_of_drawn_leaders_is_that_of_all_draws(network, p):
    worlds = Worlds.draw(network, p, 7, seed=1)
    numbers = np.array([1, 2, 3])
    found = drawn_reach(network, worlds, numbers)
    for i, outcomes in enumerate((random_draws(network), one_hop_draws(network))):
        for j, number in enumerate(numbers):
            expected = 0.0
            for draws in product(outcomes, repeat=number):
                leaders = {person for _, person in draws if person is not None}
                expected += np.prod([chance for chance, _ in draws]) * worlds.reach(leaders).mean()
            assert found[i, j] == pytest.approx(expected)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=list(NETWORKS))
def test_one_hop_chances_are_those_of_all_draws(network):
    expected = np.zeros(network.n)
    for chance, person in one_hop_draws(network):
        if person is not None:
            expected[person] += chance
    assert one_hop_chances(network) == pytest.approx(expected)


def test_the_numbers_of_leaders_go_from_one_to_all_people():
    for people in (1, 2, 50, 3000):
        numbers = leader_numbers(people)
        assert (numbers[0], numbers[-1]) == (1, people)
        assert (np.diff(numbers) > 0).all()


PEOPLE = 400
GRID = leader_numbers(PEOPLE)


def compared(chosen: float, interviews: int = 20, spread: float = 0.0, **costs: float):
    """Rows for chosen leaders who reach so many; random leaders reach 1 each and one-hop leaders 2, on all networks."""
    noise = spread * np.linspace(-1, 1, 30)[:, None]
    settings = PlanSettings(leaders=10, **({"cost_survey": 1, "cost_leader": 1} | costs))
    drawn = np.broadcast_to(np.array([1.0 * GRID, 2.0 * GRID]), (30, 2, len(GRID)))
    return list(compare_with_drawn(chosen + noise, drawn, PEOPLE, [interviews], "new", settings))


def test_as_many_drawn_leaders_reach_as_many():
    random, one_hop = compared(60.0)
    assert (random.drawn, one_hop.drawn) == ("random", "one-hop")
    assert (random.leaders, random.leaders_low, random.leaders_high) == pytest.approx((60, 60, 60))
    assert one_hop.leaders == pytest.approx(30)
    assert random.break_even == pytest.approx(20 / 50)  # N / x
    assert one_hop.break_even == 0  # they need 30 interviews themselves
    assert compared(60.0, interviews=55)[1].break_even == pytest.approx(25 / 20)


def test_the_range_grows_with_the_difference_between_networks():
    random, _ = compared(60.0, spread=20.0)
    assert random.leaders == pytest.approx(60)
    assert random.leaders_low < 59 < 61 < random.leaders_high
    assert random.break_even_low == pytest.approx(20 / (random.leaders_high - 10))
    assert random.break_even_high == pytest.approx(20 / (random.leaders_low - 10))


@pytest.mark.parametrize(
    ("chosen", "costs", "verdict"),
    [
        (60.0, (1.0, 1.0), "worth it"),  # 20 < 50
        (60.0, (3.0, 1.0), "not worth it"),
        (60.0, (2.5, 1.0), "not clear"),  # 50 against 50, more or less
        (60.0, (0.0, 1.0), "worth it"),
        (60.0, (1.0, 0.0), "not worth it"),
        (9.0, (0.0, 1.0), "not worth it"),  # ten random leaders reach more than the ten chosen
        (9.0, (1.0, 1000.0), "not worth it"),
        (900.0, (19.0, 1.0), "worth it"),  # all 400 people, 390 more than those chosen
        (900.0, (20.0, 1.0), "not worth it"),
    ],
)
def test_interviews_pay_if_they_cost_less_than_as_many_drawn_leaders(chosen, costs, verdict):
    random, _ = compared(chosen, spread=0.5, cost_survey=costs[0], cost_leader=costs[1])
    assert random.verdict == verdict
    if chosen == 9.0:
        assert (random.break_even, random.break_even_low) == (None, None)
    if chosen == 900.0:
        assert (random.leaders, random.leaders_high) == (PEOPLE, PEOPLE)


def test_a_plan_with_costs_compares_all_ways_and_numbers_with_drawn_leaders():
    made = plan(80, 4.0, "stars", 3, leaders=3, surveys=(0, 4), studies=6, cost_survey=2, cost_leader=5)
    rows = made.to_dict()["more_leaders"]
    assert [(row["way"], row["interviews"], row["drawn"]) for row in rows] == [
        (way, number, drawn) for way in made.ways for number in (3, 7) for drawn in ("random", "one-hop")
    ]
    assert made.advice.count("At these costs, interviews rather than more") == 2
    free = plan(80, 4.0, "stars", 3, leaders=3, surveys=(0, 4), studies=6)
    assert free.ways == made.ways
    assert "more_leaders" not in free.to_dict()
