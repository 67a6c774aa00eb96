"""Whom to survey next, the survey with one contact a line, and whom to ask to lead."""

from typing import Annotated, Any, Literal, cast, get_args

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.advice.leaders import LeaderSuggestion
from claim.field.advice.recommend import Advice, Suggestion
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import LeaderAnswer, Wish
from claim.field.study.names import Match
from claim.field.study.state import TALKED
from claim.field.view import View
from claim.field.web.people import Added, look_up
from claim.field.web.request import Form, PageRequest, Sent, StudyPage, StudyRequest

router = APIRouter(prefix="/s/{study}")
ROUND = 10  # most people in one round
OUTCOMES = ("refused", "no-show", "not found")


@router.get("/next")
def next_person(page: StudyPage, count: Annotated[int | None, Query(ge=1, le=ROUND)] = None) -> Response:
    """The recommendation with its reasons, and others to choose from; without a count an open round goes on."""
    advice: Advice | None = None
    problem: object = ""
    try:
        advice = page.advice(count)
    except InputError as error:  # a rule that this machine lacks: people can still be chosen by hand
        problem = error
    others = [person for person in page.study.people.values() if person.may_be_surveyed]
    going_on = [page.study.person(code) for code in page.study.state.going_on]
    return page.page(
        "next.html",
        recommended=_said(page, advice.recommended if advice else ()),
        alternatives=_said(page, advice.alternatives if advice else ()),
        notes=page.reasons(advice.notes if advice else ()),
        problem=problem,
        others=others,
        going_on=going_on,
        asked=count or "",
        places=advice.count if advice else 1,
        most=ROUND,
        left=page.study.left,
    )


@router.post("/next")
def settle(form: Sent, page: StudyPage) -> Response:
    """Go to a person's survey, or note that there is none; what was shown goes into the log with it."""
    action = form["action"]
    if action not in ("start", *OUTCOMES):
        raise InputError("there is no action {action!r}", action=action[:20])
    code = page.study.person(form["person"]).code
    page.submit(form, lambda draft: _settle(draft, page, form, code), check=True)
    if action == "start":
        return page.go(f"/survey/{code}")
    return page.go("/next", action.replace(" ", "_").replace("-", "_"))


def _settle(draft: Draft, page: StudyRequest, form: Form, code: str) -> None:
    if code not in _shown(draft, page, form):
        commands.override(draft, code, form["reason"])
    if form["action"] in OUTCOMES:
        commands.not_surveyed(draft, code, cast(Literal["refused", "no-show", "not found"], form["action"]))


def _shown(draft: Draft, page: StudyRequest, form: Form) -> list[str]:
    """Who was recommended, after noting it; empty if the rule of the study cannot be used on this machine."""
    try:
        count = form.whole("count")
        advice = page.advice(None if count is None else min(ROUND, max(1, count)))
    except InputError:
        return []
    commands.show_advice(draft, advice)
    return [each.person for each in advice.recommended]


def _said(page: StudyRequest, suggestions: tuple[Suggestion, ...]) -> list[tuple[str, list[str]]]:
    return [(each.person, page.reasons(each.reasons)) for each in suggestions]


@router.get("/survey/{code}")
def survey(page: StudyPage, code: str) -> Response:
    """Consent, then entry."""
    return _survey(page, code)


@router.post("/survey/{code}/start")
def start(form: Sent, page: StudyPage, code: str) -> Response:
    """Begin, with consent."""
    if not form.ticked("consent"):
        raise InputError(page.text("survey.no_consent"))
    page.submit(form, lambda draft: commands.start_survey(draft, code, consent=True))
    return page.go(f"/survey/{code}")


@router.post("/survey/{code}/contact")
def contact(form: Sent, page: StudyPage, code: str) -> Response:
    """One contact; if the name is like another, it is asked first whether they are the same."""
    done = page.submit(form, lambda draft: name_contact(draft, page.view, code, form["name"], form["same"]))
    if done.result is not None and done.result.matches:
        return _survey(page, code, form["name"], done.result.matches)
    done_key = "repeated" if done.repeated or not done.events else "contact"
    return page.go(f"/survey/{code}", done_key)


@router.post("/survey/{code}/remove")
def remove(form: Sent, page: StudyPage, code: str) -> Response:
    """Take a contact back."""
    page.submit(form, lambda draft: commands.remove_tie(draft, code, code, form["contact"]))
    return page.go(f"/survey/{code}", "removed")


@router.post("/survey/{code}/end")
def end(form: Sent, page: StudyPage, code: str) -> Response:
    """The survey is over, for now or for good."""
    outcome = form["outcome"]
    if outcome == "nobody" and page.study.person(code).contacts:
        raise InputError(page.text("survey.has_contacts"))
    if outcome in OUTCOMES:
        said = cast(Literal["refused", "no-show", "not found"], outcome)
        page.submit(form, lambda draft: commands.not_surveyed(draft, code, said))
        return page.go("/next", outcome.replace(" ", "_").replace("-", "_"))
    ended: Literal["answered", "partial"] = "partial" if outcome == "partial" else "answered"
    page.submit(form, lambda draft: commands.end_survey(draft, code, ended))
    return page.go("/next", "partial" if ended == "partial" else "answered")


@router.post("/survey/{code}/simulate")
def simulate(form: Sent, page: StudyPage, code: str) -> Response:
    """Practice only: the made-up person answers."""
    rehearsal = page.app.rehearsal
    if rehearsal is None or not page.practice:
        raise InputError("only people of a practice study can be simulated")
    rehearsal.simulate(code)
    return page.go(f"/survey/{code}", "simulated")


def name_contact(draft: Draft, view: View, by: str, name: str, answer: str) -> Added:
    """Name the person of this code, or a new person; ask first if a known name is similar."""
    matches = look_up(view, name, answer, view.study.person(by).code)
    if matches:
        return Added(None, matches=matches)
    if answer and answer != "new":
        commands.name_contact(draft, by, answer)
        return Added(draft.state.root(answer))
    return Added(commands.name_new_contact(draft, by, name), is_new=True)


def _survey(page: StudyRequest, code: str, typed: str = "", matches: tuple[Match, ...] = ()) -> Response:
    who = page.study.person(code)
    if who.gone:
        raise InputError("{person} has withdrawn from the study", person=code)
    return page.page(
        "survey.html",
        who=who,
        talking=who.state in TALKED and who.state != "partial",
        going_on=who.state == "surveying",
        typed=typed,
        matches=matches,
    )


# Leaders -------------------------------------------------------------------------------------------------------------


@router.get("/leaders")
def leaders(page: StudyPage, attendance: Annotated[int | None, Query(ge=1, le=100)] = None) -> Response:
    """Leaders and replacements, with reasons and the reach to expect."""
    attendance = _usual(page) if attendance is None else attendance
    values: dict[str, Any] = {"attendance": attendance, "advice": None, "problem": "", "leaders": [], "spares": []}
    try:
        advice = page.leaders(attendance / 100)
    except InputError as error:  # wishes that contradict each other: the page is where they are taken back
        values["problem"] = error
    else:
        rows = {"leaders": _rows(page, advice.leaders), "spares": _rows(page, advice.replacements)}
        values |= {"advice": advice, **rows}
    people = [person for person in page.study.people.values() if person.known]
    values["wishes"] = [person for person in people if person.wish is not None]
    values["declined"] = [person for person in people if person.leader and person.leader.answer == "declined"]
    return page.page("leaders.html", everybody=people, **values)


@router.post("/leaders")
def settle_leader(form: Sent, page: StudyPage) -> Response:
    """A wish, or what came of asking."""
    action = form["action"]
    code = page.study.person(form["person"].strip().upper()).code

    def command(draft: Draft) -> None:
        if action in get_args(LeaderAnswer):
            commands.answer_of_leader(draft, code, cast(LeaderAnswer, action))
        elif action in get_args(Wish):
            commands.wish_for_leader(draft, code, cast(Wish, action))
        else:
            raise InputError("there is no action {action!r}", action=action[:20])

    page.submit(form, command, check=action not in get_args(Wish))
    attendance = form.whole("attendance")
    other = attendance is not None and 1 <= attendance <= 100 and attendance != _usual(page)
    return page.go("/leaders", "noted", attendance=attendance if other else None)


def _usual(page: StudyRequest) -> int:
    """How many of a hundred leaders come, by the settings."""
    return round(100 * page.study.setup.attendance)


def _rows(page: StudyRequest, suggestions: tuple[LeaderSuggestion, ...]) -> list[dict[str, Any]]:
    return [{"person": page.study.person(each.person), "reasons": page.reasons(each.reasons)} for each in suggestions]


@router.get("/practice")
def score(page: StudyPage) -> Response:
    """The reach of the chosen leaders on the hidden network."""
    _check_practice(page)
    assert page.app.rehearsal is not None
    leaders = [each.person for each in page.leaders().leaders]
    return page.page("practice.html", score=page.app.rehearsal.score(leaders))


@router.post("/practice/end")
def end_practice(form: Sent, page: StudyPage) -> Response:
    """Throw the practice study away."""
    _check_practice(page)
    page.app.end_practice()
    return PageRequest(page.http).go("/", "practice_ended")


def _check_practice(page: StudyRequest) -> None:
    if not page.practice:
        raise InputError("this is not a practice study")
