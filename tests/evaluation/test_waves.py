"""Leaders in waves: what the next wave knows, and what that is worth."""

import json

import networkx
import numpy as np
import pytest
from evaluation_cases import contacts, hubs_and_leaves

from claim.cascades import Worlds
from claim.discovery import Simulation
from claim.errors import InputError
from claim.evaluation.waves import Spreading, compare_waves
from claim.networks import Network
from claim.selection.foresight.selector import FreeForesight
from claim.selection.observed import Observed, next_leaders
from claim.selection.selectors import MethodSelector


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
            assert set(message.came if coming else message.absent) == {4, 17, 60}


def test_the_next_wave_knows_what_people_said():
    network, rng = hubs_and_leaves(), np.random.default_rng(3)
    simulation = Simulation(network, [3, 50, 99], rng, refusal=0.3)
    for person in list(simulation.discovered.frontier)[:4]:
        simulation.ask(person)
    seen = simulation.discovered
    lot = rng.permutation(len(seen)).tolist()
    reached_some = False
    for world in range(8):
        comes = np.ones(network.n, dtype=bool)
        comes[simulation.people[5]] = False
        message = Spreading(simulation, Worlds.draw(network, 0.4, 8, seed=2), world, comes, lot)
        message.invite([0, 5])
        message.ask(4)
        assert message.absent == {5}
        assert {*message.yes, *message.no} == set([who for who in lot if who not in (0, 5)][:4])
        message.ask(None)
        assert {*message.yes, *message.no} == set(lot) - {0, 5}
        reached = {who for who in lot if message.reached[simulation.people[who]]}
        assert message.known_reached == reached - {5}
        observed = message.observed()
        ties = {tuple(tie) for tie in np.stack(seen.ties(), axis=1).tolist()}
        across = {tie for tie in ties if (tie[0] in reached) != (tie[1] in reached) and 5 not in tie}
        assert {tuple(sorted(tie)) for tie in observed.failed} == {tuple(sorted(tie)) for tie in across}
        reached_some |= bool(message.yes) and bool(across)
    assert reached_some


def test_a_contact_of_a_later_wave_has_not_failed_because_of_an_earlier_no():
    seen = Simulation(Network.from_networkx(networkx.star_graph(3), "star"), range(4), np.random.default_rng(0))
    middle = next(who for who in range(4) if seen.discovered.degree(who) == 3)
    one, other, third = (who for who in range(4) if who != middle)
    observed = Observed.of(seen.discovered, {one: 1, third: 2, other: 3}, {middle: 2})
    assert observed.failed == {(one, middle), (third, middle)}
    assert observed.first([third, middle]) == [third, middle, one, other]
    left = observed.left(seen.discovered)
    assert [left.degree(who) for who in (middle, one, other, third)] == [1, 0, 1, 0]


def test_more_answers_are_worth_more():
    """Two hubs of one clique, as below: with no answers the second wave knows nothing new."""
    graph = networkx.disjoint_union(networkx.complete_graph(14), networkx.star_graph(3))
    given = {"runs": 20, "start_size": 18, "budget": 0, "p": 0.15, "selector": "foresight:free"}
    network = Network.from_networkx(graph, "two")
    gains = [compare_waves(network, "random", [1, 1], asked=asked, **given).rows[0].gain for asked in (0, 4, None)]
    assert gains[0] == 0
    assert 0.1 < gains[1] < gains[2]


def test_leaders_who_came_are_certain_for_the_next_wave():
    """Who may stay away leaves most of their star to others; who came leaves nothing."""
    graph = networkx.disjoint_union(networkx.star_graph(14), networkx.star_graph(4))
    seen = everyone_known(Network.from_networkx(graph, "two")).discovered
    large, small = sorted((who for who in range(len(seen)) if seen.degree(who) > 1), key=seen.degree, reverse=True)
    came = next(iter(seen.contacts[large]))
    for selector in (MethodSelector(1.0, attendance=0.1), FreeForesight(1.0, attendance=0.1)):
        unsure = selector.select(seen, 2, np.random.default_rng(0), must=[came])
        assert unsure[1] in {large, *seen.contacts[large]}
        (sure,) = next_leaders(selector, seen, 1, np.random.default_rng(0), Observed((came,)))
        assert sure in {small, *seen.contacts[small]}


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
        ({"waves": [2, 2], "asked": -1}, "asked must be at least 0, got -1"),
        ({"waves": [2, 2], "colour": 1}, "has no setting 'colour'"),
    ],
)
def test_waves_that_make_no_sense_are_refused(given, problem):
    with pytest.raises(InputError, match=problem):
        compare_waves(contacts(), "random", runs=1, **given)


def test_waves_on_directed_networks_are_refused():
    network = Network.from_edges([0, 1, 2], [1, 2, 0], n=3, directed=True, name="one way")
    with pytest.raises(InputError, match="one way: leaders in waves take contacts that go both ways"):
        compare_waves(network, "random", [1, 1], runs=1)
