"""Foresight as a selector: free of training or fitted, with the expected reach and reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import ClassVar, NamedTuple, Unpack

import numpy as np

from claim.cascades.influence import check_people
from claim.discovery import Discovered, Status
from claim.discovery.protocols import Limits
from claim.errors import InputError, check_number, check_whole
from claim.messages import Message
from claim.networks.network import BoolArray, FloatArray
from claim.randomness import Rng, as_generator, draw_seed
from claim.selection.fair import Fair
from claim.selection.foresight.features import FeatureState, study_features
from claim.selection.foresight.groups import (
    ExpectedGroup,
    FairSearch,
    SeenGroups,
    choose_fairly_unseen,
    expected_groups,
    known_groups,
)
from claim.selection.foresight.model import FREE, Model, free_ranges, shipped_model
from claim.selection.foresight.ranges import Ranges, range_features
from claim.selection.foresight.reach import Guess, bounded, estimated_people, reach_features
from claim.selection.foresight.selection_state import SeenNetwork, SelectionState
from claim.selection.greedy import SAME, Candidates, Ties, picked_in_turn, tie_priority
from claim.selection.kernels import best_candidate
from claim.selection.observed import NOTHING, Observed

ADDS = "adds about {amount} people to those the others reach"
REACHES = "reaches about {amount} people"
KNOWS = "was surveyed and has {count} contacts"
FEW_KNOWN = "was surveyed; {amount} of {count} contacts were not, and may know many more people"
NAMED_BY_ONE = "was named by one of the people surveyed"
NAMED_BY_MANY = "was named by {count} of the people surveyed"
NOT_NAMED = "nobody surveyed has named this person: as good as a person met at random"
UNSEEN = "was not surveyed: likely reaches about {amount} people beyond the contacts seen so far"
REFUSED_SURVEY = "refused to be surveyed: ask with care"
APART = "reaches other people than those before: {amount} % of what they reach is new"
EQUALS = "as good as {count} others: chance decided between them"
TOO_EARLY = "too little is known yet to say how many people they reach"
REACH = "they reach about {mean:.0f} people, likely {low:.0f} to {high:.0f}"
VAGUE = 5.0  # times the lower end of a range is the most that its upper end may be for a number to be shown
MOSTLY_NEW = 0.8
MOST_WORLDS = 400  # that fitted models select with


def reasons_for(discovered: Discovered, who: int, adds: float, unseen: float, new: float, equals: int) -> list[Message]:
    """Reasons for a leader who adds ``adds`` people, ``unseen`` of them beyond the seen contacts.

    A share ``new`` of those they reach is not reached by others before; ``equals`` more people are just like them.
    """
    found = [Message.of(ADDS, amount=round(adds, 1))]
    found += _seen(discovered, who)
    if discovered.status[who] != Status.SURVEYED:
        found.append(Message.of(UNSEEN, amount=round(unseen, 1)))
    if new >= MOSTLY_NEW and adds > 1:
        found.append(Message.of(APART, amount=min(round(100 * new), 100)))
    if equals:
        found.append(Message.of(EQUALS, count=equals))
    return found


def shown_reasons(found: Sequence[Sequence[Message]], numbers: bool = True) -> list[list[Message]]:
    """The reasons to show for leaders in the order of choice: nothing twice, and no comparison for the first.

    Without ``numbers`` those that say how many people are reached are left out: too little is known for them.
    """
    shown = []
    for whys in found:
        hidden = {KNOWS} if FEW_KNOWN in {why.text for why in whys} else set()
        hidden |= set() if numbers else {ADDS, UNSEEN}
        shown.append([why for why in whys if why.text not in hidden])
    if shown:
        first = [why for why in shown[0] if why.text != APART]
        shown[0] = [replace(why, text=REACHES) if why.text == ADDS else why for why in first]
    return shown


def _seen(discovered: Discovered, who: int) -> list[Message]:
    contacts = discovered.contacts[who]
    if discovered.status[who] == Status.SURVEYED:
        unknown = sum(discovered.status[contact] != Status.SURVEYED for contact in contacts)
        found = [Message.of(KNOWS, count=len(contacts))]
        return [*found, Message.of(FEW_KNOWN, count=len(contacts), amount=unknown)] if unknown else found
    named = len(discovered.surveyed_contacts(who))
    text = NAMED_BY_MANY if named > 1 else NAMED_BY_ONE if named else NOT_NAMED
    found = [Message.of(text, count=named) if named > 1 else Message(text)]
    return [*found, Message(REFUSED_SURVEY)] if discovered.status[who] == Status.REFUSED else found


class Expected(NamedTuple):
    """The mean number of people that leaders reach: an estimate and its 90 % range; see docs/concepts/foresight.md."""

    mean: float
    low: float
    high: float

    @classmethod
    def over(cls, cases: Iterable["Expected"]) -> "Expected":
        """The mean of several cases that may hold, and the range from their lowest to their highest end."""
        means, lows, highs = zip(*cases, strict=True)
        return cls(_left_to_right(means) / len(means), min(lows), max(highs))

    @property
    def vague(self) -> bool:
        """Whether too little is known for a number: teams are shown words instead."""
        return self.high > VAGUE * self.low

    def __str__(self) -> str:
        """Text for people."""
        return TOO_EARLY if self.vague else REACH.format(mean=self.mean, low=self.low, high=self.high)

    def at_most(self, people: float) -> "Expected":
        """The same, bounded by the number of people there are."""
        return Expected(*(min(value, people) for value in self))


@dataclass(frozen=True)
class FreeForesight:
    """Greedy by the number of people each candidate is expected to add on the whole network, seen or not.

    It fits itself to the discovered network alone, so it can be used on any kind of network. ``attendance`` is the
    probability that a leader comes. With ``p_range`` leaders are chosen by the mean over these probabilities instead of
    for ``p`` alone. ``people`` is the number of people there are, or the least and the most there may be (0 and inf:
    not known): no reach is expected above it. ``observed`` is what is known of earlier leaders: it changes whom to
    choose next, and not the reach that is expected of leaders.
    """

    p: float = 0.1
    samples: int = 1000
    ties: Ties = "random"
    attendance: float = 1.0
    p_range: tuple[float, ...] = ()
    family: str = FREE
    people: float | tuple[float, float] | None = None
    fair: str = "none"  # how groups are balanced, where they are known of several people
    observed: Observed = NOTHING
    undirected_ic_only: ClassVar = True

    def __post_init__(self) -> None:
        for p in (self.p, *self.p_range):
            check_number(0, 1, probability=p)
        check_whole(1, samples=self.samples)
        check_number(0, 1, above=True, attendance=self.attendance)

    def people_bounds(self, seen: int) -> tuple[float, float]:
        """The least and the most people there may be: at least those who were ``seen``."""
        given = (0.0, np.inf) if self.people is None else self.people
        low, high = given if isinstance(given, tuple) else (given, given)
        return max(low, seen), max(high, seen)

    @property
    def name(self) -> str:
        """What the selector is called on the command line and in results."""
        return f"foresight:{self.family}"

    @property
    def chances(self) -> tuple[float, ...]:
        """The values that p may have."""
        return self.p_range or (self.p,)

    def state(self, view: SeenNetwork, p: float, seed: int, attendance: float) -> SelectionState:
        """The start of a selection."""
        return SelectionState(view, p, self.samples, seed, attendance)

    def guessing_state(self, view: SeenNetwork, seed: int) -> SelectionState:
        """The start of a selection that says how many people leaders add."""
        return self.state(view, self.p, seed, self.attendance)

    def planned_attendance(self) -> float:
        """The attendance that leaders are chosen for.

        Half way to full attendance: seen hubs look surer than unseen ones, and would be backed up too often. The fitted
        form, which values the unseen better, plans with the attendance itself.
        """
        return (1.0 + self.attendance) / 2.0

    def ranges(self) -> Ranges:
        """The error of the expected reach in simulated studies: factors from studies on networks of many kinds."""
        return free_ranges()

    def select(self, discovered: Discovered, k: int, rng: np.random.Generator, **limits: Unpack[Limits]) -> list[int]:
        """``k`` leaders, best first, or all candidates if they are fewer.

        The people after the first ``k`` in a longer list are the replacements, best first.
        """
        candidates = Candidates.of(len(discovered), k, **limits)
        groups = known_groups(discovered) if self.fair != "none" else None
        if groups is not None:
            return self._select_fairly(discovered, groups, candidates, k, rng)
        if not len(discovered):
            return []
        return self.select_in(SeenNetwork.of(discovered, self.observed.failed), candidates, k, rng)

    def _select_fairly(
        self, discovered: Discovered, groups: SeenGroups, candidates: Candidates, k: int, rng: np.random.Generator
    ) -> list[int]:
        seed, view = draw_seed(rng), SeenNetwork.of(discovered, self.observed.failed)
        priority = tie_priority(view.n, self.ties, rng)
        search = FairSearch(self, view, groups, self._people(view), candidates, k, seed, priority)
        return choose_fairly_unseen(search, Fair.of(self.fair))

    def _people(self, view: SeenNetwork) -> float:
        """The number of people there are, as far as it is known."""
        low, high = self.people_bounds(view.n)
        return high if high < np.inf else float(np.clip(estimated_people(view)[0], low, high))

    def expect_groups(
        self, discovered: Discovered, leaders: Sequence[int], expected: Expected, rng: np.random.Generator
    ) -> dict[str, ExpectedGroup]:
        """The expected reach in each group, as parts of the ``expected`` reach; nothing where no groups are known."""
        groups, view = known_groups(discovered), SeenNetwork.of(discovered)
        if groups is None or not leaders:
            return {}
        seed = draw_seed(rng)
        states = [SelectionState(view, p, self.samples, seed, self.attendance) for p in self.chances]
        return expected_groups(states, groups, leaders, expected, self._people(view), rng)

    def select_in(self, view: SeenNetwork, candidates: Candidates, k: int, rng: np.random.Generator) -> list[int]:
        """The leaders, from the arrays of a discovered network."""
        seed, priority = draw_seed(rng), tie_priority(view.n, self.ties, rng)
        states = [self.state(view, p, seed, self.planned_attendance()) for p in self.chances]

        def best(free: BoolArray) -> int:
            """The person of the largest expected gain, on average over the states."""
            gains = sum((state.gains() for state in states), np.zeros(view.groups))
            return int(best_candidate(np.round(gains, SAME)[view.group], free, priority))

        def take(person: int) -> None:
            for state in states:
                (state.cover if person in self.observed.reached else state.take)(person)

        return picked_in_turn(candidates, k, best, take)

    def expect(
        self,
        discovered: Discovered,
        leaders: Iterable[int],
        rng: np.random.Generator,
        view: SeenNetwork | None = None,
    ) -> Expected:
        """The mean number of people that the leaders reach, with a 90 % range; see docs/concepts/foresight.md.

        With several values of p, the mean is over all of them, and the range reaches from the lowest to the highest.
        ``view`` holds the arrays of ``discovered``, if they are there already.
        """
        view = view or SeenNetwork.of(discovered)
        chosen = check_people(len(discovered), leaders).tolist()
        seed = draw_seed(rng)
        found = []
        for p in self.chances:
            if chosen and p:
                found.append(replace(self, p=p).expect_in(view, chosen, seed))
            else:  # only the leaders themselves
                found.append(Expected(*(self.attendance * len(chosen),) * 3))
        return Expected.over(found)

    def expect_in(self, view: SeenNetwork, leaders: list[int], seed: int) -> Expected:
        """The reach to expect, from the arrays of a discovered network."""
        guess, study = self.guess(view, leaders, seed)
        features = range_features(study, guess.reach, guess.known)
        expected = Expected(*self.ranges().around(guess.reach, guess.known, features))
        return expected.at_most(self.people_bounds(view.n)[1])

    def guess(self, view: SeenNetwork, leaders: list[int], seed: int) -> tuple[Guess, FloatArray]:
        """The reach before any correction, and the features of the study.

        Every person not surveyed who is reached counts for one more contact at the least: a correction by a factor
        cannot raise a guess of none, which a few answers without further contacts would give.
        """
        state = self.guessing_state(view, seed)
        _, *added = state.take_all(leaders)
        reach, surveyed, others = (self.attendance * _left_to_right(each.tolist()) for each in added)
        guess = Guess(reach + self.p * others, surveyed + others, self.attendance * len(leaders))
        return guess, study_features(state.view, state.hidden, self.p)

    def reasons(
        self,
        discovered: Discovered,
        leaders: Sequence[int],
        rng: Rng = 0,
        reach: tuple[float, int] | None = None,
        view: SeenNetwork | None = None,
        **limits: Unpack[Limits],
    ) -> list[list[Message]]:
        """The reasons for each leader, in the order of choice.

        ``reach`` is the expected reach of the first so many leaders: what they add is scaled to sum up to it, because
        the gains that leaders are compared by are too high or too low as a whole, which changes no choice. ``limits``
        are those that the leaders were chosen with; ``view`` holds the arrays of ``discovered``, if they are there.
        """
        view = view or SeenNetwork.of(discovered)
        chosen = check_people(len(discovered), leaders).tolist()
        if not chosen:
            return []
        seed = draw_seed(as_generator(rng))
        parts = [self.state(view, p, seed, self.attendance).take_all(chosen) for p in self.chances]
        alone, added, surveyed, others = np.mean(parts, axis=0)
        known, shown = surveyed + others, added
        if reach is not None:
            least = np.mean([p * part[3] for p, part in zip(self.chances, parts, strict=True)], axis=0)
            beyond = np.maximum(added - known, 0.0) + least
            first = slice(reach[1])
            missing = max(reach[0] / self.attendance - float(known[first].sum()), 0.0)
            known = self.attendance * known
            shown = known + self.attendance * beyond * missing / max(float(beyond[first].sum()), 1e-9)
        unseen = np.maximum(shown - known, 0.0)
        equals = _others_alike(view, chosen, Candidates.of(view.n, view.n, **limits).open_to_choice())
        return [
            reasons_for(discovered, who, float(shown[i]), float(unseen[i]), float(added[i] / alone[i]), equals[i])
            for i, who in enumerate(chosen)
        ]


def _left_to_right(numbers: Iterable[float]) -> float:
    """Their sum with the same rounding on every Python: from 3.12 on, ``sum`` compensates rounding errors."""
    return reduce(add, numbers, 0.0)


def _others_alike(view: SeenNetwork, chosen: list[int], open_to_choice: BoolArray) -> list[int]:
    """The number of people who could have been chosen instead of each leader; 0 for those of ``must``."""
    left = open_to_choice.copy()
    left[chosen] = False
    waiting = np.bincount(view.group[left], minlength=view.groups)
    return [int(waiting[view.group[who]]) if open_to_choice[who] else 0 for who in chosen]


@dataclass(frozen=True)
class FittedForesight(FreeForesight):
    """Picks by gains that trees correct: the shipped model of a family, or a model given."""

    family: str = "all"
    model: Model | None = field(default=None, repr=False)

    def planned_attendance(self) -> float:
        """The attendance itself."""
        return self.attendance

    def state(self, view: SeenNetwork, p: float, seed: int, attendance: float) -> SelectionState:
        """The start of a selection; means over classes need few worlds, and more of them chose no better leaders."""
        return self._state(view, p, seed, attendance)

    def guessing_state(self, view: SeenNetwork, seed: int) -> SelectionState:
        """The start of a selection that says how many people leaders add."""
        return self._state(view, self.p, seed, self.attendance, in_people=True)

    def _state(
        self, view: SeenNetwork, p: float, seed: int, attendance: float, *, in_people: bool = False
    ) -> FeatureState:
        samples = min(self.samples, MOST_WORLDS)
        return FeatureState(view, p, samples, seed, attendance, self._model(), in_people)

    def ranges(self) -> Ranges:
        """Factors from fresh studies of the training networks and of look-alikes that nothing was trained on."""
        ranges = self._model().ranges
        if ranges is None:
            raise InputError(f"the foresight model {self.family} has no ranges: train it again")
        return ranges

    def expect_in(self, view: SeenNetwork, leaders: list[int], seed: int) -> Expected:
        """By the calibrated reach of the model, for the number of people that is known, or else estimated."""
        reach = self._model().reach
        if reach is None:
            return super().expect_in(view, leaders, seed)
        guess, study = self.guess(view, leaders, seed)
        if guess.reach == guess.known:  # no one beyond those whom the leaders are seen to reach
            return Expected(*(guess.known,) * 3)
        form, cases = self._people_cases(view)
        if not view.surveyed.any():
            return Expected(bounded(guess.reach, cases[0][0]), guess.known, cases[-1][1])
        return Expected.over(
            Expected(*reach.expect(reach_features(view, study, guess, people), guess, people, most, form))
            for people, most in cases
        )

    def _people_cases(self, view: SeenNetwork) -> tuple[str, list[tuple[float, float]]]:
        """How the number of people is found, and the numbers it may be, each with the most people there may be."""
        low, high = self.people_bounds(view.n)
        if self.people is not None and np.min(self.people) > 0 and high < np.inf:
            return "known", [(people, people) for people in sorted({low, high})]
        people, most = np.clip(estimated_people(view), low, high)
        return "estimated", [(float(people), float(most))]

    def _model(self) -> Model:
        return self.model or shipped_model(self.family)
