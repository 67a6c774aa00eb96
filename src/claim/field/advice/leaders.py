"""Whom to ask to lead: chosen by expected reach, with a rough guess of it, reasons and replacements."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from claim.errors import InputError
from claim.field.advice.recommend import Suggestion
from claim.field.study.setup import FairRule
from claim.field.study.study import Person, Study
from claim.messages import Message
from claim.randomness import named_seed

if TYPE_CHECKING:
    from claim.discovery import Discovered
    from claim.selection.foresight import Expected
    from claim.selection.foresight.groups import ExpectedGroup

REPLACEMENTS = 5
SAMPLES = 400  # live-edge worlds: what fits into the time of a page
MOST_REASONS = 3
LEAST_KNOWN = 10  # people of a group, for its reach to be shown and balanced
OTHER_GROUPS = ""  # stands for all groups of fewer people together


@dataclass(frozen=True)
class LeaderSuggestion(Suggestion):
    """A person to ask; ``adds`` is how many more people the leaders reach with them than with those ranked before."""

    adds: float | None  # None where the reach is


@dataclass(frozen=True)
class LeaderAdvice:
    """Leaders in order, replacements, and how many people the leaders reach on average: an estimate with its range.

    ``reach`` is None as long as too little is known to estimate it from. It counts people who were not named yet too,
    and is never above the number of people: the team's own estimate, or those known if they are more. ``groups`` is
    what they reach of each group of which at least :data:`LEAST_KNOWN` people are known, ``plain`` what leaders who are
    not balanced between groups would reach.
    """

    leaders: tuple[LeaderSuggestion, ...]
    replacements: tuple[LeaderSuggestion, ...]
    reach: "Expected | None"
    attendance: float
    p: float
    known: int
    groups: "Mapping[str, ExpectedGroup]"
    plain: "Expected | None" = None
    said_yes: int = 0  # people who do not lead and were reached by earlier leaders, whom the next ones add to


def choose_leaders(
    study: Study,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    attendance: float | None = None,
    groups: Mapping[str, str] | None = None,
) -> LeaderAdvice:
    """Leaders and replacements with the reach to expect and reasons; see :class:`LeaderChoice`."""
    return LeaderChoice(study, include, exclude, attendance, groups).advice


class LeaderChoice:
    """The study's number of leaders, with the wishes and answers that are in the log and those given here.

    People who were offered the part or accepted stay leaders. Those who declined or were replaced are passed over, and
    those who refused to be surveyed too, unless the team asks for them. ``attendance`` is the
    chance that a leader comes, else that of the settings: leaders are chosen so that some may stay away. ``groups`` are
    those of people by code; ``fair`` says how leaders are balanced between them, if not as in the settings.

    Once leaders came, those still missing are the next wave: they add the most to the people known to be reached, who
    are the leaders who came and those who said yes in the follow-up. The latter are not asked to lead. The reach, and
    what each leader adds, are expected of all the leaders as if nothing had been observed.

    The reach and the reasons are computed when they are asked for.
    """

    def __init__(
        self,
        study: Study,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        attendance: float | None = None,
        groups: Mapping[str, str] | None = None,
        fair: FairRule | None = None,
    ) -> None:
        from claim.selection.foresight import NAME as FORESIGHT
        from claim.selection.foresight import foresight_named
        from claim.selection.foresight.selection_state import SeenNetwork
        from claim.selection.greedy import Candidates
        from claim.selection.selectors import MethodSelector

        setup, self.study, self.include, self.exclude = study.setup, study, tuple(include), tuple(exclude)
        self.groups, self.fair = groups or {}, setup.fair if fair is None else fair
        self.attendance = setup.attendance if attendance is None else attendance
        people = float(setup.size_low or 0), float(setup.size_high or np.inf)
        from claim.field.advice.observed import observed_in  # it loads compiled code

        observed = observed_in(study)
        self._foresight = foresight_named(
            FORESIGHT, p=setup.p, samples=SAMPLES, attendance=self.attendance, people=people
        )
        self._wishes = _wishes(study, self.include, self.exclude)
        k, known = setup.leaders, len(study.seen.codes)
        if len(self._wishes["must"]) > k:
            problem = "{count} people are to lead, but the study has {leaders} leaders"
            raise InputError(problem, count=len(self._wishes["must"]), leaders=k)
        self._view = SeenNetwork.of(study.discovered())
        self._chosen: list[int] = []
        first = observed.first(self._wishes["must"])
        self._reached = set(first) - set(self._wishes["must"])  # people who do not lead
        wishes = {"must": first, "must_not": [who for who in self._wishes["must_not"] if who not in self._reached]}
        self._wishes["must_not"] = sorted({*self._wishes["must_not"], *self._reached})
        if known - len(self._wishes["must_not"]) < 1:
            return
        k += len(self._reached)
        greedy, foresight = (
            MethodSelector(setup.p, SAMPLES, observed=observed),
            replace(self._foresight, observed=observed),
        )
        chosen: list[int] = []
        if self.fair != "none" and self._grouped is not None:
            selector = replace(greedy if setup.selector == "greedy" else foresight, fair=self.fair)
            for count in (k, k + REPLACEMENTS):  # replacements are balanced beside the leaders
                chosen = selector.select(self._grouped, count, self._random("leaders"), **wishes)
                wishes["must"] = chosen
        elif setup.selector == "greedy":
            chosen = greedy.select(study.discovered(), k + REPLACEMENTS, self._random("leaders"), **wishes)
        else:
            view = SeenNetwork.of(study.discovered(), observed.failed) if observed.failed else self._view
            candidates = Candidates.of(known, k + REPLACEMENTS, **wishes)
            chosen = foresight.select_in(view, candidates, k + REPLACEMENTS, self._random("leaders"))
        self._chosen = [who for who in chosen if who not in self._reached]

    @property
    def leaders(self) -> tuple[str, ...]:
        """The codes of the leaders, best first."""
        return tuple(self.study.seen.codes[who] for who in self._chosen[: self.study.setup.leaders])

    @cached_property
    def reach(self) -> "Expected | None":
        """How many people the leaders reach on average; None as long as too little is known to say so."""
        if not self._chosen or not any(person.surveyed_at for person in self.study.people.values()):
            return None
        leaders = self._chosen[: self.study.setup.leaders]
        expected = self._foresight.expect(self.study.discovered(), leaders, self._random("reach"), self._view)
        return None if expected.vague else expected

    @cached_property
    def _grouped(self) -> "Discovered | None":
        """What was discovered with the groups of which enough people are known; None unless they are several.

        The smaller ones count as one group, if enough people are known of them together.
        """
        index, known = self.study.seen.index, Counter(self.groups.values())
        large = {code: group if known[group] >= LEAST_KNOWN else OTHER_GROUPS for code, group in self.groups.items()}
        shown = {group for group, count in Counter(large.values()).items() if count >= LEAST_KNOWN}
        if len(shown) < 2:
            return None
        discovered = self.study.discovered().copy()
        for code, group in large.items():
            if group in shown and code in index:
                discovered.record_group(index[code], group)
        return discovered

    @cached_property
    def reach_by_group(self) -> "Mapping[str, ExpectedGroup]":
        """How many people of each group the leaders reach; nothing as long as too little is known to say so."""
        if self.reach is None or self._grouped is None:
            return {}
        leaders = self._chosen[: self.study.setup.leaders]
        return self._foresight.expect_groups(self._grouped, leaders, self.reach, self._random("groups"))

    @cached_property
    def plain_reach(self) -> "Expected | None":
        """What leaders who are not balanced between groups would reach; None if these are not."""
        if self.fair == "none" or self._grouped is None:
            return None
        return LeaderChoice(self.study, self.include, self.exclude, self.attendance, fair="none").reach

    @cached_property
    def advice(self) -> LeaderAdvice:
        """All of it, with reasons."""
        from claim.selection.foresight import shown_reasons
        from claim.selection.foresight.selector import ADDS

        setup, codes, reach = self.study.setup, self.study.seen.codes, self.reach
        found = self._foresight.reasons(
            self.study.discovered(),
            self._chosen,
            self._random("reasons"),
            reach and (reach.mean, setup.leaders),
            self._view,
            **self._wishes,
        )
        suggestions = []
        for leader, whys, shown in zip(self._chosen, found, shown_reasons(found, reach is not None), strict=True):
            adds = (
                None if reach is None else next(cast(float, why.values["amount"]) for why in whys if why.text == ADDS)
            )
            reasons = _reasons(self.study.people[codes[leader]], shown, self.include)
            suggestions.append(LeaderSuggestion(codes[leader], reasons, adds))
        leaders, others = tuple(suggestions[: setup.leaders]), tuple(suggestions[setup.leaders :])
        groups, plain = self.reach_by_group, self.plain_reach
        said_yes = len(self._reached)
        return LeaderAdvice(leaders, others, reach, self.attendance, setup.p, len(codes), groups, plain, said_yes)

    def _random(self, purpose: str) -> np.random.Generator:
        return np.random.default_rng(named_seed(self.study.setup.seed, purpose))


def _wishes(study: Study, include: Iterable[str], exclude: Iterable[str]) -> dict[str, list[int]]:
    """Local indices of the people who must, and must not, lead: by the log, unless the arguments say otherwise."""
    index = study.seen.index
    wanted, unwanted = ({study.person(code).code for code in codes} for codes in (include, exclude))
    must, must_not = set(wanted), set(unwanted)
    for person in study.people.values():
        answer = person.leader.answer if person.leader else None
        refused = person.state == "refused" and person.wish != "include" and person.code not in wanted
        if (person.leader and person.leader.left) or (refused and answer is None):
            must_not.add(person.code)
        elif person.code not in unwanted and (person.wish == "include" or answer in ("offered", "accepted")):
            must.add(person.code)
        elif person.code not in wanted and person.wish == "exclude":
            must_not.add(person.code)
    for code in sorted(must):
        if code in must_not or code not in index:
            raise InputError("{code} cannot lead: excluded, declined, or no longer in the study", code=code)
    wishes = {"must": must, "must_not": must_not & index.keys()}
    return {wish: sorted(index[code] for code in codes) for wish, codes in wishes.items()}


def _reasons(person: Person, whys: Sequence[Message], include: Iterable[str]) -> tuple[Message, ...]:
    """What the team decided and what calls for care, then why foresight chose this person."""
    from claim.selection.foresight.selector import REFUSED_SURVEY

    found = []
    if person.leader is not None:
        found.append(Message("has accepted to lead" if person.leader.answer == "accepted" else "was asked to lead"))
    elif person.wish == "include" or set(include).intersection(person.codes):
        found.append(Message("you asked for this person"))
    return (*found, *sorted(whys, key=lambda why: why.text != REFUSED_SURVEY))[:MOST_REASONS]
