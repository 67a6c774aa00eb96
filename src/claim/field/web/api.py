"""What the script on the pages asks for, as JSON; the same rules as for forms, with the token in a header."""

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from pydantic import BaseModel, Field

from claim.field import view
from claim.field.store.session import Done
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import LONGEST_NAME, Match
from claim.field.web.people import Added, add_or_mark, similar
from claim.field.web.request import Forged, StudyPage, StudyRequest, short, state_of
from claim.field.web.survey import name_contact

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Answer = Annotated[str, Field(max_length=20, description="a code, 'new', or empty to be asked")]
Nonce = Annotated[str, Field(min_length=1, max_length=100, description="the same for a second try at the same thing")]


class Problem(BaseModel):
    """What went wrong."""

    error: str
    message: str


class Likeness(BaseModel):
    """A person whom a name may mean."""

    code: str
    name: str
    score: float
    named_by: list[str]
    state: str


class Looking(BaseModel):
    """A name as it is typed."""

    name: Name
    by: Annotated[str, Field(max_length=20)] = ""


class Matches(BaseModel):
    """People of a similar name, most similar first."""

    matches: list[Likeness]


class NewContact(BaseModel):
    """A contact to save."""

    name: Name
    same: Answer = ""
    nonce: Nonce


class NewPerson(NewContact):
    """A person to add."""

    start: bool = False


class Saved(BaseModel):
    """``saved``: it is on the disk. Otherwise it has to be answered first whether it is one of ``matches``."""

    saved: bool
    code: str | None = None
    name: str | None = None
    known: bool = False
    count: int = 0
    matches: list[Likeness] = []


def check_csrf(request: Request, x_csrf_token: Annotated[str, Header()] = "") -> None:
    """Dependency: a write from one of our own pages."""
    if not state_of(request).is_csrf(x_csrf_token):
        raise Forged


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 403, 404, 409, 413, 422, 423, 507)
}
router = APIRouter(prefix="/api/studies/{study}", responses=ERRORS)
OnlyOurs = Depends(check_csrf)


@router.get("")
def overview(page: StudyPage) -> dict[str, Any]:
    """Where the study stands."""
    return view.overview(page.view)


@router.get("/openapi.json", include_in_schema=False)
def described(page: StudyPage) -> dict[str, Any]:
    """This interface, described; for those who have a study open."""
    found: dict[str, Any] = page.http.app.openapi()
    return found


@router.post("/similar", dependencies=[OnlyOurs])
def look(page: StudyPage, asked: Looking) -> Matches:
    """People of a similar name, while it is typed."""
    by = page.study.state.root(asked.by) if asked.by else ""
    return Matches(matches=_likenesses(page, similar(page.view, asked.name, by)))


@router.post("/people", dependencies=[OnlyOurs])
def add_person(page: StudyPage, asked: NewPerson) -> Saved:
    """Add a person the team knows."""

    def command(draft: Draft) -> Added:
        return add_or_mark(draft, page.view, asked.name, asked.same, asked.start)

    done = page.run(command, _token("people", asked))
    return _saved(page, done, len(page.view.known))


@router.post("/surveys/{person}/contacts", dependencies=[OnlyOurs])
def add_contact(page: StudyPage, person: str, asked: NewContact) -> Saved:
    """Save a contact; when this answers ``saved``, it is on the disk."""

    def command(draft: Draft) -> Added:
        return name_contact(draft, page.view, person, asked.name, asked.same)

    done = page.run(command, _token(f"contacts {person}", asked))
    return _saved(page, done, len(page.study.person(person).contacts))


@router.delete("/surveys/{person}/contacts/{contact}", dependencies=[OnlyOurs])
def remove_contact(page: StudyPage, person: str, contact: str) -> Saved:
    """Take a contact back."""
    page.run(lambda draft: commands.remove_tie(draft, person, person, contact))
    return Saved(saved=True, code=contact, count=len(page.study.person(person).contacts))


def _saved(page: StudyRequest, done: Done[Added], count: int) -> Saved:
    """What was saved, or the question to answer first; a repeat is read from the events of the first time."""
    if done.result is not None and done.result.matches:
        return Saved(saved=False, matches=_likenesses(page, done.result.matches))
    if done.result is not None:
        code, known = done.result.code, not done.result.is_new or not done.events
    else:
        body: Any = done.events[-1].body
        code, known = getattr(body, "other", None) or getattr(body, "person", None), True
    name = short(page.view.name(code)) if code is not None else None
    return Saved(saved=True, code=code, name=name, known=known, count=count)


def _token(where: str, asked: NewContact) -> str:
    return hashlib.sha256(f"{where}\0{asked.model_dump_json()}".encode()).hexdigest()


def _likenesses(page: StudyRequest, matches: tuple[Match, ...]) -> list[Likeness]:
    return [_likeness(page, match) for match in matches]


def _likeness(page: StudyRequest, match: Match) -> Likeness:
    person = page.study.person(match.code)
    named_by = [short(page.view.name(code)) for code in person.named_by[:3]]
    return Likeness(code=match.code, name=short(match.name), score=match.score, named_by=named_by, state=person.state)
