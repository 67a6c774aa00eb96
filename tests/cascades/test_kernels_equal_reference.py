"""The compiled loops and the readable ones, on the same coins: equal sets and counts, not close means."""

import os
import signal
import sys
import warnings

import numpy as np
import pytest
from cascade_cases import networks, probabilities, random_network, seeds, star
from hypothesis import given, settings

from cascade_reference import components, live_contacts, live_edges, live_positions, reached
from claim.cascades import Worlds, simulate_cascades
from claim.cascades.influence import in_chunks
from claim.networks import Network

WORLDS = 12


def components_of_world(worlds: Worlds, world: int) -> set[frozenset[int]]:
    numbers = range(worlds.world_starts[world], worlds.world_starts[world + 1])
    return {frozenset(worlds.members[worlds.starts[c] : worlds.starts[c + 1]].tolist()) for c in numbers}


def expected_components(network: Network, p: float, seed: int, world: int) -> set[frozenset[int]]:
    return {frozenset(group) for group in components(live_edges(network, p, seed, world))}


@settings(max_examples=60, deadline=None)
@given(networks(), probabilities, seeds)
def test_cascades_reach_whom_the_reference_reaches(network: Network, p: float, seed: int) -> None:
    leaders = range(0, network.n, 3)
    reach, _ = simulate_cascades(network, leaders, p, WORLDS, seed)
    assert reach.tolist() == [len(reached(network, leaders, p, seed, world)) for world in range(WORLDS)]


@settings(max_examples=60, deadline=None)
@given(networks(directed=False), probabilities, seeds)
def test_worlds_hold_the_components_of_the_reference(network: Network, p: float, seed: int) -> None:
    worlds = Worlds.draw(network, p, WORLDS, seed)
    for world in range(WORLDS):
        assert components_of_world(worlds, world) == expected_components(network, p, seed, world)


@settings(max_examples=60, deadline=None)
@given(networks(directed=False), probabilities, seeds)
def test_components_and_members_are_in_the_order_of_the_live_edges(network: Network, p: float, seed: int) -> None:
    worlds = Worlds.draw(network, p, WORLDS, seed)
    for world in range(WORLDS):
        named = list(dict.fromkeys(person for edge in live_edges(network, p, seed, world) for person in edge))
        groups = components(live_edges(network, p, seed, world))
        groups.sort(key=lambda group: min(map(named.index, group)))
        begin, end = worlds.starts[worlds.world_starts[world : world + 2]]
        assert worlds.members[begin:end].tolist() == [who for group in groups for who in named if who in group]


@settings(max_examples=60, deadline=None)
@given(networks(directed=False), probabilities, seeds)
def test_reach_in_worlds_is_the_size_of_the_leaders_components(network: Network, p: float, seed: int) -> None:
    leaders = set(range(0, network.n, 2))
    expected = []
    for world in range(WORLDS):
        groups = components(live_edges(network, p, seed, world))
        expected.append(len(leaders.union(*(group for group in groups if group & leaders))))
    assert Worlds.draw(network, p, WORLDS, seed).reach(leaders).tolist() == expected


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_larger_network_draws_the_same_coins(directed: bool, own: bool) -> None:
    network = random_network(200, 900, directed=directed, own=own)
    reach, _ = simulate_cascades(network, [3, 5, 8], 0.2, 40, seed=77)
    assert reach.tolist() == [len(reached(network, [3, 5, 8], 0.2, 77, world)) for world in range(40)]
    if not directed:
        worlds = Worlds.draw(network, 0.2, 40, seed=77)
        for world in range(40):
            assert components_of_world(worlds, world) == expected_components(network, 0.2, 77, world)


@pytest.mark.parametrize("p", [0.0005, 0.3, 0.999])
def test_long_rows_and_rare_edges_agree(p: float) -> None:
    """Gaps longer than the table, and stars whose hub has thousands of contacts."""
    network = star(5000)
    reach, _ = simulate_cascades(network, [0], p, 25, seed=5)
    assert reach.tolist() == [1 + len(list(live_positions(5, world, 0, 5000, p))) for world in range(25)]
    worlds = Worlds.draw(network, p, 25, seed=5)
    assert worlds.reach([0]).tolist() == [1 + len(live_edges(network, p, 5, world)) for world in range(25)]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edges", [200, 28])
def test_surprise_is_the_worth_of_live_contacts_less_what_was_expected(directed: bool, own: bool, edges: int) -> None:
    """With 28 edges, some contacts of leaders have no other contact, and so has a leader."""
    network = random_network(30, edges, directed=directed, own=own)
    degrees = network.degrees.tolist()
    leaders = [0, 1, degrees.index(1)] if edges == 28 else [0, 1]
    _, surprise = simulate_cascades(network, leaders, 0.4, 20, seed=9)
    coins = [0.4] * len(network.contacts) if network.probabilities is None else network.probabilities.tolist()
    chances = [
        dict(zip(network.contacts_of(person).tolist(), coins[network.offsets[person] :], strict=False))
        for person in range(network.n)
    ]
    worth = [0.0 if person in leaders else 1 + sum(chances[person].values()) for person in range(network.n)]
    for world in range(20):
        assert surprise[world] == pytest.approx(surprise_in_world(network, leaders, chances, worth, 9, world))


def surprise_in_world(
    network: Network, leaders: list[int], chances: list[dict[int, float]], worth: list[float], seed: int, world: int
) -> float:
    """Everybody reached adds the worth of live contacts, less its expectation, the edge they were reached by apart."""
    by = dict.fromkeys(leaders, -1)
    luck = 0.0
    for person in (queue := list(leaders)):
        live = live_contacts(network, person, 0.4, seed, world)
        back = -1 if network.directed else by[person]
        luck += sum(worth[contact] for contact in live if contact != back)
        luck -= sum(chance * worth[contact] for contact, chance in chances[person].items() if contact != back)
        for contact in live:
            if contact not in by:
                by[contact] = person
                queue.append(contact)
    return luck


def test_nobody_reaches_nobody() -> None:
    network = random_network(20, 40)
    assert simulate_cascades(network, [], 0.5, 5, seed=1)[0].tolist() == [0] * 5
    assert Worlds.draw(network, 0.5, 5, seed=1).reach([]).tolist() == [0] * 5


def test_one_person_is_a_network() -> None:
    alone = Network.from_edges([], [], n=1)
    assert simulate_cascades(alone, [0], 1.0, 3, seed=1)[0].tolist() == [1, 1, 1]
    assert Worlds.draw(alone, 1.0, 3, seed=1).reach([0]).tolist() == [1, 1, 1]


@pytest.mark.parametrize("threads", ["2", "3"])
@pytest.mark.parametrize("own", [False, True])
def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, threads: str, own: bool) -> None:
    monkeypatch.setattr(
        sys.modules["claim.cascades.influence"], "WORTH_THREADS", 0.0
    )  # so that even this little work is shared
    network = random_network(300, 900, own=own)

    def everything() -> list[list[int]]:
        worlds = Worlds.draw(network, 0.1, 700, seed=4)
        reach, _ = simulate_cascades(network, [1, 2], 0.1, 700, seed=4)
        return [a.tolist() for a in (worlds.members, worlds.starts, worlds.world_starts, worlds.member_numbers, reach)]

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = everything()
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert everything() == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    expected = [(0, 5), (5, 5)]
    assert in_chunks(lambda first, count: (first, count), 10, seconds=1.0) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forking with threads
        child = os.fork()
    if not child:
        signal.alarm(20)  # ends the child if it waits for threads that it does not have
        os._exit(in_chunks(lambda first, count: (first, count), 10, seconds=1.0) != expected)
    assert os.waitpid(child, 0)[1] == 0


def test_coins_have_the_right_frequency_and_no_memory() -> None:
    """Each edge is live with probability p; neighbours in a world and the same edge in two worlds do not agree."""
    live = np.zeros((400, 100))
    for world in range(400):
        live[world, list(live_positions(3, world, 7, 100, 0.3))] = 1
    assert abs(live.mean() - 0.3) < 4 * np.sqrt(0.21 / live.size)
    for a, b in ((live[:, :-1], live[:, 1:]), (live[:-1], live[1:])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / np.sqrt(a.size)
