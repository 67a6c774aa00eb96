"""What a method of selection is given, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from claim.networks import Network
from claim.networks.network import OffsetArray
from claim.selection.candidates import Candidates, Ties, tie_priority


@dataclass(frozen=True)
class Task:
    """Choose ``k`` leaders of the network among the candidates."""

    network: Network
    candidates: Candidates
    k: int
    p: float
    samples: int
    rng: np.random.Generator
    ties: Ties = "random"

    def priority(self) -> OffsetArray:
        """Who wins a tie: the person of the highest number."""
        return tie_priority(self.network.n, self.ties, self.rng)


@dataclass(frozen=True)
class Chosen:
    """Leaders (indices, in the order of choice) and, where a method proves one, its share of the best possible."""

    leaders: list[int]
    guarantee: float | None = None


Method: TypeAlias = Callable[[Task], Chosen]
