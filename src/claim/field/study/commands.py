"""Commands: each appends events to a draft, checked against the state, with the texts that they commit to."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product

from claim.errors import InputError
from claim.field.advice.recommend import Advice, check_rule
from claim.field.study import events as happened
from claim.field.study.events import NO_HASH, Body, Event, Log, PersonAdded, Secret, seal
from claim.field.study.names import clean, in_order, telling_words, tells
from claim.field.study.setup import LONGEST_GROUP, LONGEST_TEXT, Setup
from claim.field.study.state import TALKED, State, apply, check_present, counting, undone_in
from claim.field.study.study import Study
from claim.networks.groups import UNKNOWN_WORDS

LONGEST_PLACE = 200  # characters


class Draft:
    """One batch of sealed events: all of it is written, or nothing. The commands below append to it."""

    def __init__(self, study: Study, texts: Mapping[str, str] | None = None, at: str = "") -> None:
        self.study = study  # before the draft
        self.state: State = study.state.copy()  # after the events appended so far
        self.texts = dict(texts or {})
        self.events: list[Event] = []
        self.secrets: dict[str, Secret] = {}
        self.erase: set[str] = set()
        self._at = at

    def append(self, body: Body) -> None:
        """Seal one more event and apply it; an error if it does not fit the state."""
        event = self.sealed(body)
        apply(self.state, event)
        self.events.append(event)

    def sealed(self, body: Body) -> Event:
        """The event that would come next in the chain."""
        first, last = self.study.position + 1, (*self.study.log[-1:], *self.events[-1:])
        return seal(body, first + len(self.events), self._at, first, last[-1].hash if last else NO_HASH)

    def after(self) -> Study:
        """The study with these events, which were applied already."""
        return Study((*self.study.log, *self.events), self.state)

    def commit_to(self, text: str) -> str:
        """The commitment that stands for a text in an event."""
        secret = Secret(text)
        self.secrets[secret.commitment] = secret
        self.texts[secret.commitment] = text
        return secret.commitment

    def commit_to_name(self, name: str) -> str:
        """The commitment that stands for a cleaned name."""
        if not clean(name):
            raise InputError("a person needs a name")
        return self.commit_to(clean(name))

    def new_person(self, name: str | None, *, is_start: bool = False, from_roster: bool = False) -> str:
        """Add a person under the next code; codes are never used twice, not even those of people who were undone.

        Without a name they are known by their code only.
        """
        code = f"P{self._people_added + 1}"
        called = self.commit_to("") if name is None else self.commit_to_name(name)
        self.append(PersonAdded(code, called, is_start, from_roster))
        self._people_added += 1
        return code

    @cached_property
    def group_spellings(self) -> dict[str, str]:
        """The groups said so far as they are spelt, by their spelling in lower case."""
        spelt = [self.texts[group] for group in self.state.groups.values() if group in self.texts]
        return {text.casefold(): text for text in reversed(spelt)}

    @cached_property
    def _people_added(self) -> int:
        return sum(isinstance(event.body, PersonAdded) for event in (*self.study.log, *self.events))


class SelfNamed(InputError):
    """A person named themselves."""


# The study -----------------------------------------------------------------------------------------------------------


def create(draft: Draft, study: str, setup: Setup) -> None:
    """Begin the log."""
    check_rule(setup.rule, setup.planned, setup.open)
    draft.append(happened.StudyCreated(study, setup))


def change_settings(draft: Draft, setup: Setup) -> None:
    """New settings; a changed consent text needs a new version, because people consented to the old one."""
    before = draft.state.settings
    if setup.consent_text != before.consent_text and setup.consent_version == before.consent_version:
        raise InputError("a changed consent text needs a new version")
    if (setup.rule, setup.open) != (before.rule, before.open):
        check_rule(setup.rule, setup.planned, setup.open)
    draft.append(happened.SettingsChanged(setup))


def close(draft: Draft) -> None:
    """Nothing can be added any more."""
    draft.append(happened.StudyClosed())


# People --------------------------------------------------------------------------------------------------------------


def add_person(draft: Draft, name: str, *, is_start: bool = False) -> str:
    """Add a person from a list, or a start person; returns the code."""
    return draft.new_person(name, is_start=is_start, from_roster=not is_start)


def meet_new_person(draft: Draft, person: str) -> None:
    """A person was met as a new person, drawn by lot, whether or not they had been named; their survey can begin."""
    if not draft.state.settings.open:
        raise InputError("this study is closed to new people: change its settings to interview them")
    if draft.state.state_of(person) in TALKED:
        raise InputError("{person} was surveyed already: draw another person", person=person)
    draft.append(happened.NewPersonMet(draft.state.root(person)))


def rename(draft: Draft, person: str, name: str) -> None:
    """Correct a name."""
    draft.append(happened.PersonRenamed(draft.state.root(person), draft.commit_to_name(name)))


def mark_start(draft: Draft, person: str, is_start: bool = True) -> None:
    """Make a person a start person, or no longer one."""
    for code in draft.state.codes_of(person):
        if draft.state.people[code].is_start != is_start:
            draft.append(happened.StartChanged(code, is_start))
            if is_start:
                return


def merge(draft: Draft, keep: str, other: str) -> None:
    """Two codes are the same person."""
    draft.append(happened.PeopleMerged(draft.state.root(keep), draft.state.root(other)))


def unmerge(draft: Draft, other: str) -> None:
    """The person merged under this code is another person after all."""
    keep = draft.state.merged.get(draft.state.record(other).code)
    if keep is None:
        raise InputError("{other} was not merged into another person", other=other)
    draft.append(happened.PeopleUnmerged(keep, other))


def keep_apart(draft: Draft, one: str, other: str) -> None:
    """Two people of similar names are two people."""
    draft.append(happened.PeopleKeptApart(draft.state.root(one), draft.state.root(other)))


# Surveys -------------------------------------------------------------------------------------------------------------


def start_survey(draft: Draft, person: str, *, consent: bool) -> None:
    """Begin a survey, or go on with a partial one; there is no survey without consent."""
    state = draft.state
    if not consent and state.consent_of(person) is None:
        raise InputError("{person} has not consented: without consent there is no survey", person=person)
    if consent and state.consent_of(person) != state.settings.consent_version:
        draft.append(happened.ConsentGiven(state.root(person), state.settings.consent_version))
    unfinished = state.code_where(person, lambda code: state.people[code].state == "partial")
    draft.append(happened.SurveyStarted(unfinished))


def name_contact(draft: Draft, by: str, contact: str) -> bool:
    """A surveyed person named a known person; False if they had before."""
    return report_tie(draft, by, by, contact)


def name_new_contact(draft: Draft, by: str, name: str) -> str:
    """A surveyed person named a person who was not known; returns the new code."""
    own = [draft.texts.get(draft.state.people[code].name, "") for code in draft.state.codes_of(by)]
    if in_order(name) and sorted(in_order(name)) in (sorted(in_order(each)) for each in own):
        problem = "{person} cannot be their own contact; add a surname if this is another person of the same name"
        raise SelfNamed(problem, person=by)
    person = draft.new_person(name)
    report_tie(draft, by, by, person)
    return person


def report_tie(draft: Draft, by: str, one: str, other: str) -> bool:
    """A surveyed person said that two people are in contact; False if they had said so before."""
    reporter, first, second = (draft.state.root(code) for code in (by, one, other))
    for code in (reporter, first, second):
        check_present(draft.state, code)
    if first == second:
        raise SelfNamed("{person} cannot be their own contact", person=second)
    # Answers stay with the code under which a person was surveyed, also if two people are un-merged.
    spoke = draft.state.code_where(reporter, lambda code: draft.state.people[code].state in TALKED)
    first, second = (spoke if code == reporter else code for code in (first, second))
    if any(report in draft.state.reports for report in ((spoke, first, second), (spoke, second, first))):
        return False
    draft.append(happened.TieReported(spoke, first, second))
    return True


def remove_tie(draft: Draft, by: str, one: str, other: str) -> None:
    """Correct a contact that was not reported, under whichever codes it is filed."""
    for report in draft.state.reports_of(by, one, other) or [(by, one, other)]:  # the latter is refused
        draft.append(happened.TieRemoved(*report))


def mark_contact(draft: Draft, by: str, contact: str) -> None:
    """A surveyed person said which of the people they named knows the most people; this replaces an earlier mark."""
    state, person, wanted = draft.state, draft.state.root(by), draft.state.root(contact)
    # A mark stays with the codes under which the contact was named, also if two people are un-merged.
    reports = state.reports_of(person, person, wanted)
    codes = [(spoke, one if state.root(one) == wanted else other) for spoke, one, other in reports]
    spoke, known_as = next((pair for pair in codes if pair in state.marks.items()), (*codes, (person, wanted))[0])
    unmark_contact(draft, by, but=spoke)
    if state.marks.get(spoke) != known_as:
        draft.append(happened.ContactMarked(spoke, known_as))  # refused, if they did not name the contact


def unmark_contact(draft: Draft, by: str, but: str = "") -> None:
    """Take back what a person said about who knows the most people, under all of their codes ``but`` one."""
    for code in draft.state.codes_of(by):
        if code in draft.state.marks and code != but:
            draft.append(happened.MarkRemoved(code))


def say_group(draft: Draft, by: str, person: str, group: str) -> bool:
    """A surveyed person said which group they or a contact are in; empty or "unknown" takes it back.

    A group keeps the spelling it was entered with first. False if nothing changes.
    """
    if not draft.state.settings.group:
        raise InputError("this study asks for no group: its settings say which one to ask for")
    if len(clean(group)) > LONGEST_GROUP:
        raise InputError("a group has at most 100 characters")
    state, key = draft.state, clean(group).casefold()
    said = [pair for pair in product(state.codes_of(by), state.codes_of(person)) if pair in state.groups]
    if key in UNKNOWN_WORDS:
        for pair in said:
            draft.append(happened.GroupSaid(*pair))
        return bool(said)
    spelling = draft.group_spellings.setdefault(key, clean(group))
    if spelling in [draft.texts.get(state.groups[pair]) for pair in said]:
        return False
    draft.append(happened.GroupSaid(state.root(by), state.root(person), draft.commit_to(spelling)))
    return True


def end_survey(draft: Draft, person: str, outcome: happened.Outcome = "answered") -> None:
    """End a survey, or the attempt to begin one; an answer without contacts has its own outcome."""
    code = draft.state.code_where(person, draft.state.going_on.__contains__)
    named = {by for by, _, _ in draft.state.reports}.intersection(draft.state.codes_of(person))
    draft.append(happened.SurveyEnded(code, outcome if named or outcome != "answered" else "named nobody"))


def withdraw(draft: Draft, person: str) -> tuple[str, ...]:
    """Erase a person for good, and those known only through them; returns the codes of all of these.

    Their names go under all spellings, and so do their groups, what they said of the groups of others, and every remark
    that is about one of them or mentions a word of such a name.
    """
    people = draft.state.codes_of(person)
    study = draft.study
    forgotten = [code for other in study.known_only_through(person) for code in study.person(other).codes]
    draft.append(happened.ConsentWithdrawn(draft.state.root(person), people, tuple(forgotten)))
    draft.erase |= _texts_about(draft, {*people, *forgotten})
    return (*people, *forgotten)


def _texts_about(draft: Draft, people: set[str]) -> set[str]:
    """Commitments of the names of these people and of the remarks about them, in all events ever appended."""
    bodies = [event.body for event in draft.study.log]
    named = (happened.PersonAdded, happened.PersonRenamed)
    names = {body.name for body in bodies if isinstance(body, named) and body.person in people}
    telling = telling_words(draft.texts.get(name, "") for name in names)
    remarks = {
        body.commitment
        for body in bodies
        if body.commitment is not None
        and not isinstance(body, named)
        and not isinstance(body, happened.GroupSaid)
        and (_about(body) & people or tells(draft.texts.get(body.commitment, ""), telling))
    }
    groups = {body.group for body in bodies if isinstance(body, happened.GroupSaid) and {body.by, body.person} & people}
    return names | remarks | (groups - {""})


def _about(body: Body) -> set[str]:
    """The people whom a remark is about."""
    return {getattr(body, "person", ""), *getattr(body, "instead_of", ())}


# Advice and leaders --------------------------------------------------------------------------------------------------


def show_advice(draft: Draft, advice: Advice) -> bool:
    """Note what the team was advised; False if it is what was shown last."""
    people = tuple(suggestion.person for suggestion in advice.ranking)
    body = happened.RecommendationShown(
        advice.policy, advice.policy_hash, advice.seed, advice.step, people, advice.count
    )
    if draft.state.shown == body:
        return False
    draft.append(body)
    return True


def override(draft: Draft, person: str, reason: str) -> None:
    """Survey another person than was recommended."""
    if not reason.strip():
        raise InputError("say in a few words why you survey another person")
    if len(reason) > LONGEST_TEXT:
        raise InputError("a reason of more than {count} characters is too long", count=LONGEST_TEXT)
    if draft.state.state_of(person) in TALKED:
        raise InputError("{person} was surveyed already", person=person)
    shown = draft.state.shown
    instead_of = () if shown is None else shown.ranking[: shown.count]
    draft.append(happened.Overridden(draft.state.root(person), instead_of, draft.commit_to(reason.strip())))


def answer_of_leader(draft: Draft, person: str, answer: happened.LeaderAnswer, session: int | None = None) -> None:
    """A leader was offered the part, accepted, declined, was replaced, or was invited to a session, came or did not."""
    code = draft.state.code_where(person, draft.state.leaders.__contains__)
    draft.append(happened.LeaderAnswered(code, answer, session))


def wish_for_leader(draft: Draft, person: str, wish: happened.Wish) -> None:
    """The team wants a person as a leader, does not, or takes the wish back."""
    for code in draft.state.codes_of(person)[1:]:
        if code in draft.state.wishes:
            draft.append(happened.LeaderWished(code, "none"))
    draft.append(happened.LeaderWished(draft.state.root(person), wish))


# After selection -----------------------------------------------------------------------------------------------------


def plan_session(
    draft: Draft, at: str, place: str = "", leaders: Iterable[str] = (), session: int | None = None
) -> int:
    """Plan the next session, or move one, and invite leaders who accepted; returns its number."""
    if session is None:
        session = max(draft.state.sessions, default=0) + 1
    elif session not in draft.state.sessions:
        raise InputError("there is no session {session}", session=session)
    draft.append(happened.SessionPlanned(session, at, _place(draft, place)))
    for person in leaders:
        answer_of_leader(draft, person, "invited", session)
    return session


def make_appointment(draft: Draft, person: str, at: str, place: str = "") -> None:
    """Agree on a time with a person; this replaces an earlier appointment."""
    cancel_appointment(draft, person)
    draft.append(happened.AppointmentMade(draft.state.root(person), at, _place(draft, place)))


def cancel_appointment(draft: Draft, person: str) -> None:
    """Cancel the appointment with a person, if there is one."""
    for code in draft.state.codes_of(person):
        if code in draft.state.appointments:
            draft.append(happened.AppointmentCancelled(code))


def _place(draft: Draft, place: str) -> str:
    if len(place) > LONGEST_PLACE:
        raise InputError("a place has at most {count} characters", count=LONGEST_PLACE)
    return draft.commit_to(clean(place)) if clean(place) else ""


def answer_follow_up(draft: Draft, person: str, answer: happened.FollowUpAnswer) -> None:
    """A person said whether anyone talked to them about it, or could not be asked."""
    code = draft.state.code_where(person, draft.state.follow_up.__contains__)
    draft.append(happened.FollowUpAnswered(code, answer))


def accept_estimate(draft: Draft, p: float) -> None:
    """Use a p that was estimated from the follow-up from now on."""
    change_settings(draft, replace(draft.state.settings, p=p))


def exported(draft: Draft, what: str, with_names: bool = False) -> None:
    """Note that something left the study."""
    draft.append(happened.Exported(what, with_names))


def restored(draft: Draft, replaced: str = "", discarded: int = 0) -> None:
    """Note that the events so far come from a backup; not in a closed study, which takes no more events."""
    if not draft.state.closed:
        draft.append(happened.Restored(replaced, discarded))


# Undo ----------------------------------------------------------------------------------------------------------------


def undo(draft: Draft, number: int) -> tuple[int, ...]:
    """Undo everything that was appended together with an event; returns the numbers of the events undone.

    What later events build on cannot be undone before them. Undoing an undo brings the events back.
    """
    study = draft.study
    if draft.events:
        raise InputError("an undo stands alone")
    batch = [event for event in study.batch(number) if event.seq not in study.undone]
    if not batch:
        raise InputError("event {number} was undone already", number=number)
    permanent = next((event for event in batch if event.body.permanent), None)
    if permanent is not None:
        raise InputError("event {number} ({type}) cannot be undone", number=permanent.seq, type=permanent.type)
    targets = tuple(event.seq for event in batch)
    undone = draft.sealed(happened.Undone(targets))
    draft.state = _state_of((*study.log, undone))
    draft.events.append(undone)
    return targets


def _state_of(log: Log) -> State:
    """The state of a log whose last event is an undo; an error names the first event that needs what was undone."""
    state = State()
    for event in counting(log, undone_in(log)):
        try:
            apply(state, event)
        except InputError as error:
            problem = "event {number} ({type}) builds on it: undo that first ({error})"
            raise InputError(problem, number=event.seq, type=event.type, error=error) from error
    return state


def erase_undone(draft: Draft) -> int:
    """Erase the names and remarks of undone events, for good; brought back, such people have a code only."""
    texts = {event.body.commitment for event in draft.study.log if event.seq in draft.study.undone}
    found = draft.texts.keys() & texts
    if found:
        draft.append(happened.UndoneErased())
        draft.erase |= found
    return len(found)
