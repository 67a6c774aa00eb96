"""Foresight as a selector: free of training or fitted, with the expected reach and reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from claim.cascades.influence import check_people, check_probability, check_samples
from claim.discovery import Discovered, Status
from claim.errors import InputError
from claim.networks.network import FloatArray, OffsetArray
from claim.randomness import Rng, as_generator, draw_seed
from claim.selection.foresight.features import SMALL, Features, study_features
from claim.selection.foresight.model import Model, free_ranges, shipped_model
from claim.selection.foresight.ranges import Ranges, range_features
from claim.selection.foresight.selection_state import BoolArray, Course, View
from claim.selection.greedy import Candidates, Ties, picked_in_turn, tie_priority
from claim.selection.kernels import best_candidate

Value = int | float

ENGLISH: dict[str, str] = {
    "reaches": "reaches about {amount} people",
    "adds": "adds about {amount} people to those the others reach",
    "knows": "was surveyed and has {count} contacts",
    "few_known": "was surveyed; {amount} of {count} contacts were not, and may know many more people",
    "named_by_one": "was named by one of the people surveyed",
    "named_by_many": "was named by {count} of the people surveyed",
    "unseen": "was not surveyed: likely reaches about {amount} people beyond the contacts seen so far",
    "refused_survey": "refused to be surveyed: ask with care",
    "not_named": "nobody surveyed has named this person: as good as a person met at random",
    "apart": "reaches other people than those before: {amount} % of what they reach is new",
    "equals": "as good as {count} others: chance decided between them",
}
MOSTLY_NEW = 0.8


@dataclass(frozen=True)
class Why:
    """One reason: its key in ``ENGLISH`` and the numbers that belong in it."""

    key: str
    params: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, key: str, **params: Value) -> "Why":
        """A reason with its parameters."""
        return cls(key, tuple(params.items()))

    @property
    def text(self) -> str:
        """The reason in English."""
        return ENGLISH[self.key].format(**{name: f"{value:g}" for name, value in self.params})


def reasons_for(discovered: Discovered, who: int, adds: float, unseen: float, new: float, equals: int) -> list[Why]:
    """What speaks for a leader who adds ``adds`` people, ``unseen`` of them beyond the seen contacts.

    A share ``new`` of those they reach is not reached by others before; ``equals`` more people are just like them.
    """
    found = [Why.of("adds", amount=round(adds, 1))]
    found += _seen(discovered, who)
    if discovered.status[who] != Status.SURVEYED:
        found.append(Why.of("unseen", amount=round(unseen, 1)))
    if new >= MOSTLY_NEW and adds > 1:
        found.append(Why.of("apart", amount=min(round(100 * new), 100)))
    if equals:
        found.append(Why.of("equals", count=equals))
    return found


def told(found: Sequence[Sequence[Why]]) -> list[list[Why]]:
    """What to say of leaders in the order of choice: nothing twice, and of the first nothing that compares."""
    return [_once(_of_the_first(whys) if place == 0 else whys) for place, whys in enumerate(found)]


def _of_the_first(whys: Sequence[Why]) -> list[Why]:
    """Nobody comes before the first leader whom they could add to."""
    return [replace(why, key="reaches") if why.key == "adds" else why for why in whys if why.key != "apart"]


def _once(whys: Sequence[Why]) -> list[Why]:
    repeated = {"knows"} if any(why.key == "few_known" for why in whys) else set()
    return [why for why in whys if why.key not in repeated]


def _seen(discovered: Discovered, who: int) -> list[Why]:
    contacts = discovered.contacts[who]
    if discovered.status[who] == Status.SURVEYED:
        unknown = sum(discovered.status[contact] != Status.SURVEYED for contact in contacts)
        found = [Why.of("knows", count=len(contacts))]
        return [*found, Why.of("few_known", count=len(contacts), amount=unknown)] if unknown else found
    named = len(discovered.surveyed_contacts(who))
    key = "named_by_many" if named > 1 else "named_by_one" if named else "not_named"
    found = [Why.of(key, count=named)] if named > 1 else [Why.of(key)]
    return [*found, Why.of("refused_survey")] if discovered.status[who] == Status.REFUSED else found


SAME = 9  # digits; equal sums in another order differ in the last digits, and would be no ties


class Track(Protocol):
    """A selection in progress for one probability p."""

    def gains(self) -> FloatArray:
        """How many people somebody of each class is expected to add."""
        ...

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        ...


class SeenOnly:
    """A track that takes the seen contacts for all there are, and counts the people of some kind only."""

    def __init__(self, course: Course, counted: BoolArray) -> None:
        self.course, self.counted = course, counted.astype(np.float64)

    def gains(self) -> FloatArray:
        """How many of the people counted somebody of each class adds."""
        return self.course.mean_gains(self.counted)

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        self.course.take(person)


def pick_leaders(
    tracks: Sequence[Track], view: View, candidates: Candidates, k: int, priority: OffsetArray
) -> list[int]:
    """Those who must lead, then at each pick whoever is expected to add the most, on average over the tracks."""

    def take(person: int) -> None:
        for track in tracks:
            track.take(person)

    return picked_in_turn(candidates, k, lambda free: _best(tracks, view, free, priority), take)


def _best(tracks: Sequence[Track], view: View, free: BoolArray, priority: OffsetArray) -> int:
    if not free.any():
        return -1
    gains = sum((track.gains() for track in tracks), np.zeros(view.groups))
    return int(best_candidate(np.round(gains, SAME)[view.group], free, priority))


def gains_in_order(track: Track, view: View, leaders: Sequence[int]) -> list[float]:
    """How many people each leader is expected to add to those before."""
    added = []
    for leader in leaders:
        added.append(float(track.gains()[view.group[leader]]))
        track.take(leader)
    return added


class Expected(NamedTuple):
    """How many people leaders reach on average: the best guess, and a range of nine in ten; see docs/foresight.md."""

    mean: float
    low: float
    high: float

    def at_most(self, people: float) -> "Expected":
        """The same, where nobody can be reached beyond so many people."""
        return Expected(min(self.mean, people), min(self.low, people), min(self.high, people))


@dataclass(frozen=True)
class Foresight:
    """Greedy by the number of people each candidate is expected to add on the whole network, seen or not.

    ``attendance`` is the chance that a leader comes. With ``p_range`` leaders are chosen by the mean over these
    probabilities instead of for ``p`` alone.
    """

    p: float = 0.1
    samples: int = 1000
    ties: Ties = "random"
    attendance: float = 1.0
    p_range: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for p in (self.p, *self.p_range):
            check_probability(p)
        check_samples(self.samples)
        if not 0 < self.attendance <= 1:
            raise InputError(f"attendance is a share above 0 and at most 1, not {self.attendance}")

    @property
    def chances(self) -> tuple[float, ...]:
        """The values that p may have."""
        return self.p_range or (self.p,)

    def track(self, course: Course) -> Track:
        """How candidates are valued; the course itself values them without training."""
        return course

    def worlds(self) -> int:
        """In how many live-edge worlds candidates are valued."""
        return self.samples

    def planned_attendance(self) -> float:
        """The chance of coming that leaders are chosen for."""
        return self.attendance

    def ranges(self) -> Ranges:
        """How far the truth was from the guess in simulated studies."""
        raise NotImplementedError

    def select(
        self,
        discovered: Discovered,
        k: int,
        rng: np.random.Generator,
        *,
        may: Iterable[int] | None = None,
        must: Iterable[int] = (),
        must_not: Iterable[int] = (),
    ) -> list[int]:
        """``k`` leaders, best first, or all who can be chosen if they are fewer.

        Whoever comes after the first ``k`` in a longer list is the best replacement at that place.
        """
        candidates = Candidates.of(len(discovered), k, may, must, must_not)
        if not len(discovered):
            return []
        return self.select_in(View.of(discovered), candidates, k, rng)

    def select_in(self, view: View, candidates: Candidates, k: int, rng: np.random.Generator) -> list[int]:
        """The same from the arrays of what was discovered."""
        seed = draw_seed(rng)
        attendance = self.planned_attendance()
        courses = [Course(view, p, self.worlds(), seed, attendance) for p in self.chances]
        tracks = [self.track(course) for course in courses]
        return pick_leaders(tracks, view, candidates, k, tie_priority(view.n, self.ties, rng))

    def expect(self, discovered: Discovered, leaders: Iterable[int], rng: np.random.Generator) -> Expected:
        """How many people the leaders reach on average, with a range of nine in ten; see docs/foresight.md.

        Where p is one of several, the mean is over all of them, and the range reaches from the lowest to the highest.
        """
        view, chosen = View.of(discovered), check_people(len(discovered), leaders).tolist()
        seed = draw_seed(rng)
        means, lows, highs = zip(*(self._expect_for(p, view, chosen, seed) for p in self.chances), strict=True)
        return Expected(sum(means) / len(means), min(lows), max(highs))

    def _expect_for(self, p: float, view: View, leaders: list[int], seed: int) -> Expected:
        if not leaders or not p:
            sure = self.attendance * len(leaders)  # word goes no further than the leaders
            return Expected(sure, sure, sure)
        return Expected(*self.ranges().around(*replace(self, p=p).guess_reach(view, leaders, seed)))

    def guess_reach(self, view: View, leaders: list[int], seed: int) -> tuple[float, float, FloatArray]:
        """The guessed reach before any correction, the reach along seen contacts, and what errors can be told from.

        Every person not surveyed who is reached is guessed to have one more contact at the least: where few answers
        show nobody with further contacts, nothing could be learned from a guess of none.
        """
        courses = [self._course(view, self.p, seed) for _ in range(3)]
        tracks = [self.track(courses[0]), *map(SeenOnly, courses[1:], (view.surveyed, ~view.surveyed))]
        reach, surveyed, others = (self.attendance * sum(gains_in_order(each, view, leaders)) for each in tracks)
        guess, known = reach + self.p * others, surveyed + others
        return guess, known, range_features(study_features(view, courses[0].hidden, self.p), guess, known)

    def reasons(
        self,
        discovered: Discovered,
        leaders: Sequence[int],
        rng: Rng = 0,
        reach: tuple[float, int] | None = None,
        *,
        may: Iterable[int] | None = None,
        must: Iterable[int] = (),
        must_not: Iterable[int] = (),
    ) -> list[list[Why]]:
        """For each leader why they were chosen, in the order of choice.

        With the ``reach`` to expect of the first so many of them, what they add is told so that it comes to that: the
        guesses that leaders are compared by are too high or too low as a whole, which changes no choice. ``may``,
        ``must`` and ``must_not`` are those that leaders were chosen with.
        """
        view, chosen = View.of(discovered), check_people(len(discovered), leaders).tolist()
        if not chosen:
            return []
        open_to_choice = Candidates.of(view.n, view.n, may, must, must_not).open_to_choice()
        seed = draw_seed(as_generator(rng))
        valued = [replace(self, p=p)._valued(view, chosen, seed) for p in self.chances]
        alone, added, known, least = np.mean(valued, axis=0)
        told = added
        if reach is not None:
            beyond = np.maximum(added - known, 0.0) + least
            told = self.attendance * (known + beyond * _factor(beyond, known, reach[0] / self.attendance, reach[1]))
        unseen = np.maximum(told - (known if reach is None else self.attendance * known), 0.0)
        equals = _others_alike(view, chosen, open_to_choice)
        return [
            reasons_for(discovered, who, float(told[i]), float(unseen[i]), float(added[i] / alone[i]), equals[i])
            for i, who in enumerate(chosen)
        ]

    def _valued(self, view: View, chosen: list[int], seed: int) -> FloatArray:
        """What each leader reaches alone, adds to those before, adds along seen contacts, and at the least beyond.

        The least is one further contact of every person not surveyed, as in the guess of the reach.
        """
        courses = [self._course(view, self.p, seed) for _ in range(3)]
        track = self.track(courses[0])
        alone = track.gains()[view.group[chosen]]
        counted = (np.ones(view.n, dtype=np.bool_), ~view.surveyed)
        tracks = [track, *map(SeenOnly, courses[1:], counted)]
        added, known, others = (np.array(gains_in_order(each, view, chosen)) for each in tracks)
        return np.array([alone, added, known, self.p * others])

    def _course(self, view: View, p: float, seed: int) -> Course:
        return Course(view, p, self.worlds(), seed, self.attendance)


def _factor(beyond: FloatArray, known: FloatArray, reach: float, leaders: int) -> float:
    """By what to multiply the guesses beyond the seen contacts, so that so many leaders come to a reach."""
    return max(reach - float(known[:leaders].sum()), 0.0) / max(float(beyond[:leaders].sum()), 1e-9)


def _others_alike(view: View, chosen: list[int], open_to_choice: BoolArray) -> list[int]:
    """For each leader how many others could have been chosen just as well; none for those who had to be."""
    left = open_to_choice.copy()
    left[chosen] = False
    waiting = np.bincount(view.group[left], minlength=view.groups)
    return [int(waiting[view.group[who]]) if open_to_choice[who] else 0 for who in chosen]


@dataclass(frozen=True)
class FreeForesight(Foresight):
    """Fits itself to the discovered network alone, so it can be used on any kind of network."""

    name: ClassVar[str] = "foresight:free"

    def planned_attendance(self) -> float:
        """Half way to a full turnout: hubs that are seen look surer than unseen ones, and would be backed up too often.

        The fitted form, which values the unseen better, plans with the chance itself; see docs/troubles.md.
        """
        return (1.0 + self.attendance) / 2.0

    def ranges(self) -> Ranges:
        """Factors from studies on networks of many kinds."""
        return free_ranges()


MOST_WORLDS = 400


class FittedCourse:
    """A selection in progress in which trees correct what each class is expected to add."""

    def __init__(self, course: Course, model: Model) -> None:
        self.course, self.model = course, model
        self.table = Features(course)
        self.table.guess_hidden(model.guess_factor(self.table.before))
        self._sure = _nothing_to_learn(course, self.table)

    def gains(self) -> FloatArray:
        """How many people somebody of each class is expected to add if they come."""
        free = np.maximum(self.course.gains(), SMALL)
        factor = np.where(self._sure, 1.0, self.model.gain_factor(self.table.rows(free)))
        return free * factor

    def take(self, person: int) -> None:
        """Make somebody a leader."""
        self.table.take(person)
        self.course.take(person)


def _nothing_to_learn(course: Course, table: Features) -> FloatArray:
    """Classes the models have nothing to say about: in components of surveyed people only, or not named by anybody."""
    unknown = np.bincount(table.component, weights=~course.view.surveyed, minlength=course.view.n)
    alone = course.view.degree[course.who] == 0
    sure: FloatArray = (unknown[table.component[course.who]] == 0) | alone
    return sure


@dataclass(frozen=True)
class FittedForesight(Foresight):
    """Takes at each pick whoever adds the most by the models of a family, or by a model given."""

    family: str = "all"
    model: Model | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the selector is called on the command line and in results."""
        return f"foresight:{self.family}"

    def worlds(self) -> int:
        """Means over classes need few worlds, and more of them chose no better leaders."""
        return min(self.samples, MOST_WORLDS)

    def track(self, course: Course) -> Track:
        """Trees on top of the course."""
        return FittedCourse(course, self._model())

    def ranges(self) -> Ranges:
        """Factors from fresh studies of the training networks and of look-alikes that nothing was trained on."""
        ranges = self._model().ranges
        if ranges is None:
            raise InputError(f"the foresight model {self.family} says nothing of ranges: train it again")
        return ranges

    def _model(self) -> Model:
        return self.model or shipped_model(self.family)
