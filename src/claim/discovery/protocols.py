"""What a survey policy and a leader selector have to offer, and how policies rank people."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypedDict, Unpack

import numpy as np

from claim.discovery.discovered import Discovered, PersonClass
from claim.discovery.ranking import SAME, Ranking, Score, is_large
from claim.networks.network import FloatArray


class Policy(Protocol):
    """Says whom to survey next, from what has been discovered and nothing else.

    Two more methods may be there: ``for_study(interviews, p)`` returns the policy for a study of so many interviews,
    and ``select``, as of a :class:`Selector`, chooses its own leaders.
    """

    @property
    def name(self) -> str:
        """What the policy is called on the command line and in results."""
        ...

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """Up to ``count`` different people of the frontier, best first; fewer only if the frontier is smaller.

        If ``discovered.open``, ``NEW`` may stand in the place of any of them: interview a new person.
        """
        ...


class Limits(TypedDict, total=False):
    """Candidates (indices): the only people to choose from (None: all), leaders in any case, leaders in no case."""

    may: Iterable[int] | None
    must: Iterable[int]
    must_not: Iterable[int]


class Selector(Protocol):
    """Says whom to recruit as leaders, from what has been discovered and nothing else."""

    @property
    def name(self) -> str:
        """What the selector is called on the command line and in results."""
        ...

    def select(self, discovered: Discovered, k: int, rng: np.random.Generator, **limits: Unpack[Limits]) -> list[int]:
        """Up to ``k`` leaders, best first."""
        ...


def best_scored(discovered: Discovered, score: Score, rng: np.random.Generator, count: int = 1) -> list[int]:
    """The people of the frontier with the highest scores, ties in random order.

    Members of a class have the same score.
    """
    if is_large(discovered):
        return Ranking.of(discovered, score).choose(discovered, rng, count)
    groups = discovered.frontier_classes
    people = [person for group in groups for person in group.members]
    scores = [score(discovered, group.members[0]) for group in groups for _ in group.members]
    return highest(people, scores, rng, count)


def highest(people: Sequence[int], scores: Sequence[float], rng: np.random.Generator, count: int) -> list[int]:
    """The ``count`` people with the highest scores, ties in random order."""
    order = np.lexsort((rng.random(len(people)), -np.round(scores, SAME)))
    return [people[i] for i in order[:count]]


def ranked_apart(
    groups: Sequence[PersonClass], scores: FloatArray, rng: np.random.Generator, count: int, apart: float
) -> list[int]:
    """The best people one after another; each choice lowers the scores of people with the same contacts.

    Scores are logarithms of the expected yield of a survey. A person whose contacts are all shared with a person chosen
    before loses ``apart``, in proportion for fewer: so a round is not spent on the contacts of one person.
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
