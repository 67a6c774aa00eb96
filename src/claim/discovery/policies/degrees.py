"""Rules of one line: whom the seen degrees speak for.

Of a person not surveyed only the surveyed contacts N(u) are known; d(w) is the known degree of a surveyed person w.
"""

from dataclasses import dataclass

import numpy as np

from claim.discovery.discovered import Discovered, PersonClass, Status
from claim.discovery.ranking import Score, best_scored
from claim.discovery.reasons import Sign


@dataclass(frozen=True)
class DegreeRule:
    """Surveys whoever scores highest, ties at random; ``signs`` are what it goes by beside the number of namers."""

    name: str
    score: Score
    signs: tuple[Sign, ...] = ()

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people of the highest scores."""
        return best_scored(discovered, self.score, rng, count)


def namer_degrees(discovered: Discovered, group: PersonClass) -> list[int]:
    """d(w) for every surveyed contact w of the people of a class."""
    return [discovered.degree(w) for w in group.contacts if discovered.status[w] == Status.SURVEYED]


def named_by_many(discovered: Discovered, group: PersonClass) -> float:
    """od(u) = |N(u)|: how many surveyed people named them."""
    return float(len(namer_degrees(discovered, group)))


def named_by_the_lonely(discovered: Discovered, group: PersonClass) -> float:
    """The sum of 1/d(w): somebody's only contact is likely a hub."""
    return sum(1.0 / d for d in namer_degrees(discovered, group))


def named_by_many_and_lonely(discovered: Discovered, group: PersonClass) -> float:
    """od(u) plus the sum of 1/d(w)."""
    return sum(1.0 + 1.0 / d for d in namer_degrees(discovered, group))


def named_by_the_popular(discovered: Discovered, group: PersonClass) -> float:
    """The largest d(w): a contact of the best connected surveyed person."""
    return float(max(namer_degrees(discovered, group), default=0))


MAX_DEGREE = DegreeRule("max-degree", named_by_many)
INVERSE_DEGREE = DegreeRule("inverse-degree", named_by_the_lonely, ("lonely namer",))
DEGREE_PLUS_INVERSE = DegreeRule("degree+inverse", named_by_many_and_lonely, ("lonely namer",))
MAX_CONTACT = DegreeRule("max-contact", named_by_the_popular, ("popular namer",))
