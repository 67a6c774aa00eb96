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


def reached_in_steps(network: Network, leaders: Iterable[int], p: float, steps: int, seed: int, world: int) -> set[int]:
    """The people whom the leaders reach within so many steps."""
    active, latest = set(leaders), set(leaders)
    for _ in range(steps):
        latest = {contact for person in latest for contact in live_contacts(network, person, p, seed, world)} - active
        active |= latest
    return active


def live_source(network: Network, person: int, seed: int, world: int) -> int | None:
    """The source of a person's live incoming tie under the linear threshold model, drawn by weight."""
    sources = [u for u in range(network.n) if person in network.contacts_of(u).tolist()]
    number = uniform(stream_state(seed, world, person))
    if network.probabilities is None:
        return sources[math.ceil(number * len(sources)) - 1] if sources else None
    for source in sources:
        place = network.contacts_of(source).tolist().index(person)
        number -= float(network.probabilities[network.offsets[source] + place])
        if number <= 0:
            return source
    return None


def reached_by_linear_threshold(network: Network, leaders: Iterable[int], seed: int, world: int) -> set[int]:
    """Everyone from whom one comes to a leader by following live ties back."""
    found = set()
    for person in range(network.n):
        node, seen = person, set()
        while node is not None and node not in seen:
            seen.add(node)
            node = live_source(network, node, seed, world)
        if seen & set(leaders):
            found.add(person)
    return found


def reached_by_threshold(network: Network, leaders: Iterable[int], threshold: int) -> set[int]:
    """Leaders, and again and again everyone of whom enough contacts are reached."""
    active = set(leaders)
    while True:
        named = [contact for person in active for contact in network.contacts_of(person).tolist()]
        more = {person for person in named if named.count(person) >= threshold} - active
        if not more:
            return active
        active |= more


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
