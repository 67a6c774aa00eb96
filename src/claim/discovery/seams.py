"""The two seams of the software: what a survey policy and a leader selector have to offer."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from claim.discovery.discovered import Discovered


class Policy(Protocol):
    """Says whom to survey next, from what has been discovered and nothing else."""

    @property
    def name(self) -> str:
        """What the policy is called on the command line and in results."""
        ...

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """Up to ``count`` different people of the frontier, best first; fewer only if the frontier is smaller."""
        ...


class Selector(Protocol):
    """Says whom to recruit as leaders, from what has been discovered and nothing else."""

    @property
    def name(self) -> str:
        """What the selector is called on the command line and in results."""
        ...

    def select(
        self,
        discovered: Discovered,
        k: int,
        rng: np.random.Generator,
        *,
        may: Iterable[int] | None = None,
        must: Iterable[int] = (),
        must_not: Iterable[int] = (),
    ) -> list[int]:
        """Up to ``k`` leaders, best first."""
        ...
