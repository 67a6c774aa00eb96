"""What all forms of foresight offer: leaders, the reach to expect of them with a range, and reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from claim.cascades.influence import check_people, check_probability, check_samples
from claim.discovery import Discovered
from claim.errors import InputError
from claim.networks.network import FloatArray
from claim.randomness import Rng, as_generator, draw_seed
from claim.selection.candidates import Candidates, Ties, tie_priority
from claim.selection.foresight.course import Course
from claim.selection.foresight.pick import SeenOnly, Track, gains_in_order, pick_leaders
from claim.selection.foresight.ranges import Ranges, range_features
from claim.selection.foresight.reasons import Why, reasons_for
from claim.selection.foresight.study import study_features
from claim.selection.foresight.view import BoolArray, View


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
