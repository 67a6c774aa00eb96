"""Turn a score of classes into a choice of people."""

from collections.abc import Callable, Sequence

import numpy as np

from claim.discovery.discovered import Discovered, PersonClass
from claim.networks.network import FloatArray

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


def ranked_apart(
    groups: Sequence[PersonClass], scores: FloatArray, rng: np.random.Generator, count: int, apart: float
) -> list[int]:
    """The best one after another, each choice counting against people with the same contacts.

    Scores are logarithms of what a survey should bring. Whoever shares all contacts with somebody chosen before loses
    ``apart``, whoever shares half of them half of it: a round must not spend itself on the contacts of one person.
    """
    left = [rng.permutation(group.members).tolist() for group in groups]
    contacts = [frozenset(group.contacts) for group in groups]
    worth = np.round(scores, SAME)
    chosen: list[int] = []
    while len(chosen) < min(count, sum(group.size for group in groups)):
        order = np.lexsort((rng.random(len(worth)), -worth))
        best = int(order[0])
        chosen.append(left[best].pop())
        if len(chosen) < count:
            shared = [len(contacts[best] & others) / max(len(others), 1) for others in contacts]
            worth = worth - apart * np.array(shared)
            worth[[not people for people in left]] = -np.inf
    return chosen
