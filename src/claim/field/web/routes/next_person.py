"""Whom to survey next, why, and what came of it."""

from typing import Annotated, Literal, cast

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from claim.errors import InputError
from claim.field import commands
from claim.field.advice import show
from claim.field.draft import Draft
from claim.field.web import cached
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Form, Sent

router = APIRouter(prefix="/s/{study}")
ROUND = 10  # most people in one round
OUTCOMES = ("refused", "no-show", "not found")


@router.get("/next")
def next_person(here: InStudy, count: Annotated[int, Query(ge=1, le=ROUND)] = 1) -> HTMLResponse:
    """The recommendation with its reasons, and others to choose from."""
    advice = cached.advice(here.view, count)
    others = [person for person in here.study.people.values() if person.may_be_surveyed]
    going_on = [here.study.person(code) for code in here.study.state.going_on]
    return here.page(
        "next.html",
        recommended=[(each.person, here.said(each.reasons)) for each in advice.recommended],
        alternatives=[(each.person, here.said(each.reasons)) for each in advice.alternatives],
        notes=here.said(advice.notes),
        others=others,
        going_on=going_on,
        count=count,
        most=ROUND,
        left=here.study.left,
        policy=advice.policy,
    )


@router.post("/next")
def settle(form: Sent, here: InStudy) -> Response:
    """Go to somebody's survey, or note that there is none; what was shown goes into the log with it."""
    action = form["action"]
    if action not in ("start", *OUTCOMES):
        raise InputError(f"there is no action {action[:20]!r}")
    code = here.study.person(form["person"]).code
    here.run(form, lambda draft: _settle(draft, here, form, code), check=True)
    count = form.whole("count") or 1
    if action == "start":
        return here.go(f"/survey/{code}")
    return here.go("/next", action.replace(" ", "_").replace("-", "_"), count=count if count > 1 else None)


def _settle(draft: Draft, here: Here, form: Form, code: str) -> None:
    advice = cached.advice(here.view, min(ROUND, max(1, form.whole("count") or 1)))
    show(draft, advice)
    if code not in [each.person for each in advice.recommended]:
        commands.override(draft, code, form["reason"])
    if form["action"] in OUTCOMES:
        commands.not_surveyed(draft, code, cast(Literal["refused", "no-show", "not found"], form["action"]))
