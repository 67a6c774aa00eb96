"""Networks for the tests of cascades."""

import itertools

import numpy as np
from hypothesis import strategies as st

from cascade_reference import components
from claim.networks import Network


@st.composite
def networks(draw: st.DrawFn, directed: bool | None = None, most_people: int = 9) -> Network:
    """Small networks of any kind: isolated people, one probability or one each (0 and 1 among them)."""
    n = draw(st.integers(1, most_people))
    person = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(person, person), max_size=2 * n))
    probability = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.01, 0.99))
    own = draw(st.none() | st.lists(probability, min_size=len(edges), max_size=len(edges)))
    return Network.from_edges(
        [u for u, _ in edges],
        [v for _, v in edges],
        n=n,
        directed=draw(st.booleans()) if directed is None else directed,
        probabilities=own,
    )


probabilities = st.sampled_from([0.0, 0.05, 0.1, 0.5, 0.93, 1.0])
seeds = st.integers(0, 2**63 - 2)


def random_network(n: int, m: int, seed: int = 0, directed: bool = False, own: bool = False) -> Network:
    rng = np.random.default_rng(seed)
    return Network.from_edges(
        rng.integers(0, n, m),
        rng.integers(0, n, m),
        n=n,
        directed=directed,
        probabilities=rng.uniform(0, 0.3, m) if own else None,
    )


def star(leaves: int) -> Network:
    return Network.from_edges([0] * leaves, range(1, leaves + 1))


def exact_influence(network: Network, leaders: list[int], p: float) -> float:
    """Mean reach over all worlds of a tiny network, each with its probability."""
    sources, targets, own = network.edges()
    coins = [p] * len(sources) if own is None else own.tolist()
    edges = list(zip(sources.tolist(), targets.tolist(), strict=True))
    total = 0.0
    for world in itertools.product([False, True], repeat=len(edges)):
        chance = float(np.prod([q if live else 1 - q for q, live in zip(coins, world, strict=True)]))
        total += chance * _reach(network.directed, list(itertools.compress(edges, world)), leaders)
    return total


def _reach(directed: bool, live: list[tuple[int, int]], leaders: list[int]) -> int:
    active = set(leaders)
    if not directed:
        return len(active.union(*(group for group in components(live) if group & active)))
    while any(u in active and v not in active for u, v in live):
        active |= {v for u, v in live if u in active}
    return len(active)
