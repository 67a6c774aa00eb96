"""Readable version of reverse influence sampling: slow, obvious, and equal to the kernel coin for coin."""

from claim.cascades.coins import stream_uniform
from claim.cascades.reference import reached
from claim.networks import Network


def reverse_set(network: Network, p: float, seed: int, sample: int) -> set[int]:
    """Everybody who would have reached one random person, that person included.

    A cascade against the direction of the edges from a person drawn from the stream that no person uses.
    """
    sources, targets, probabilities = network.edges()
    against = network
    if network.directed:
        against = Network.from_edges(targets, sources, n=network.n, directed=True, probabilities=probabilities)
    root = min(int(stream_uniform(seed, sample, network.n) * network.n), network.n - 1)
    return reached(against, [root], p, seed, sample)
