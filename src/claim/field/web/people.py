"""Where a study stands, its people, one person, pairs that may be the same, and the network."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup, escape

from claim.errors import InputError
from claim.field import view
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import ALIKE, LIKELY, Match, clean
from claim.field.view import View
from claim.field.web.picture import box_of, lines_of, look_of
from claim.field.web.request import Sent, StudyPage, StudyRequest, short

router = APIRouter(prefix="/s/{study}")
MOST_MATCHES = 5


Matches = tuple[Match, ...]  # people of similar names: the team is asked first whether a name means one of them


@router.get("")
def overview(page: StudyPage) -> Response:
    """Where the study stands, and what to do next."""
    return page.page("overview.html", facts=view.overview(page.view))


@router.get("/people")
def people(page: StudyPage) -> Response:
    """All people, and a line to add one."""
    return _people(page)


@router.post("/people")
def add(form: Sent, page: StudyPage) -> Response:
    """Add a person the team knows, or mark one who was mentioned as a start person."""
    name, start = form["name"], bool(form["start"])
    done = page.submit(form, lambda draft: add_or_mark(draft, page.view, name, form["same"], start))
    if isinstance(done.result, tuple):
        return _people(page, typed=name, start=start, matches=done.result)
    return page.go("/people", "repeated" if done.repeated else "added")


@router.get("/people/{code}")
def person(page: StudyPage, code: str) -> Response:
    """One person."""
    return page.page("person.html", who=page.study.person(code))


@router.post("/people/{code}/rename")
def rename(form: Sent, page: StudyPage, code: str) -> Response:
    """Correct a name."""
    return page.finish(form, lambda draft: commands.rename(draft, code, form["name"]), f"/people/{code}", "renamed")


@router.post("/people/{code}/start")
def mark_start(form: Sent, page: StudyPage, code: str) -> Response:
    """Make a person a start person, or no longer one."""
    start = bool(form["start"])
    return page.finish(form, lambda draft: commands.mark_start(draft, code, start), f"/people/{code}", "changed")


@router.post("/people/{code}/withdraw")
def withdraw(form: Sent, page: StudyPage, code: str) -> Response:
    """Erase a person for good; the code is typed to confirm it."""
    if form["confirm"].strip().upper() != page.study.person(code).code:
        raise InputError(page.text("person.confirm_wrong"))
    return page.finish(form, lambda draft: commands.withdraw(draft, code), "/people", "withdrawn", check=True)


def look_up(view: View, name: str, answer: str, by: str = "") -> Matches:
    """People a name may mean, if that has not been answered yet; an answer is ``new`` or a code."""
    if not clean(name):
        raise InputError("a person needs a name")
    return () if answer else similar(view, name, by, ALIKE)


def similar(view: View, name: str, by: str = "", at_least: float = LIKELY) -> Matches:
    """People of a similar name, or of that code."""
    code = name.strip().upper()
    if code in view.study.state.people and not view.study.person(code).gone:
        root = view.study.state.root(code)
        return (Match(root, view.name(root), 1.0),)
    return tuple(view.index.similar(name, MOST_MATCHES, at_least, apart_from=by))


def add_or_mark(draft: Draft, view: View, name: str, answer: str, start: bool) -> str | Matches:
    """Add a new person, or make the person of this code a start person; returns the code, or matches to ask about.

    ``view`` is the study the draft is based on, so that the check and the addition are one step.
    """
    if matches := look_up(view, name, answer):
        return matches
    if answer in ("", "new"):
        return commands.add_person(draft, name, is_start=start)
    if start:
        commands.mark_start(draft, answer)
    return draft.state.root(answer)


def _people(page: StudyRequest, typed: str = "", start: bool = False, matches: Matches = ()) -> Response:
    first = not (page.study.setup.open or any(person.is_start for person in page.view.known))
    return page.page("people.html", typed=typed, start=start or first, matches=matches)


MOST_SHOWN = 50


@router.get("/same")
def queue(page: StudyPage) -> Response:
    """The pairs to look at, most similar first, and the merges made so far."""
    merged = {other: keep for other, keep in page.study.state.merged.items() if not page.study.person(keep).gone}
    return page.page("same.html", merged=merged, most=MOST_SHOWN)


@router.post("/same")
def resolve_duplicate(form: Sent, page: StudyPage) -> Response:
    """Merge, keep apart, or un-merge."""
    action, one, other = form["action"], form["one"].strip().upper(), form["other"].strip().upper()
    if action == "merge":
        return page.finish(form, lambda draft: commands.merge(draft, one, other), "/same", "merged")
    if action == "apart":
        return page.finish(form, lambda draft: commands.keep_apart(draft, one, other), "/same", "apart")
    if action == "unmerge":
        return page.finish(form, lambda draft: commands.unmerge(draft, other), "/same", "unmerged")
    raise InputError("there is no action {action!r}", action=action[:20])


LABELLED = 150  # with more people, names in the picture only cover each other


@router.get("/network")
def network(page: StudyPage) -> Response:
    """Picture and table of the known network."""
    places = page.places()
    drawn: dict[str, Any] = {"lines": lines_of(page.study, places), "box": box_of(places), "look": look_of}
    contacts = _contacts(page, list(places))
    return page.page("network.html", places=places, contacts=contacts, labelled=len(places) <= LABELLED, **drawn)


def _contacts(page: StudyRequest, people: list[str]) -> dict[str, Markup]:
    """The names of each person's contacts; each name is escaped once, however often it comes."""
    names = {code: f"<bdi>{escape(short(page.view.name(code)))}</bdi>" for code in people}
    found: dict[str, list[str]] = {code: [] for code in people}
    for tie in page.study.ties:
        if tie.one in found and tie.other in found:
            found[tie.one].append(names[tie.other])
            found[tie.other].append(names[tie.one])
    return {code: Markup(", ".join(each)) for code, each in found.items()}
