"""Turn a score of classes into a choice of people."""

from collections.abc import Callable

import numpy as np

from claim.discovery.discovered import Discovered, PersonClass

SAME = 12  # digits; equal sums of fractions differ in the last digits, and would be no ties

Score = Callable[[Discovered, PersonClass], float]


def best_scored(discovered: Discovered, score: Score, rng: np.random.Generator, count: int = 1) -> list[int]:
    """The people of the frontier with the highest scores, ties in random order.

    Members of a class have the same score, because nothing seen tells them apart.
    """
    people: list[int] = []
    scores: list[float] = []
    for group in discovered.frontier_classes:
        people.extend(group.members)
        scores.extend([score(discovered, group)] * group.size)
    order = np.lexsort((rng.random(len(people)), -np.round(scores, SAME)))
    return [people[i] for i in order[:count]]
