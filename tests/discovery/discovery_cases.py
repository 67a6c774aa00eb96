"""Small hidden networks and twins that differ only where nobody looked."""

import networkx
import numpy as np

from claim.discovery import Discovered, Policy, Simulation, surveys
from claim.networks import Network
from relabelling import relabelled


def hubs_and_leaves(n: int = 150, seed: int = 3) -> Network:
    """A sparse network with a few hubs, its people numbered at random."""
    graph = networkx.barabasi_albert_graph(n, 2, seed=seed)
    return relabelled(Network.from_networkx(graph), np.random.default_rng(seed).permutation(n))


def star(leaves: int) -> Network:
    return Network.from_edges(np.zeros(leaves, dtype=int), np.arange(1, leaves + 1))


def study(network: Network, policy: Policy, start: list[int], seed: int, budget: int, **options) -> Simulation:
    """A whole study, the same whenever the seed is."""
    answers, choices = np.random.default_rng(seed).spawn(2)
    simulation = Simulation(network, start, answers, options.pop("refusal", 0.0))
    for _ in surveys(simulation, policy, budget, choices, **options):
        pass
    return simulation


def twin_of(network: Network, simulation: Simulation, rng: np.random.Generator) -> Network:
    """The network with other edges between people who were never surveyed."""
    surveyed = {simulation.people[person] for person in simulation.discovered.surveyed}
    hidden = np.array([who for who in range(network.n) if who not in surveyed])
    sources, targets, _ = network.edges()
    seen = np.isin(sources, list(surveyed)) | np.isin(targets, list(surveyed))
    invented = rng.choice(hidden, (len(hidden), 2))
    return Network.from_edges(
        np.concatenate([sources[seen], invented[:, 0]]), np.concatenate([targets[seen], invented[:, 1]]), n=network.n
    )


def everything_seen(seen: Discovered) -> tuple:
    """All that a policy or a selector could look at, orders included."""
    lists = (seen.status, seen.named_by, seen.wave, seen.start, seen.surveyed, seen.refused, seen.frontier)
    return (*map(tuple, lists), [list(each) for each in seen.contacts], [side.tolist() for side in seen.ties()])
