"""Networks for the tests of selection, and the greedy method written as plainly as can be."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from cascade_reference import components, live_edges, reached, stream_state, uniform
from claim.networks import Network
from claim.selection.greedy import Candidates


@st.composite
def networks(draw: st.DrawFn, directed: bool = False, most_people: int = 10) -> Network:
    """Small networks with isolated people, one probability or one for each edge."""
    n = draw(st.integers(1, most_people))
    person = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(person, person), max_size=2 * n))
    own = draw(st.none() | st.lists(st.floats(0, 1), min_size=len(edges), max_size=len(edges)))
    sources, targets = [u for u, _ in edges], [v for _, v in edges]
    return Network.from_edges(sources, targets, n=n, directed=directed, probabilities=own)


@st.composite
def candidates_for(draw: st.DrawFn, n: int, k: int) -> Candidates:
    people = st.lists(st.integers(0, n - 1), max_size=n)
    must_not = draw(people)
    must = [person for person in draw(people) if person not in must_not][:k]
    return Candidates.of(n, k, draw(st.none() | people), must, must_not)


def random_network(n: int, m: int, seed: int = 0, directed: bool = False, own: bool = False) -> Network:
    rng = np.random.default_rng(seed)
    return Network.from_edges(
        rng.integers(0, n, m),
        rng.integers(0, n, m),
        n=n,
        directed=directed,
        probabilities=rng.uniform(0, 0.3, m) if own else None,
    )


def reach_in_worlds(network: Network, p: float, samples: int, seed: int) -> Callable[[list[int]], int]:
    """The summed reach of any leaders on fixed worlds, from the readable references."""
    if network.directed:
        return lambda leaders: sum(len(reached(network, leaders, p, seed, world)) for world in range(samples))
    worlds = [components(live_edges(network, p, seed, world)) for world in range(samples)]

    def reach(leaders: list[int]) -> int:
        chosen = set(leaders)
        return sum(len(chosen.union(*(group for group in world if group & chosen))) for world in worlds)

    return reach


def naive_greedy(reach: Callable[[list[int]], int], candidates: Candidates, k: int, priority: np.ndarray) -> list[int]:
    """Try everybody at every pick; the largest reach wins, then the highest priority."""
    leaders = list(candidates.must)
    while len(leaders) < k:
        others = [person for person in np.flatnonzero(candidates.allowed).tolist() if person not in leaders]
        if not others:
            break
        leaders.append(max(others, key=lambda person: (reach([*leaders, person]), priority[person])))
    return leaders


def reverse_set(network: Network, p: float, seed: int, sample: int) -> set[int]:
    """The people who would have reached one random person, that person included.

    A cascade against the direction of the edges from a person drawn from the stream that no person uses.
    """
    sources, targets, probabilities = network.edges()
    against = network
    if network.directed:
        against = Network.from_edges(targets, sources, n=network.n, directed=True, probabilities=probabilities)
    root = min(int(uniform(stream_state(seed, sample, network.n)) * network.n), network.n - 1)
    return reached(against, [root], p, seed, sample)
