"""Reverse influence sampling: equal to the readable sets, honest in its bounds, as good as the greedy method."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from selection_cases import candidates_for, networks, random_network, reverse_set

from claim.cascades import influence
from claim.cascades.influence import RowSampler
from claim.cascades.kernels import memberships
from claim.networks import Network
from claim.selection.greedy import Candidates, Task, greedy
from claim.selection.kernels import largest_sum, pick_covering
from claim.selection.ris import ReverseSets, ris, sets_met


def as_sets(sets: ReverseSets) -> list[set[int]]:
    return [set(sets.members[begin:end].tolist()) for begin, end in itertools.pairwise(sets.starts.tolist())]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 2**63 - 2))
def test_sets_equal_the_readable_ones(data: st.DataObject, directed: bool, p: float, seed: int) -> None:
    network = data.draw(networks(directed))
    rows = RowSampler.of(network, p, against=True)
    assume(rows.p > 0)
    sets = ReverseSets(rows, seed, capacity=10_000)
    sets.grow(12)
    assert as_sets(sets) == [reverse_set(network, p, seed, sample) for sample in range(12)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12), st.integers(0, 14))
def test_the_largest_sum_is_that_of_the_largest_free_gains(people: list[tuple[int, bool]], count: int) -> None:
    gains = np.array([gain for gain, _ in people], dtype=np.int64)
    free = np.array([is_free for _, is_free in people], dtype=np.bool_)
    assert largest_sum(gains, free, count) == sum(sorted(gains[free].tolist(), reverse=True)[:count])


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_sets_do_not_depend_on_threads_or_growth(monkeypatch: pytest.MonkeyPatch, directed: bool, own: bool) -> None:
    network = random_network(150, 500, directed=directed, own=own)
    monkeypatch.setattr(sys.modules["claim.cascades.influence"], "WORTH_THREADS", 0.0)
    drawn = []
    for threads, steps in (("1", [300]), ("2", [300]), ("2", [7, 100, 300])):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        sets = ReverseSets(RowSampler.of(network, 0.2, against=True), 5, capacity=1_000_000)
        for step in steps:
            sets.grow(step)
        drawn.append(as_sets(sets))
    assert drawn[0] == drawn[1] == drawn[2] == [reverse_set(network, 0.2, 5, sample) for sample in range(300)]


def test_the_share_of_sets_met_is_the_influence() -> None:
    network = random_network(200, 600, directed=True)
    sets = ReverseSets(RowSampler.of(network, 0.2, against=True), 5, capacity=10_000_000)
    sets.grow(100_000)
    share = sets_met(200, np.array([1, 2, 3]), sets.members, sets.starts) / sets.count
    expected = influence(network, [1, 2, 3], 0.2, samples=50_000)
    error = np.hypot(expected.stderr, 200 * np.sqrt(share * (1 - share) / sets.count))
    assert abs(200 * share - expected.mean) < 4 * error


def test_storage_stops_where_it_is_full_and_keeps_whole_sets() -> None:
    network = random_network(100, 300)
    sets = ReverseSets(RowSampler.of(network, 0.3, against=True), 5, capacity=500)
    sets.grow(1000)
    assert sets.full
    assert 500 - 101 < sets.stored <= 500
    assert as_sets(sets) == [reverse_set(network, 0.3, 5, sample) for sample in range(sets.count)]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_coverage_is_greedy_and_its_bound_holds(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 7))
    groups = data.draw(st.lists(st.sets(st.integers(0, n - 1), min_size=1), min_size=1, max_size=12))
    k = data.draw(st.integers(1, n))
    candidates = data.draw(candidates_for(n, k))
    members = np.array([person for group in groups for person in group], dtype=np.int32)
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int32)
    must, free = np.array(candidates.must, dtype=np.int64), candidates.open_to_choice()
    offsets, numbers = memberships(n, members, starts)
    leaders, bound = pick_covering(
        k, must, free, np.arange(n, 0, -1), np.diff(offsets), False, members, starts, offsets, numbers
    )

    def covered(chosen: tuple[int, ...]) -> int:
        return sum(bool(group & set(chosen)) for group in groups)

    picked = list(candidates.must)
    open_people = np.flatnonzero(candidates.open_to_choice()).tolist()
    while len(picked) < k and len(picked) < len(candidates.must) + len(open_people):
        others = [person for person in open_people if person not in picked]
        picked.append(max(others, key=lambda person: (covered((*picked, person)), -person)))
    assert leaders.tolist() == picked
    rest = min(k - len(candidates.must), len(open_people))
    best = max(covered((*candidates.must, *others)) for others in itertools.combinations(open_people, rest))
    assert covered(tuple(picked)) <= best <= bound


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
    chosen = ris(Task(network, Candidates.of(2000, 5), 5, 0.1, 1, np.random.default_rng(0)), most_stored=60_000)
    assert len(set(chosen.leaders)) == 5
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
