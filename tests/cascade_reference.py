"""The cascade kernels in readable Python: slow, obvious, and equal to them edge for edge."""

import math
from collections.abc import Iterable, Iterator

from claim.cascades.influence import largest_probability
from claim.cascades.kernels import GOLDEN, MIX_1, MIX_2, STREAM_KEY, UNIT, WORLD_KEY
from claim.networks import Network

MASK = (1 << 64) - 1
EDGE_STREAM = 0  # undirected worlds draw all their edges from one stream


def reached(network: Network, leaders: Iterable[int], p: float, seed: int, world: int) -> set[int]:
    """The people whom the leaders reach in one world, leaders included."""
    active = set(leaders)
    waiting = list(active)
    while waiting:
        for contact in live_contacts(network, waiting.pop(), p, seed, world):
            if contact not in active:
                active.add(contact)
                waiting.append(contact)
    return active


def live_contacts(network: Network, person: int, p: float, seed: int, world: int) -> list[int]:
    """The contacts that an active person would activate in one world; each person has a random stream of their own.

    On an undirected network the two directions of an edge are drawn separately. Only the direction that is tried first
    can matter, because the second attempt meets an active person, so reach has the same distribution.
    """
    row = slice(network.offsets[person], network.offsets[person + 1])
    own = None if network.probabilities is None else network.probabilities[row].tolist()
    contacts = network.contacts[row]
    positions = live_positions(seed, world, person, len(contacts), largest_probability(network, p), own)
    return [int(contacts[i]) for i in positions]


def live_edges(network: Network, p: float, seed: int, world: int) -> list[tuple[int, int]]:
    """The live edges of one world of an undirected network."""
    sources, targets, probabilities = network.edges()
    own = None if probabilities is None else probabilities.tolist()
    positions = live_positions(seed, world, EDGE_STREAM, len(sources), largest_probability(network, p), own)
    return [(int(sources[i]), int(targets[i])) for i in positions]


def components(edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """The connected components of a set of edges; people without an edge are left out."""
    component_of: dict[int, set[int]] = {}
    for u, v in edges:
        merged = component_of.get(u, {u}) | component_of.get(v, {v})
        for person in merged:
            component_of[person] = merged
    return list({id(members): members for members in component_of.values()}.values())


def live_positions(
    seed: int, world: int, key: int, count: int, p: float, own: list[float] | None = None
) -> Iterator[int]:
    """The live ones among ``count`` edges, drawn from one stream.

    With ``own``, edge ``i`` has the probability ``own[i] <= p``: gaps are drawn with ``p``, the largest, and a second
    number keeps the edge with probability ``own[i] / p``.
    """
    if p <= 0:
        return
    log_fail = math.log1p(-p) if p < 1 else -math.inf
    state = stream_state(seed, world, key)
    position = 0
    while position < count:
        failures = math.log(uniform(state)) / log_fail
        state += int(GOLDEN)
        if failures >= count - position:
            return
        position += int(failures)
        if own is None:
            yield position
        else:
            if uniform(state) * p <= own[position]:
                yield position
            state += int(GOLDEN)
        position += 1


def stream_state(seed: int, world: int, key: int) -> int:
    """The state that a stream of a world starts from."""
    return _mix(seed + world * int(WORLD_KEY)) + key * int(STREAM_KEY)


def uniform(state: int) -> float:
    """The uniform number in (0, 1] of a state."""
    return ((_mix(state) >> 11) + 1) * UNIT


def _mix(x: int) -> int:
    x &= MASK
    x = ((x ^ (x >> 30)) * int(MIX_1)) & MASK
    x = ((x ^ (x >> 27)) * int(MIX_2)) & MASK
    return x ^ (x >> 31)
