"""The goal of a study, before any survey (the paper's "Goal Generation Heuristic").

The network is imagined as trees that hang below the start people S: K_1 people in the first layer, and from there on
r = 2 |E| / |V| - 1 people below each person. L layers hold all people:

    |V| = |S| + K_1 (1 + r + ... + r^(L-1))                     so L = log_r(1 + (|V| - |S|)(r - 1) / K_1)
    J   = |S| + K_1 p' (1 + (p' r) + ... + (p' r)^(L-1))        with L real, p' ((p' r)^L - 1) / (p' r - 1)

With K_1 = |S| 2 |E| / |V|, the p' is searched that makes J the average influence; with K_1 = |N(S)|, the contacts that
a study starts from, that p' gives the goal g = J.

Corners, each the limit of the formulas or their closest sensible value:

* r = 1: every layer is alike, L = (|V| - |S|) / K_1. p' r = 1: the sum of J is L.
* r < 1: layers shrink; if even infinitely many do not hold all people (1 + (|V| - |S|)(r - 1) / K_1 <= 0 has no
  logarithm), L is infinite and the sum of J is 1 / (1 - p' r).
* r <= 0: no person has a further contact; one layer.
* K_1 >= |V| - |S|: one layer of |V| - |S| people. K_1 = 0: no layer, J = |S|.
* Average influence at most |S|: p' = 0. At least what p' = 1 gives: p' = 1.
* Fewer people than start people: all are start people, J = |S|.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from claim.discovery import Discovered
from claim.errors import InputError, check_number
from claim.networks import Network

SEARCH_STEPS = 60  # halvings of [0, 1]: more than a double can tell apart


@dataclass(frozen=True)
class GoalHeuristic:
    """Goals from estimates that need no survey: numbers of people and edges, and the average influence."""

    people: float
    edges: float
    average_influence: float
    start_size: int = 5

    def __post_init__(self) -> None:
        check_number(edges=self.edges, average_influence=self.average_influence, start_size=self.start_size)
        check_number(above=True, people=self.people)

    @classmethod
    def of_networks(
        cls, networks: Sequence[Network], average_influence: float | Sequence[float], start_size: int = 5
    ) -> "GoalHeuristic":
        """Averages over a family's networks; the influence is one average, or one a network."""
        if not networks:
            raise InputError("averages need at least one network")
        return cls(
            float(np.mean([network.n for network in networks])),
            float(np.mean([network.m for network in networks])),
            float(np.mean(average_influence)),
            start_size,
        )

    @property
    def branching(self) -> float:
        """r: the people below each person from the first layer on."""
        return max(2 * self.edges / self.people - 1, 0.0)

    @property
    def assumed_first_layer(self) -> float:
        """K_1 where nothing is known of the start people: each has the average number of contacts."""
        return self.start_size * 2 * self.edges / self.people

    def layers(self, first_layer: float, start_size: int | None = None) -> float:
        """L for K_1 people in the first layer: a real number of at least 1, infinite, or 0 if there is no layer."""
        others = self._others(start_size)
        if min(first_layer, others) <= 0:
            return 0.0
        share, r = others / first_layer, self.branching
        if share <= 1 or r <= 0:
            return 1.0
        if r == 1:
            return share
        if share * (r - 1) <= -1:
            return math.inf
        return math.log1p(share * (r - 1)) / math.log1p(r - 1)

    def expected(self, first_layer: float, p_prime: float, start_size: int | None = None) -> float:
        """J for K_1 people in the first layer: the expected number of people reached."""
        size = self.start_size if start_size is None else start_size
        others = self._others(size)
        layers = self.layers(first_layer, size)
        reached = min(first_layer, others) * p_prime * geometric_sum(p_prime * self.branching, layers)
        return size + min(max(reached, 0.0), others)  # the bounds hold but for rounding

    @cached_property
    def p_prime(self) -> float:
        """p': the probability that makes J closest to the average influence; J never falls as p' grows."""
        first_layer = self.assumed_first_layer
        if self.average_influence <= self.expected(first_layer, 0.0):
            return 0.0
        if self.average_influence >= self.expected(first_layer, 1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(SEARCH_STEPS):
            middle = (low + high) / 2
            below = self.expected(first_layer, middle) < self.average_influence
            low, high = (middle, high) if below else (low, middle)
        return (low + high) / 2

    def goal(self, neighbours_of_start: int, start_size: int | None = None) -> float:
        """g for start people with so many contacts (themselves not counted); they may be fewer than assumed."""
        return self.expected(neighbours_of_start, self.p_prime, start_size)

    def _others(self, start_size: int | None) -> float:
        """People who are not start people."""
        return max(self.people - (self.start_size if start_size is None else start_size), 0.0)


def geometric_sum(ratio: float, terms: float) -> float:
    """1 + x + ... + x^(terms - 1), continued to a real or infinite number of terms."""
    if terms <= 0:
        return 0.0
    if ratio == 1:
        return terms
    if ratio <= 0:
        return 1.0
    if math.isinf(terms):
        return 1 / (1 - ratio) if ratio < 1 else math.inf
    return math.expm1(terms * math.log(ratio)) / (ratio - 1)


def goal_of(heuristic: GoalHeuristic, discovered: Discovered) -> tuple[float, float]:
    """g for the start people of a study, and the average influence; at least one person each, so that ratios exist."""
    goal = heuristic.expected(neighbours_of_start(discovered), heuristic.p_prime, len(discovered.start))
    return max(goal, 1.0), max(heuristic.average_influence, 1.0)


def reward(influence: float, goal: float) -> float:
    """R_{T,g} = (I - g) / g, paid after the last survey."""
    return (influence - goal) / goal


def neighbours_of_start(discovered: Discovered) -> int:
    """|N(S)|: people who are contacts of start people and not start people themselves."""
    start = set(discovered.start)
    return len({contact for person in start for contact in discovered.contacts[person]} - start)
