"""What every exchange format is turned into and made from: people, ties and surveys as plain records.

Records know nothing of a study or of a file. Codes stand for people; a name is carried only on the way in, and into the
encrypted name key, never into any other file that goes out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import get_args

from claim.errors import InputError
from claim.field.study.events import FollowUpAnswer, Outcome
from claim.field.study.state import LeaderState, PersonState

STATUSES: tuple[str, ...] = get_args(PersonState)
OUTCOMES: tuple[str, ...] = get_args(Outcome)
LEADER_STATES: tuple[str, ...] = get_args(LeaderState)
FOLLOW_UP_ANSWERS: tuple[str, ...] = get_args(FollowUpAnswer)


@dataclass(frozen=True)
class PersonRecord:
    """A person; None where a file does not say."""

    code: str
    name: str | None = None
    status: str = "named"
    consent: str | None = None  # the version of the text they consented to
    first_named_by: str | None = None
    surveyed_at: str | None = None
    n_contacts: int | None = None
    times_named: int | None = None
    is_start: bool = False
    leader_rank: int | None = None
    is_new: bool = False  # met as a new person, drawn by lot
    marked: str | None = None  # the contact who, they say, knows the most people
    leader: str | None = None  # what came of asking them to lead
    sessions_attended: int | None = None
    sessions_missed: int | None = None
    follow_up: str | None = None  # whether anyone talked to them about it
    group: str | None = None
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class TieRecord:
    """A contact between two people, once for each pair, and who reported it."""

    source: str
    target: str
    weight: float = 1.0
    named_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class SurveyRecord:
    """A survey, or an attempt at one."""

    survey_id: str
    person_code: str
    started_at: str | None = None
    ended_at: str | None = None
    outcome: str | None = None
    n_named: int | None = None
    recommended: bool | None = None
    override_reason: str | None = None
    policy: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Bundle:
    """All that goes in or out at once."""

    people: tuple[PersonRecord, ...] = ()
    ties: tuple[TieRecord, ...] = ()
    surveys: tuple[SurveyRecord, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """The names that are known, by code."""
        return {person.code: person.name for person in self.people if person.name is not None}

    def without_names(self) -> "Bundle":
        """The same with codes only."""
        return replace(self, people=tuple(replace(person, name=None) for person in self.people))

    def with_names(self, names: Mapping[str, str]) -> "Bundle":
        """The same with the names of a name key put to the codes."""
        people = (replace(person, name=names.get(person.code, person.name)) for person in self.people)
        return replace(self, people=tuple(people))

    def with_positions(self, places: Mapping[str, tuple[float, float]]) -> "Bundle":
        """The same with places in a picture of the network."""
        found = ((person, places.get(person.code, (person.x, person.y))) for person in self.people)
        return replace(self, people=tuple(replace(person, x=x, y=y) for person, (x, y) in found))

    def merged(self, into: Mapping[str, str]) -> "Bundle":
        """The same with some codes replaced by others: they are one person."""
        if not into:
            return self
        final = {code: _end_of_chain(code, into) for code in into}

        def now(code: str) -> str:
            return final.get(code, code)

        people: dict[str, PersonRecord] = {}
        for person in sorted(self.people, key=lambda person: person.code in final):  # the kept record comes first
            code, others = now(person.code), (person.first_named_by, person.marked)
            namer, marked = (now(each) if each and now(each) != code else None for each in others)
            person = replace(person, code=code, first_named_by=namer, marked=marked)
            people[code] = _joined(people[code], person) if code in people else person
        ties = (TieRecord(now(t.source), now(t.target), t.weight, tuple(map(now, t.named_by))) for t in self.ties)
        surveys = (replace(survey, person_code=now(survey.person_code)) for survey in self.surveys)
        return Bundle(tuple(people.values()), distinct(ties), tuple(surveys))


def check(bundle: Bundle) -> None:
    """Refuse a bundle that does not hold together: codes twice, ties of unknown people, ties to oneself, marks of no
    contact."""
    codes = {person.code for person in bundle.people}
    pairs = {frozenset((tie.source, tie.target)) for tie in bundle.ties}
    marks = {frozenset((person.code, person.marked)) for person in bundle.people if person.marked is not None}
    ids = {survey.survey_id for survey in bundle.surveys}
    checks = (
        (len(codes) == len(bundle.people), "a person's code comes twice"),
        (all(pair <= codes for pair in pairs), "a tie has an end that is no person's code"),
        (all(len(pair) == 2 for pair in pairs), "a tie leads from a person to the same person"),
        (len(pairs) == len(bundle.ties), "a tie comes twice"),
        (marks <= pairs, "a mark is of a person who is not a contact"),
        (all(each.person_code in codes for each in bundle.surveys), "a survey is of an unknown person"),
        (len(ids) == len(bundle.surveys), "a survey comes twice"),
    )
    for fine, problem in checks:
        if not fine:
            raise InputError(problem)


def _end_of_chain(code: str, into: Mapping[str, str]) -> str:
    passed = [code]
    while passed[-1] in into and into[passed[-1]] != passed[-1]:
        passed.append(into[passed[-1]])
        if passed[-1] in passed[:-1]:
            raise InputError("the merges go round in a circle at {code}", code=repr(passed[-1]))
    return passed[-1]


def _joined(kept: PersonRecord, other: PersonRecord) -> PersonRecord:
    """Two records of one person: what the first does not say is taken from the second; counts are unknown."""
    blank = PersonRecord(kept.code)
    said = {name: value for name, value in vars(kept).items() if value != getattr(blank, name)}
    return replace(other, **said | {"n_contacts": None, "times_named": None})


def distinct(ties: Iterable[TieRecord]) -> tuple[TieRecord, ...]:
    """One tie for each pair of people, with all who reported it; ties from a person to themselves are dropped."""
    found: dict[frozenset[str], TieRecord] = {}
    for tie in ties:
        pair = frozenset((tie.source, tie.target))
        first = found.get(pair, tie)
        namers = tuple(dict.fromkeys((*first.named_by, *tie.named_by)))
        found[pair] = replace(first, weight=max(first.weight, tie.weight), named_by=namers)
    return tuple(tie for tie in found.values() if tie.source != tie.target)
