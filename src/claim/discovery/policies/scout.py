"""Scout: a survey policy that scores classes of people by signals of the class and of the study so far."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from claim.discovery.discovered import NEW, Discovered, PersonClass, Status
from claim.discovery.policies.marks import trust_in_marks, weight_of_marks
from claim.discovery.policies.new_people import wanted_now
from claim.discovery.protocols import ranked_apart
from claim.discovery.ranking import is_large
from claim.discovery.reasons import who_named
from claim.discovery.simulation import INTERVIEWS
from claim.messages import Message
from claim.networks.network import BoolArray, FloatArray, IntArray

WEIGHTS = "scout_weights.json"


@dataclass(frozen=True)
class Weights:
    """``table`` has a row for each class signal: its weight in an average study, and what each study signal adds."""

    class_centre: FloatArray
    class_scale: FloatArray
    study_centre: FloatArray
    study_scale: FloatArray
    table: FloatArray

    def of_study(self, study: FloatArray) -> FloatArray:
        """The weight of each class signal in a study with these signals."""
        around = (study - self.study_centre) / self.study_scale
        weights: FloatArray = self.table @ np.concatenate([[1.0], around])
        return weights

    def parts(self, study: FloatArray, classes: FloatArray) -> FloatArray:
        """What each signal adds to the score of each class, the logarithm of the expected yield of a survey."""
        around = (classes - self.class_centre) / self.class_scale
        parts: FloatArray = around * self.of_study(study)
        return parts

    def to_json(self) -> str:
        """The text of the file that is shipped."""
        fields = {name: np.round(values, 5).tolist() for name, values in vars(self).items()}
        return json.dumps({"signals of classes": CLASS, "signals of studies": STUDY, **fields}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Weights":
        """The weights of such a file."""
        data = json.loads(text)
        if tuple(data.pop("signals of classes")) != CLASS or tuple(data.pop("signals of studies")) != STUDY:
            raise ValueError("these weights were fitted to other signals")
        return cls(**{name: np.array(values) for name, values in data.items()})


@cache
def shipped_weights() -> Weights:
    """The weights that come with the package; ``python -m claim.fitting.scout`` makes them again."""
    return Weights.from_json(files(__package__).joinpath(WEIGHTS).read_text(encoding="utf-8"))


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

    ``news`` counts the contacts who had not been named before, ``earlier`` the people who had named the person before.
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
        known: set[int] = set()
        news, pairs = [], []
        for i, (person, named) in enumerate(zip(discovered.surveyed, contacts, strict=True)):
            known.add(person)
            before = len(known)
            known |= named
            news.append(len(known) - before)
            pairs += [(i, place[other]) for other in named if place.get(other, i) < i]
        acquainted = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        earlier = np.bincount(acquainted[:, 0], minlength=len(news)).astype(np.float64)
        degree = np.array([len(named) for named in contacts], dtype=np.float64)
        return cls(place, contacts, degree, np.array(news, dtype=np.float64), earlier, acquainted)

    @property
    def reached(self) -> IntArray:
        """People who had been named before their survey: they show what the survey of a contact yields."""
        return np.flatnonzero(self.earlier > 0).astype(np.int32)


def study_signals(answers: Answers) -> FloatArray:
    """One number for each name of ``STUDY``."""
    reached = answers.reached
    unseen = np.maximum(answers.degree - answers.earlier, 0.0)[reached]
    expected = _average(unseen, _expected_excess(answers))
    spread = _average((unseen / max(expected, 0.5) - 1.0) ** 2, 1.0)
    news = (answers.news[reached].sum() + DOUBT_FOUND) / (unseen.sum() + DOUBT_FOUND)
    closure, mixed = _closure(answers), mixing(answers.degree, answers.pairs)
    return np.array([closure, mixed, np.log1p(expected), np.log1p(len(reached)), np.log1p(spread), news])


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
    """The mean number of further contacts of a person met through a contact, from all degrees seen."""
    total = answers.degree.sum()
    return float((answers.degree**2).sum() / total - 1.0) if total else 0.0


def _closure(answers: Answers) -> float:
    """The share of possible common contacts that pairs of surveyed contacts have."""
    common = sum(len(answers.contacts[one] & answers.contacts[other]) for one, other in answers.pairs.tolist())
    possible = np.minimum(answers.degree[answers.pairs[:, 0]], answers.degree[answers.pairs[:, 1]]) - 1.0
    return float((common + DOUBT_COMMON) / (possible.sum() + DOUBT_POSSIBLE))


def mixing(degree: FloatArray, pairs: IntArray, surveyed: BoolArray | slice = slice(None)) -> float:
    """Degree assortativity: the correlation of the degrees of surveyed contacts, shrunk towards 0 for few pairs.

    ``pairs`` (n, 2) are positions in ``degree``, of which only those of ``surveyed`` people count in the mean.
    """
    logs = np.log(np.maximum(degree, 1.0))
    one, other = (logs[pairs[:, side]] - logs[surveyed].mean() for side in (0, 1))
    return float((one * other).sum() / (((one**2 + other**2) / 2).sum() + DOUBT_MIXING))


def _named_twice(answers: Answers) -> FloatArray:
    """For each surveyed person, the share of their contacts who were named by another person too."""
    times = Counter(chain.from_iterable(answers.contacts))
    twice = [sum(times[person] > 1 for person in named) for named in answers.contacts]
    return (np.array(twice) + DOUBT_COMMON) / (answers.degree + DOUBT_POSSIBLE)


def _against_average(answers: Answers, found: FloatArray) -> FloatArray:
    """For each surveyed person, the yield of their contacts' surveys relative to the study's average (a logarithm)."""
    average = max(_average(found[answers.reached], 1.0), 0.1)
    brought = np.bincount(answers.pairs[:, 1], found[answers.pairs[:, 0]], len(found))
    asked = np.bincount(answers.pairs[:, 1], minlength=len(found))
    against: FloatArray = np.log((brought + DOUBT_FOUND * average) / ((asked + DOUBT_FOUND) * average))
    return against


def _acquainted(answers: Answers, named: list[list[int]]) -> FloatArray:
    """For each class, the share of pairs of its namers who know each other."""
    acquainted = set(map(tuple, answers.pairs.tolist()))
    shares = np.zeros(len(named))
    for i, namers in enumerate(named):
        if len(namers) > 1:
            couples = combinations(sorted(namers, reverse=True), 2)  # the later one first, as in ``pairs``
            shares[i] = sum(map(acquainted.__contains__, couples)) / math.comb(len(namers), 2)
    return shares


LEAST = 0.1  # contribution to the score, a logarithm: a tenth more yield
MOST = 2


@dataclass(frozen=True)
class Theme:
    """Signals of similar meaning, with a text for a high value of the first and one for a low value."""

    signals: tuple[str, ...]
    high: str
    low: str


THEMES = (
    Theme(
        ("namers", "namers who know each other"),
        "named by more people than others are",
        "named by fewer people than others; who is named by many brings little that is new here",
    ),
    Theme(
        ("lonely namers", "loneliest namer"),
        "named by a person who knows few others; here such people lead to hubs",
        "not named by people who know few others; here such people lead to few people",
    ),
    Theme(
        ("namers' contacts", "most contacts"),
        "named by well-connected people, whose contacts are well connected here",
        "named by people of few contacts, who lead to the well-connected here",
    ),
    Theme(
        ("news nearby", "contacts nearby", "news of namers"),
        "surveys around this person brought many new people",
        "away from where much was found already",
    ),
    Theme(
        ("asked around", "named twice around", "alike", "share alike"),
        "around here surveys go on paying off",
        "few people around this person were asked or named by others so far, so much is open",
    ),
)


def strongest(parts: FloatArray, above: FloatArray) -> list[str]:
    """The themes with the largest contributions to a person's score.

    ``parts`` is what each signal adds to the score beyond the average of the frontier, ``above`` how far the signal
    itself is above the average. A theme's text is about its first signal, which must contribute itself.
    """
    first = {theme: CLASS.index(theme.signals[0]) for theme in THEMES}
    weight = {theme: sum(parts[CLASS.index(signal)] for signal in theme.signals) for theme in THEMES}
    meant = [theme for theme in THEMES if parts[first[theme]] > 0 and weight[theme] >= LEAST]
    best = sorted(meant, key=lambda theme: -weight[theme])[:MOST]
    return [theme.high if above[first[theme]] > 0 else theme.low for theme in best]


class Seen(NamedTuple):
    """What a choice is based on: the answers, signals of the study and of each class, and what each adds to a score."""

    answers: Answers
    study: FloatArray
    classes: FloatArray
    parts: FloatArray

    @property
    def closure(self) -> float:
        """The share of possible common contacts that pairs of surveyed contacts have."""
        return float(self.study[STUDY.index("closure")])


# As shares of the closure seen; measured, see docs/notes/scout.md
CHANCE = 0.4
APART = 2.5
FIRST_CHANCE = 16.0  # if all know equally many; divided by one more than the people met through a contact and surveyed


class FirstScout:
    """The scout of version 0.1: for closed studies; it knows neither marks nor new people."""

    name = "scout:1"
    stream = "scout"  # its random numbers are those it had under this name
    marks = 0.0  # what marks of weight 1 add to a score if they can be trusted

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights  # None: those shipped, read only when they are needed

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """The people of the highest expected yield of a survey (a logarithm), then those whom no one named.

        In clustered networks classes differ less than their scores say, and the best are neighbours. There Gumbel noise
        makes the choice random, the more likely the higher the score, and the people of a round are spread over
        different namers, both in proportion to the closure seen.
        """
        if is_large(discovered) and not discovered.open:
            return self._choose_at_scale(discovered, rng, count)
        named, others = classes_by_namers(discovered)
        chosen: list[int] = []
        if named:
            seen = self._read(discovered, named)
            noise = rng.gumbel(size=len(named)) + np.log([group.size for group in named])
            scores = seen.parts.sum(axis=1)
            noisy = scores + self._chance(discovered, seen) * seen.closure * noise
            chosen = ranked_apart(named, noisy, rng, count, APART * seen.closure)
        return chosen + self._others(others, rng, count - len(chosen))

    def reasons(self, discovered: Discovered, person: int) -> list[Message]:
        """Who named this person, and what raises their score above that of the others."""
        return self.reasons_of_each(discovered, [person])[0]

    def reasons_of_each(self, discovered: Discovered, people: Sequence[int]) -> list[list[Message]]:
        """The reasons of several people."""
        named, _ = classes_by_namers(discovered)
        place = {person: i for i, group in enumerate(named) for person in group.members}
        found = [[who_named(discovered, person)] for person in people]
        if not place.keys() & set(people):
            return found
        seen, sizes = self._read(discovered, named), [group.size for group in named]
        ahead, above = (table - np.average(table, axis=0, weights=sizes) for table in (seen.parts, seen.classes))
        for person, said in zip(people, found, strict=True):
            if (i := place.get(person)) is not None:
                said += map(Message, strongest(ahead[i], above[i]))
        return found

    def _choose_at_scale(self, discovered: Discovered, rng: np.random.Generator, count: int) -> list[int]:
        from claim.discovery.policies.scout_at_scale import ScoutAtScale  # it imports this module

        at_scale = discovered.kept(self, ScoutAtScale)
        weights, chance = self._weights or shipped_weights(), self._chance_at_scale(discovered)
        chosen = at_scale.choose(discovered, weights, self.marks, chance, rng, count)
        if len(chosen) < min(count, len(discovered.waiting)):
            chosen += self._others(classes_by_namers(discovered)[1], rng, count - len(chosen))
        return chosen

    def _read(self, discovered: Discovered, named: Sequence[PersonClass]) -> Seen:
        answers = Answers.of(discovered)
        study, classes = study_signals(answers), class_signals(answers, named)
        return Seen(answers, study, classes, (self._weights or shipped_weights()).parts(study, classes))

    def _chance(self, discovered: Discovered, seen: Seen) -> float:
        return CHANCE

    def _usual_chance(self, mean: float, variance: float, reached: int) -> float:
        """The same in a study without marks, from the contacts of the surveyed and how many of them were reached."""
        return CHANCE

    def _chance_at_scale(self, discovered: Discovered) -> Callable[[float, float, int], float]:
        return self._usual_chance

    def _others(self, others: Sequence[PersonClass], rng: np.random.Generator, count: int) -> list[int]:
        """People whom no one named, in random order."""
        unnamed = [person for group in others for person in group.members]
        return [unnamed[i] for i in rng.permutation(len(unnamed))[:count]]


class Scout(FirstScout):
    """One policy for every budget and every kind of network, in closed and in open studies.

    Beyond the scout of version 0.1, it goes by the marks of the hub question as far as marked people turned out well
    connected in this study, and in an open study it decides how many new people to interview (:mod:`new_people`). For
    this it is given the number of interviews. At first, where people know about equally many others, more is left to
    chance, unless there are marks.
    """

    name = "scout"
    marks = 0.6  # chosen on training networks

    def __init__(self, weights: Weights | None = None, interviews: int = INTERVIEWS) -> None:
        super().__init__(weights)
        self._interviews = interviews

    def for_study(self, interviews: int, p: float) -> "Scout":
        """The same for so many interviews."""
        return Scout(self._weights, interviews)

    def choose(self, discovered: Discovered, rng: np.random.Generator, count: int = 1) -> list[int]:
        """In an open study the new people who are wanted now, then named people, and new ones if these are too few."""
        if not discovered.open:
            return super().choose(discovered, rng, count)
        new = min(wanted_now(discovered, Answers.of(discovered), self._interviews).people, count)
        named = super().choose(discovered.closed(), rng, count - new) if new < count else []
        return [NEW] * new + named + [NEW] * (count - new - len(named))

    def reasons_of_each(self, discovered: Discovered, people: Sequence[int]) -> list[list[Message]]:
        """Who named and who marked each person, and what raises their score; of a new person, why one is wanted."""
        known = iter(super().reasons_of_each(discovered, [person for person in people if person != NEW]))
        why_new = [wanted_now(discovered, Answers.of(discovered), self._interviews).reason] if NEW in people else []
        return [why_new if who == NEW else self._with_marks(discovered, who, next(known)) for who in people]

    def _with_marks(self, discovered: Discovered, person: int, reasons: list[Message]) -> list[Message]:
        first, *others = reasons
        marked = len(discovered.marked_by(person))
        said = [Message.of(MARKED_BY_MANY, count=marked) if marked > 1 else Message(MARKED_BY_ONE)] if marked else []
        return [first, *said, *others]

    def _read(self, discovered: Discovered, named: Sequence[PersonClass]) -> Seen:
        seen = super()._read(discovered, named)
        if not discovered.marks:
            return seen
        weight = weight_of_marks(discovered, more=1)
        marks = np.array([weight.get(group.members[0], 0.0) for group in named])
        return seen._replace(parts=np.column_stack([seen.parts, self.marks * trust_in_marks(discovered) * marks]))

    def _chance(self, discovered: Discovered, seen: Seen) -> float:
        if discovered.marks:
            return CHANCE
        contacts = seen.answers.degree
        return self._usual_chance(contacts.mean(), contacts.var(), len(seen.answers.reached))

    def _chance_at_scale(self, discovered: Discovered) -> Callable[[float, float, int], float]:
        return super()._usual_chance if discovered.marks else self._usual_chance

    def _usual_chance(self, mean: float, variance: float, reached: int) -> float:
        evenness = max(1.0 - variance / max(mean, 1e-9) ** 2, 0.0)
        return float(CHANCE + FIRST_CHANCE * evenness / (1 + reached))


MARKED_BY_ONE = "one person says that this contact knows the most people"
MARKED_BY_MANY = "{count} people say that this contact knows the most people"


def classes_by_namers(discovered: Discovered) -> tuple[list[PersonClass], list[PersonClass]]:
    """The classes of the frontier that a surveyed person named, and the others."""
    named: list[PersonClass] = []
    others: list[PersonClass] = []
    for group in discovered.frontier_classes:
        known = any(discovered.status[contact] == Status.SURVEYED for contact in group.contacts)
        (named if known else others).append(group)
    return named, others
