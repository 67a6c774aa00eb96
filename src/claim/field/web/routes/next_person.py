"""Whom to survey next, why, and what came of it."""

from typing import Annotated, Literal, cast

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field import commands
from claim.field.advice import Suggestion, show
from claim.field.draft import Draft
from claim.field.web import cached
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Form, Sent

router = APIRouter(prefix="/s/{study}")
ROUND = 10  # most people in one round
OUTCOMES = ("refused", "no-show", "not found")


@router.get("/next")
def next_person(here: InStudy, count: Annotated[int | None, Query(ge=1, le=ROUND)] = None) -> Response:
    """The recommendation with its reasons, and others to choose from; without a count an open round goes on."""
    advice, problem = None, ""
    try:
        advice = cached.advice(here.view, count)
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


@router.post("/next")
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
        advice = cached.advice(here.view, None if count is None else min(ROUND, max(1, count)))
    except InputError:
        return []
    show(draft, advice)
    return [each.person for each in advice.recommended]


def _said(here: Here, suggestions: tuple[Suggestion, ...]) -> list[tuple[str, list[str]]]:
    return [(each.person, here.said(each.reasons)) for each in suggestions]
