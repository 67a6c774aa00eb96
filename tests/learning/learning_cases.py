"""Small networks, discovered graphs and configurations for the tests of learning."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from claim.discovery import Discovered, Policy, Simulation, policy_named, surveys
from claim.learning import paper
from claim.learning.config import Config
from claim.networks import Network, load


def study(network: Network, seed: int, surveyed: int = 4) -> Simulation:
    """A study on a network after some random surveys."""
    rng = np.random.default_rng(seed)
    simulation = Simulation(network, rng.choice(network.n, 3, replace=False).tolist(), rng)
    for _ in surveys(simulation, policy_named("random"), surveyed, rng):
        pass
    return simulation


def graphs(count: int = 6) -> list[Discovered]:
    """Discovered graphs of very different size, one with ties between people who were not surveyed."""
    networks = [load("zone1"), load("stars4"), load("meadow1")]
    found = [study(networks[i % 3], seed=i, surveyed=2 + 3 * (i % 3)).discovered for i in range(count)]
    first = found[0]
    named = first.frontier
    if len(named) > 3:
        first.add_tie(named[0], named[-1])
    return found


def quick(**changes: Any) -> Config:
    """Settings of ``claim`` that train in little time."""
    small: dict[str, Any] = {"hidden": 8, "clusters": 4, "layers": (16, 8), "batch_size": 8, "budget": 3}
    return Config(**(small | {"validate_every": 5, "validation_starts": 4} | changes))


def quick_paper(variant: str = "claim", **changes: Any) -> paper.Settings:
    """Settings of the paper's training that train in little time."""
    small: dict[str, Any] = {"hidden": 6, "clusters": 3, "layers": (16, 8), "dimensions": 4, "batch_size": 8}
    small |= {"budget": 3, "validate_every": 5, "validation_starts": 4, "learning_rate": 1e-2}
    return paper.Settings(**(small | {"variant": variant} | changes))


def star(leaves: int, name: str = "star") -> Network:
    return Network.from_edges(np.zeros(leaves, dtype=int), np.arange(1, leaves + 1), name=name)


def village(people: int = 40) -> Network:
    """Everyone knows the hub, the last person, and about four others.

    Three start people see the hub as one of about a dozen people in the frontier, with fewer contacts than they have
    themselves. Only a survey of the hub shows that it is the best leader.
    """
    rng = np.random.default_rng(0)
    pairs = {(person, people) for person in range(people)}
    for person in range(people):
        pairs |= {(person, int(other)) for other in rng.choice(people, 2, replace=False) if other != person}
    one, other = zip(*sorted({(min(pair), max(pair)) for pair in pairs}), strict=True)
    return Network.from_edges(one, other, n=people + 1, name="village")


IN_VILLAGE: dict[str, Any] = {"budget": 2, "start": 3, "leaders": 1, "p": 0.08}


def reached(network: paper.TrainingNetwork, policy: Policy, studies: int = 60) -> np.ndarray:  # type: ignore[type-arg]
    """What a policy reaches from start sets that are the same for every policy, and not those of the training."""
    influences = []
    for seed in range(studies):
        rng = np.random.default_rng((99, seed))
        simulation = network.study(rng)
        for _ in surveys(simulation, policy, network.settings.budget, rng):
            pass
        influences.append(network.influence(simulation, np.random.default_rng((98, seed))))
    return np.array(influences)


def expanded(values: np.ndarray, members: Sequence[Sequence[int]], people: int) -> np.ndarray:  # type: ignore[type-arg]
    """Values of rows as values of people."""
    out = np.zeros((people, *values.shape[1:]), dtype=values.dtype)
    for row, who in enumerate(members):
        out[list(who)] = values[row]
    return out


def stopped_and_resumed(first: Any, second: Any) -> None:
    """Train three episodes, write a checkpoint, and let another training go on from it to seven."""
    first.train(3)
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file, weights_only=True))
    second.train(7)


def weights(network: Any) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    """A copy of the weights of a network."""
    return {name: value.numpy().copy() for name, value in network.state_dict().items()}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:  # type: ignore[type-arg]
    """Whether two sets of weights are equal, number by number."""
    return all(np.array_equal(one[name], other[name]) for name in one)


def shaken(network: Any, seed: int = 5) -> None:
    """Give a network other weights, so that it disagrees with its copies."""
    rng = np.random.default_rng(seed)
    other = {name: value + 0.5 * rng.normal(size=value.shape) for name, value in weights(network).items()}
    network.load_state_dict({name: value.new_tensor(other[name]) for name, value in network.state_dict().items()})
