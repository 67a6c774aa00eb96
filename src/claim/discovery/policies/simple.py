"""Survey policies of a few lines: random, by degree, snowball, and a reference that sees everything."""

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum

import numpy as np

from claim.discovery.discovered import Discovered, Status
from claim.discovery.protocols import best_scored, highest
from claim.discovery.ranking import Buckets, Ranking, Score, is_large
from claim.discovery.reasons import lonely_namer, popular_namer, who_named
from claim.messages import Message

BY_CHANCE = Message("drawn by chance")


class RandomPerson:
    """Every person of the frontier is equally likely (the paper's Random)."""

    name = "random"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A random sample of the frontier."""
        waiting = len(discovered.waiting)
        places = rng.choice(waiting, min(count, waiting), replace=False).tolist() if waiting else []
        return [discovered.waiting_at(place) for place in places]

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """Who named this person, and that the choice was random."""
        return [who_named(discovered, person), BY_CHANCE]


class RandomClass(RandomPerson):
    """Every class is equally likely, however many people it has: the baseline of class-based policies."""

    name = "random-class"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """A member of one random class after another; classes come round again once all had their turn."""
        if is_large(discovered):
            return Ranking.of(discovered, None).choose(discovered, rng, count)
        waiting = [rng.permutation(group.members).tolist() for group in discovered.frontier_classes]
        chosen: list[int] = []
        while waiting and len(chosen) < count:
            for i in rng.permutation(len(waiting))[: count - len(chosen)]:
                chosen.append(waiting[i].pop())
            waiting = [members for members in waiting if members]
        return chosen


@dataclass(frozen=True)
class DegreeRule:
    """Surveys the person of the highest score, ties at random; ``sign`` finds reasons in who named a person."""

    name: str
    score: Score
    sign: Callable[[Discovered, list[int]], list[Message]] | None = None

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people of the highest scores."""
        return best_scored(discovered, self.score, rng, count)

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """Who named this person, and what the score is based on."""
        found = self.sign(discovered, discovered.surveyed_contacts(person)) if self.sign else []
        return [who_named(discovered, person), *found]


def namer_degrees(discovered: Discovered, person: int) -> list[int]:
    """d(w) for every surveyed contact w of a person."""
    contacts, status, surveyed = discovered.contacts, discovered.status, Status.SURVEYED
    return [len(contacts[w]) for w in contacts[person] if status[w] is surveyed]


def named_by_many(discovered: Discovered, person: int) -> float:
    """od(u) = |N(u)|: how many surveyed people named them."""
    return float(len(namer_degrees(discovered, person)))


def named_by_the_lonely(discovered: Discovered, person: int) -> float:
    """The sum of 1/d(w): the only contact of a person is likely a hub."""
    return fsum([1.0 / d for d in namer_degrees(discovered, person)])


def named_by_many_and_lonely(discovered: Discovered, person: int) -> float:
    """od(u) plus the sum of 1/d(w)."""
    return fsum([1.0 + 1.0 / d for d in namer_degrees(discovered, person)])


def named_by_the_popular(discovered: Discovered, person: int) -> float:
    """The largest d(w): a contact of the best connected surveyed person."""
    return float(max(namer_degrees(discovered, person), default=0))


def marked_by_many(discovered: Discovered, person: int) -> float:
    """By how many surveyed people they were said to know the most people."""
    return float(len(discovered.marked_by(person)))


MAX_DEGREE = DegreeRule("max-degree", named_by_many)
MOST_MARKED = DegreeRule("most-marked", marked_by_many)
INVERSE_DEGREE = DegreeRule("inverse-degree", named_by_the_lonely, lonely_namer)
DEGREE_PLUS_INVERSE = DegreeRule("degree+inverse", named_by_many_and_lonely, lonely_namer)
MAX_CONTACT = DegreeRule("max-contact", named_by_the_popular, popular_namer)


WAVE_BY_WAVE = Message("people nearer to the start come first, those equally near in random order")


class Snowball:
    """Surveys wave by wave, in random order within a wave."""

    name = "snowball"

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """Random people of the earliest waves."""
        if is_large(discovered):
            return discovered.kept(self.name, Buckets).choose(discovered, lambda who: -discovered.wave[who], rng, count)
        frontier = discovered.frontier
        return highest(frontier, [-discovered.wave[person] for person in frontier], rng, count)

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """Who named this person, and how waves come one after the other."""
        return [who_named(discovered, person), WAVE_BY_WAVE]


@dataclass(frozen=True)
class Clairvoyant:
    """A reference that sees true degrees: what surveys could be worth at most."""

    true_degree: Callable[[int], int] | None = None
    name: str = "clairvoyant"
    reference = True

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people of the highest true degree, ties at random."""
        if self.true_degree is None:
            raise ValueError("clairvoyant needs the true degrees of a simulated study")
        if is_large(discovered):
            return discovered.kept(self, Buckets).choose(discovered, self.true_degree, rng, count)
        return highest(discovered.frontier, list(map(self.true_degree, discovered.frontier)), rng, count)
