"""A reference, not a policy: surveys whoever really has the most contacts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from claim.discovery.discovered import Discovered


@dataclass(frozen=True)
class Clairvoyant:
    """Knows true degrees, which the referee shows it; no policy could. It tells how much surveys could be worth."""

    true_degree: Callable[[int], int] | None = None
    name: str = "clairvoyant"
    reference = True

    def shown(self, true_degree: Callable[[int], int]) -> "Clairvoyant":
        """The same reference with sight of the hidden degrees of one study."""
        return Clairvoyant(true_degree)

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people of the highest true degree, ties at random."""
        if self.true_degree is None:
            raise ValueError("the clairvoyant is a reference: it only exists where a referee shows it the network")
        frontier = discovered.frontier
        degrees = np.array([self.true_degree(person) for person in frontier])
        order = np.lexsort((rng.random(len(frontier)), -degrees))
        return [frontier[i] for i in order[:count]]
