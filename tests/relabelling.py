"""The same network with people in another order."""

import numpy as np

from claim.networks import Network


def relabelled(network: Network, order: np.ndarray) -> Network:
    """The network with person ``order[i]`` at index ``i``."""
    place = np.argsort(order)
    sources, targets, probabilities = network.edges()
    return Network.from_edges(
        place[sources],
        place[targets],
        labels=[network.labels[old] for old in order],
        directed=network.directed,
        probabilities=probabilities,
        name=network.name,
    )
