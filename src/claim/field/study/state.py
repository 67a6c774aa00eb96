"""The state of a study: what the events of its log add up to.

Merging only notes that two codes are one person; everything stays filed under its own code and is put together when it
is looked at (see :mod:`claim.field.study.study`). That is why un-merging and undoing restore exactly what was there.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast

from claim.errors import InputError
from claim.field.study.events import (
    NEW_PERSON,
    AppointmentCancelled,
    AppointmentMade,
    ConsentGiven,
    ConsentWithdrawn,
    ContactMarked,
    Event,
    FollowUpAnswer,
    FollowUpAnswered,
    GroupSaid,
    LeaderAnswered,
    LeaderWished,
    Log,
    MarkRemoved,
    NewPersonMet,
    Outcome,
    Overridden,
    PeopleKeptApart,
    PeopleMerged,
    PeopleUnmerged,
    PersonAdded,
    PersonRenamed,
    RecommendationShown,
    SessionPlanned,
    SettingsChanged,
    StartChanged,
    StudyClosed,
    StudyCreated,
    SurveyEnded,
    SurveyStarted,
    TieRemoved,
    TieReported,
    Undone,
    Wish,
)
from claim.field.study.setup import Setup

PersonState = Literal[
    "named", "surveying", "surveyed", "partial", "refused", "no-show", "not found", "withdrawn", "forgotten"
]
_STRENGTH: tuple[PersonState, ...] = (  # the first of these holds for a person who is known under several codes
    "withdrawn", "surveying", "surveyed", "partial", "refused", "no-show", "not found", "named", "forgotten",
)  # fmt: skip
LeaderState = Literal["offered", "accepted", "declined", "replaced"]
SessionAnswer = Literal["invited", "attended", "not attended"]
GONE: tuple[PersonState, ...] = ("withdrawn", "forgotten")
TALKED: tuple[PersonState, ...] = ("surveying", "surveyed", "partial")


@dataclass(frozen=True)
class CodeEntry:
    """One code, as events left it."""

    code: str
    seq: int  # of the event that added them: the order of discovery
    name: str  # a commitment
    is_start: bool
    from_roster: bool
    state: PersonState = "named"
    consent: str | None = None  # the version of the text
    is_new: bool = False  # met as a new person
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
    """The answers of a person who was asked to lead, and what became of each session they were invited to."""

    answer: LeaderState
    sessions: Mapping[int, SessionAnswer] = field(default_factory=dict)  # below 0: noted without a session

    @property
    def attended(self) -> int:
        """How many sessions they came to."""
        return list(self.sessions.values()).count("attended")

    @property
    def not_attended(self) -> int:
        """How many sessions they did not come to."""
        return list(self.sessions.values()).count("not attended")

    @property
    def left(self) -> bool:
        """Whether they lead no longer, so that another person is needed."""
        return self.answer in ("declined", "replaced")


@dataclass(frozen=True)
class Meeting:
    """When and where: of a session with leaders, or of an appointment with one person."""

    at: str
    place: str = ""  # a commitment


Report = tuple[str, str, str]  # by, one, other


@dataclass
class State:
    """What a study's events add up to; :func:`apply` says how each event changes it."""

    study: str = ""
    setup: Setup | None = None
    people: dict[str, CodeEntry] = field(default_factory=dict)
    reports: dict[Report, int] = field(default_factory=dict)  # to the number of the event
    marks: dict[str, str] = field(default_factory=dict)  # person to the contact who, they say, knows the most people
    groups: dict[tuple[str, str], str] = field(default_factory=dict)  # by whom and of whom, to a commitment
    surveys: dict[str, Survey] = field(default_factory=dict)
    going_on: dict[str, str] = field(default_factory=dict)  # person to the id of their survey
    merged: dict[str, str] = field(default_factory=dict)  # code to the code it was merged into
    apart: dict[tuple[str, str], None] = field(default_factory=dict)
    leaders: dict[str, Leader] = field(default_factory=dict)
    wishes: dict[str, Wish] = field(default_factory=dict)
    sessions: dict[int, Meeting] = field(default_factory=dict)
    appointments: dict[str, Meeting] = field(default_factory=dict)
    follow_up: dict[str, FollowUpAnswer] = field(default_factory=dict)
    shown: RecommendationShown | None = None
    new_since_shown: int = 0  # surveys of new people that began since
    overridden: Overridden | None = None
    closed: bool = False
    step: int = 0  # events that change what is known; seeds the recommendation
    attempts: int = 0

    def copy(self) -> "State":
        """An independent copy; what it holds is frozen, so that only the containers are copied."""
        copies: dict[str, Any] = {name: dict(each) for name, each in vars(self).items() if isinstance(each, dict)}
        return replace(self, **copies)

    @property
    def settings(self) -> Setup:
        """The settings; an error before the study is created."""
        if self.setup is None:
            raise InputError("the log does not begin with the creation of a study")
        return self.setup

    def record(self, code: str) -> CodeEntry:
        """What is filed under a code."""
        if code not in self.people:
            raise InputError("no person has the code {code!r}", code=code)
        return self.people[code]

    def update(self, code: str, **fields: Any) -> None:
        """Change what is filed under a code."""
        self.people[code] = replace(self.record(code), **fields)

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
            found.extend(code for code, into in self.merged.items() if into == each)
        return tuple(found)

    def code_where(self, person: str, holds: Callable[[str], bool]) -> str:
        """The first of a person's codes for which something holds, else the one they go by."""
        return next(filter(holds, self.codes_of(person)), self.root(person))

    def state_of(self, code: str) -> PersonState:
        """The state of a person under all of their codes."""
        return strongest([self.people[each] for each in self.codes_of(code)])

    def reports_of(self, by: str, one: str, other: str) -> list[Report]:
        """What a person said about a contact between two people, under whichever codes it is filed."""
        wanted = (self.root(by), frozenset((self.root(one), self.root(other))))
        return [each for each in self.reports if (self.root(each[0]), frozenset(map(self.root, each[1:]))) == wanted]

    def is_new(self, code: str) -> bool:
        """Whether a person was met as a new person."""
        return any(self.people[each].is_new for each in self.codes_of(code))

    def consent_of(self, code: str) -> str | None:
        """The version of the text a person consented to, under any of their codes."""
        given = [self.people[each].consent for each in self.codes_of(code)]
        return next((version for version in given if version is not None), None)


def strongest(records: Sequence[CodeEntry]) -> PersonState:
    """The state of a person, from what is filed under all of their codes."""
    return records[0].state if len(records) == 1 else min((each.state for each in records), key=_STRENGTH.index)


def joined(records: list[CodeEntry]) -> CodeEntry:
    """What is filed under all codes of a person, as if it were one."""
    if len(records) == 1:
        return records[0]
    consents = [each.consent for each in records if each.consent is not None]
    return replace(
        records[0],
        seq=min(each.seq for each in records),
        is_start=any(each.is_start for each in records),
        from_roster=any(each.from_roster for each in records),
        state=strongest(records),
        consent=consents[0] if consents else None,
        is_new=any(each.is_new for each in records),
        missed=tuple(when for each in records for when in each.missed),
    )


def fold(events: Iterable[Event]) -> State:
    """The state after these events, all of which count."""
    state = State()
    for event in events:
        apply(state, event)
    return state


def undone_in(log: Log) -> frozenset[int]:
    """The numbers of all events that no longer count; an ``Undone`` that was undone has no effect."""
    gone: set[int] = set()
    for event in reversed(log):
        if isinstance(event.body, Undone) and event.seq not in gone:
            gone.update(event.body.events)
    return frozenset(gone)


def counting(log: Log, undone: Collection[int]) -> list[Event]:
    """The events that count."""
    return [event for event in log if event.seq not in undone and not isinstance(event.body, Undone)]


def apply(state: State, event: Event) -> None:
    """Validate an event and apply it to the state in place."""
    body = event.body
    if state.closed:
        raise InputError("the study is closed")
    if (state.setup is None) != isinstance(body, StudyCreated):
        raise InputError("a log begins with the creation of a study, and has only one")
    person = getattr(body, "person", None)
    if person is not None and not isinstance(body, PersonAdded):
        check_present(state, person)
    _change(state, event)
    state.step += body.affects_advice


def _change(state: State, event: Event) -> None:
    """What each event changes; those that are not listed are there to be read in the history."""
    match event.body:
        case StudyCreated(study, setup):
            state.study, state.setup = study, setup
        case SettingsChanged(setup):
            state.setup = setup
        case PersonAdded(person, name, is_start, from_roster):
            if person in state.people:
                raise InputError("the code {person!r} is taken", person=person)
            state.people[person] = CodeEntry(person, event.seq, name, is_start, from_roster)
        case PersonRenamed(person, name):
            state.update(person, name=name)
        case StartChanged(person, is_start):
            state.update(person, is_start=is_start)
        case NewPersonMet(person):
            state.update(person, is_new=True)
        case ConsentGiven(person, version):
            state.update(person, consent=version)
        case ConsentWithdrawn() as body:
            _withdraw(state, body, event.at)
        case TieReported(by, one, other):
            _report_tie(state, by, one, other, event.seq)
        case TieRemoved(by, one, other):
            if state.reports.pop((by, one, other), None) is None:
                problem = "{by} did not report a contact between {one} and {other}"
                raise InputError(problem, by=by, one=one, other=other)
            if state.marks.get(by) in (one, other) and state.root(by) in (state.root(one), state.root(other)):
                del state.marks[by]
        case ContactMarked(by, contact):
            _mark(state, by, contact)
        case MarkRemoved(by):
            if state.marks.pop(by, None) is None:
                raise InputError("{by} did not say who knows the most people", by=by)
        case GroupSaid(by, person, group):
            check_present(state, by)
            state.groups.pop((by, person), None)
            if group:
                state.groups[by, person] = group
        case SurveyStarted(person):
            _start_survey(state, person, event)
        case SurveyEnded(person, outcome):
            _end_survey(state, person, outcome, event)
        case PeopleMerged(keep, other):
            _merge(state, keep, other)
        case PeopleUnmerged(keep, other):
            if state.merged.get(other) != keep:
                raise InputError("{other} was not merged into {keep}", other=other, keep=keep)
            del state.merged[other]
        case PeopleKeptApart(one, other):
            one, other = sorted((state.record(one).code, state.record(other).code))
            state.apart[one, other] = None
        case RecommendationShown() as shown:
            state.shown, state.new_since_shown = shown, 0
        case Overridden() as overridden:
            state.overridden = overridden
        case LeaderAnswered() as body:
            state.leaders[body.person] = _leader(state, body, event.seq)
        case SessionPlanned(session, at, place):
            state.sessions[session] = _meeting(at, place)
        case AppointmentMade(person, at, place):
            state.appointments[person] = _meeting(at, place)
        case AppointmentCancelled(person):
            if state.appointments.pop(person, None) is None:
                raise InputError("{person} has no appointment", person=person)
        case FollowUpAnswered(person, follow_up):
            if state.leaders.keys() & state.codes_of(person):
                raise InputError("{person} was asked to lead: ask people who were not", person=person)
            state.follow_up[person] = follow_up
        case LeaderWished(person, wish):
            state.wishes.pop(person, None)
            if wish != "none":
                state.wishes[person] = wish
        case StudyClosed():
            state.closed = True


def check_present(state: State, code: str) -> None:
    """Check that a person is known and has not withdrawn."""
    if state.state_of(code) in GONE:
        raise InputError("{person} has withdrawn from the study", person=code)


def _withdraw(state: State, body: ConsentWithdrawn, at: str) -> None:
    if not set(state.codes_of(body.person)) <= set(body.people):
        raise InputError("a withdrawal of {person} concerns all of their codes", person=body.person)
    for person in body.people:
        state.update(person, state="withdrawn", consent=None)
        ongoing = state.going_on.pop(person, None)
        if ongoing is not None:
            state.surveys[ongoing] = replace(state.surveys[ongoing], ended_at=at, outcome="partial")
    for person in body.forgotten:
        state.update(person, state="forgotten")
    gone = {*body.people, *body.forgotten}
    state.groups = {said: group for said, group in state.groups.items() if gone.isdisjoint(said)}
    for person in gone:
        for answers in (state.leaders, state.wishes, state.appointments, state.follow_up):
            answers.pop(person, None)


def _report_tie(state: State, by: str, one: str, other: str, number: int) -> None:
    for person in (by, one, other):
        check_present(state, person)
    if state.root(one) == state.root(other):
        raise InputError("a person cannot be their own contact")
    if state.state_of(by) not in TALKED:
        raise InputError("{by} has not been surveyed, so cannot have named contacts", by=by)
    state.reports.setdefault((by, one, other), number)


def _mark(state: State, by: str, contact: str) -> None:
    for person in (by, contact):
        check_present(state, person)
    if state.root(by) == state.root(contact):
        raise InputError("a person cannot be their own contact")
    said = [(by, by, contact)] if (by, by, contact) in state.reports else state.reports_of(by, by, contact)
    if not any(report[0] == by and contact in report[1:] for report in said):
        raise InputError("{by} did not name {contact} as a contact", by=by, contact=contact)
    state.marks[by] = contact


def _start_survey(state: State, person: str, event: Event) -> None:
    if state.state_of(person) in ("surveying", "surveyed"):
        raise InputError("{person} has a survey already", person=person)
    if state.people[person].state == "partial":  # it goes on
        last = next(each for each in reversed(state.surveys.values()) if each.person == person)
        survey = replace(last, ended_at=None, outcome=None)
    else:
        survey = _attempt(state, person, event)
        state.new_since_shown += state.is_new(person)
    state.surveys[survey.id] = survey
    state.going_on[person] = survey.id
    state.update(person, state="surveying")


def _end_survey(state: State, person: str, outcome: Outcome, event: Event) -> None:
    ongoing = state.going_on.pop(person, None)
    if ongoing is None and outcome in ("answered", "partial", "named nobody"):
        raise InputError("{person} has no survey that could end", person=person)
    if ongoing is None and state.state_of(person) in TALKED:
        raise InputError("{person} was surveyed already", person=person)
    if outcome not in ("answered", "partial") and any(by == person for by, _, _ in state.reports):
        raise InputError("{person} has named people: the survey is answered or partial", person=person)
    survey = state.surveys[ongoing] if ongoing else _attempt(state, person, event)
    state.surveys[survey.id] = replace(survey, ended_at=event.at, outcome=outcome)
    after = "surveyed" if outcome in ("answered", "named nobody") else outcome
    missed = (state.attempts,) if outcome in ("no-show", "not found") else ()
    state.update(person, state=after, missed=(*state.people[person].missed, *missed))


def _attempt(state: State, person: str, event: Event) -> Survey:
    """A new survey, with what the team was advised at the time."""
    state.attempts += 1
    shown, override = state.shown, state.overridden
    meant = {person, NEW_PERSON} if state.is_new(person) else {person}
    recommended = shown is not None and not meant.isdisjoint(shown.ranking[: shown.count])
    reason = override.reason if override is not None and override.person == person else None
    policy, seed = (shown.policy, shown.seed) if shown is not None else (None, None)
    return Survey(f"S{event.seq}", person, event.at, None, None, recommended, reason, policy, seed)


def _merge(state: State, keep: str, other: str) -> None:
    check_present(state, keep)
    check_present(state, other)
    if state.root(keep) == state.root(other):
        raise InputError("{keep} and {other} are one person already", keep=keep, other=other)
    if keep in state.merged or other in state.merged:
        raise InputError("merge people under the codes they go by now")
    state.merged[other] = keep


def _leader(state: State, body: LeaderAnswered, number: int) -> Leader:
    """The answers of a leader after one more; ``number`` is that of the event."""
    person, answer, session = body.person, body.answer, body.session
    leader = state.leaders.get(person)
    if answer == "offered":
        return Leader("offered") if leader is None else replace(leader, answer="offered")
    if leader is None:
        raise InputError("{person} was not asked to lead", person=person)
    if answer in ("accepted", "declined", "replaced"):
        return replace(leader, answer=answer)
    if leader.answer != "accepted":
        raise InputError("{person} has not accepted to lead", person=person)
    if session not in state.sessions and (session is not None or answer == "invited"):
        raise InputError("there is no session {session}", session=session)
    key = -number if session is None else session
    return replace(leader, sessions={**leader.sessions, key: cast(SessionAnswer, answer)})


def _meeting(at: str, place: str) -> Meeting:
    try:
        datetime.strptime(at, "%Y-%m-%dT%H:%M")
    except ValueError:
        raise InputError("a time looks like 2027-01-31T14:30, not {at!r}", at=at[:40]) from None
    return Meeting(at, place)
