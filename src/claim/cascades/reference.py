"""Readable versions of the cascade kernels: slow, obvious, and equal to them coin for coin."""

from collections.abc import Iterable

from claim.cascades.coins import live_positions
from claim.networks import Network

EDGE_STREAM = 0  # undirected worlds draw all their edges from one stream


def coin_probability(network: Network, p: float) -> float:
    """The probability that gaps are drawn with: ``p``, or the largest of the network's own probabilities."""
    if network.probabilities is None:
        return p
    return float(network.probabilities.max(initial=0.0))


def live_edges(network: Network, p: float, seed: int, world: int) -> list[tuple[int, int]]:
    """The live edges of one world of an undirected network."""
    sources, targets, probabilities = network.edges()
    thinned = None if probabilities is None else probabilities.tolist()
    positions = live_positions(seed, world, EDGE_STREAM, len(sources), coin_probability(network, p), thinned)
    return [(int(sources[i]), int(targets[i])) for i in positions]


def components(edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """The connected components of a set of edges; people without an edge are left out."""
    component_of: dict[int, set[int]] = {}
    for u, v in edges:
        merged = component_of.get(u, {u}) | component_of.get(v, {v})
        for person in merged:
            component_of[person] = merged
    return list({id(members): members for members in component_of.values()}.values())


def live_contacts(network: Network, person: int, p: float, seed: int, world: int) -> list[int]:
    """Whom an active person would activate in one world; each person draws from a stream of their own.

    On an undirected network the two directions of an edge have separate coins. Only the direction that is tried first
    can matter, because the second attempt meets somebody who is active already, so reach has the same distribution.
    """
    row = slice(network.offsets[person], network.offsets[person + 1])
    thinned = None if network.probabilities is None else network.probabilities[row].tolist()
    contacts = network.contacts[row]
    positions = live_positions(seed, world, person, len(contacts), coin_probability(network, p), thinned)
    return [int(contacts[i]) for i in positions]


def reached(network: Network, leaders: Iterable[int], p: float, seed: int, world: int) -> set[int]:
    """Everybody whom the leaders reach in one world, leaders included."""
    active = set(leaders)
    waiting = list(active)
    while waiting:
        for contact in live_contacts(network, waiting.pop(), p, seed, world):
            if contact not in active:
                active.add(contact)
                waiting.append(contact)
    return active
