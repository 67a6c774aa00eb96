"""Where a study stands, its people, one person, pairs that may be the same, and the network."""

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup, escape

from claim.errors import InputError
from claim.field import view
from claim.field.store.session import View
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import ALIKE, LIKELY, Match, clean
from claim.field.web import app_state
from claim.field.web.context import Here, InStudy, short
from claim.field.web.forms import Sent
from claim.field.web.picture import picture_of

router = APIRouter(prefix="/s/{study}")
MOST_MATCHES = 5


@dataclass(frozen=True)
class Added:
    """Who a name led to; ``code`` is None while it has to be asked whether it is one of ``matches``."""

    code: str | None
    is_new: bool = False
    matches: tuple[Match, ...] = ()


@router.get("")
def overview(here: InStudy) -> Response:
    """Where the study stands, and what to do next."""
    going_on = [here.study.person(code) for code in here.study.state.going_on]
    pairs = len(app_state.duplicates(here.view))
    return here.page("overview.html", facts=view.overview(here.view), going_on=going_on, pairs=pairs)


@router.get("/people")
def people(here: InStudy) -> Response:
    """Everybody, and a line to add somebody."""
    return _people(here)


@router.post("/people")
def add(form: Sent, here: InStudy) -> Response:
    """Add somebody the team knows, or mark somebody already mentioned as a start person."""
    name, start = form["name"], form.ticked("start")
    done = here.run(form, lambda draft: add_or_mark(draft, here.view, name, form["same"], start))
    if done.result is not None and done.result.matches:
        return _people(here, typed=name, start=start, matches=done.result.matches)
    return here.go("/people", "repeated" if done.repeated else "added")


@router.get("/people/{code}")
def person(here: InStudy, code: str) -> Response:
    """One person."""
    found = here.study.person(code)
    others = here.study.known_only_through(code) if not found.gone else ()
    return here.page("person.html", who=found, spellings=here.view.spellings(code), others=len(others))


@router.post("/people/{code}/rename")
def rename(form: Sent, here: InStudy, code: str) -> Response:
    """Correct a name."""
    here.run(form, lambda draft: commands.rename(draft, code, form["name"]))
    return here.go(f"/people/{code}", "renamed")


@router.post("/people/{code}/start")
def mark_start(form: Sent, here: InStudy, code: str) -> Response:
    """Make somebody a start person, or no longer one."""
    here.run(form, lambda draft: commands.mark_start(draft, code, form.ticked("start")))
    return here.go(f"/people/{code}", "changed")


@router.post("/people/{code}/withdraw")
def withdraw(form: Sent, here: InStudy, code: str) -> Response:
    """Erase somebody for good; the code is typed to confirm it."""
    if form["confirm"].strip().upper() != here.study.person(code).code:
        raise InputError(here.words("person.confirm_wrong"))
    here.run(form, lambda draft: commands.withdraw(draft, code), check=True)
    return here.go("/people", "withdrawn")


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


def _people(here: Here, typed: str = "", start: bool = False, matches: tuple[Match, ...] = ()) -> Response:
    known = [person for person in here.study.people.values() if person.known]
    first = not any(person.is_start for person in known)
    return here.page("people.html", people=known, typed=typed, start=start or first, matches=matches)


MOST_SHOWN = 50


@router.get("/same")
def queue(here: InStudy) -> Response:
    """The pairs to look at, most similar first, and the merges made so far."""
    pairs = app_state.duplicates(here.view)
    merged = [(other, keep) for other, keep in here.study.state.merged.items() if not here.study.person(keep).gone]
    texts, people = here.view.texts, here.study.state.people
    return here.page(
        "same.html",
        pairs=[(one, match.code) for one, match in pairs[:MOST_SHOWN]],
        more=max(0, len(pairs) - MOST_SHOWN),
        merged=[(other, texts.get(people[other].name, other), keep) for other, keep in merged],
        everybody=[person for person in here.study.people.values() if person.known],
    )


@router.post("/same")
def settle(form: Sent, here: InStudy) -> Response:
    """Merge, keep apart, or un-merge."""
    action, one, other = form["action"], form["one"].strip().upper(), form["other"].strip().upper()

    def command(draft: Draft) -> None:
        if action == "merge":
            commands.merge(draft, one, other)
        elif action == "apart":
            commands.keep_apart(draft, one, other)
        elif action == "unmerge":
            commands.unmerge(draft, other)
        else:
            raise InputError(f"there is no action {action[:20]!r}")

    here.run(form, command)
    return here.go("/same", {"merge": "merged", "apart": "apart", "unmerge": "unmerged"}[action])


LABELLED = 150  # with more people, names in the picture only cover each other


@router.get("/network")
def network(here: InStudy) -> Response:
    """Picture and table of the known network."""
    picture = picture_of(here.study, app_state.places(here.view))
    contacts = _contacts(here, [dot.code for dot in picture.dots])
    return here.page("network.html", picture=picture, contacts=contacts, labelled=len(picture.dots) <= LABELLED)


def _contacts(here: Here, people: list[str]) -> dict[str, Markup]:
    """The names of everybody's contacts; each name is escaped once, however often it comes."""
    names = {code: f"<bdi>{escape(short(here.view.name(code)))}</bdi>" for code in people}
    found: dict[str, list[str]] = {code: [] for code in people}
    for tie in here.study.ties:
        if tie.one in found and tie.other in found:
            found[tie.one].append(names[tie.other])
            found[tie.other].append(names[tie.one])
    return {code: Markup(", ".join(each)) for code, each in found.items()}
