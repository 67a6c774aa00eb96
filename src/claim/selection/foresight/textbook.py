"""Textbook networks, so that a model for any kind of network has seen more than the kinds of the project."""

import numpy as np

from claim.networks import Network


def even(people: int, rng: np.random.Generator, *, mean_degree: float, name: str = "even") -> Network:
    """Ties between people drawn at random (Erdős and Rényi, 1959)."""
    ends = rng.integers(0, people, (_ties(people, mean_degree), 2))
    return Network.from_edges(ends[:, 0], ends[:, 1], n=people, name=name)


def blocks(
    people: int, rng: np.random.Generator, *, mean_degree: float, size: int, inside: float, name: str = "blocks"
) -> Network:
    """Groups of ``size`` people (Holland, Laskey and Leinhardt, 1983); a share ``inside`` of ties stays in a group."""
    count = _ties(people, mean_degree)
    one = rng.integers(0, people, count)
    first = one // size * size
    mate = first + (rng.random(count) * np.minimum(size, people - first)).astype(np.int64)
    other = np.where(rng.random(count) < inside, mate, rng.integers(0, people, count))
    return Network.from_edges(one, other, n=people, name=name)


def ring(people: int, rng: np.random.Generator, *, mean_degree: float, rewired: float, name: str = "ring") -> Network:
    """Neighbours on a ring, a share of ties ``rewired`` to anybody (Watts and Strogatz, 1998)."""
    steps = np.arange(1, max(round(mean_degree / 2), 1) + 1)
    one = np.repeat(np.arange(people), len(steps))
    near = (one + np.tile(steps, people)) % people
    other = np.where(rng.random(len(one)) < rewired, rng.integers(0, people, len(one)), near)
    return Network.from_edges(one, other, n=people, name=name)


def attached(people: int, rng: np.random.Generator, *, mean_degree: float, name: str = "attached") -> Network:
    """Each newcomer ties to people in proportion to their ties so far (Barabási and Albert, 1999)."""
    each = max(round(mean_degree / 2), 1)
    ends = np.empty(2 * each * people, dtype=np.int64)
    ends[: 2 * each] = 0  # the first person, tied to nobody yet
    for newcomer in range(1, people):
        begin = 2 * each * newcomer
        ends[begin : begin + each] = newcomer
        ends[begin + each : begin + 2 * each] = ends[rng.integers(0, begin, each)]
    pairs = ends.reshape(people, 2, each)
    return Network.from_edges(pairs[:, 0].ravel(), pairs[:, 1].ravel(), n=people, name=name)


def _ties(people: int, mean_degree: float) -> int:
    return round(people * mean_degree / 2)
