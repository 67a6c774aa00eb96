"""Whom to ask to lead and what they said; the score of a practice study."""

from typing import Annotated, Any, cast, get_args

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.advice.leaders import LeaderSuggestion
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import LeaderAnswer, Wish
from claim.field.web import app_state
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Sent

router = APIRouter(prefix="/s/{study}")


@router.get("/leaders")
def leaders(here: InStudy, attendance: Annotated[int | None, Query(ge=1, le=100)] = None) -> Response:
    """Leaders and replacements, with reasons and the reach to expect."""
    attendance = _usual(here) if attendance is None else attendance
    values: dict[str, Any] = {"attendance": attendance, "advice": None, "problem": "", "leaders": [], "spares": []}
    try:
        advice = app_state.leaders(here.view, attendance / 100)
    except InputError as error:  # wishes that contradict each other: the page is where they are taken back
        values["problem"] = str(error)
    else:
        rows = {"leaders": _rows(here, advice.leaders), "spares": _rows(here, advice.replacements)}
        values |= {"advice": advice, **rows}
    people = [person for person in here.study.people.values() if person.known]
    values["wishes"] = [person for person in people if person.wish is not None]
    values["declined"] = [person for person in people if person.leader and person.leader.answer == "declined"]
    return here.page("leaders.html", everybody=people, **values)


@router.post("/leaders")
def settle(form: Sent, here: InStudy) -> Response:
    """A wish, or what came of asking."""
    action = form["action"]
    code = here.study.person(form["person"].strip().upper()).code

    def command(draft: Draft) -> None:
        if action in get_args(LeaderAnswer):
            commands.answer_of_leader(draft, code, cast(LeaderAnswer, action))
        elif action in get_args(Wish):
            commands.wish_for_leader(draft, code, cast(Wish, action))
        else:
            raise InputError(f"there is no action {action[:20]!r}")

    here.run(form, command, check=action not in get_args(Wish))
    attendance = form.whole("attendance")
    other = attendance is not None and 1 <= attendance <= 100 and attendance != _usual(here)
    return here.go("/leaders", "noted", attendance=attendance if other else None)


def _usual(here: Here) -> int:
    """How many of a hundred leaders come, by the settings."""
    return round(100 * here.study.setup.attendance)


def _rows(here: Here, suggestions: tuple[LeaderSuggestion, ...]) -> list[dict[str, Any]]:
    return [{"person": here.study.person(each.person), "reasons": here.said(each.reasons)} for each in suggestions]


practice_router = APIRouter(prefix="/s/{study}/practice")


@practice_router.get("")
def score(here: InStudy) -> Response:
    """The reach of the chosen leaders on the hidden network."""
    _check(here)
    assert here.desk.rehearsal is not None
    leaders = [each.person for each in app_state.leaders(here.view).leaders]
    return here.page("practice.html", score=here.desk.rehearsal.score(leaders))


@practice_router.post("/end")
def end(form: Sent, here: InStudy) -> Response:
    """Throw the practice study away."""
    _check(here)
    here.desk.end_practice()
    return super(Here, here).go("/", "practice_ended")


def _check(here: Here) -> None:
    if not here.practice:
        raise InputError("this is not a practice study")
