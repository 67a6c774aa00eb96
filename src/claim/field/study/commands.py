"""What a command is about to append: events that are checked as they are drafted, and the texts they commit to."""

from collections.abc import Mapping
from typing import Literal

from claim.errors import InputError
from claim.field.advice.rules import check_rule
from claim.field.study import events as happened
from claim.field.study.events import NO_HASH, Body, PersonAdded, Secret, seal
from claim.field.study.names import clean, in_order, telling_words, tells
from claim.field.study.setup import LONGEST_TEXT, Setup
from claim.field.study.state import TALKED, State, apply, check_present, counting, fold, undone_in
from claim.field.study.study import Study


class Draft:
    """One batch: all of it is appended, or nothing. Commands of :mod:`claim.field.study.commands` write into it."""

    def __init__(self, study: Study, texts: Mapping[str, str] | None = None, at: str = "") -> None:
        self.study = study  # as it was before the draft
        self.state: State = study.state.copy()  # as it is after what was drafted so far
        self.texts = dict(texts or {})
        self.bodies: list[Body] = []
        self.secrets: dict[str, Secret] = {}
        self.erase: set[str] = set()
        self._at = at
        self._people = sum(isinstance(event.body, PersonAdded) for event in study.log)

    def say(self, body: Body) -> None:
        """One more event, refused if it does not fit what came before."""
        number = self.study.position + len(self.bodies) + 1
        apply(self.state, seal(body, number, self._at, number, NO_HASH))
        self.bodies.append(body)

    def commit_to(self, text: str) -> str:
        """The commitment that stands for a text in an event."""
        secret = Secret.of(text)
        self.secrets[secret.commitment] = secret
        self.texts[secret.commitment] = text
        return secret.commitment

    def new_person(self, name: str, *, is_start: bool = False, from_roster: bool = False) -> str:
        """Somebody new; codes count on and are never used twice, not even those of people whose adding was undone."""
        cleaned = clean(name)
        if not cleaned:
            raise InputError("a person needs a name")
        self._people += 1
        code = f"P{self._people}"
        self.say(PersonAdded(code, self.commit_to(cleaned), is_start, from_roster))
        return code


FOR_GOOD = (
    happened.StudyCreated,
    happened.ConsentWithdrawn,
    happened.UndoneErased,
    happened.Exported,
    happened.Restored,
    happened.StudyClosed,
)


class SelfNamed(InputError):
    """Somebody named themselves."""


# The study -----------------------------------------------------------------------------------------------------------


def create(draft: Draft, study: str, setup: Setup) -> None:
    """Begin the log."""
    check_rule(setup.policy, setup.budget)
    draft.say(happened.StudyCreated(study, setup))


def change_settings(draft: Draft, setup: Setup) -> None:
    """New settings; a changed consent text needs a new version, because people consented to the old one."""
    before = draft.state.settings
    if setup.consent_text != before.consent_text and setup.consent_version == before.consent_version:
        raise InputError("a changed consent text needs a new version")
    if setup.policy != before.policy:
        check_rule(setup.policy, setup.budget)
    draft.say(happened.SettingsChanged(setup))


def close(draft: Draft) -> None:
    """Nothing can be added any more."""
    draft.say(happened.StudyClosed())


# People --------------------------------------------------------------------------------------------------------------


def add_person(draft: Draft, name: str, *, is_start: bool = False) -> str:
    """Somebody the team knows from a list (or starts with); returns their code."""
    return draft.new_person(name, is_start=is_start, from_roster=not is_start)


def rename(draft: Draft, person: str, name: str) -> None:
    """Correct a name."""
    if not clean(name):
        raise InputError("a person needs a name")
    draft.say(happened.PersonRenamed(draft.state.root(person), draft.commit_to(clean(name))))


def mark_start(draft: Draft, person: str, is_start: bool = True) -> None:
    """Make somebody a start person, or no longer one."""
    for code in draft.state.codes_of(person):
        if draft.state.people[code].is_start != is_start:
            draft.say(happened.StartChanged(code, is_start))
            if is_start:
                return


def merge(draft: Draft, keep: str, other: str) -> None:
    """Two codes are the same person."""
    draft.say(happened.PeopleMerged(draft.state.root(keep), draft.state.root(other)))


def unmerge(draft: Draft, other: str) -> None:
    """The person merged under this code is somebody else after all."""
    keep = draft.state.merged.get(draft.state.record(other).code)
    if keep is None:
        raise InputError(f"{other} was not merged into anybody")
    draft.say(happened.PeopleUnmerged(keep, other))


def keep_apart(draft: Draft, one: str, other: str) -> None:
    """Two people of similar names are two people."""
    draft.say(happened.PeopleKeptApart(draft.state.root(one), draft.state.root(other)))


# Surveys -------------------------------------------------------------------------------------------------------------


def start_survey(draft: Draft, person: str, *, consent: bool) -> None:
    """Begin a survey, or go on with a partial one; nobody is surveyed without consent."""
    state = draft.state
    if not consent and state.consent_of(person) is None:
        raise InputError(f"{person} has not consented: without consent there is no survey")
    if consent and state.consent_of(person) != state.settings.consent_version:
        draft.say(happened.ConsentGiven(state.root(person), state.settings.consent_version))
    unfinished = [code for code in state.codes_of(person) if state.people[code].state == "partial"]
    draft.say(happened.SurveyStarted((unfinished or [state.root(person)])[0]))


def name_contact(draft: Draft, by: str, contact: str) -> bool:
    """A surveyed person named somebody already known; False if they had said so before."""
    return report_tie(draft, by, by, contact)


def name_new_contact(draft: Draft, by: str, name: str) -> str:
    """A surveyed person named a person who was not known; returns the new code."""
    if sorted(in_order(name)) in _spellings(draft, by):
        raise SelfNamed(f"{by} cannot be their own contact; add a surname if this is another person of the same name")
    person = draft.new_person(name)
    report_tie(draft, by, by, person)
    return person


def _spellings(draft: Draft, person: str) -> list[list[str]]:
    """The words of a person's names, under all of their codes."""
    names = [draft.texts.get(draft.state.people[code].name, "") for code in draft.state.codes_of(person)]
    return [sorted(in_order(name)) for name in names if in_order(name)]


def report_tie(draft: Draft, by: str, one: str, other: str) -> bool:
    """A surveyed person said that two people are in contact; False if they had said so before."""
    reporter, first, second = (draft.state.root(code) for code in (by, one, other))
    for code in (reporter, first, second):
        check_present(draft.state, code)
    if first == second:
        raise SelfNamed(f"{second} cannot be their own contact")
    spoke = _who_spoke(draft, reporter)
    first, second = (spoke if code == reporter else code for code in (first, second))
    if any(report in draft.state.reports for report in ((spoke, first, second), (spoke, second, first))):
        return False
    draft.say(happened.TieReported(spoke, first, second))
    return True


def _who_spoke(draft: Draft, person: str) -> str:
    """Under which of their codes somebody was surveyed: what they said stays with it if two people are parted again."""
    codes = draft.state.codes_of(person)
    return next((code for code in codes if draft.state.people[code].state in TALKED), person)


def remove_tie(draft: Draft, by: str, one: str, other: str) -> None:
    """Correct a contact that was not reported, under whichever codes it is filed."""
    state = draft.state
    wanted = (state.root(by), frozenset((state.root(one), state.root(other))))
    found = [
        report for report in state.reports if (state.root(report[0]), frozenset(map(state.root, report[1:]))) == wanted
    ]
    if not found:
        raise InputError(f"{by} did not report a contact between {one} and {other}")
    for report in found:
        draft.say(happened.TieRemoved(*report))


def end_survey(draft: Draft, person: str, outcome: Literal["answered", "partial"] = "answered") -> None:
    """End a survey; whoever answered without naming anybody named nobody."""
    code = _surveyed_code(draft, person)
    codes = set(draft.state.codes_of(person))
    named = any(by in codes for by, _, _ in draft.state.reports)
    draft.say(happened.SurveyEnded(code, outcome if named or outcome == "partial" else "named nobody"))


def not_surveyed(draft: Draft, person: str, outcome: Literal["refused", "no-show", "not found"]) -> None:
    """Somebody refused, did not come, or was not found."""
    draft.say(happened.SurveyEnded(_surveyed_code(draft, person), outcome))


def _surveyed_code(draft: Draft, person: str) -> str:
    codes = draft.state.codes_of(person)
    return next((code for code in codes if code in draft.state.going_on), codes[0])


def withdraw(draft: Draft, person: str) -> tuple[str, ...]:
    """Erase somebody, for good, and whoever is known only through them; returns the codes of all of these.

    Their names go under all spellings, and so does every remark that is about one of them or mentions a word of such a
    name.
    """
    people = draft.state.codes_of(person)
    study = draft.study
    forgotten = [code for other in study.known_only_through(person) for code in study.person(other).codes]
    draft.say(happened.ConsentWithdrawn(draft.state.root(person), people, tuple(forgotten)))
    erased = {*people, *forgotten}
    draft.erase |= _texts_about(draft, erased)
    return (*people, *forgotten)


def _texts_about(draft: Draft, people: set[str]) -> set[str]:
    """Commitments of the names of these people and of the remarks about them, in all events ever appended."""
    bodies = [event.body for event in draft.study.log]
    named = (happened.PersonAdded, happened.PersonRenamed)
    names = {body.name for body in bodies if isinstance(body, named) and body.person in people}
    telling = telling_words(draft.texts.get(name, "") for name in names)
    remarks = {
        body.reason
        for body in bodies
        if isinstance(body, happened.Overridden)
        and (people & {body.person, *body.instead_of} or tells(draft.texts.get(body.reason, ""), telling))
    }
    return names | remarks


# Advice and leaders --------------------------------------------------------------------------------------------------


def override(draft: Draft, person: str, reason: str) -> None:
    """Survey somebody else than was recommended."""
    if not reason.strip():
        raise InputError("say in a few words why you survey somebody else")
    if len(reason) > LONGEST_TEXT:
        raise InputError(f"a reason of more than {LONGEST_TEXT} characters is too long")
    if draft.state.state_of(person) in TALKED:
        raise InputError(f"{person} was surveyed already")
    shown = draft.state.shown
    instead_of = () if shown is None else shown.ranking[: shown.count]
    draft.say(happened.Overridden(draft.state.root(person), instead_of, draft.commit_to(reason.strip())))


def answer_of_leader(draft: Draft, person: str, answer: happened.LeaderAnswer) -> None:
    """A leader was offered the part, accepted, declined, came or did not come."""
    codes = draft.state.codes_of(person)
    draft.say(happened.LeaderAnswered(next((code for code in codes if code in draft.state.leaders), codes[0]), answer))


def wish_for_leader(draft: Draft, person: str, wish: happened.Wish) -> None:
    """The team wants somebody as a leader, does not, or no longer minds."""
    for code in draft.state.codes_of(person)[1:]:
        if code in draft.state.wishes:
            draft.say(happened.LeaderWished(code, "none"))
    draft.say(happened.LeaderWished(draft.state.root(person), wish))


def imported(draft: Draft, what: str, digest: str, people: int, ties: int) -> None:
    """Note where the other events of this draft come from."""
    draft.say(happened.Imported(what, digest, people, ties))


def exported(draft: Draft, what: str, with_names: bool = False) -> None:
    """Note that something left the study."""
    draft.say(happened.Exported(what, with_names))


def restored(draft: Draft, replaced: str = "", discarded: int = 0) -> None:
    """Note that the events so far come from a backup; not in a closed study, which takes no more events."""
    if not draft.state.closed:
        draft.say(happened.Restored(replaced, discarded))


# Undo ----------------------------------------------------------------------------------------------------------------


def undo(draft: Draft, number: int) -> tuple[int, ...]:
    """Undo everything that was appended together with an event; returns the numbers of the events undone.

    What later events build on cannot be undone before them. Undoing an undo brings the events back.
    """
    study = draft.study
    if draft.bodies:
        raise InputError("an undo stands alone")
    batch = [event for event in study.batch(number) if event.seq not in study.undone]
    if not batch:
        raise InputError(f"event {number} was undone already")
    lasting = next((event for event in batch if isinstance(event.body, FOR_GOOD)), None)
    if lasting is not None:
        raise InputError(f"event {lasting.seq} ({lasting.type}) cannot be undone")
    targets = tuple(event.seq for event in batch)
    undone = happened.Undone(targets)
    _check_rest(draft, undone)
    draft.bodies.append(undone)
    return targets


def _check_rest(draft: Draft, undone: happened.Undone) -> None:
    """Refuse to pull out what later events stand on, and name the first of them."""
    log = draft.study.log
    gone = undone_in((*log, happened.seal(undone, len(log) + 1, "", len(log) + 1, "")))
    state = fold([])
    for event in counting(log, gone):
        try:
            fold([event], state)
        except InputError as error:
            raise InputError(f"event {event.seq} ({event.type}) builds on it: undo that first ({error})") from error
    draft.state = state


def erase_undone(draft: Draft) -> int:
    """Erase the names and remarks of undone events, for good; brought back, such people have a code only."""
    kinds = (happened.PersonAdded, happened.PersonRenamed, happened.Overridden)
    texts = {
        body.reason if isinstance(body, happened.Overridden) else body.name
        for event in draft.study.log
        if event.seq in draft.study.undone and isinstance(body := event.body, kinds)
    }
    found = texts & draft.texts.keys()
    if found:
        draft.say(happened.UndoneErased())
        draft.erase |= found
    return len(found)
