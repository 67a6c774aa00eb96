"""Reverse influence sampling: equal to the readable sets, honest in its bounds, as good as the greedy method."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from selection_cases import candidates_for, networks, random_network, reverse_set

from claim.cascades import influence
from claim.networks import Network
from claim.selection.greedy import Candidates, Task, greedy
from claim.selection.kernels import draw_reverse_sets
from claim.selection.reverse import ReverseSampler, ReverseSets
from claim.selection.ris import MOST_STORED, Search, _schedule, ris

NO_STOPS = np.zeros(0, dtype=np.int32)


def as_sets(sampler: ReverseSampler, seed: int, first: int, count: int) -> list[set[int]]:
    members, starts, _, _ = draw_reverse_sets(sampler, seed, first, count, NO_STOPS, True)
    return [set(members[begin:end].tolist()) for begin, end in itertools.pairwise(starts.tolist())]


@settings(max_examples=100, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 2**63 - 2))
def test_sets_equal_the_readable_ones(data: st.DataObject, directed: bool, p: float, seed: int) -> None:
    network = data.draw(networks(directed))
    sampler = ReverseSampler.of(network, p)
    assume(sampler.weight > 0)
    drawn = as_sets(sampler, seed, 3, 12)
    readable = [reverse_set(network, p, seed, sample) for sample in range(3, 15)]
    assert drawn == readable
    stops = np.array(data.draw(st.lists(st.integers(0, network.n - 1), unique=True, max_size=2)), dtype=np.int32)
    for keep in (True, False):
        members, _, met, _ = draw_reverse_sets(sampler, seed, 3, 12, stops, keep)
        others = [each for each in readable if not each & set(stops.tolist())]
        assert met == 12 - len(others)
        assert len(members) == sum(map(len, others)) * keep


def test_sets_at_people_with_many_contacts_equal_the_readable_ones() -> None:
    """More contacts than the table of gaps has entries."""
    network = Network.from_edges([0] * 400, range(1, 401))
    drawn = as_sets(ReverseSampler.of(network, 0.01), 5, 0, 300)
    assert drawn == [reverse_set(network, 0.01, 5, sample) for sample in range(300)]
    assert {0} in drawn  # not known to be alone by the table


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_sets_met_and_sets_of_one_person_together_are_the_influence(directed: bool, own: bool) -> None:
    network = random_network(200, 600, directed=directed, own=own)
    sampler = ReverseSampler.of(network, 0.2)
    number, leaders = 100_000, [1, 2, 3]
    pieces = [(first, 10_000) for first in range(0, number, 10_000)]
    share = ReverseSets(sampler).meet(pieces, 5, np.array(leaders, dtype=np.int32)) / number
    found = sampler.alone[leaders].sum() + sampler.weight * share
    expected = influence(network, leaders, 0.2, samples=50_000)
    error = np.hypot(expected.stderr, sampler.weight * np.sqrt(share * (1 - share) / number))
    assert abs(found - expected.mean) < 4 * error


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 4))
def test_leaders_are_greedy_and_their_bound_holds(data: st.DataObject, shortlist: int) -> None:
    """With and without sentinels, against readable sets and all choices; a short shortlist has to be renewed."""
    network = data.draw(networks(most_people=7))
    n = network.n
    k = data.draw(st.integers(1, n))
    candidates = data.draw(candidates_for(n, k))
    sampler = ReverseSampler.of(network, 0.4)
    assume(sampler.weight > 0)
    priority = np.array(data.draw(st.permutations(range(n))))
    task = Task(network, candidates, k, 0.4, 1, np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["claim.selection.ris"], "SHORTLIST", shortlist)
        search = Search(task, sampler, priority, ReverseSets(sampler), 10_000)
        sentinels = [
            person for person in np.flatnonzero(candidates.open_to_choice()).tolist() if data.draw(st.booleans())
        ]
        search.first += sentinels[: max(0, k - 1 - len(candidates.must))]
        search._grow(9)
        search._grow(20)
        choice = search._choose(doubt=0.0)
    groups = [reverse_set(network, 0.4, search.choosing, sample) for sample in range(20)]

    def covered(chosen: list[int]) -> int:
        return sum(bool(group & set(chosen)) for group in groups)

    def value(chosen: list[int]) -> float:
        return float(sampler.alone[chosen].sum()) + sampler.weight * covered(chosen) / 20

    picked, free = list(search.first), np.flatnonzero(candidates.open_to_choice()).tolist()
    while len(picked) < k and set(free) - set(picked):
        others = [person for person in free if person not in picked]
        picked.append(max(others, key=lambda person: (round(value([*picked, person]), 9), priority[person])))
    assert value(choice.leaders) == pytest.approx(value(picked))
    assert choice.covered == covered(choice.leaders)
    rest = min(k - len(candidates.must), len(free))
    best = max(value([*candidates.must, *others]) for others in itertools.combinations(free, rest))
    assert value(choice.leaders) - 1e-9 <= best
    assert best <= choice.upper + 1e-9


def test_pieces_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(150, 500)
    monkeypatch.setattr(sys.modules["claim.cascades.influence"], "WORTH_THREADS", 0.0)
    chosen = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        chosen.append(ris(Task(network, Candidates.of(150, 5), 5, 0.2, 1, np.random.default_rng(0))))
    assert chosen[0] == chosen[1]


def test_sentinels_are_chosen_where_most_sets_are_large() -> None:
    network = random_network(3000, 12_000)
    task = Task(network, Candidates.of(3000, 5, must=[7]), 5, 0.3, 1, np.random.default_rng(0))
    sampler = ReverseSampler.of(network, 0.5)
    search = Search(task, sampler, task.priority(), ReverseSets(sampler), MOST_STORED)
    found = search.run(0.58, *_schedule(3000, 5, 0.05))
    assert search.first[0] == 7
    assert search.first == found.leaders[: len(search.first)]
    assert search.met > 0.8 * search.drawn


@pytest.mark.parametrize("directed", [False, True])
def test_as_good_as_the_greedy_method(directed: bool) -> None:
    network = random_network(300, 900, seed=4, directed=directed)
    everybody = Candidates.of(300, 8)
    theirs = greedy(Task(network, everybody, 8, 0.15, 1000, np.random.default_rng(1)))
    ours = ris(Task(network, everybody, 8, 0.15, 1, np.random.default_rng(1)))
    a, b = (influence(network, leaders, 0.15, samples=40_000, rng=9) for leaders in (ours.leaders, theirs))
    assert a.mean > 0.985 * b.mean
    assert ours.guarantee is not None
    assert 1 - 1 / np.e - 0.05 <= ours.guarantee <= 1


def test_the_guarantee_holds_against_the_best_of_all_choices() -> None:
    network = random_network(14, 20, seed=2)
    chosen = ris(Task(network, Candidates.of(14, 2), 2, 0.3, 1, np.random.default_rng(0)))
    everything = [influence(network, pair, 0.3, 4000).mean for pair in itertools.combinations(range(14), 2)]
    assert chosen.guarantee is not None
    assert influence(network, chosen.leaders, 0.3, 4000).mean >= chosen.guarantee * max(everything)


def test_little_memory_is_said_not_suffered() -> None:
    """A dense network whose reverse sets hold nearly everybody, with room for a handful of them only."""
    network = random_network(2000, 40_000)
    chosen = ris(Task(network, Candidates.of(2000, 1), 1, 0.1, 1, np.random.default_rng(0)), most_stored=60_000)
    assert len(set(chosen.leaders)) == 1
    assert chosen.guarantee is not None
    assert chosen.guarantee < 1 - 1 / np.e - 0.05


def test_wishes_are_respected() -> None:
    network = random_network(100, 300)
    candidates = Candidates.of(100, 6, may=range(50), must=[70, 3], must_not=[0, 1, 2])
    leaders = ris(Task(network, candidates, 6, 0.1, 1, np.random.default_rng(0))).leaders
    assert leaders[:2] == [70, 3]
    assert len(set(leaders)) == 6
    assert set(leaders[2:]) <= set(range(4, 50))


@pytest.mark.parametrize("network", [Network.from_edges([], [], n=5), Network.from_edges([0], [1], n=5)])
def test_where_nobody_reaches_anybody_every_choice_is_best(network: Network) -> None:
    chosen = ris(Task(network, Candidates.of(5, 3, must=[4]), 3, 0.0, 1, np.random.default_rng(0)))
    assert chosen.leaders[0] == 4
    assert len(set(chosen.leaders)) == 3
    assert chosen.guarantee == 1.0
