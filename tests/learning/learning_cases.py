"""Small networks, discovered graphs and configurations for the tests of learning."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from claim.discovery import Discovered, Simulation, policy_named, surveys
from claim.learning.config import Config, variant_named
from claim.networks import Network, load


def study(network: Network, seed: int, surveyed: int = 4) -> Simulation:
    """A study on a network after some random surveys."""
    rng = np.random.default_rng(seed)
    simulation = Simulation(network, rng.choice(network.n, 3, replace=False).tolist(), rng)
    for _ in surveys(simulation, policy_named("random"), surveyed, rng):
        pass
    return simulation


def graphs(count: int = 6) -> list[Discovered]:
    """Discovered graphs of very different size, one with ties between people nobody surveyed."""
    networks = [load("zone1"), load("stars4"), load("meadow1")]
    found = [study(networks[i % 3], seed=i, surveyed=2 + 3 * (i % 3)).discovered for i in range(count)]
    first = found[0]
    named = first.frontier
    if len(named) > 3:
        first.add_tie(named[0], named[-1])
    return found


def quick(variant: str = "claim", **changes: Any) -> Config:
    """A configuration that learns from its first episodes on, in little time."""
    small: dict[str, Any] = {"hidden": 8, "clusters": 4, "layers": (16, 8), "dimensions": 6, "batch_size": 8}
    small |= {"buffer_size": 60, "learning_starts": 2, "validate_every": 5, "validation_starts": 4, "budget": 3}
    return variant_named(variant, **(small | changes))


def expanded(values: np.ndarray, members: Sequence[Sequence[int]], people: int) -> np.ndarray:  # type: ignore[type-arg]
    """Values of rows as values of people."""
    out = np.zeros((people, *values.shape[1:]), dtype=values.dtype)
    for row, who in enumerate(members):
        out[list(who)] = values[row]
    return out
