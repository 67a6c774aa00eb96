"""The greedy method against the plainest one, on the same worlds."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from selection_cases import candidates_for, naive_greedy, networks, random_network, reach_in_worlds

from claim.cascades.worlds import EdgeSampler
from claim.errors import InputError
from claim.networks import Network
from claim.randomness import draw_seed
from claim.selection import MethodSelector
from claim.selection.greedy import FEW, Candidates, Task, Ties, _replayed, _stored, greedy, tie_priority

SAMPLES = 15


def naive(
    network: Network, candidates: Candidates, k: int, p: float, rng: np.random.Generator, ties: Ties
) -> list[int]:
    seed = draw_seed(rng)
    return naive_greedy(reach_in_worlds(network, p, SAMPLES, seed), candidates, k, tie_priority(network.n, ties, rng))


@settings(max_examples=80, deadline=None)
@given(
    st.data(),
    st.booleans(),
    st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    st.sampled_from(["random", "first"]),
    st.sampled_from([0, FEW]),
)
def test_greedy_picks_what_trying_everybody_picks(
    data: st.DataObject, directed: bool, p: float, ties: Ties, few: int
) -> None:
    """With and without an index of the components of each person."""
    network = data.draw(networks(directed))
    k = data.draw(st.integers(1, network.n + 1))
    candidates = data.draw(candidates_for(network.n, k))
    seed = data.draw(st.integers(0, 1000))
    expected = naive(network, candidates, k, p, np.random.default_rng(seed), ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("claim.selection.greedy.FEW", few)
        assert greedy(Task(network, candidates, k, p, SAMPLES, np.random.default_rng(seed), ties)) == expected


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([0.3, 0.6, 1.0]), st.integers(1, 4), st.integers(1, 4))
def test_worlds_drawn_again_give_the_same_picks_as_worlds_kept(
    data: st.DataObject, p: float, listed: int, samples: int
) -> None:
    """Few worlds make many ties, and a short list has to be made again and again."""
    network = data.draw(networks(most_people=14))
    k = data.draw(st.integers(1, network.n))
    candidates = data.draw(candidates_for(network.n, k))
    priority = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(network.n)
    edges = EdgeSampler.of(network, p)
    assume(edges.p > 0)
    kept = _stored(edges, candidates, k, samples, 3, priority)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("claim.selection.greedy.SHORTLIST", listed * samples)
        assert _replayed(edges, candidates, k, samples, 3, priority) == kept


def test_a_tie_with_somebody_off_the_shortlist_is_still_a_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few worlds and random priorities, until somebody unlisted has the same gain and the higher priority."""
    monkeypatch.setattr("claim.selection.greedy.SHORTLIST", 4 * 3)
    for seed in range(400):
        edges = EdgeSampler.of(random_network(14, 14, seed), 0.5)
        priority = np.random.default_rng(seed).permutation(14)
        everybody = Candidates.of(14, 5)
        kept = _stored(edges, everybody, 5, 3, seed, priority)
        assert _replayed(edges, everybody, 5, 3, seed, priority) == kept


@pytest.mark.parametrize("own", [False, True])
def test_a_network_too_large_to_keep_its_worlds_is_replayed(monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    network, everybody = random_network(400, 1200, own=own), Candidates.of(400, 12)
    kept = greedy(Task(network, everybody, 12, 0.1, 200, np.random.default_rng(1)))
    monkeypatch.setattr("claim.selection.greedy.MOST_STORED", 0)
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setattr(sys.modules["claim.cascades.influence"], "WORTH_THREADS", 0.0)
        assert greedy(Task(network, everybody, 12, 0.1, 200, np.random.default_rng(1))) == kept


def test_nearly_as_good_as_the_best_of_all_choices() -> None:
    for seed in range(8):
        network = random_network(12, 18, seed)
        rng = np.random.default_rng(seed)
        leaders = greedy(Task(network, Candidates.of(12, 3), 3, 0.4, SAMPLES, np.random.default_rng(seed)))
        reach = reach_in_worlds(network, 0.4, SAMPLES, draw_seed(rng))
        best = max(reach(list(choice)) for choice in itertools.combinations(range(12), 3))
        assert reach(leaders) >= (1 - 1 / np.e) * best


def test_ties_are_broken_at_random_or_to_the_first() -> None:
    pairs = Network.from_edges([0, 2, 4], [1, 3, 5])
    first = greedy(Task(pairs, Candidates.of(6, 3), 3, 1.0, 5, np.random.default_rng(0), ties="first"))
    assert first == [0, 2, 4]
    picked = {greedy(Task(pairs, Candidates.of(6, 1), 1, 1.0, 5, np.random.default_rng(i)))[0] for i in range(60)}
    assert picked == set(range(6))


def test_an_unknown_way_to_break_ties_is_refused() -> None:
    with pytest.raises(InputError, match="not 'last'"):
        tie_priority(3, "last", np.random.default_rng(0))  # type: ignore[arg-type]


def test_the_selector_chooses_from_what_it_is_shown() -> None:
    class Seen:
        def as_network(self) -> Network:
            return Network.from_edges([0, 0, 0, 4], [1, 2, 3, 5], n=7)

    selector = MethodSelector(p=0.9, samples=50)
    assert selector.name == "greedy"
    leaders = selector.select(Seen(), 3, np.random.default_rng(0), must_not=[0, 6], must=[5])
    assert leaders[0] == 5
    assert leaders[1] in (1, 2, 3)
    assert not {0, 6} & set(leaders)
    assert len(selector.select(Seen(), 10, np.random.default_rng(0))) == 7
    assert selector.select(Seen(), 3, np.random.default_rng(0), may=[6]) == [6]
