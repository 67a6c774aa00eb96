"""Whom to survey next, and why; the same log and seed always give the same advice."""

from dataclasses import dataclass

import numpy as np

from claim.discovery import Discovered, Policy
from claim.discovery.reasons import FEW, MANY, signs_of
from claim.errors import InputError
from claim.field.advice.reasons import Reason
from claim.field.advice.rules import Rule, rule_named
from claim.field.study.commands import Draft
from claim.field.study.events import RecommendationShown
from claim.field.study.state import TALKED
from claim.field.study.study import Person, Study
from claim.randomness import named_seed

ALTERNATIVES = 5
REST = 3  # attempts with others before somebody who was not there is suggested as before, for each time
MOST_NAMED = 3  # people a reason lists by name
MOST_REASONS = 3


@dataclass(frozen=True)
class Suggestion:
    """Somebody to survey, with up to three reasons, the strongest first."""

    person: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Advice:
    """A ranking: the first ``count`` are recommended, the others are there to choose from."""

    policy: str
    policy_hash: str | None
    seed: int
    step: int
    count: int
    ranking: tuple[Suggestion, ...]
    notes: tuple[Reason, ...] = ()

    @property
    def recommended(self) -> tuple[Suggestion, ...]:
        """The next person, or the people of the next round."""
        return self.ranking[: self.count]

    @property
    def alternatives(self) -> tuple[Suggestion, ...]:
        """Who comes after them."""
        return self.ranking[self.count :]


@dataclass(frozen=True)
class Round:
    """What is left of a round that was planned: places, and the people who keep theirs."""

    places: int
    people: tuple[Person, ...]


def open_round(study: Study) -> Round | None:
    """The round of several people that was shown last, if somebody of it is still to be surveyed.

    Whoever was surveyed has used up a place; the place of whoever refused or was not there goes to somebody else.
    """
    shown = study.state.shown
    if shown is None or shown.count < 2:
        return None
    there = (code for code in shown.ranking[: shown.count] if code in study.state.people)  # adding them may be undone
    planned = [study.person(code) for code in there]
    places = shown.count - sum(person.state in TALKED for person in planned)
    waiting = tuple(person for person in planned if person.may_be_surveyed and not _rests(study, person))
    return Round(places, waiting) if places else None


def recommend(
    study: Study,
    count: int | None = None,
    *,
    policy: Policy | None = None,
    policy_hash: str | None = None,
    alternatives: int = ALTERNATIVES,
) -> Advice:
    """Whom to survey next: start people first, then as the study's policy (or a given, trained one) ranks them.

    Without a ``count`` an open round goes on, else it is one person; with it a round of so many is planned anew.
    Never anybody who was surveyed, refused or withdrew. Somebody who was not there comes after the others until
    :data:`REST` further attempts were made for each time they were missed.
    """
    going_on = open_round(study) if count is None else None
    count = (going_on.places if going_on else 1) if count is None else count
    if count < 1:
        raise InputError(f"ask for at least one person, not {count}")
    rule = Rule(policy, policy_hash) if policy else rule_named(study.setup.policy, study.setup.budget)
    ranking = _ranking(study, rule.policy, count + alternatives, going_on.people if going_on else ())
    sizes = _class_sizes(study.discovered())
    suggestions = tuple(Suggestion(person.code, _reasons(study, person, rule.policy, sizes)) for person in ranking)
    return Advice(rule.policy.name, rule.hash, study.setup.seed, study.state.step, count, suggestions, _notes(study))


def show(draft: Draft, advice: Advice) -> bool:
    """Note in the log what the team was advised; False if it is what was shown last."""
    people = tuple(suggestion.person for suggestion in advice.ranking)
    body = RecommendationShown(advice.policy, advice.policy_hash, advice.seed, advice.step, people, advice.count)
    if draft.state.shown == body:
        return False
    draft.say(body)
    return True


def _ranking(study: Study, policy: Policy, count: int, kept: tuple[Person, ...]) -> list[Person]:
    waiting = [person for person in study.people.values() if person.may_be_surveyed]
    resting = [person for person in waiting if _rests(study, person)]
    first = [person for person in waiting if person.is_start and not _rests(study, person)]
    rng = np.random.default_rng(named_seed(study.setup.seed, "advice", study.state.step))
    chosen = policy.choose(study.discovered(), rng, min(len(waiting), count + len(first) + len(resting)))
    ranked = [study.people[study.seen.codes[index]] for index in chosen]
    others = [person for person in ranked if person not in first and person not in resting]
    late = sorted(resting, key=lambda person: (len(person.missed), person.missed[-1]))
    return list({person.code: person for person in (*kept, *first, *others, *late)}.values())[:count]


def _rests(study: Study, person: Person) -> bool:
    return bool(person.missed) and study.state.attempts - person.missed[-1] < REST * len(person.missed)


def _notes(study: Study) -> tuple[Reason, ...]:
    notes = []
    if not study.seen.codes:
        notes.append(Reason.of("no_people"))
    elif not study.discovered().frontier:
        notes.append(Reason.of("nobody_left"))
    if study.left == 0:
        notes.append(Reason.of("budget_used"))
    return tuple(notes)


def _class_sizes(discovered: Discovered) -> dict[int, int]:
    return {member: group.size for group in discovered.frontier_classes for member in group.members}


def _reasons(study: Study, person: Person, policy: Policy, sizes: dict[int, int]) -> tuple[Reason, ...]:
    """What the rules look at: who named this person, what the rule itself goes by, and who looks just the same."""
    seen, here = study.seen, study.seen.index[person.code]
    namers = seen.discovered.surveyed_contacts(here)
    found: list[Reason] = []
    if person.is_start:
        found.append(Reason.of("start"))
    if _rests(study, person):
        found.append(Reason.of("missed", count=len(person.missed)))
    found += [*_named(study, namers), *_gone_by(study, policy, here, namers)]
    if not namers and not person.is_start:
        found.append(Reason.of("listed" if person.from_roster else "not_named"))
    if sizes.get(here, 1) > 1 and not person.is_start:
        found.append(Reason.of("equals", count=sizes[here] - 1))
    return tuple(found[:MOST_REASONS])


def _named(study: Study, namers: list[int]) -> list[Reason]:
    if not namers:
        return []
    codes = study.seen.codes
    people = tuple(codes[namer] for namer in namers)
    many = len(people) > MOST_NAMED
    return [Reason.of("named_by_many", count=len(people)) if many else Reason.of("named_by", people=people)]


def _gone_by(study: Study, policy: Policy, person: int, namers: list[int]) -> list[Reason]:
    """What the policy says for itself beside who named the person; else the signs it goes by."""
    own = getattr(policy, "reasons", None)
    if own is not None:
        return [Reason.of("rule", says=says) for says in own(study.discovered(), person, str)[1:]]
    if not namers:
        return []
    codes, degree, signs = study.seen.codes, study.discovered().degree, signs_of(policy)
    found = []
    lonely = min(namers, key=degree)
    if "lonely namer" in signs and degree(lonely) <= FEW:
        found.append(Reason.of("likely_hub", person=codes[lonely]))
    popular = max(namers, key=degree)
    if "popular namer" in signs and degree(popular) >= MANY:
        found.append(Reason.of("well_connected", person=codes[popular], count=degree(popular)))
    return found
