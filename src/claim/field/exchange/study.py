"""Between a study and records: what leaves a study, and how records become events of one batch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from claim.errors import InputError
from claim.field.exchange.preview import Preview, take
from claim.field.exchange.records import Bundle, PersonRecord, SurveyRecord, TieRecord
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import (
    ConsentGiven,
    FollowUpAnswer,
    Imported,
    LeaderAnswer,
    LeaderAnswered,
    NewPersonMet,
    Outcome,
    PersonAdded,
    PersonRenamed,
    SurveyEnded,
    SurveyStarted,
)
from claim.field.study.names import clean, telling_words, tells
from claim.field.study.state import GONE, TALKED, Survey, check_present
from claim.field.study.study import Person
from claim.field.view import View
from claim.io.text import shown

_NOT_MET = ("refused", "no-show", "not found")
_HIDDEN = "[name]"

# Out -----------------------------------------------------------------------------------------------------------------


def bundle_of(view: View) -> Bundle:
    """All people of the network, with ties and surveys; those who withdrew are left out.

    Names are in it for the name key; :func:`claim.field.exchange.export` never writes them.
    """
    study = view.study
    # Every name that was ever entered and not erased: also old spellings, and of people whose adding was undone.
    names = [event.body.name for event in study.log if isinstance(event.body, (PersonAdded, PersonRenamed))]
    ranks, telling = _ranks(view), telling_words(view.texts.get(name, "") for name in names)
    surveys = [survey for survey in study.surveys if study.person(survey.person).known]
    return Bundle(
        tuple(_person_record(view, each, ranks.get(each.code)) for each in study.people.values() if each.known),
        tuple(TieRecord(tie.one, tie.other, named_by=tie.named_by) for tie in study.ties),
        tuple(_survey_record(view, survey, telling) for survey in surveys),
    )


def _person_record(view: View, person: Person, rank: int | None) -> PersonRecord:
    return PersonRecord(
        code=person.code,
        name=next(iter(view.spellings(person.code)), None),
        status=person.state,
        consent=person.consent,
        first_named_by=person.first_named_by,
        surveyed_at=person.surveyed_at,
        n_contacts=len(person.contacts) if person.state in TALKED else None,
        times_named=person.times_named,
        is_start=person.is_start,
        leader_rank=rank,
        is_new=person.is_new,
        marked=person.marked,
        leader=person.leader.answer if person.leader else None,
        sessions_attended=person.leader.attended if person.leader else None,
        sessions_missed=person.leader.not_attended if person.leader else None,
        follow_up=person.follow_up,
        group=view.groups.get(person.code),
    )


def _ranks(view: View) -> dict[str, int]:
    """Leaders in the order in which they were asked, without those who declined or were replaced."""
    leaders = view.study.state.leaders.items()
    asked = [view.study.state.root(code) for code, leader in leaders if not leader.left]
    return {code: rank for rank, code in enumerate(dict.fromkeys(asked), start=1)}


def _survey_record(view: View, survey: Survey, telling: set[str]) -> SurveyRecord:
    person = view.study.person(survey.person)
    talked = survey.outcome in ("answered", "partial", "named nobody")
    reason = view.texts.get(survey.override_reason or "")
    return SurveyRecord(
        survey_id=survey.id,
        person_code=person.code,
        started_at=survey.started_at or None,
        ended_at=survey.ended_at or None,
        outcome=survey.outcome,
        n_named=len(person.contacts) if talked else None,
        recommended=survey.recommended,
        override_reason=reason and _without_names(reason, telling),
        policy=survey.policy,
        seed=survey.seed,
    )


def _without_names(text: str, telling: set[str]) -> str:
    """A remark without any word that may be part of a name: exports carry codes."""
    return " ".join(_HIDDEN if tells(word, telling) else word for word in text.split())


# In ------------------------------------------------------------------------------------------------------------------


def import_preview(
    draft: Draft, looked_at: Preview, *, merges: Mapping[str, str] | None = None, same: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Take what was looked at into a study; a command for :meth:`claim.field.store.session.OpenStudy.run`.

    ``merges`` joins people within the file, ``same`` says who in the file is whom in the study. Returns the code in the
    study of every code in the file.
    """
    bundle = take(looked_at, merges)
    return import_bundle(draft, bundle, what=looked_at.format, digest=looked_at.digest, same=same)


def import_bundle(
    draft: Draft, bundle: Bundle, *, what: str, digest: str, same: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Write a bundle into a draft: one batch, so that it is appended, and undone, as a whole."""
    present = {person.code: person for person in bundle.people if person.status not in GONE}
    same = same or {}
    for code in sorted(same.keys() - present.keys()):
        raise InputError("no person in the file has the code {code}", code=shown(code))
    for code in same.values():
        check_present(draft.state, code)
    draft.append(Imported(what, digest, len(present), len(bundle.ties)))
    return _Import(draft, present, _reports(bundle.ties, present)).run(same, bundle.surveys)


Reports = dict[str, list[tuple[str, str]]]  # the ends of ties by reporter


def _reports(ties: Iterable[TieRecord], people: Mapping[str, PersonRecord]) -> Reports:
    """Ties by reporter; if none is given, an end that was surveyed reported it, else the first end."""
    found: Reports = {}
    for tie in ties:
        if tie.source not in people or tie.target not in people:
            continue
        met = [code for code in (tie.source, tie.target) if people[code].status in TALKED]
        for reporter in tie.named_by or (met or [tie.source])[:1]:
            if reporter in people:  # else they withdrew, and what they said with them
                pair = (tie.target, tie.source) if reporter == tie.target else (tie.source, tie.target)
                found.setdefault(reporter, []).append(pair)
    return found


@dataclass
class _Import:
    draft: Draft
    people: Mapping[str, PersonRecord]
    reports: Reports
    codes: dict[str, str] = field(default_factory=dict)  # in the study, by those in the file

    def run(self, same: Mapping[str, str], surveys: Iterable[SurveyRecord]) -> dict[str, str]:
        """People, surveys, groups, leaders and the follow-up."""
        named = {code for by, pairs in self.reports.items() for pair in pairs for code in pair if code != by}
        for code, person in self.people.items():
            self.codes[code] = self._code(person, same.get(code), code in named)
        self._survey(surveys)
        self._say_groups()
        self._ask_leaders()
        self._follow_up()
        return self.codes

    def _code(self, person: PersonRecord, known_as: str | None, named: bool) -> str:
        if known_as is not None:
            code = self.draft.state.root(known_as)
            if person.is_start and not self.draft.state.people[code].is_start:
                commands.mark_start(self.draft, code)
        else:
            known = named or person.is_start or person.is_new
            name = clean(person.name or "") or clean(person.code) or ascii(person.code)  # nothing of it can be seen
            # Unless they are listed, nothing would make the others part of the network.
            code = self.draft.new_person(name, is_start=person.is_start, from_roster=not known)
        if person.is_new and not self.draft.state.is_new(code):
            self.draft.append(NewPersonMet(code))
        return code

    def _survey(self, surveys: Iterable[SurveyRecord]) -> None:
        """Surveys and attempts in the order of the file, then whatever follows from people's status and ties alone."""
        said = [(survey.person_code, survey.outcome, True) for survey in surveys]
        talked: set[str] = set()
        for code, outcome, attempted in (*said, *((code, each.status, False) for code, each in self.people.items())):
            if code not in self.people or code in talked:
                continue
            before = self.draft.state.state_of(self.codes[code])
            if code in self.reports or outcome not in ("named", *_NOT_MET):
                talked.add(code)
                self._talk(self.people[code])
            elif outcome in _NOT_MET and before not in TALKED and (attempted or before != outcome):
                self.draft.append(SurveyEnded(self.codes[code], cast(Outcome, outcome)))

    def _talk(self, person: PersonRecord) -> None:
        """One survey: consent if the file says so, the ties, the end."""
        code = self.codes[person.code]
        before = self.draft.state.state_of(code)
        if person.consent is not None and self.draft.state.consent_of(code) is None:
            self.draft.append(ConsentGiven(code, person.consent))
        if before not in ("surveying", "surveyed"):
            self.draft.append(SurveyStarted(code))
        for one, other in self.reports.get(person.code, ()):
            if self.codes[one] != self.codes[other]:  # two in the file may be one person in the study
                commands.report_tie(self.draft, code, self.codes[one], self.codes[other])
        self._mark(person)
        if before not in ("surveying", "surveyed"):
            commands.end_survey(self.draft, code, "answered" if person.status == "surveyed" else "partial")

    def _mark(self, person: PersonRecord) -> None:
        """The contact who knows the most people, if the file has it, they named them, and the study has no mark yet."""
        codes = self.draft.state.codes_of(self.codes[person.code])
        named = {code for pair in self.reports.get(person.code, ()) for code in pair if person.code in pair}
        if (
            person.marked in named
            and self.codes[person.marked] not in codes
            and not self.draft.state.marks.keys() & codes
        ):
            commands.mark_contact(self.draft, codes[0], self.codes[person.marked])

    def _say_groups(self) -> None:
        """Groups, if the study asks for them; of people who were not surveyed, as said by who named them first."""
        if not self.draft.state.settings.group:
            return
        known = {person for _, person in self.draft.state.groups}
        for person in self.people.values():
            code = self.codes[person.code]
            if person.group and not known.intersection(self.draft.state.codes_of(code)):
                talked = self.draft.state.state_of(code) in TALKED
                by = code if talked else self.codes.get(person.first_named_by or "", code)
                commands.say_group(self.draft, by, code, person.group)

    def _ask_leaders(self) -> None:
        """Ask leaders in the order of their rank, then those who left, with what came of it."""
        asked = [each for each in self.people.values() if each.leader_rank is not None or each.leader is not None]
        for person in sorted(asked, key=lambda each: (each.leader_rank is None, each.leader_rank or 0, each.code)):
            code = self.codes[person.code]
            for answer in _answers(person) if code not in self.draft.state.leaders else ():
                self.draft.append(LeaderAnswered(code, answer))

    def _follow_up(self) -> None:
        """The answers of people who were not asked to lead, and have none in the study yet."""
        for person in self.people.values():
            codes = set(self.draft.state.codes_of(self.codes[person.code]))
            if person.follow_up is not None and not codes & {*self.draft.state.leaders, *self.draft.state.follow_up}:
                commands.answer_follow_up(self.draft, self.codes[person.code], cast(FollowUpAnswer, person.follow_up))


def _answers(person: PersonRecord) -> list[LeaderAnswer]:
    """What a leader answered, with the sessions they came to or missed, in an order in which it may have happened."""
    visits: list[LeaderAnswer] = ["attended"] * (person.sessions_attended or 0)
    visits += ["not attended"] * (person.sessions_missed or 0)
    last = cast(LeaderAnswer, person.leader or "offered")
    if not visits:
        return ["offered"] if last == "offered" else ["offered", last]
    return ["offered", "accepted", *visits, *([] if last == "accepted" else [last])]
