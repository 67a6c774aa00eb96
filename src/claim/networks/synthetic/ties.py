"""What all generators share: distinct ties, drawn batch by batch until the mean degree is reached.

Only ``Generator.random`` is used, never ``normal``, ``choice`` or ``permutation``: numpy may change how those turn bits
into values, and a named network has to stay the same network.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.networks.network import FloatArray, Network

People: TypeAlias = npt.NDArray[np.int64]
Pairs: TypeAlias = tuple[People, People]

MOST_ROUNDS = 100  # batches of proposals; a network that is nearly complete may stay a few ties short


class Ties:
    """Distinct undirected ties among ``n`` people, never more than the mean degree asks for.

    Shares are shares of the number of ties wanted in the end.
    """

    def __init__(self, n: int, mean_degree: float) -> None:
        if n < 1:
            raise InputError(f"a network needs at least one person, not {n}")
        if not 0 <= mean_degree < float("inf"):
            raise InputError(f"the mean degree must be a number from 0 up, not {mean_degree}")
        self.n = n
        self.wanted = min(round(n * mean_degree / 2), n * (n - 1) // 2)
        self._codes: People = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, one: People, other: People, share: float = 1.0) -> None:
        """Add pairs in their order, up to a share of new ones; loops and known ties are passed over."""
        codes = (np.minimum(one, other) * self.n + np.maximum(one, other))[one != other]
        codes = codes[np.sort(np.unique(codes, return_index=True)[1])]
        fresh = codes[~np.isin(codes, self._codes)]
        self._codes = np.concatenate([self._codes, fresh[: self._room(share)]])

    def fill(self, propose: Callable[[int], Pairs], share: float = 1.0, least: float = 0.02) -> None:
        """Add a share of proposed ties, or fewer once hardly any proposal (below ``least``) brings something new."""
        full = len(self) + self._room(share)
        for _ in range(MOST_ROUNDS):
            missing = full - len(self)
            if missing == 0:
                return
            number = 2 * missing + 16
            one, other = propose(number)
            self.add(one, other, missing / self.wanted)
            if missing - (full - len(self)) < least * number:
                return

    def fill_evenly(self, rng: np.random.Generator) -> None:
        """Add what is still missing between people drawn at random."""
        self.fill(lambda number: (uniform(rng, self.n, number), uniform(rng, self.n, number)), least=0.0)

    def network(self, rng: np.random.Generator, name: str) -> Network:
        """The network, with people in random order so that an index tells nothing of somebody's part in it."""
        place = shuffled(rng, self.n)
        return Network.from_edges(place[self._codes // self.n], place[self._codes % self.n], n=self.n, name=name)

    def _room(self, share: float) -> int:
        return min(self.wanted - len(self), round(share * self.wanted))


def check_shares(**shares: float) -> None:
    """Refuse what is not between 0 and 1."""
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(f"{name} must be between 0 and 1, not {share}")


def check_positive(**numbers: float) -> None:
    """Refuse what is not above 0."""
    for name, number in numbers.items():
        if not 0 < number < float("inf"):
            raise InputError(f"{name} must be above 0, not {number}")


def shuffled(rng: np.random.Generator, n: int) -> People:
    """The numbers ``0..n-1`` in random order."""
    return np.argsort(rng.random(n), kind="stable").astype(np.int64)


def uniform(rng: np.random.Generator, below: int | People, number: int) -> People:
    """Random whole numbers ``0 <= x < below``; ``below`` is one number or one for each draw."""
    return (rng.random(number) * below).astype(np.int64)


def weighted(rng: np.random.Generator, weights: FloatArray, number: int) -> People:
    """Random positions, each as likely as its weight says."""
    return below_heap(rng, np.cumsum(weights), np.full(number, len(weights)))


def below_heap(rng: np.random.Generator, heaps: FloatArray, ends: People) -> People:
    """One random position before each of ``ends``, as likely as the weights whose running sums are ``heaps``."""
    return np.searchsorted(heaps, rng.random(len(ends)) * heaps[ends - 1], side="right").astype(np.int64)


def skewed(rng: np.random.Generator, tail: float, number: int) -> FloatArray:
    """Pareto-distributed weights from 1 up; the larger ``tail``, the further a few stand out (0: all alike)."""
    return np.asarray((1.0 - rng.random(number)) ** -tail)
