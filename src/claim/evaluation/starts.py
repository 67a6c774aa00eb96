"""Start sets: the people whose contacts are known at the outset."""

from typing import Literal, get_args

import numpy as np

from claim.errors import InputError
from claim.networks import Network
from claim.networks.public import PUBLIC_NETWORKS
from claim.randomness import named_seed

Starts = Literal["published", "fresh"]


def start_sets(network: Network, runs: int, size: int, seed: int, starts: Starts | None = None) -> list[list[int]]:
    """One start set per run; published ones where they exist, unless told otherwise."""
    if starts not in (None, *get_args(Starts)):
        raise InputError(f"start sets are {' or '.join(get_args(Starts))}, not {starts!r}")
    published = published_start_seed(network)
    if starts == "published" and published is None:
        raise InputError(f"no start sets are published for {network.name}: use fresh ones")
    if published is not None and starts != "fresh":
        return _published(network.n, runs, size, published)
    rng = np.random.default_rng(named_seed(seed, "start sets"))
    return [rng.choice(network.n, min(size, network.n), replace=False).tolist() for _ in range(runs)]


def published_start_seed(network: Network) -> int | None:
    """The seed of a network's published start sets; known by its structure, whatever file it came from."""
    return next((known.start_seed for known in PUBLIC_NETWORKS if known.checksum == network.checksum), None)


def _published(n: int, runs: int, size: int, seed: int) -> list[list[int]]:
    """Successive draws with replacement, as the published experiments made them; people drawn twice count once."""
    draws = np.random.RandomState(seed)
    return [list(dict.fromkeys(draws.choice(n, size).tolist())) for _ in range(runs)]
