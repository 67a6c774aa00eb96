"""Survey, or recruit more leaders? The reach of leaders who are drawn, and how many of them equal the chosen ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from claim.cascades import Worlds
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray
from claim.planning.settings import PlanSettings
from claim.planning.verdicts import MeanInterval, Verdict

ONE_HOP = "one-hop"
DRAWS = ("random", ONE_HOP)  # random people; random contacts of random people
STEPS = 48  # numbers of leaders that are tried, in equal ratios


def leader_numbers(people: int) -> OffsetArray:
    """Numbers of leaders from 1 to the number of people, in about equal ratios."""
    return np.unique(np.geomspace(1, people, STEPS).round().astype(np.int64))


def drawn_reach(network: Network, worlds: Worlds, numbers: OffsetArray) -> FloatArray:
    """The mean reach of so many drawn leaders (ways of drawing, numbers), exact in each world.

    Leaders are drawn independently, so that a person may be drawn twice. One-hop: a random person names one of their
    contacts at random; a person without contacts names no leader.
    """
    random = np.full(network.n, 1.0 / network.n)
    return np.array([_mean_reach(worlds, chances, numbers) for chances in (random, one_hop_chances(network))])


def one_hop_chances(network: Network) -> FloatArray:
    """The probability of each person to be the random contact of a random person: 1 / (n d) summed over contacts."""
    as_contact = np.repeat(1.0 / (network.n * np.maximum(network.degrees, 1)), network.degrees)
    chances: FloatArray = np.bincount(network.contacts, as_contact, network.n).astype(np.float64)
    return chances


def _mean_reach(worlds: Worlds, chances: FloatArray, numbers: OffsetArray) -> FloatArray:
    """The sum of s (1 - (1 - q)^number) over components of size s, drawn with probability q, per world (numbers,)."""
    totals = np.concatenate([[0.0], np.cumsum(chances[worlds.members])])
    alone = worlds.samples - np.diff(worlds.member_offsets)  # worlds in which each person is a component of their own
    sizes = np.concatenate([np.diff(worlds.starts), alone])
    drawn = np.minimum(np.concatenate([np.diff(totals[worlds.starts]), chances]), 1.0)
    missed = np.array([sizes @ (1.0 - drawn) ** number for number in numbers], dtype=np.float64)
    reach: FloatArray = (sizes.sum() - missed) / worlds.samples
    return reach


@dataclass(frozen=True)
class MoreLeaders:
    """How many drawn leaders reach as many people as the chosen ones after so many interviews, and which pays.

    There are at most as many ``leaders`` as people. The interviews pay if a leader costs more than ``break_even``
    interviews; None: never, as no more drawn leaders are needed than chosen ones. A one-hop leader costs an interview
    as well, with the person who names them. ``verdict`` is on the interviews at the costs given. Ranges are 95 %
    intervals, at once for all rows of a way.
    """

    way: str
    interviews: int
    drawn: str  # "random" or "one-hop"
    verdict: Verdict
    leaders: float
    leaders_low: float
    leaders_high: float
    break_even: float | None
    break_even_low: float | None
    break_even_high: float | None


def compare_with_drawn(
    reach: FloatArray, drawn: FloatArray, people: int, numbers: Sequence[int], way: str, settings: PlanSettings
) -> Iterator[MoreLeaders]:
    """Compare the reach of the chosen leaders with that of drawn ones on the same networks.

    ``reach`` is (networks, numbers of interviews), ``drawn`` (networks, ways of drawing, numbers of leaders).
    """
    tests = len(numbers) * len(DRAWS)
    for i, interviews in enumerate(numbers):
        for j, draw in enumerate(DRAWS):
            ahead = [MeanInterval.of(each, tests) for each in (reach[:, i, None] - drawn[:, j]).T]
            ends = [[each.mean for each in ahead], [each.low for each in ahead], [each.high for each in ahead]]
            leaders, low, high = (_falls_to_zero(leader_numbers(people), values) for values in ends)
            costs = _Costs(interviews, draw == ONE_HOP, settings)
            even = (costs.break_even(number) for number in (leaders, high, low))
            yield MoreLeaders(way, interviews, draw, costs.verdict(low, high), leaders, low, high, *even)


def _falls_to_zero(numbers: OffsetArray, values: Sequence[float]) -> float:
    """The number at which the values fall to 0, by linear interpolation; at most the last one."""
    below = np.flatnonzero(np.array(values) <= 0)
    if not len(below):
        return float(numbers[-1])
    last = slice(max(below[0] - 1, 0), below[0] + 1)
    return float(np.interp(0, values[last][::-1], numbers[last][::-1]))


class _Costs:
    """The costs of so many interviews and the chosen leaders, and of any number of drawn leaders."""

    def __init__(self, interviews: int, asks: bool, settings: PlanSettings) -> None:
        self.interviews, self.chosen = interviews, settings.leaders
        self.asks = float(asks)  # interviews for each drawn leader
        self.survey, self.leader = settings.cost_survey or 0.0, settings.cost_leader or 0.0

    def break_even(self, drawn: float) -> float | None:
        """The cost of a leader, in interviews, beyond which interviews pay; None: they never do."""
        more = drawn - self.chosen
        return max(self.interviews - self.asks * drawn, 0.0) / more if more > 0 else None

    def pays(self, drawn: float) -> bool:
        """Whether interviews and chosen leaders cost less than so many drawn leaders, who must be more."""
        chosen = self.interviews * self.survey + self.chosen * self.leader
        return drawn > self.chosen and chosen < drawn * (self.leader + self.asks * self.survey)

    def verdict(self, low: float, high: float) -> Verdict:
        """The verdict on the interviews, if from ``low`` to ``high`` drawn leaders reach as many people."""
        if self.pays(low):
            return "worth it"
        return "not clear" if self.pays(high) else "not worth it"
