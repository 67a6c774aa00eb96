"""The quick rules on examples that can be worked out by hand, and PageRank against networkx."""

import networkx as nx
import numpy as np
import pytest
from selection_cases import random_network

from claim.networks import Network
from claim.selection import selectors
from claim.selection.greedy import Candidates, Method, Task


def task(network: Network, k: int, p: float = 0.1, seed: int = 0, candidates: Candidates | None = None) -> Task:
    return Task(network, candidates or Candidates.of(network.n, k), k, p, 1, np.random.default_rng(seed))


def two_stars() -> Network:
    """Hub 0 with contacts 1 to 5, hub 1 with 0 and 6 to 8, hub 9 with 10 to 12."""
    return Network.from_edges([0, 0, 0, 0, 0, 1, 1, 1, 9, 9, 9], [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12])


def test_degree_takes_the_most_contacts() -> None:
    assert selectors.degree(task(two_stars(), 3)).leaders == [0, 1, 9]


def test_degree_discount_passes_over_contacts_of_the_chosen() -> None:
    """After 0 is chosen, 1 counts 4 - 2 - 3 * 0.1 = 1.7, less than 9 with 3."""
    assert selectors.degree_discount(task(two_stars(), 3)).leaders == [0, 9, 1]
    counts = selectors.discounted(np.array([4.0, 3.0, 5.0]), np.array([1.0, 0.0, 2.0]), p=0.1)
    assert counts.tolist() == pytest.approx([1.7, 3.0, 5 - 4 - 3 * 2 * 0.1])


def test_degree_discount_starts_from_those_who_must_be_chosen() -> None:
    candidates = Candidates.of(13, 3, must=[2])
    assert selectors.degree_discount(task(two_stars(), 3, candidates=candidates)).leaders == [2, 1, 9]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_pagerank_equals_networkx(directed: bool, own: bool) -> None:
    network = random_network(80, 150, directed=directed, own=own)
    graph = network.to_networkx()
    expected = nx.pagerank(
        graph.reverse() if directed else graph, tol=1e-12, max_iter=1000, weight="probability" if own else None
    )
    assert selectors.pagerank_scores(network).tolist() == pytest.approx([expected[i] for i in range(80)], abs=1e-8)


def test_pagerank_prefers_those_who_influence() -> None:
    arrows = Network.from_edges([0, 0, 0, 1], [1, 2, 3, 4], directed=True)
    assert selectors.pagerank(task(arrows, 2)).leaders == [0, 1]


@pytest.mark.parametrize("method", [selectors.degree, selectors.pagerank, selectors.degree_discount, selectors.random])
def test_equals_are_chosen_at_random(method: Method) -> None:
    ring = Network.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    assert {method(task(ring, 1, seed=i)).leaders[0] for i in range(80)} == set(range(6))


@pytest.mark.parametrize("method", [selectors.degree, selectors.pagerank, selectors.degree_discount, selectors.random])
def test_wishes_are_respected(method: Method) -> None:
    candidates = Candidates.of(13, 4, may=[0, 3, 4, 9], must=[12], must_not=[0])
    leaders = method(task(two_stars(), 4, candidates=candidates)).leaders
    assert leaders[0] == 12
    assert sorted(leaders[1:]) == [3, 4, 9]
