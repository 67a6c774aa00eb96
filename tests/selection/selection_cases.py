"""Networks for the tests of selection, and the greedy method written as plainly as can be."""

import math
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from cascade_reference import components, live_edges, reached, stream_state, uniform
from claim.cascades.kernels import GOLDEN, LONGEST_IN_TABLE, UNIT
from claim.networks import Network
from claim.selection.greedy import Candidates
from claim.selection.kernels import FARTHEST


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
    """The people who would have reached one random person, that person included, if there are any others.

    The root is drawn from the stream that no person uses, by the probability that one of the contacts succeeds. The
    first random number of the root is one that makes one of them succeed, as far as the largest probability says.
    """
    chances: list[dict[int, float]] = [{} for _ in range(network.n)]  # of those who can activate each person
    sources, targets, own = network.edges()
    for i, (u, v) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
        chances[v][u] = p if own is None else float(own[i])
        if not network.directed:
            chances[u][v] = chances[v][u]
    alone = [_alone(list(row.values()), own is None) for row in chances]
    roots = np.cumsum([1 - each for each in alone])
    root = int(np.searchsorted(roots, uniform(stream_state(seed, sample, network.n)) * roots[-1]))
    found, waiting = {root}, [root]
    while waiting:
        person = waiting.pop(0)
        row = sorted(chances[person].items())
        largest = max((chance for _, chance in row), default=0.0)
        state, position = stream_state(seed, sample, person), 0
        number = uniform(state)
        if person == root and len(found) == 1:
            least = int(alone[root] * 2**53)
            number = (least + int((number / UNIT - 1) * UNIT * float(2**53 - least)) + 1) * UNIT
        while largest > 0:
            position += int(min(math.log(number) / math.log1p(-largest), FARTHEST)) if largest < 1 else 0
            if position >= len(row):
                break
            state += int(GOLDEN)
            contact, chance = row[position]
            live = own is None or uniform(state) * largest <= chance
            state += int(GOLDEN) * (own is not None)
            number = uniform(state)
            if live and contact not in found:
                found.add(contact)
                waiting.append(contact)
            position += 1
    return found


def _alone(chances: list[float], one_for_all: bool) -> float:
    """The probability that all contacts of a person fail if each has the largest probability; 0 counts as unknown."""
    if not chances:
        return 1.0
    if one_for_all and len(chances) >= LONGEST_IN_TABLE:
        return 0.0
    if one_for_all:
        return math.floor(math.exp(len(chances) * math.log1p(-chances[0])) / UNIT) * UNIT if chances[0] < 1 else 0.0
    return float((1 - max(chances)) ** len(chances))
