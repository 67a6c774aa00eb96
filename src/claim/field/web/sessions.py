"""After leaders were chosen: sessions with who came, and the follow-up with people who were not leaders."""

from typing import Annotated, cast, get_args

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.advice.follow_up import FollowUp, follow_up
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import FollowUpAnswer, LeaderAnswer
from claim.field.study.state import SessionAnswer
from claim.field.web.people import PER_PAGE
from claim.field.web.request import Sent, StudyPage, StudyRequest

router = APIRouter(prefix="/s/{study}")
ASKED_AT_ONCE = 10  # people that the follow-up suggests


@router.get("/sessions")
def sessions(page: StudyPage) -> Response:
    """Sessions, whom was invited and who came, and the form for the next one."""
    leaders = [person for person in page.view.known if person.leader is not None]
    accepted = [person for person in leaders if person.leader and person.leader.answer == "accepted"]
    return page.page("sessions.html", leaders=leaders, accepted=accepted)


@router.post("/sessions")
def plan_session(form: Sent, page: StudyPage) -> Response:
    """Plan a session and invite leaders, or move one."""
    invited = [value for key, value in form.fields if key == "person"]
    number = form.whole("session")

    def command(draft: Draft) -> None:
        commands.plan_session(draft, form["when"], form["place"], invited, number)

    return page.finish(form, command, "/sessions", "planned" if number is None else "changed")


@router.post("/sessions/{session}")
def record_attendance(form: Sent, page: StudyPage, session: int) -> Response:
    """A leader was invited to a session, came, or did not come."""
    action, code = form["action"], page.view.find(form["person"])
    if action not in get_args(SessionAnswer):
        raise InputError("there is no action {action!r}", action=action[:20])
    answer = cast(LeaderAnswer, action)
    return page.finish(
        form, lambda draft: commands.answer_of_leader(draft, code, answer, session), "/sessions", "noted"
    )


@router.get("/follow-up")
def ask(page: StudyPage, number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1) -> Response:
    """Whom to ask next, the answers so far, and what they say."""
    found = follow_up_of(page)
    values = {"number": number, "per_page": PER_PAGE, "most": ASKED_AT_ONCE}
    return page.page("follow-up.html", found=found, **values)


@router.post("/follow-up")
def record_answer(form: Sent, page: StudyPage) -> Response:
    """Whether anyone talked to a person about it."""
    answer, code = form["answer"], page.view.find(form["person"])
    if answer not in get_args(FollowUpAnswer):
        raise InputError("there is no answer {answer!r}", answer=answer[:20])
    given = cast(FollowUpAnswer, answer)
    return page.finish(form, lambda draft: commands.answer_follow_up(draft, code, given), "/follow-up", "noted")


@router.post("/follow-up/accept")
def accept(form: Sent, page: StudyPage) -> Response:
    """Use the estimate of p from now on: a change of the settings, which can be undone."""

    def command(draft: Draft) -> None:
        estimate = follow_up_of(page).estimate
        if estimate is None:
            raise InputError("p can be estimated after the first answers")
        commands.accept_estimate(draft, round(estimate.p, 3))

    return page.finish(form, command, "/follow-up", "changed", check=True)


def follow_up_of(page: StudyRequest) -> FollowUp:
    """The follow-up, computed once for a view."""
    return page.view.once("follow-up", lambda: follow_up(page.study, page.view.carried))
