"""Where a study stands, its people, one person, pairs that may be the same, and the network."""

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup, escape

from claim.errors import InputError
from claim.field import view
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import ALIKE, LIKELY, Match, clean
from claim.field.view import View
from claim.field.web.picture import picture_of
from claim.field.web.request import Sent, StudyPage, StudyRequest, short

router = APIRouter(prefix="/s/{study}")
MOST_MATCHES = 5


@dataclass(frozen=True)
class Added:
    """Who a name led to; ``code`` is None while it has to be asked whether it is one of ``matches``."""

    code: str | None
    is_new: bool = False
    matches: tuple[Match, ...] = ()


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
    name, start = form["name"], form.ticked("start")
    done = page.submit(form, lambda draft: add_or_mark(draft, page.view, name, form["same"], start))
    if done.result is not None and done.result.matches:
        return _people(page, typed=name, start=start, matches=done.result.matches)
    return page.go("/people", "repeated" if done.repeated else "added")


@router.get("/people/{code}")
def person(page: StudyPage, code: str) -> Response:
    """One person."""
    found = page.study.person(code)
    others = page.study.known_only_through(code) if not found.gone else ()
    return page.page("person.html", who=found, spellings=page.view.spellings(code), others=len(others))


@router.post("/people/{code}/rename")
def rename(form: Sent, page: StudyPage, code: str) -> Response:
    """Correct a name."""
    page.submit(form, lambda draft: commands.rename(draft, code, form["name"]))
    return page.go(f"/people/{code}", "renamed")


@router.post("/people/{code}/start")
def mark_start(form: Sent, page: StudyPage, code: str) -> Response:
    """Make a person a start person, or no longer one."""
    page.submit(form, lambda draft: commands.mark_start(draft, code, form.ticked("start")))
    return page.go(f"/people/{code}", "changed")


@router.post("/people/{code}/withdraw")
def withdraw(form: Sent, page: StudyPage, code: str) -> Response:
    """Erase a person for good; the code is typed to confirm it."""
    if form["confirm"].strip().upper() != page.study.person(code).code:
        raise InputError(page.text("person.confirm_wrong"))
    page.submit(form, lambda draft: commands.withdraw(draft, code), check=True)
    return page.go("/people", "withdrawn")


def look_up(view: View, name: str, answer: str, by: str = "") -> tuple[Match, ...]:
    """People a name may mean, if that has not been answered yet; an answer is ``new`` or a code."""
    if not clean(name):
        raise InputError("a person needs a name")
    if answer:
        return ()
    return similar(view, name, by, ALIKE)


def similar(view: View, name: str, by: str = "", at_least: float = LIKELY) -> tuple[Match, ...]:
    """People of a similar name, or of that code."""
    code = name.strip().upper()
    if code in view.study.state.people and not view.study.person(code).gone:
        root = view.study.state.root(code)
        return (Match(root, view.name(root), 1.0),)
    return tuple(view.index.similar(name, MOST_MATCHES, at_least, apart_from=by))


def add_or_mark(draft: Draft, view: View, name: str, answer: str, start: bool) -> Added:
    """Add a new person, or make the person of this code a start person; ask first if a known name is similar.

    ``view`` is the study the draft is based on, so that the check and the addition are one step.
    """
    matches = look_up(view, name, answer)
    if matches:
        return Added(None, matches=matches)
    if answer and answer != "new":
        if start:
            commands.mark_start(draft, answer)
        return Added(draft.state.root(answer))
    return Added(commands.add_person(draft, name, is_start=start), is_new=True)


def _people(page: StudyRequest, typed: str = "", start: bool = False, matches: tuple[Match, ...] = ()) -> Response:
    first = not any(person.is_start for person in page.view.known)
    return page.page("people.html", typed=typed, start=start or first, matches=matches)


MOST_SHOWN = 50


@router.get("/same")
def queue(page: StudyPage) -> Response:
    """The pairs to look at, most similar first, and the merges made so far."""
    pairs = page.view.possible_duplicates
    merged = [(other, keep) for other, keep in page.study.state.merged.items() if not page.study.person(keep).gone]
    texts, people = page.view.texts, page.study.state.people
    return page.page(
        "same.html",
        pairs=[(one, match.code) for one, match in pairs[:MOST_SHOWN]],
        more=max(0, len(pairs) - MOST_SHOWN),
        merged=[(other, texts.get(people[other].name, other), keep) for other, keep in merged],
    )


@router.post("/same")
def settle(form: Sent, page: StudyPage) -> Response:
    """Merge, keep apart, or un-merge."""
    action, one, other = form["action"], form["one"].strip().upper(), form["other"].strip().upper()

    if action == "merge":
        page.submit(form, lambda draft: commands.merge(draft, one, other))
        return page.go("/same", "merged")
    if action == "apart":
        page.submit(form, lambda draft: commands.keep_apart(draft, one, other))
        return page.go("/same", "apart")
    if action == "unmerge":
        page.submit(form, lambda draft: commands.unmerge(draft, other))
        return page.go("/same", "unmerged")
    raise InputError("there is no action {action!r}", action=action[:20])


LABELLED = 150  # with more people, names in the picture only cover each other


@router.get("/network")
def network(page: StudyPage) -> Response:
    """Picture and table of the known network."""
    picture = picture_of(page.study, page.places())
    contacts = _contacts(page, [dot.code for dot in picture.dots])
    return page.page("network.html", picture=picture, contacts=contacts, labelled=len(picture.dots) <= LABELLED)


def _contacts(page: StudyRequest, people: list[str]) -> dict[str, Markup]:
    """The names of each person's contacts; each name is escaped once, however often it comes."""
    names = {code: f"<bdi>{escape(short(page.view.name(code)))}</bdi>" for code in people}
    found: dict[str, list[str]] = {code: [] for code in people}
    for tie in page.study.ties:
        if tie.one in found and tie.other in found:
            found[tie.one].append(names[tie.other])
            found[tie.other].append(names[tie.one])
    return {code: Markup(", ".join(each)) for code, each in found.items()}
