"""Whom to survey next, and the survey: consent, one contact a line, each saved before it is acknowledged."""

from typing import Annotated, Literal, cast

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.advice.recommend import Suggestion, show
from claim.field.store.session import View
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import Match
from claim.field.study.state import TALKED
from claim.field.web import app_state
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Form, Sent
from claim.field.web.routes.people import Added, look_up

next_router = APIRouter(prefix="/s/{study}")
ROUND = 10  # most people in one round
OUTCOMES = ("refused", "no-show", "not found")


@next_router.get("/next")
def next_person(here: InStudy, count: Annotated[int | None, Query(ge=1, le=ROUND)] = None) -> Response:
    """The recommendation with its reasons, and others to choose from; without a count an open round goes on."""
    advice, problem = None, ""
    try:
        advice = app_state.advice(here.view, count)
    except InputError as error:  # a rule that this machine lacks: people can still be chosen by hand
        problem = str(error)
    others = [person for person in here.study.people.values() if person.may_be_surveyed]
    going_on = [here.study.person(code) for code in here.study.state.going_on]
    return here.page(
        "next.html",
        recommended=_said(here, advice.recommended if advice else ()),
        alternatives=_said(here, advice.alternatives if advice else ()),
        notes=here.said(advice.notes if advice else ()),
        problem=problem,
        others=others,
        going_on=going_on,
        asked=count or "",
        places=advice.count if advice else 1,
        most=ROUND,
        left=here.study.left,
    )


@next_router.post("/next")
def settle(form: Sent, here: InStudy) -> Response:
    """Go to somebody's survey, or note that there is none; what was shown goes into the log with it."""
    action = form["action"]
    if action not in ("start", *OUTCOMES):
        raise InputError(f"there is no action {action[:20]!r}")
    code = here.study.person(form["person"]).code
    here.run(form, lambda draft: _settle(draft, here, form, code), check=True)
    if action == "start":
        return here.go(f"/survey/{code}")
    return here.go("/next", action.replace(" ", "_").replace("-", "_"))


def _settle(draft: Draft, here: Here, form: Form, code: str) -> None:
    if code not in _shown(draft, here, form):
        commands.override(draft, code, form["reason"])
    if form["action"] in OUTCOMES:
        commands.not_surveyed(draft, code, cast(Literal["refused", "no-show", "not found"], form["action"]))


def _shown(draft: Draft, here: Here, form: Form) -> list[str]:
    """Who was recommended, after noting it; nobody if the rule of the study cannot be used on this machine."""
    try:
        count = form.whole("count")
        advice = app_state.advice(here.view, None if count is None else min(ROUND, max(1, count)))
    except InputError:
        return []
    show(draft, advice)
    return [each.person for each in advice.recommended]


def _said(here: Here, suggestions: tuple[Suggestion, ...]) -> list[tuple[str, list[str]]]:
    return [(each.person, here.said(each.reasons)) for each in suggestions]


router = APIRouter(prefix="/s/{study}/survey/{code}")
ENDS = ("answered", "partial")
NOT_MET = ("refused", "no-show", "not found")


@router.get("")
def survey(here: InStudy, code: str) -> Response:
    """Consent, then entry."""
    return _survey(here, code)


@router.post("/start")
def start(form: Sent, here: InStudy, code: str) -> Response:
    """Begin, with consent."""
    if not form.ticked("consent"):
        raise InputError(here.words("survey.no_consent"))
    here.run(form, lambda draft: commands.start_survey(draft, code, consent=True))
    return here.go(f"/survey/{code}")


@router.post("/contact")
def contact(form: Sent, here: InStudy, code: str) -> Response:
    """One contact; if the name is like another, it is asked first whether they are the same."""
    done = here.run(form, lambda draft: name_contact(draft, here.view, code, form["name"], form["same"]))
    if done.result is not None and done.result.matches:
        return _survey(here, code, form["name"], done.result.matches)
    told = "repeated" if done.repeated or not done.events else "contact"
    return here.go(f"/survey/{code}", told)


@router.post("/remove")
def remove(form: Sent, here: InStudy, code: str) -> Response:
    """Take a contact back."""
    here.run(form, lambda draft: commands.remove_tie(draft, code, code, form["contact"]))
    return here.go(f"/survey/{code}", "removed")


@router.post("/end")
def end(form: Sent, here: InStudy, code: str) -> Response:
    """The survey is over, for now or for good."""
    outcome = form["outcome"]
    if outcome == "nobody" and here.study.person(code).contacts:
        raise InputError(here.words("survey.has_contacts"))
    if outcome in NOT_MET:
        said = cast(Literal["refused", "no-show", "not found"], outcome)
        here.run(form, lambda draft: commands.not_surveyed(draft, code, said))
        return here.go("/next", outcome.replace(" ", "_").replace("-", "_"))
    ended: Literal["answered", "partial"] = "partial" if outcome == "partial" else "answered"
    here.run(form, lambda draft: commands.end_survey(draft, code, ended))
    return here.go("/next", "partial" if ended == "partial" else "answered")


@router.post("/simulate")
def simulate(form: Sent, here: InStudy, code: str) -> Response:
    """Practice only: the made-up person answers."""
    rehearsal = here.desk.rehearsal
    if rehearsal is None or not here.practice:
        raise InputError("only people of a practice study can be simulated")
    rehearsal.simulate(code)
    return here.go(f"/survey/{code}", "simulated")


def name_contact(draft: Draft, view: View, by: str, name: str, answer: str) -> Added:
    """Name the person of this code, or a new person; ask first if a known name is similar."""
    matches = look_up(view, name, answer, view.study.person(by).code)
    if matches:
        return Added(None, matches=matches)
    if answer and answer != "new":
        commands.name_contact(draft, by, answer)
        return Added(draft.state.root(answer))
    return Added(commands.name_new_contact(draft, by, name), is_new=True)


def _survey(here: Here, code: str, typed: str = "", matches: tuple[Match, ...] = ()) -> Response:
    who = here.study.person(code)
    if who.gone:
        raise InputError(f"{code} has withdrawn from the study")
    return here.page(
        "survey.html",
        who=who,
        talking=who.state in TALKED and who.state != "partial",
        going_on=who.state == "surveying",
        typed=typed,
        matches=matches,
    )
