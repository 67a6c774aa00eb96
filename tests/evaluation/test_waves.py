"""Leaders in waves: what the next wave knows, and what that is worth."""

import json

import networkx
import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves

from claim.cascades import Worlds
from claim.discovery import Simulation, Status
from claim.errors import InputError
from claim.evaluation.waves import Spreading, compare_waves
from claim.networks import Network


def stars(count: int, leaves: int) -> Network:
    return Network.from_networkx(networkx.disjoint_union_all([networkx.star_graph(leaves)] * count), "stars")


def everyone_known(network: Network) -> Simulation:
    return Simulation(network, range(network.n), np.random.default_rng(0))


def test_leaders_who_come_reach_their_components_and_others_no_one():
    network = hubs_and_leaves()
    worlds, simulation = Worlds.draw(network, 0.3, 8, seed=2), everyone_known(network)
    for world in range(8):
        for coming in (True, False):
            message = Spreading(simulation, worlds, world, np.full(network.n, coming))
            message.invite([4, 17, 60])
            leaders = [simulation.people[each] for each in (4, 17, 60)]
            assert message.reached.sum() == (worlds.reach(leaders)[world] if coming else 0)
            assert message.invited == {4, 17, 60}


def test_the_next_wave_sees_what_was_discovered_of_the_people_not_reached():
    network, rng = hubs_and_leaves(), np.random.default_rng(3)
    simulation = Simulation(network, [3, 50, 99], rng, refusal=0.3)
    for person in list(simulation.discovered.frontier)[:4]:
        simulation.ask(person)
    message = Spreading(simulation, Worlds.draw(network, 0.4, 3, seed=2), 1, np.ones(network.n, dtype=bool))
    message.invite([0, 5])
    left, people = message.not_reached()
    seen = simulation.discovered
    assert [message.reached[simulation.people[person]] for person in people] == [False] * len(people)
    assert len(people) == (~message.reached[simulation.people]).sum() < len(seen)
    for place, person in enumerate(people):
        assert left.status[place] == seen.status[person]
        known = {people[contact] for contact in left.contacts[place]}
        assert known == set(seen.contacts[person]) & set(people)
    assert Status.SURVEYED in left.status


def test_waves_avoid_what_the_first_leaders_reached():
    """Two hubs of one clique: whether the message gets from one to the other is only known after the first wave."""
    graph = networkx.disjoint_union(networkx.complete_graph(14), networkx.star_graph(3))
    network = Network.from_networkx(graph, "two")
    given = {"runs": 20, "start_size": network.n, "budget": 0, "p": 0.15}
    (row,) = compare_waves(network, "random", [1, 1], **given).rows
    assert row.gain > 0.2
    assert row.ci95[0] > 0
    assert row.gain == pytest.approx(row.in_waves - row.at_once)


def test_waves_replace_those_who_did_not_come():
    network = stars(count=3, leaves=12)
    given = {"runs": 25, "start_size": network.n, "budget": 0, "p": 1.0, "attendance": 0.4}
    (row,) = compare_waves(network, "random", [2, 2, 2], **given).rows
    assert row.ci95[0] > 0


def test_certain_leaders_of_separate_stars_gain_nothing():
    network = stars(count=6, leaves=5)
    (row,) = compare_waves(network, "random", [2, 2], runs=4, start_size=network.n, budget=0, p=1.0).rows
    assert (row.at_once, row.in_waves, row.gain) == (24.0, 24.0, 0.0)


def test_waves_can_be_repeated_and_are_counted():
    given = {"runs": 3, "selector": ["greedy", "foresight:free"], "leaders": 99}
    counted = []
    one, two = (
        compare_waves(
            [contacts(), hubs_and_leaves()], "random,scout", (2, 2), **given, progress=lambda *at: counted.append(at)
        )
        for _ in range(2)
    )
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    assert counted[-1] == (24, 24)
    assert len(one.rows) == 8


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"waves": [10]}, "at least two numbers of leaders such as 4,3,3, got 10"),
        ({"waves": [4, 0]}, "wave 2 must be at least 1, got 0"),
        ({"waves": [2, 2], "model": "lt"}, "under the model ic"),
        ({"waves": [2, 2], "p_range": (0.1, 0.2)}, "with one p"),
        ({"waves": [2, 2], "colour": 1}, "has no setting 'colour'"),
    ],
)
def test_waves_that_make_no_sense_are_refused(given, problem):
    with pytest.raises(InputError, match=problem):
        compare_waves(contacts(), "random", runs=1, **given)
