"""What the answers so far tell: of each person surveyed, of each class that could be surveyed next, of the study.

Every signal is a share, a logarithm or a ratio to the study's own average, so that it means the same on every network.
Only the order of the surveys and the contacts named are used: who stood at the start of the study does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from claim.discovery.discovered import Discovered, PersonClass
from claim.networks.network import FloatArray, IntArray

CLASS = (
    "namers", "lonely namers", "loneliest namer", "namers' contacts", "most contacts", "named twice around",
    "news of namers", "news nearby", "contacts nearby", "asked around", "namers who know each other", "alike",
    "share alike",
)  # fmt: skip
STUDY = ("closure", "mixing", "contacts found", "surveys", "unequal", "news")

DOUBT_COMMON, DOUBT_POSSIBLE = 0.4, 4.0  # contacts of contacts: a tenth in common until more is seen
DOUBT_MIXING = 4.0  # pairs of unlike contacts that stand against what a few answers show
DOUBT_FOUND = 2.0  # answers that the average counts for


@dataclass(frozen=True)
class Answers:
    """The surveyed people in the order of their surveys.

    ``news`` counts the contacts nobody had named before, ``earlier`` the people who had named them when asked.
    ``pairs`` are the surveyed people who know each other, the later one first.
    """

    place: dict[int, int]
    contacts: list[set[int]]
    degree: FloatArray
    news: FloatArray
    earlier: FloatArray
    pairs: IntArray

    @classmethod
    def of(cls, discovered: Discovered) -> "Answers":
        """Gathered in one pass over the answers."""
        place = {person: i for i, person in enumerate(discovered.surveyed)}
        contacts = [set(discovered.contacts[person]) for person in discovered.surveyed]
        heard: set[int] = set()
        news, pairs = [], []
        for i, (person, named) in enumerate(zip(discovered.surveyed, contacts, strict=True)):
            heard.add(person)
            before = len(heard)
            heard |= named
            news.append(len(heard) - before)
            pairs += [(i, place[other]) for other in named if place.get(other, i) < i]
        known = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        earlier = np.bincount(known[:, 0], minlength=len(news)).astype(np.float64)
        degree = np.array([len(named) for named in contacts], dtype=np.float64)
        return cls(place, contacts, degree, np.array(news, dtype=np.float64), earlier, known)

    @property
    def reached(self) -> IntArray:
        """Those who had been named when they were asked: what a survey of a contact brings is learnt from them."""
        return np.flatnonzero(self.earlier > 0).astype(np.int32)


def study_signals(answers: Answers) -> FloatArray:
    """One number for each name of ``STUDY``."""
    reached = answers.reached
    unseen = np.maximum(answers.degree - answers.earlier, 0.0)[reached]
    expected = _average(unseen, _expected_excess(answers))
    spread = _average((unseen / max(expected, 0.5) - 1.0) ** 2, 1.0)
    news = (answers.news[reached].sum() + DOUBT_FOUND) / (unseen.sum() + DOUBT_FOUND)
    return np.array(
        [_closure(answers), _mixing(answers), np.log1p(expected), np.log1p(len(reached)), np.log1p(spread), news]
    )


def class_signals(answers: Answers, groups: Sequence[PersonClass]) -> FloatArray:
    """A row for each class, a column for each name of ``CLASS``; all classes must have a surveyed contact."""
    named = [[answers.place[w] for w in group.contacts if w in answers.place] for group in groups]
    count = np.array([len(namers) for namers in named])
    of_class = np.repeat(np.arange(len(groups)), count)
    namer = np.array([w for namers in named for w in namers], dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(count)[:-1]])
    degree = np.maximum(answers.degree, 1.0)
    level = np.log(degree) - np.log1p(_average(answers.degree[answers.reached], _expected_excess(answers)))

    def mean(values: FloatArray) -> FloatArray:
        average: FloatArray = np.bincount(of_class, weights=values[namer], minlength=len(groups)) / count
        return average

    size = np.array([group.size for group in groups], dtype=np.float64)
    children = np.bincount(answers.pairs[:, 1], minlength=len(degree)).astype(np.float64)
    excess = np.maximum(answers.degree - answers.earlier, 0.0)
    return np.column_stack(
        [
            np.log(count),
            np.bincount(of_class, 1.0 / degree[namer], len(groups)),
            np.maximum.reduceat(1.0 / degree[namer], begins),
            mean(level),
            np.maximum.reduceat(level[namer], begins),
            mean(_named_twice(answers)),
            mean(np.log((answers.news + 1.0) / (degree + 1.0))),
            mean(_against_average(answers, answers.news)),
            mean(_against_average(answers, excess)),
            mean(np.log1p(children)),
            _acquainted(answers, named),
            np.log(size),
            size / np.maximum.reduceat(degree[namer], begins),
        ]
    )


def _average(found: FloatArray, guess: float) -> float:
    return float((found.sum() + DOUBT_FOUND * guess) / (len(found) + DOUBT_FOUND))


def _expected_excess(answers: Answers) -> float:
    """How many further contacts somebody has who is met through a contact, going by all degrees seen."""
    total = answers.degree.sum()
    return float((answers.degree**2).sum() / total - 1.0) if total else 0.0


def _closure(answers: Answers) -> float:
    """Which share of the contacts they could share do surveyed contacts share."""
    common = sum(len(answers.contacts[one] & answers.contacts[other]) for one, other in answers.pairs.tolist())
    possible = np.minimum(answers.degree[answers.pairs[:, 0]], answers.degree[answers.pairs[:, 1]]) - 1.0
    return float((common + DOUBT_COMMON) / (possible.sum() + DOUBT_POSSIBLE))


def _mixing(answers: Answers) -> float:
    """Whether the well-connected know the well-connected: a correlation of degrees, held near 0 by few answers."""
    logs = np.log(np.maximum(answers.degree, 1.0))
    one, other = (logs[answers.pairs[:, side]] - logs.mean() for side in (0, 1))
    return float((one * other).sum() / (((one**2 + other**2) / 2).sum() + DOUBT_MIXING))


def _named_twice(answers: Answers) -> FloatArray:
    """For each surveyed person, the share of their contacts whom somebody else named too."""
    times: dict[int, int] = {}
    for named in answers.contacts:
        for person in named:
            times[person] = times.get(person, 0) + 1
    twice = [sum(times[person] > 1 for person in named) for named in answers.contacts]
    return (np.array(twice) + DOUBT_COMMON) / (answers.degree + DOUBT_POSSIBLE)


def _against_average(answers: Answers, found: FloatArray) -> FloatArray:
    """For each surveyed person, how what their contacts' answers brought compares with the study's average."""
    average = max(_average(found[answers.reached], 1.0), 0.1)
    brought = np.bincount(answers.pairs[:, 1], found[answers.pairs[:, 0]], len(found))
    asked = np.bincount(answers.pairs[:, 1], minlength=len(found))
    against: FloatArray = np.log((brought + DOUBT_FOUND * average) / ((asked + DOUBT_FOUND) * average))
    return against


def _acquainted(answers: Answers, named: list[list[int]]) -> FloatArray:
    """For each class, the share of pairs of its namers who know each other."""
    acquainted = {(min(pair), max(pair)) for pair in answers.pairs.tolist()}
    shares = []
    for namers in named:
        couples = list(combinations(sorted(namers), 2))
        shares.append(sum(pair in acquainted for pair in couples) / max(len(couples), 1))
    return np.array(shares)
