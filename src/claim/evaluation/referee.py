"""The referee knows the hidden network and says how many people the chosen leaders reach."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from claim.cascades import EdgeCoins, Worlds, play_cascades
from claim.cascades.influence import check_people
from claim.networks import Network
from claim.selection import Candidates, select

OPTIMUM_SAMPLES = 4000  # worlds OPT is chosen with: fewer leave people on the table in small networks
MOST_STORED = 40_000_000  # memberships kept in memory; beyond that cascades are played on the same coins instead
ATTENDANCE_DRAWS = 200  # of who comes, where cascades are played; kept worlds need none


class Referee:
    """Judges all leader sets on the same worlds, which no selector has seen.

    Leaders come with probability ``attendance`` each, and what counts is the mean over who comes. With ``keep`` the
    worlds are stored, which pays off for a referee who judges many leader sets.
    """

    def __init__(
        self, network: Network, p: float, samples: int, seed: int, attendance: float = 1.0, keep: bool = True
    ) -> None:
        self.network, self.p, self.samples, self.seed, self.attendance = network, p, samples, seed, attendance
        self._worlds: Worlds | None = None
        if keep and not network.directed:
            coins = EdgeCoins.of(network, p)
            if 2 * coins.expected_live * samples <= MOST_STORED:
                self._worlds = Worlds.from_coins(coins, samples, seed)

    def influence(self, leaders: Iterable[int]) -> float:
        """The mean number of people reached."""
        if self.attendance < 1:
            return self._influence_of_those_who_come(list(leaders))
        if self._worlds is not None:
            return self._worlds.influence(leaders).mean
        reach, _ = play_cascades(self.network, leaders, self.p, self.samples, self.seed)
        return float(reach.mean())

    def optimum(self, k: int, rng: np.random.Generator) -> float:
        """OPT: what the greedy oracle reaches when it sees the whole network."""
        if self.attendance < 1 and self._worlds is not None:
            from claim.selection.hedged import hedged_greedy  # loads foresight's kernels, which few need here

            everybody = Candidates.of(self.network.n, k)
            leaders = hedged_greedy(self.network, everybody, k, (self.p,), self.attendance, OPTIMUM_SAMPLES, rng)
            return self.influence(leaders)
        return self.influence(select(self.network, k, self.p, OPTIMUM_SAMPLES, rng).leaders)

    def _influence_of_those_who_come(self, leaders: list[int]) -> float:
        if self._worlds is not None:
            return mean_over_attendance(self._worlds, leaders, self.attendance)
        comes = {who: np.random.default_rng((self.seed, who)).random(ATTENDANCE_DRAWS) for who in leaders}
        reached = 0.0
        for draw in range(ATTENDANCE_DRAWS):
            there = [who for who in leaders if comes[who][draw] < self.attendance]
            samples = max(self.samples // ATTENDANCE_DRAWS, 1)
            reached += play_cascades(self.network, there, self.p, samples, self.seed ^ draw)[0].mean()
        return reached / ATTENDANCE_DRAWS


def mean_over_attendance(worlds: Worlds, leaders: Iterable[int], attendance: float) -> float:
    """The mean reach when every leader comes with the same probability, exact in each world.

    A component with j leaders in it is reached unless all j stay away.
    """
    chosen = check_people(worlds.n, leaders).tolist()
    offsets = worlds.member_offsets
    parts = [worlds.member_numbers[offsets[who] : offsets[who + 1]] for who in chosen]
    numbers = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    components, leading = np.unique(numbers, return_counts=True)
    people = worlds.starts[components + 1] - worlds.starts[components]
    alone = len(chosen) * worlds.samples - len(numbers)
    reached = (people * (1.0 - (1.0 - attendance) ** leading)).sum() + attendance * alone
    return float(reached / worlds.samples)


@lru_cache(maxsize=2)  # jobs come network by network, and each referee holds tens of megabytes
def referee_for(network: Network, p: float, samples: int, seed: int, attendance: float = 1.0) -> Referee:
    """The referee of a network, kept for the next job of the same process."""
    return Referee(network, p, samples, seed, attendance)
