"""Goals that are proven upper bounds of what a study can reach, and one constant goal; the proof is in docs/bounds.md.

With leaders L and the people R that they reach, each new person takes one successful coin of probability p on a tie
with an end in R, no tie has more than one coin, and a person v who does not lead is reached only if one of their d_v
ties is live. With q_v the chance that v is reached:

    sum of q_v over v not in L  <=  p (sum of q_v d_v over all v  -  sum of q_v over v not in L)
    q_v <= c_v = 1 - (1 - p)^d_v for v not in L,      q_v <= 1 in L

By weak duality, for every price >= 0 of the first line the influence is at most

    sum of g_v over all v  +  the k largest of 1 + price p d_v - g_v,      g_v = c_v max(0, 1 - price (1 + p - p d_v))

The degrees of start people are seen; the i-th largest of the others is at most the i-th of the assumed largest degrees.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claim.cascades.influence import check_probability
from claim.discovery import Discovered
from claim.errors import InputError
from claim.learning.goals import neighbours_of_start
from claim.networks import Network
from claim.networks.network import FloatArray, OffsetArray

SEARCH_STEPS = 60
HIGHEST_PRICE = 1e3  # of those that are tried; every price gives a bound


@dataclass(frozen=True)
class InfluenceBound:
    """Upper bounds from estimates: numbers of people and edges, and how large the largest degrees are at most.

    ``largest`` starts with the largest degree; whoever comes after its end has at most the last one. A single number is
    the largest degree and nothing else. ``average_influence`` is what rewards are measured in, as for the heuristic.
    """

    people: float
    edges: float
    largest: tuple[float, ...]
    average_influence: float
    budget: int = 5
    leaders: int = 10
    p: float = 0.1

    def __post_init__(self) -> None:
        check_probability(self.p)
        for name in ("people", "edges", "average_influence", "budget", "leaders"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"the estimate of {name} must be a number of at least 0, not {value}")
        ordered = all(one >= other for one, other in zip(self.largest, self.largest[1:], strict=False))
        if not self.largest or not ordered or not (self.largest[-1] >= 0 and math.isfinite(self.largest[0])):
            raise InputError("the largest degrees are numbers of at least 0, the largest first")

    @classmethod
    def of_networks(
        cls,
        networks: Sequence[Network],
        average_influence: float | Sequence[float],
        budget: int = 5,
        leaders: int = 10,
        p: float = 0.1,
    ) -> "InfluenceBound":
        """What holds for all of some networks: the most people and edges, the largest degree of every rank."""
        if not networks:
            raise InputError("a bound needs at least one network")
        for network in networks:
            if not network.n or network.directed or network.probabilities is not None:
                needed = "people, contacts that go both ways and one probability for all of them"
                raise InputError(f"{network.name}: the bound is for networks that have {needed}")
        people = max(network.n for network in networks)
        largest = np.zeros(people)
        for network in networks:
            largest[: network.n] = np.maximum(largest[: network.n], np.sort(network.degrees)[::-1])
        edges = max(network.m for network in networks)
        told = largest[: int((largest > largest[-1]).sum()) + 1]  # the last one stands for all that follow
        return cls(people, edges, tuple(told.tolist()), float(np.mean(average_influence)), budget, leaders, p)

    def goal_for(self, discovered: Discovered) -> float:
        """The bound for the start people of a study."""
        degrees = [discovered.degree(person) for person in discovered.start]
        return self.bound(degrees, neighbours_of_start(discovered))

    def bound(self, start_degrees: Sequence[int], neighbours: int) -> float:
        """The most people that can be reached on average, for start people with these degrees and contacts.

        No choice of surveys and of leaders among the people discovered reaches more, as long as the estimates hold.
        """
        size = len(start_degrees)
        if neighbours == 0:
            return float(size)  # nobody else can be heard of or reached
        known = np.asarray(start_degrees, dtype=float)
        others = np.unique(self._others()[: max(math.ceil(self.people) - size, neighbours)], return_counts=True)
        most_others = math.floor(min(self.leaders, self._discoverable(neighbours)))
        low, high = 0.0, HIGHEST_PRICE
        for _ in range(SEARCH_STEPS):  # the bound is convex in the price, and holds for every price
            prices = low + (high - low) / 3, high - (high - low) / 3
            one, other = (self._at_price(price, known, *others, most_others) for price in prices)
            low, high = (prices[0], high) if one > other else (low, prices[1])
        found = self._at_price(high, known, *others, most_others)
        return min(found, self.leaders + self.p * self.edges, max(self.people, size + neighbours))

    def _others(self) -> FloatArray:
        """The assumed largest degrees, one a person."""
        count = max(math.ceil(self.people), len(self.largest))
        rest = [self.largest[-1]] * (count - len(self.largest))
        return np.array([*self.largest, *rest])

    def _discoverable(self, neighbours: int) -> float:
        """How many people can be heard of: the contacts of the start people and of those surveyed."""
        return neighbours + float(np.maximum(self._others()[: self.budget] - 1.0, 0.0).sum())

    def _at_price(
        self, price: float, known: FloatArray, degrees: FloatArray, people: OffsetArray, most_others: int
    ) -> float:
        """The bound for one price; ``people`` says how many of the others have each degree."""
        worth_known, lead_known = self._worths(price, known)
        worth_others, lead_others = self._worths(price, degrees)
        best_others = np.sort(np.repeat(lead_others, np.minimum(people, most_others)))[::-1][:most_others]
        lead = np.sort(np.concatenate([lead_known, best_others]))[::-1][: self.leaders]
        return float(worth_known.sum() + worth_others @ people + lead.sum())

    def _worths(self, price: float, degrees: FloatArray) -> tuple[FloatArray, FloatArray]:
        """g_v, and what v adds by leading."""
        reached = 1.0 - (1.0 - self.p) ** degrees
        worth = reached * np.maximum(0.0, 1.0 - price * (1.0 + self.p - self.p * degrees))
        return worth, 1.0 + price * self.p * degrees - worth


@dataclass(frozen=True)
class ConstantGoal:
    """One goal for all start people, whatever is seen of them."""

    value: float
    average_influence: float

    def goal_for(self, discovered: Discovered) -> float:
        """The goal."""
        return self.value
