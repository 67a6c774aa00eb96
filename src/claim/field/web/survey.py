"""Whom to survey next, the survey with one contact a line, and whom to ask to lead."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, cast, get_args

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.advice.rehearsal import Rehearsal
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import LeaderAnswer, NewPersonMet, Outcome, Wish
from claim.field.study.setup import FairRule
from claim.field.view import View, step_now
from claim.field.web.people import Matches, look_up
from claim.field.web.request import Form, PageRequest, Sent, StudyPage, StudyRequest, attempt
from claim.field.web.settings import percent

router = APIRouter(prefix="/s/{study}")
ROUND = 10  # most people in one round
GROUP = "group."  # begins the name of a field, before the code of the person
MISSED: dict[str, str] = {"refused": "refused", "no-show": "no_show", "not found": "not_found"}  # with the page's text


@router.get("/next")
def next_person(page: StudyPage, count: Annotated[int | None, Query(ge=1, le=ROUND)] = None) -> Response:
    """The recommendation with its reasons, and others to choose from; without a count an open round goes on.

    Where the machine lacks the rule of the study, people can still be chosen by hand.
    """
    return _next(page, count)


@router.post("/next")
def record_choice(form: Sent, page: StudyPage) -> Response:
    """Go to a person's survey, or note that there is none; what was shown goes into the log with it."""
    action, count = form["action"], _round(form)
    if action not in ("start", *MISSED):
        raise InputError("there is no action {action!r}", action=action[:20])
    code = page.view.find(form["person"])

    def command(draft: Draft) -> None:
        advice, _ = attempt(lambda: page.advice(count))
        if advice is not None:
            commands.show_advice(draft, advice)
        if advice is None or code not in [each.person for each in advice.recommended]:
            commands.override(draft, code, form["reason"])
        if action in MISSED:
            commands.end_survey(draft, code, cast(Outcome, action))

    page.submit(form, command, check=True)
    return page.go(f"/survey/{code}") if action == "start" else page.go("/next", MISSED[action])


@router.post("/next/new")
def record_new_person(form: Sent, page: StudyPage) -> Response:
    """Go to the survey of a new person, or note that they refused, for which no name is needed.

    If the name is like another, it is asked first whether they are the same: a new person may have been named before.
    """
    action, count, name = form["action"], _round(form), form["name"]
    if action not in ("start", "refused"):
        raise InputError("there is no action {action!r}", action=action[:20])

    def command(draft: Draft) -> str | Matches:
        unnamed = action == "refused" and not name.strip()
        if not unnamed and (matches := look_up(page.view, name, form["same"])):
            return matches
        known = form["same"] not in ("", "new")
        advice, _ = attempt(lambda: page.advice(count))
        if advice is not None:
            commands.show_advice(draft, advice)
        code = draft.state.root(form["same"]) if known else draft.new_person(None if unnamed else name)
        commands.meet_new_person(draft, code)
        if advice is None or not advice.new_people:
            commands.override(draft, code, form["reason"])
        if action == "refused":
            commands.end_survey(draft, code, "refused")
        return code

    done = page.submit(form, command, check=True)
    if isinstance(done.result, tuple):
        return _next(page, count, done.result, form)
    met = (event.body.person for event in done.events if isinstance(event.body, NewPersonMet))
    return page.go(f"/survey/{next(met)}") if action == "start" else page.go("/next", "refused_new")


def _next(page: StudyRequest, count: int | None, matches: Matches = (), sent: Form | None = None) -> Response:
    """The page; with ``matches`` it asks first whom the name means that was ``sent``."""
    advice, problem = attempt(lambda: page.advice(count))
    shown: dict[str, Any] = {"advice": advice, "problem": problem, "asked": count or "", "most": ROUND}
    shown["step"] = step_now(page.view)
    return page.page("next.html", matches=matches, sent=sent, **shown)


def _round(form: Form) -> int | None:
    count = form.whole("count")
    return None if count is None else min(ROUND, max(1, count))


@router.get("/survey/{code}")
def survey(page: StudyPage, code: str) -> Response:
    """Consent, then entry."""
    return _survey(page, code)


@router.post("/survey/{code}/start")
def start(form: Sent, page: StudyPage, code: str) -> Response:
    """Begin, with consent."""
    if not form["consent"]:
        raise InputError(page.text("survey.no_consent"))
    return page.finish(form, lambda draft: commands.start_survey(draft, code, consent=True), f"/survey/{code}")


@router.post("/survey/{code}/contact")
def contact(form: Sent, page: StudyPage, code: str) -> Response:
    """One contact; if the name is like another, it is asked first whether they are the same."""
    done = page.submit(form, lambda draft: name_contact(draft, page.view, code, form["name"], form["same"]))
    if isinstance(done.result, tuple):
        return _survey(page, code, form["name"], done.result)
    return page.go(f"/survey/{code}", "repeated" if done.repeated or not done.events else "contact")


@router.post("/survey/{code}/remove")
def remove(form: Sent, page: StudyPage, code: str) -> Response:
    """Take a contact back."""
    other = form["contact"]
    return page.finish(form, lambda draft: commands.remove_tie(draft, code, code, other), f"/survey/{code}", "removed")


@router.post("/survey/{code}/mark")
def mark(form: Sent, page: StudyPage, code: str) -> Response:
    """Note which contact knows the most people; without a contact, take it back."""
    return page.finish(form, partial(set_mark, by=code, contact=form["contact"]), f"/survey/{code}", "noted")


@router.post("/survey/{code}/end")
def end(form: Sent, page: StudyPage, code: str) -> Response:
    """The survey is over, for now or for good."""
    outcome = form["outcome"]
    if outcome == "nobody" and page.study.person(code).contacts:
        raise InputError(page.text("survey.has_contacts"))
    ended = outcome if outcome in (*MISSED, "partial") else "answered"

    def command(draft: Draft) -> None:
        say_groups(draft, code, form.starting(GROUP))
        commands.end_survey(draft, code, cast(Outcome, ended))

    return page.finish(form, command, "/next", MISSED.get(ended, ended))


@router.post("/survey/{code}/groups")
def groups(form: Sent, page: StudyPage, code: str) -> Response:
    """The groups of a person and of the contacts they named."""
    said = partial(say_groups, by=code, groups=form.starting(GROUP))
    return page.finish(form, said, f"/survey/{code}", "noted")


@router.post("/survey/{code}/simulate")
def simulate(form: Sent, page: StudyPage, code: str) -> Response:
    """Practice only: the made-up person answers."""
    _rehearsal(page).simulate(code)
    return page.go(f"/survey/{code}", "simulated")


def name_contact(draft: Draft, view: View, by: str, name: str, answer: str) -> str | Matches:
    """Name the person of this code, or a new person; returns the code, or matches to ask about."""
    if matches := look_up(view, name, answer, view.study.person(by).code):
        return matches
    if answer in ("", "new"):
        return commands.name_new_contact(draft, by, name)
    commands.name_contact(draft, by, answer)
    return draft.state.root(answer)


def say_groups(draft: Draft, by: str, groups: Mapping[str, str]) -> None:
    """Note the groups by code; of contacts only if the study asks for them."""
    for person, group in groups.items():
        if draft.state.root(person) != draft.state.root(by) and not draft.state.settings.groups_of_contacts:
            raise InputError("this study does not ask for the groups of contacts")
        commands.say_group(draft, by, person, group)


def set_mark(draft: Draft, by: str, contact: str) -> None:
    """Mark a contact, or none."""
    if contact:
        commands.mark_contact(draft, by, contact)
    else:
        commands.unmark_contact(draft, by)


def _survey(page: StudyRequest, code: str, typed: str = "", matches: Matches = ()) -> Response:
    who = page.study.person(code)
    if who.gone:
        raise InputError("{person} has withdrawn from the study", person=code)
    return page.page("survey.html", who=who, typed=typed, matches=matches)


# Leaders -------------------------------------------------------------------------------------------------------------


@router.get("/leaders")
def leaders(page: StudyPage, attendance: Annotated[int | None, Query(ge=1, le=100)] = None) -> Response:
    """Leaders and replacements, with reasons and the reach to expect; wishes that contradict each other are shown."""
    attendance = percent(page.study.setup.attendance) if attendance is None else attendance
    advice, problem = attempt(lambda: page.leaders(attendance / 100).advice)
    now, sessions = datetime.now().strftime("%Y-%m-%dT%H:%M"), page.study.state.sessions.items()
    upcoming = min((each for each in sessions if each[1].at >= now), key=lambda each: each[1].at, default=None)
    return page.page("leaders.html", attendance=attendance, advice=advice, problem=problem, upcoming=upcoming)


@router.post("/leaders")
def record_leader(form: Sent, page: StudyPage) -> Response:
    """A wish, or what came of asking."""
    action = form["action"]
    code = page.view.find(form["person"])

    def command(draft: Draft) -> None:
        if action in get_args(LeaderAnswer):
            commands.answer_of_leader(draft, code, cast(LeaderAnswer, action))
        elif action in get_args(Wish):
            commands.wish_for_leader(draft, code, cast(Wish, action))
        else:
            raise InputError("there is no action {action!r}", action=action[:20])

    page.submit(form, command, check=action not in get_args(Wish))
    attendance = form.whole("attendance")
    usual = attendance is None or attendance == percent(page.study.setup.attendance) or not 1 <= attendance <= 100
    return page.go("/leaders", "noted", attendance=None if usual else attendance)


@router.post("/leaders/fair")
def balance(form: Sent, page: StudyPage) -> Response:
    """Choose leaders for the most people or balanced between groups: a change of the settings, which can be undone."""
    fair = form["fair"]
    if fair not in get_args(FairRule):
        raise InputError("there is no action {action!r}", action=fair[:20])

    def command(draft: Draft) -> None:
        commands.change_settings(draft, replace(draft.state.settings, fair=cast(FairRule, fair)))

    return page.finish(form, command, "/leaders", "changed", check=True)


# Practice ------------------------------------------------------------------------------------------------------------


@router.get("/practice")
def score(page: StudyPage) -> Response:
    """The reach of the chosen leaders on the hidden network."""
    chosen = page.leaders()
    score = _rehearsal(page).score(chosen.leaders)
    return page.page("practice.html", score=score, expected=chosen.reach)


@router.post("/practice/end")
def end_practice(form: Sent, page: StudyPage) -> Response:
    """Throw the practice study away."""
    _rehearsal(page)
    page.app.end_practice()
    return PageRequest(page.http).go("/", "practice_ended")


def _rehearsal(page: StudyRequest) -> Rehearsal:
    if page.app.rehearsal is None or not page.practice:
        raise InputError("this is not a practice study")
    return page.app.rehearsal
