"""Practice: how well the team did, and the end of it."""

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.web import cached
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Sent

router = APIRouter(prefix="/s/{study}/practice")


@router.get("")
def score(here: InStudy) -> Response:
    """The reach of the chosen leaders on the hidden network."""
    _check(here)
    assert here.desk.rehearsal is not None
    leaders = [each.person for each in cached.leaders(here.view).leaders]
    return here.page("practice.html", score=here.desk.rehearsal.score(leaders))


@router.post("/end")
def end(form: Sent, here: InStudy) -> Response:
    """Throw the practice study away."""
    _check(here)
    here.desk.end_practice()
    return super(Here, here).go("/", "practice_ended")


def _check(here: Here) -> None:
    if not here.practice:
        raise InputError("this is not a practice study")
