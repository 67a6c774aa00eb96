"""Whom to ask to lead: chosen by expected reach, with a rough guess of it, reasons and replacements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from claim.errors import InputError
from claim.field.advice.recommend import Suggestion
from claim.field.study.study import Person, Study
from claim.messages import Message
from claim.randomness import named_seed

if TYPE_CHECKING:
    from claim.selection.foresight import Expected

REPLACEMENTS = 5
SAMPLES = 400  # live-edge worlds: what fits into the time of a page
MOST_REASONS = 3


@dataclass(frozen=True)
class LeaderSuggestion(Suggestion):
    """A person to ask; ``adds`` is how many more people the leaders reach with them than with those ranked before."""

    adds: float | None  # None where the reach is


@dataclass(frozen=True)
class LeaderAdvice:
    """Leaders in order, replacements, and how many people the leaders reach on average: an estimate with its range.

    ``reach`` is None as long as too little is known to estimate it from. It counts people who were not named yet too,
    and is never above the number of people: the team's own estimate, or those known if they are more.
    """

    leaders: tuple[LeaderSuggestion, ...]
    replacements: tuple[LeaderSuggestion, ...]
    reach: "Expected | None"
    attendance: float
    p: float
    known: int


def choose_leaders(
    study: Study, include: Iterable[str] = (), exclude: Iterable[str] = (), attendance: float | None = None
) -> LeaderAdvice:
    """The study's number of leaders, with the wishes and answers that are in the log and those given here.

    People who were offered the part or accepted stay leaders. Those who declined or were replaced are passed over, and
    those who refused to be surveyed too, unless the team asks for them. ``attendance`` is the
    chance that a leader comes, else that of the settings: leaders are chosen so that some may stay away.
    """
    from claim.selection.foresight import NAME as FORESIGHT
    from claim.selection.foresight import foresight_named, shown_reasons
    from claim.selection.foresight.selector import ADDS
    from claim.selection.selectors import MethodSelector

    setup, discovered, codes, include = study.setup, study.discovered(), study.seen.codes, tuple(include)
    k, known = setup.leaders, len(codes)
    attendance = setup.attendance if attendance is None else attendance
    people = float(setup.size_low or 0), float(setup.size_high or np.inf)
    foresight = foresight_named(FORESIGHT, p=setup.p, samples=SAMPLES, attendance=attendance, people=people)
    wishes = _wishes(study, include, exclude)
    if len(wishes["must"]) > k:
        problem = "{count} people are to lead, but the study has {leaders} leaders"
        raise InputError(problem, count=len(wishes["must"]), leaders=k)
    if known - len(wishes["must_not"]) < 1:
        return LeaderAdvice((), (), None, attendance, setup.p, known)

    def random(purpose: str) -> np.random.Generator:
        return np.random.default_rng(named_seed(setup.seed, purpose))

    selector = MethodSelector(setup.p, SAMPLES) if setup.selector == "greedy" else foresight
    chosen = selector.select(discovered, k + REPLACEMENTS, random("leaders"), **wishes)
    reach: Expected | None = None
    if any(person.surveyed_at for person in study.people.values()):
        expected = foresight.expect(discovered, chosen[:k], random("reach"))
        reach = None if expected.vague else expected
    scale = None if reach is None else (reach.mean, k)
    found = foresight.reasons(discovered, chosen, random("reasons"), scale, **wishes)
    suggestions = []
    for leader, whys, shown in zip(chosen, found, shown_reasons(found, reach is not None), strict=True):
        adds = None if reach is None else next(cast(float, why.values["amount"]) for why in whys if why.text == ADDS)
        reasons = _reasons(study.people[codes[leader]], shown, include)
        suggestions.append(LeaderSuggestion(codes[leader], reasons, adds))
    return LeaderAdvice(tuple(suggestions[:k]), tuple(suggestions[k:]), reach, attendance, setup.p, known)


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
