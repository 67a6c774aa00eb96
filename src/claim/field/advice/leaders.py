"""Whom to ask to lead: chosen by expected reach, with a rough guess of it, reasons and replacements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from claim.errors import InputError
from claim.field.study.study import Study
from claim.messages import Message
from claim.randomness import draw_seed, named_seed

if TYPE_CHECKING:
    from claim.selection.foresight import FreeForesight


REPLACEMENTS = 5
SAMPLES = 400  # live-edge worlds: what fits into the time of a page
MOST_REASONS = 3
_Wishes = dict[str, list[int]]  # local indices of those who must, and must not, lead


@dataclass(frozen=True)
class LeaderSuggestion:
    """A person to ask; ``adds`` is how many more people the leaders reach with them than with those ranked before."""

    person: str
    adds: float | None  # None before the first survey
    reasons: tuple[Message, ...]


@dataclass(frozen=True)
class LeaderAdvice:
    """Leaders in order, replacements, and a rough guess of how many people the leaders reach on average.

    ``reach`` is None before the first survey: there is nothing to estimate from. It counts people who were not named
    yet too, and is never above the number of people: the team's own estimate, or those known if they are more.
    """

    leaders: tuple[LeaderSuggestion, ...]
    replacements: tuple[LeaderSuggestion, ...]
    reach: float | None
    attendance: float
    p: float
    known: int


def choose_leaders(
    study: Study,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    attendance: float | None = None,
    *,
    replacements: int = REPLACEMENTS,
    samples: int = SAMPLES,
) -> LeaderAdvice:
    """The study's number of leaders, with the wishes and answers that are in the log and those given here.

    People who were offered the part or accepted stay leaders, those who declined are passed over. ``attendance`` is the
    chance that a leader comes, else that of the settings: leaders are chosen so that some may stay away.
    """
    setup, include = study.setup, tuple(include)
    from claim.selection.foresight import FreeForesight

    attendance = setup.attendance if attendance is None else attendance
    foresight = FreeForesight(setup.p, samples, attendance=attendance)
    wishes = _wishes(study, include, exclude)
    k, known = setup.leaders, len(study.seen.codes)
    if len(wishes["must"]) > k:
        raise InputError(
            "{count} people are to lead, but the study has {leaders} leaders", count=len(wishes["must"]), leaders=k
        )
    if known - len(wishes["must_not"]) < 1:
        return LeaderAdvice((), (), None, attendance, setup.p, known)
    chosen = _chosen(study, foresight, wishes, k + replacements)
    reach = _reach(study, foresight, chosen[:k])
    suggestions = _suggestions(study, foresight, chosen, set(include), wishes, None if reach is None else (reach, k))
    return LeaderAdvice(suggestions[:k], suggestions[k:], reach, attendance, setup.p, known)


def _wishes(study: Study, include: Iterable[str], exclude: Iterable[str]) -> _Wishes:
    wanted = {study.person(code).code for code in include}
    unwanted = {study.person(code).code for code in exclude}
    must, must_not = dict.fromkeys(wanted), dict.fromkeys(unwanted)
    for person in study.people.values():
        answer = person.leader.answer if person.leader else None
        if answer == "declined":
            must_not[person.code] = None
        elif person.code not in unwanted and (person.wish == "include" or answer in ("offered", "accepted")):
            must[person.code] = None
        elif person.code not in wanted and person.wish == "exclude":
            must_not[person.code] = None
    for code in must:
        if code in must_not or code not in study.seen.index:
            raise InputError("{code} cannot lead: excluded, declined, or no longer in the study", code=code)
    index = study.seen.index
    return {
        "must": sorted(index[code] for code in must),
        "must_not": sorted(index[code] for code in must_not if code in index),
    }


def _chosen(study: Study, foresight: "FreeForesight", wishes: _Wishes, count: int) -> list[int]:
    from claim.selection.selectors import GreedySelector

    greedy = study.setup.selector == "greedy"
    selector = GreedySelector(foresight.p, foresight.samples) if greedy else foresight
    rng = np.random.default_rng(named_seed(study.setup.seed, "leaders"))
    return selector.select(study.discovered(), count, rng, **wishes)


def _reach(study: Study, foresight: "FreeForesight", leaders: list[int]) -> float | None:
    """The expected reach, at most the number of people; None before the first survey."""
    from claim.selection.foresight.selection_state import SeenNetwork

    if not any(person.surveyed_at for person in study.people.values()):
        return None
    seed = draw_seed(np.random.default_rng(named_seed(study.setup.seed, "reach")))
    guess, along, features = foresight.guess_reach(SeenNetwork.of(study.discovered()), leaders, seed)
    mean, _, _ = foresight.ranges().around(guess, along, features)
    return min(mean, float(max(study.setup.size_high or 0, len(study.seen.codes))))


def _suggestions(
    study: Study,
    foresight: "FreeForesight",
    chosen: list[int],
    include: set[str],
    wishes: _Wishes,
    reach: tuple[float, int] | None,
) -> tuple[LeaderSuggestion, ...]:
    from claim.selection.foresight import shown_reasons
    from claim.selection.foresight.selector import ADDS, REACHES, UNSEEN

    rng = named_seed(study.setup.seed, "reasons")
    found = foresight.reasons(study.discovered(), chosen, rng, reach, **wishes)
    amounts = [next(why.values["amount"] for why in whys if why.text == ADDS) for whys in found]
    hidden = (REACHES, ADDS, UNSEEN) if reach is None else ()  # nothing to estimate a number of people from
    shown = [[why for why in whys if why.text not in hidden] for whys in shown_reasons(found)]
    return tuple(
        LeaderSuggestion(
            study.seen.codes[leader],
            None if reach is None else cast(float, amount),
            _reasons(study, leader, whys, include),
        )
        for leader, amount, whys in zip(chosen, amounts, shown, strict=True)
    )


def _reasons(study: Study, leader: int, whys: Sequence[Message], include: set[str]) -> tuple[Message, ...]:
    """What the team decided and what calls for care, then why foresight chose this person."""
    from claim.selection.foresight.selector import REFUSED_SURVEY

    person = study.people[study.seen.codes[leader]]
    found = []
    if person.leader is not None:
        accepted = person.leader.answer == "accepted"
        found.append(Message("has accepted to lead") if accepted else Message("was asked to lead"))
    elif person.wish == "include" or include.intersection(person.codes):
        found.append(Message("you asked for this person"))
    return (*found, *sorted(whys, key=lambda why: why.text != REFUSED_SURVEY))[:MOST_REASONS]
