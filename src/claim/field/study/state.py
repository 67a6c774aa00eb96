"""The state of a study: what the events of its log add up to.

Merging only notes that two codes are one person; everything stays filed under its own code and is put together when it
is looked at (see :mod:`claim.field.study.study`). That is why un-merging and undoing restore exactly what was there.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Literal

from claim.errors import InputError
from claim.field.study import events as happened
from claim.field.study.events import Body, Event, Outcome, Overridden, RecommendationShown, Wish
from claim.field.study.setup import Setup

PersonState = Literal[
    "named", "surveying", "surveyed", "partial", "refused", "no-show", "not found", "withdrawn", "forgotten"
]
GONE: tuple[PersonState, ...] = ("withdrawn", "forgotten")
TALKED: tuple[PersonState, ...] = ("surveying", "surveyed", "partial")
AFTER: dict[Outcome, PersonState] = {
    "answered": "surveyed",
    "named nobody": "surveyed",
    "partial": "partial",
    "refused": "refused",
    "no-show": "no-show",
    "not found": "not found",
}


@dataclass(frozen=True)
class Record:
    """One code, as events left it."""

    code: str
    seq: int  # of the event that added them: the order of discovery
    name: str  # a commitment
    is_start: bool
    from_roster: bool
    state: PersonState = "named"
    consent: str | None = None  # the version of the text
    missed: tuple[int, ...] = ()  # how many attempts had been made in the study when they were not there


@dataclass(frozen=True)
class Survey:
    """A survey, or an attempt at one; ``outcome`` is None while it goes on."""

    id: str
    person: str
    started_at: str
    ended_at: str | None = None
    outcome: Outcome | None = None
    recommended: bool = False
    override_reason: str | None = None  # a commitment
    policy: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Leader:
    """The answers of a person who was asked to lead."""

    answer: Literal["offered", "accepted", "declined"]
    attended: int = 0
    not_attended: int = 0


Report = tuple[str, str, str]  # by, one, other


@dataclass
class State:
    """The fold; see :mod:`claim.field.study.state` for how each event changes it."""

    study: str = ""
    setup: Setup | None = None
    people: dict[str, Record] = field(default_factory=dict)
    reports: dict[Report, int] = field(default_factory=dict)  # to the number of the event
    surveys: dict[str, Survey] = field(default_factory=dict)
    going_on: dict[str, str] = field(default_factory=dict)  # person to the id of their survey
    merged: dict[str, str] = field(default_factory=dict)  # code to the code it was merged into
    includes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the same the other way round
    apart: dict[tuple[str, str], None] = field(default_factory=dict)
    leaders: dict[str, Leader] = field(default_factory=dict)
    wishes: dict[str, Wish] = field(default_factory=dict)
    shown: RecommendationShown | None = None
    overridden: Overridden | None = None
    closed: bool = False
    step: int = 0  # events that change what is known; seeds the recommendation
    attempts: int = 0

    def copy(self) -> "State":
        """An independent copy; what it holds is frozen, so that only the containers are copied."""
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(twin, name, dict(value))
        return twin

    @property
    def settings(self) -> Setup:
        """The settings; an error before the study is created."""
        if self.setup is None:
            raise InputError("the log does not begin with the creation of a study")
        return self.setup

    def record(self, code: str) -> Record:
        """What is filed under a code."""
        if code not in self.people:
            raise InputError("no person has the code {code!r}", code=code)
        return self.people[code]

    def root(self, code: str) -> str:
        """The code a person goes by now, after merges."""
        self.record(code)
        while code in self.merged:
            code = self.merged[code]
        return code

    def codes_of(self, code: str) -> tuple[str, ...]:
        """All codes of a person, the current one first."""
        found = [self.root(code)]
        for each in found:  # grows as it is walked
            found.extend(self.includes.get(each, ()))
        return tuple(found)

    def state_of(self, code: str) -> PersonState:
        """The state of a person under all of their codes."""
        return strongest(self.people[each].state for each in self.codes_of(code))

    def consent_of(self, code: str) -> str | None:
        """The version of the text a person consented to, under any of their codes."""
        given = [self.people[each].consent for each in self.codes_of(code)]
        return next((version for version in given if version is not None), None)


_STRENGTH: tuple[PersonState, ...] = (
    "withdrawn", "surveying", "surveyed", "partial", "refused", "no-show", "not found", "named", "forgotten",
)  # fmt: skip


def strongest(states: Iterable[PersonState]) -> PersonState:
    """The state of a person who is known under several codes."""
    return min(states, key=_STRENGTH.index)


WITHOUT_NEWS = (  # these change nothing that a recommendation follows from
    happened.RecommendationShown,
    happened.Overridden,
    happened.LeaderAnswered,
    happened.LeaderWished,
    happened.PeopleKeptApart,
    happened.UndoneErased,
    happened.Exported,
    happened.Imported,
    happened.Restored,
)


def fold(events: Iterable[Event], state: State | None = None) -> State:
    """The state after these events, all of which count; a given state is changed in place."""
    state = state or State()
    for event in events:
        apply(state, event)
    return state


def apply(state: State, event: Event) -> None:
    """One more event."""
    body = event.body
    if state.closed:
        raise InputError("the study is closed")
    if (state.setup is None) != isinstance(body, happened.StudyCreated):
        raise InputError("a log begins with the creation of a study, and has only one")
    _change(body, state, event)
    if not isinstance(body, WITHOUT_NEWS):
        state.step += 1


def undone_in(log: Iterable[Event]) -> frozenset[int]:
    """The numbers of all events that no longer count; an ``Undone`` that was undone has no effect."""
    gone: set[int] = set()
    for event in sorted(log, key=lambda event: event.seq, reverse=True):
        if isinstance(event.body, happened.Undone) and event.seq not in gone:
            gone.update(event.body.events)
    return frozenset(gone)


def counting(log: Iterable[Event], undone: frozenset[int] | None = None) -> list[Event]:
    """The events that count."""
    log = list(log)
    gone = undone_in(log) if undone is None else undone
    return [event for event in log if event.seq not in gone and not isinstance(event.body, happened.Undone)]


@singledispatch
def _change(body: Body, state: State, event: Event) -> None:
    raise InputError("an event of the type {type} changes nothing by itself", type=event.type)


@_change.register
def _(body: happened.StudyCreated, state: State, event: Event) -> None:
    state.study, state.setup = body.study, body.setup


@_change.register
def _(body: happened.SettingsChanged, state: State, event: Event) -> None:
    state.setup = body.setup


@_change.register
def _(body: happened.PersonAdded, state: State, event: Event) -> None:
    if body.person in state.people:
        raise InputError("the code {person!r} is taken", **vars(body))
    state.people[body.person] = Record(body.person, event.seq, body.name, body.is_start, body.from_roster)


@_change.register
def _(body: happened.PersonRenamed, state: State, event: Event) -> None:
    check_present(state, body.person)
    state.people[body.person] = replace(state.people[body.person], name=body.name)


@_change.register
def _(body: happened.StartChanged, state: State, event: Event) -> None:
    check_present(state, body.person)
    state.people[body.person] = replace(state.people[body.person], is_start=body.is_start)


@_change.register
def _(body: happened.TieReported, state: State, event: Event) -> None:
    for person in {body.by, body.one, body.other}:
        check_present(state, person)
    if state.root(body.one) == state.root(body.other):
        raise InputError("a person cannot be their own contact")
    if state.state_of(body.by) not in TALKED:
        raise InputError("{by} has not been surveyed, so cannot have named contacts", **vars(body))
    state.reports.setdefault((body.by, body.one, body.other), event.seq)


@_change.register
def _(body: happened.TieRemoved, state: State, event: Event) -> None:
    if state.reports.pop((body.by, body.one, body.other), None) is None:
        raise InputError("{by} did not report a contact between {one} and {other}", **vars(body))


@_change.register
def _(body: happened.SurveyStarted, state: State, event: Event) -> None:
    check_present(state, body.person)
    record = state.people[body.person]
    if state.state_of(body.person) in ("surveying", "surveyed"):
        raise InputError("{person} has a survey already", **vars(body))
    if record.state == "partial":  # it goes on
        last = next(each for each in reversed(state.surveys.values()) if each.person == body.person)
        survey = replace(last, ended_at=None, outcome=None)
    else:
        survey = _attempt(state, body.person, event)
    state.surveys[survey.id] = survey
    state.going_on[body.person] = survey.id
    state.people[body.person] = replace(record, state="surveying")


@_change.register
def _(body: happened.SurveyEnded, state: State, event: Event) -> None:
    check_present(state, body.person)
    talked = body.outcome in ("answered", "partial", "named nobody")
    ongoing = state.going_on.pop(body.person, None)
    if talked and ongoing is None:
        raise InputError("{person} has no survey that could end", **vars(body))
    if not talked and ongoing is None and state.state_of(body.person) in TALKED:
        raise InputError("{person} was surveyed already", **vars(body))
    _check_contacts(body, state)
    survey = state.surveys[ongoing] if ongoing else _attempt(state, body.person, event)
    state.surveys[survey.id] = replace(survey, ended_at=event.at, outcome=body.outcome)
    record = state.people[body.person]
    missed = (*record.missed, state.attempts) if body.outcome in ("no-show", "not found") else record.missed
    state.people[body.person] = replace(record, state=AFTER[body.outcome], missed=missed)


def _check_contacts(body: happened.SurveyEnded, state: State) -> None:
    if body.outcome in ("answered", "partial"):
        return
    if any(by == body.person for by, _, _ in state.reports):
        raise InputError("{person} has named people: the survey is answered or partial", **vars(body))


def _attempt(state: State, person: str, event: Event) -> Survey:
    """A new survey, with what the team was advised at the time."""
    state.attempts += 1
    shown, override = state.shown, state.overridden
    recommended = shown is not None and person in shown.ranking[: shown.count]
    reason = override.reason if override is not None and override.person == person else None
    policy, seed = (shown.policy, shown.seed) if shown is not None else (None, None)
    return Survey(f"S{event.seq}", person, event.at, None, None, recommended, reason, policy, seed)


@_change.register
def _(body: happened.ConsentGiven, state: State, event: Event) -> None:
    check_present(state, body.person)
    state.people[body.person] = replace(state.people[body.person], consent=body.version)


@_change.register
def _(body: happened.ConsentWithdrawn, state: State, event: Event) -> None:
    check_present(state, body.person)
    if not set(state.codes_of(body.person)) <= set(body.people):
        raise InputError("a withdrawal of {person} concerns all of their codes", **vars(body))
    for person in body.people:
        state.people[person] = replace(state.record(person), state="withdrawn", consent=None)
        ongoing = state.going_on.pop(person, None)
        if ongoing is not None:
            state.surveys[ongoing] = replace(state.surveys[ongoing], ended_at=event.at, outcome="partial")
    for person in body.forgotten:
        state.people[person] = replace(state.record(person), state="forgotten")
    for person in (*body.people, *body.forgotten):
        state.leaders.pop(person, None)
        state.wishes.pop(person, None)


@_change.register
def _(body: happened.PeopleMerged, state: State, event: Event) -> None:
    check_present(state, body.keep)
    check_present(state, body.other)
    if state.root(body.keep) == state.root(body.other):
        raise InputError("{keep} and {other} are one person already", **vars(body))
    if body.keep in state.merged or body.other in state.merged:
        raise InputError("merge people under the codes they go by now")
    state.merged[body.other] = body.keep
    state.includes[body.keep] = (*state.includes.get(body.keep, ()), body.other)


@_change.register
def _(body: happened.PeopleUnmerged, state: State, event: Event) -> None:
    if state.merged.get(body.other) != body.keep:
        raise InputError("{other} was not merged into {keep}", **vars(body))
    del state.merged[body.other]
    rest = tuple(code for code in state.includes.pop(body.keep) if code != body.other)
    if rest:
        state.includes[body.keep] = rest


@_change.register
def _(body: happened.PeopleKeptApart, state: State, event: Event) -> None:
    one, other = sorted((state.record(body.one).code, state.record(body.other).code))
    state.apart[one, other] = None


@_change.register
def _(body: happened.RecommendationShown, state: State, event: Event) -> None:
    state.shown = body


@_change.register
def _(body: happened.Overridden, state: State, event: Event) -> None:
    check_present(state, body.person)
    state.overridden = body


@_change.register
def _(body: happened.LeaderAnswered, state: State, event: Event) -> None:
    check_present(state, body.person)
    leader = state.leaders.get(body.person)
    if body.answer == "offered":
        state.leaders[body.person] = Leader("offered")
    elif leader is None:
        raise InputError("{person} was not asked to lead", **vars(body))
    elif body.answer in ("accepted", "declined"):
        state.leaders[body.person] = replace(leader, answer=body.answer)
    elif leader.answer != "accepted":
        raise InputError("{person} has not accepted to lead", **vars(body))
    else:
        attended = body.answer == "attended"
        counts = (leader.attended + attended, leader.not_attended + (not attended))
        state.leaders[body.person] = Leader(leader.answer, *counts)


@_change.register
def _(body: happened.LeaderWished, state: State, event: Event) -> None:
    check_present(state, body.person)
    state.wishes.pop(body.person, None)
    if body.wish != "none":
        state.wishes[body.person] = body.wish


@_change.register(happened.UndoneErased)
@_change.register(happened.Exported)
@_change.register(happened.Imported)
@_change.register(happened.Restored)
def _(body: Body, state: State, event: Event) -> None:
    """These are there to be read in the history."""


@_change.register
def _(body: happened.StudyClosed, state: State, event: Event) -> None:
    state.closed = True


def check_present(state: State, code: str) -> None:
    """Check that a person is known and has not withdrawn."""
    if state.state_of(code) in GONE:
        raise InputError("{person} has withdrawn from the study", person=code)
