"""The referee knows the hidden network and says how many people the chosen leaders reach."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from claim.cascades import EdgeCoins, Worlds, play_cascades
from claim.networks import Network
from claim.selection import select

OPTIMUM_SAMPLES = 4000  # worlds OPT is chosen with: fewer leave people on the table in small networks
MOST_STORED = 40_000_000  # memberships kept in memory; beyond that cascades are played on the same coins instead


class Referee:
    """Judges all leader sets on the same worlds, which no selector has seen."""

    def __init__(self, network: Network, p: float, samples: int, seed: int) -> None:
        self.network, self.p, self.samples, self.seed = network, p, samples, seed
        self._worlds: Worlds | None = None
        if not network.directed:
            coins = EdgeCoins.of(network, p)
            if 2 * coins.expected_live * samples <= MOST_STORED:
                self._worlds = Worlds.from_coins(coins, samples, seed)

    def influence(self, leaders: Iterable[int]) -> float:
        """The mean number of people reached."""
        if self._worlds is not None:
            return self._worlds.influence(leaders).mean
        reach, _ = play_cascades(self.network, leaders, self.p, self.samples, self.seed)
        return float(reach.mean())

    def optimum(self, k: int, rng: np.random.Generator) -> float:
        """OPT: what the greedy oracle reaches when it sees the whole network."""
        return self.influence(select(self.network, k, self.p, OPTIMUM_SAMPLES, rng).leaders)


@lru_cache(maxsize=2)  # jobs come network by network, and each referee holds tens of megabytes
def referee_for(network: Network, p: float, samples: int, seed: int) -> Referee:
    """The referee of a network, kept for the next job of the same process."""
    return Referee(network, p, samples, seed)
