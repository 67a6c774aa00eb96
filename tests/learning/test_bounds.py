"""No study reaches more than the bound, as long as the estimates hold."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from claim.cascades import Worlds
from claim.discovery import Discovered, Simulation
from claim.errors import InputError
from claim.learning.bounds import ConstantGoal, InfluenceBound
from claim.learning.goals import neighbours_of_start
from claim.networks import Network
from claim.selection import select


def exact_influence(network: Network, leaders: tuple[int, ...], p: float) -> float:
    """Every combination of live ties, by hand."""
    sources, targets, _ = network.edges()
    total = 0.0
    for live in product([False, True], repeat=network.m):
        kept = np.array(live, dtype=bool)
        chance = p ** kept.sum() * (1 - p) ** (~kept).sum()
        reached, edge = set(leaders), list(zip(sources[kept].tolist(), targets[kept].tolist(), strict=True))
        while any((u in reached) != (v in reached) for u, v in edge):
            reached |= {end for u, v in edge if u in reached or v in reached for end in (u, v)}
        total += chance * len(reached)
    return total


def own_bound(network: Network, budget: int, leaders: int, p: float) -> InfluenceBound:
    return InfluenceBound.of_networks([network], 1.0, budget, leaders, p)


def small_network(rng: np.random.Generator) -> Network:
    n = int(rng.integers(2, 8))
    ends = rng.integers(0, n, (int(rng.integers(0, 8)), 2))
    return Network.from_edges(ends[:, 0], ends[:, 1], n=n)


def discoverable(network: Network, start: list[int], budget: int) -> set[int]:
    """Everybody whom some choice of surveys can discover."""
    reachable: set[int] = set()
    people = range(network.n)
    for count in range(min(budget, network.n) + 1):
        for surveyed in combinations(people, count):
            heard, asked = set(start).union(*(network.contacts_of(who).tolist() for who in start)), set(start)
            while (ready := [who for who in surveyed if who in heard and who not in asked]) != []:
                asked.update(ready)
                heard.update(*(network.contacts_of(who).tolist() for who in ready))
            reachable |= heard
    return reachable


def test_no_leaders_on_small_networks_reach_more_than_the_bound():
    """Exact influence of every leader set that any two surveys can make possible."""
    rng = np.random.default_rng(0)
    tight = 0
    for _ in range(150):
        network, p, k = small_network(rng), float(rng.choice([0.05, 0.2, 0.5, 0.9])), int(rng.integers(1, 4))
        start = rng.choice(network.n, min(2, network.n), replace=False).tolist()
        bound = own_bound(network, 2, k, p).goal_for(Simulation(network, start, rng).discovered)
        able = sorted(discoverable(network, start, 2))
        sets = combinations(able, min(k, len(able)))
        best = max(exact_influence(network, leaders, p) for leaders in sets)
        assert best <= bound + 1e-9
        tight += best > 0.9 * bound
    assert tight > 30  # it is no bound that anything would satisfy


@pytest.mark.parametrize("shape", ["even", "hubs", "ring"])
def test_the_optimum_of_larger_networks_is_below_the_bound(shape):
    rng = np.random.default_rng(3)
    for _ in range(25):
        n = int(rng.integers(20, 120))
        one = rng.integers(0, n, 2 * n)
        other = {
            "even": rng.integers(0, n, 2 * n),
            "hubs": (n * rng.random(2 * n) ** 4).astype(int),
            "ring": (one + rng.integers(1, 4, 2 * n)) % n,
        }[shape]
        network = Network.from_edges(one, other, n=n)
        p, k = float(rng.choice([0.05, 0.1, 0.3])), int(rng.integers(1, 8))
        worlds = Worlds.draw(network, p, 4000, 1)
        reached = worlds.influence(select(network, k, p, 1000, 0).leaders)
        start = rng.choice(n, 5, replace=False).tolist()
        bound = own_bound(network, 5, k, p).goal_for(Simulation(network, start, rng).discovered)
        assert reached.mean - 4 * reached.stderr <= bound <= n


@pytest.mark.parametrize("name", ["copen", "occupy", "plj", "rob", "zone1"])
def test_the_optimum_of_training_networks_is_below_the_bound(data, name):
    from claim.networks import load

    network = load(name, data_dir=data)
    opt = select(network, 10, 0.1, 1000, 0).influence
    rng = np.random.default_rng(0)
    rule = own_bound(network, 5, 10, 0.1)
    for _ in range(10):
        start = rng.choice(network.n, 5, replace=False).tolist()
        discovered = Simulation(network, start, rng).discovered
        bound = rule.goal_for(discovered)
        assert bound <= 10 + 0.1 * network.m
        assert bound >= opt or neighbours_of_start(discovered) == 0


def test_by_hand_a_star_whose_hub_leads():
    """Five leaves: 1 + 5 p is the truth, and the bound finds it: nobody else has contacts to pass word on to."""
    star = Network.from_edges([0] * 5, range(1, 6))
    seen = Simulation(star, [0], np.random.default_rng(0)).discovered
    assert own_bound(star, 0, 1, 0.1).goal_for(seen) == pytest.approx(1.5)


def test_start_people_without_contacts_reach_themselves():
    seen = Simulation(Network.from_edges([0], [1], n=9), [7, 8], np.random.default_rng(0)).discovered
    assert InfluenceBound(9, 1, (1.0,), 2.0).goal_for(seen) == 2


def test_the_bound_grows_with_every_estimate():
    rule = {"people": 100, "edges": 120, "largest": (12.0, 9.0, 4.0), "average_influence": 5.0, "p": 0.1}
    base = InfluenceBound(**rule).bound([3, 2], 4)
    for change in ({"people": 150}, {"edges": 150}, {"largest": (20.0, 9.0, 4.0)}, {"leaders": 11}, {"p": 0.15}):
        assert InfluenceBound(**(rule | change)).bound([3, 2], 4) >= base
    assert InfluenceBound(**rule).bound([3, 30], 4) >= base
    few = InfluenceBound(**(rule | {"budget": 0}))
    assert few.bound([1, 1], 1) < few.bound([1, 1], 2)  # one contact: one leader besides the start people


def test_no_more_leaders_can_be_found_than_surveys_discover():
    rule = InfluenceBound(1000, 5000, (50.0,), 5.0, budget=0, leaders=10, p=0.001)
    assert rule.bound([1], 1) < 3  # the start person and one contact
    assert InfluenceBound(1000, 5000, (50.0,), 5.0, budget=1, leaders=10, p=0.001).bound([1], 1) > 10


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_word_that_never_or_always_passes(p):
    rule = InfluenceBound(50, 60, (6.0, 5.0, 3.0), 5.0, p=p)
    assert rule.bound([2, 2], 4) == pytest.approx(10 if p == 0 else 50)


def test_a_family_takes_the_largest_of_every_rank():
    networks = [Network.from_edges([0, 0, 0], [1, 2, 3]), Network.from_edges([0, 1, 2, 3], [1, 2, 3, 4])]
    family = InfluenceBound.of_networks(networks, [4.0, 6.0], budget=3)
    assert (family.people, family.edges, family.average_influence, family.budget) == (5, 4, 5.0, 3)
    assert family.largest == (3.0, 2.0, 2.0, 1.0)
    with pytest.raises(InputError, match="at least one network"):
        InfluenceBound.of_networks([], 1.0)


@pytest.mark.parametrize(
    "wrong",
    [{"people": -1}, {"edges": math.nan}, {"largest": ()}, {"largest": (1.0, 2.0)}, {"largest": (math.inf,)}, {"p": 2}],
)
def test_estimates_have_to_make_sense(wrong):
    settings = {"people": 10, "edges": 10, "largest": (3.0,), "average_influence": 5.0}
    with pytest.raises(InputError):
        InfluenceBound(**(settings | wrong))


def test_later_surveys_do_not_move_a_goal():
    network = Network.from_edges([0, 0, 1, 2, 5], [1, 2, 2, 3, 6])
    rule = own_bound(network, 2, 3, 0.1)
    study = Simulation(network, [0, 1], np.random.default_rng(0))
    before = rule.goal_for(study.discovered)
    study.ask(study.people.index(2))
    assert len(study.discovered) == 4
    assert rule.goal_for(study.discovered) == before


def test_a_constant_goal_is_constant():
    rule = ConstantGoal(23.0, 20.0)
    seen = Discovered()
    assert (rule.goal_for(seen), rule.average_influence) == (23.0, 20.0)


@pytest.mark.parametrize(
    "network",
    [
        Network.from_edges([], [], n=0),
        Network.from_edges([0], [1], directed=True),
        Network.from_edges([0], [1], probabilities=[1.0]),
    ],
)
def test_networks_it_does_not_hold_for_are_refused(network: Network) -> None:
    with pytest.raises(InputError, match="go both ways"):
        InfluenceBound.of_networks([network], 1.0)
