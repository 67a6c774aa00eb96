"""Pages to print: sheets for interviewers, the consent form, appointments, and the report for funders."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field import view
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.events import NEW_PERSON
from claim.field.study.state import TALKED
from claim.field.web.picture import still_picture
from claim.field.web.request import Sent, StudyPage, StudyRequest, attempt
from claim.field.web.sessions import follow_up_of
from claim.field.web.settings import percent
from claim.field.web.survey import ROUND

router = APIRouter(prefix="/s/{study}")
LINES = 12  # for contacts on a sheet


@router.get("/print")
def choose(page: StudyPage) -> Response:
    """What can be printed."""
    return page.page("print.html", most=ROUND)


@router.get("/print/sheets")
def sheets(page: StudyPage, count: Annotated[int, Query(ge=1, le=ROUND)] = 1, names: bool = False) -> Response:
    """A sheet for each of the people who come next, with codes; names only if they are asked for."""
    advice, problem = attempt(lambda: page.advice(count))
    people = [None if each.person == NEW_PERSON else each.person for each in advice.recommended] if advice else []
    return page.page("sheets.html", people=people, names=names, lines=LINES, problem=problem)


@router.get("/print/consent")
def consent(page: StudyPage) -> Response:
    """The consent form."""
    return page.page("consent.html")


@router.get("/appointments")
def appointments(page: StudyPage, names: bool = False) -> Response:
    """Appointments and sessions in the order of time, and the people who come next without an appointment."""
    advice, _ = attempt(lambda: page.advice(None))
    suggested = [each.person for each in advice.recommended if each.person != NEW_PERSON] if advice else []
    waiting = [code for code in suggested if page.study.people[code].appointment is None]
    return page.page("appointments.html", rows=_appointments(page), waiting=waiting, names=names)


@router.post("/appointments")
def make_appointment(form: Sent, page: StudyPage) -> Response:
    """Make an appointment, or cancel it."""
    code, action = page.view.find(form["person"]), form["action"]
    if action not in ("make", "cancel"):
        raise InputError("there is no action {action!r}", action=action[:20])

    def command(draft: Draft) -> None:
        if action == "make":
            commands.make_appointment(draft, code, form["when"], form["place"])
        else:
            commands.cancel_appointment(draft, code)

    return page.finish(form, command, "/appointments", "noted")


def _appointments(page: StudyRequest) -> list[dict[str, Any]]:
    """One row for each time: with a person who was not surveyed yet, or the session that leaders are invited to."""
    study, texts = page.study, page.view.texts
    rows: list[dict[str, Any]] = []
    for person in page.view.known:
        meeting = person.appointment
        if meeting is not None and (person.state not in TALKED or person.state == "partial"):
            place = texts.get(meeting.place, "")
            rows.append({"at": meeting.at, "place": place, "session": None, "people": [person.code]})
    for number, meeting in study.state.sessions.items():
        invited = [each.code for each in page.view.known if each.leader and number in each.leader.sessions]
        place = texts.get(meeting.place, "")
        rows.append({"at": meeting.at, "place": place, "session": number, "people": invited})
    return sorted(rows, key=lambda row: row["at"])


@router.get("/report")
def report(page: StudyPage) -> Response:
    """One page for funders: codes and figures, no names."""
    found = follow_up_of(page)
    chosen, _ = attempt(lambda: page.leaders(percent(page.study.setup.attendance) / 100))
    values: dict[str, Any] = {"facts": view.after_selection(page.view), "found": found}
    values["picture"] = still_picture(page.study, page.places())
    values |= {"guess": chosen and chosen.reach, "groups": chosen.reach_by_group if chosen else {}}
    return page.page("report.html", **values)
