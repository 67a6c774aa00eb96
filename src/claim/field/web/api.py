"""What the script on the pages asks for, as JSON; the same rules as for forms, with the token in a header."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from claim.field import view
from claim.field.store.session import Done
from claim.field.study import commands
from claim.field.study.events import PersonAdded
from claim.field.study.names import LONGEST_NAME
from claim.field.web.people import Matches, add_or_mark, similar
from claim.field.web.picture import drawn
from claim.field.web.request import Forged, StudyPage, StudyRequest, attempt, short, state_of, token_of
from claim.field.web.settings import percent
from claim.field.web.survey import name_contact, say_groups, set_mark

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Answer = Annotated[str, Field(max_length=20, description="a code, 'new', or empty to be asked")]
Nonce = Annotated[str, Field(min_length=1, max_length=100, description="the same for a second try at the same thing")]


class Looking(BaseModel):
    """A name as it is typed."""

    name: Name
    by: Annotated[str, Field(max_length=20)] = ""


class NewContact(BaseModel):
    """A contact to save."""

    name: Name
    same: Answer = ""
    nonce: Nonce


class NewPerson(NewContact):
    """A person to add."""

    start: bool = False


class Mark(BaseModel):
    """The contact who knows the most people; empty to take it back."""

    contact: Annotated[str, Field(max_length=20)] = ""


class Group(BaseModel):
    """The group of a person; empty to take it back."""

    group: Annotated[str, Field(max_length=LONGEST_NAME)] = ""


class Saved(BaseModel):
    """``saved``: it is on the disk. Otherwise it has to be answered first whether it is one of ``matches``."""

    saved: bool
    code: str | None = None
    name: str | None = None
    known: bool = False
    count: int = 0
    matches: list[dict[str, Any]] = []


def check_csrf(request: Request, x_csrf_token: Annotated[str, Header()] = "") -> None:
    """Dependency: a write from one of our own pages."""
    if not state_of(request).is_csrf(x_csrf_token):
        raise Forged


router = APIRouter(prefix="/api/studies/{study}")
OnlyOurs = Depends(check_csrf)


@router.get("")
def overview(page: StudyPage) -> dict[str, Any]:
    """Where the study stands."""
    return view.overview(page.view)


@router.get("/next")
def next_person(page: StudyPage) -> dict[str, Any]:
    """Whom to survey next, which may be a new person (``new``), with reasons in English; nothing is logged."""
    return view.advice(page.view, page.advice(None))


@router.get("/picture")
def picture(page: StudyPage) -> Response:
    """The people and contacts of the network with their places, for the picture."""
    return JSONResponse(page.view.once("drawn", lambda: drawn(page.view, page.places(), short)))


@router.get("/picture/leaders")
def suggested_leaders(page: StudyPage) -> dict[str, Sequence[str]]:
    """The codes of suggested leaders, best first; apart from the picture, because choosing them takes longer."""
    chosen, _ = attempt(lambda: page.leaders(percent(page.study.setup.attendance) / 100))
    return {"leaders": chosen.leaders if chosen else ()}


@router.post("/similar", dependencies=[OnlyOurs])
def look(page: StudyPage, asked: Looking) -> dict[str, Any]:
    """People of a similar name, most similar first, while it is typed."""
    by = page.study.state.root(asked.by) if asked.by else ""
    return {"matches": _likenesses(page, similar(page.view, asked.name, by))}


@router.post("/people", dependencies=[OnlyOurs])
def add_person(page: StudyPage, asked: NewPerson) -> Saved:
    """Add a person the team knows."""
    token = token_of("people", asked.model_dump_json())
    done = page.run(lambda draft: add_or_mark(draft, page.view, asked.name, asked.same, asked.start), token)
    return _saved(page, done, len(page.view.known))


@router.post("/surveys/{person}/contacts", dependencies=[OnlyOurs])
def add_contact(page: StudyPage, person: str, asked: NewContact) -> Saved:
    """Save a contact; when this answers ``saved``, it is on the disk."""
    token = token_of(f"contacts {person}", asked.model_dump_json())
    done = page.run(lambda draft: name_contact(draft, page.view, person, asked.name, asked.same), token)
    return _saved(page, done, len(page.study.person(person).contacts))


@router.delete("/surveys/{person}/contacts/{contact}", dependencies=[OnlyOurs])
def remove_contact(page: StudyPage, person: str, contact: str) -> Saved:
    """Take a contact back."""
    page.run(lambda draft: commands.remove_tie(draft, person, person, contact))
    return Saved(saved=True, code=contact, count=len(page.study.person(person).contacts))


@router.put("/surveys/{person}/mark", dependencies=[OnlyOurs])
def mark(page: StudyPage, person: str, asked: Mark) -> dict[str, str | None]:
    """Note which contact knows the most people, or take it back; answers with the contact now marked."""
    page.run(lambda draft: set_mark(draft, person, asked.contact))
    return {"marked": page.study.person(person).marked}


@router.put("/surveys/{by}/groups/{person}", dependencies=[OnlyOurs])
def group(page: StudyPage, by: str, person: str, asked: Group) -> dict[str, str | None]:
    """Note which group a surveyed person says that they or a contact are in; answers with the group as it is spelt."""
    page.run(lambda draft: say_groups(draft, by, {person: asked.group}))
    return {"group": page.view.groups.get(page.study.person(person).code)}


def _saved(page: StudyRequest, done: Done[str | Matches], count: int) -> Saved:
    """What was saved, or the question to answer first; a repeat is read from the events of the first time."""
    if isinstance(done.result, tuple):
        return Saved(saved=False, matches=_likenesses(page, done.result))
    code = done.result
    if code is None:
        body: Any = done.events[-1].body
        code = str(body.other if hasattr(body, "other") else body.person)
    known = done.repeated or not any(isinstance(event.body, PersonAdded) for event in done.events)
    return Saved(saved=True, code=code, name=short(page.view.name(code)), known=known, count=count)


def _likenesses(page: StudyRequest, matches: Matches) -> list[dict[str, Any]]:
    found = []
    for match in matches:
        person = page.study.person(match.code)
        namers = [short(page.view.name(code)) for code in person.named_by[:3]]
        found.append(vars(match) | {"name": short(match.name), "named_by": namers, "state": person.state})
    return found
