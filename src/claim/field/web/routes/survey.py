"""A survey: consent, one contact a line, each saved before it is acknowledged."""

from typing import Literal, cast

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import InputError
from claim.field import commands
from claim.field.draft import Draft
from claim.field.matching import Match
from claim.field.opened import View
from claim.field.state import TALKED
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Sent
from claim.field.web.routes.people import Added, look_up

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
