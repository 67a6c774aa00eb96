"""Where a study stands, its people, one person, pairs that may be the same, and the network."""

from functools import partial
from itertools import combinations
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field import view
from claim.field.study import commands
from claim.field.study.commands import Draft
from claim.field.study.names import ALIKE, LIKELY, Match, clean
from claim.field.view import View
from claim.field.web.picture import contacts_of, look_of
from claim.field.web.request import Sent, StudyPage, StudyRequest

router = APIRouter(prefix="/s/{study}")
MOST_MATCHES = 5
PER_PAGE = 50  # people on a page of a list
PageNumber = Annotated[int, Query(alias="page", ge=1, le=100_000)]


Matches = tuple[Match, ...]  # people of similar names: the team is asked first whether a name means one of them


@router.get("")
def overview(page: StudyPage) -> Response:
    """Where the study stands, and what to do next."""
    return page.page("overview.html", facts=view.overview(page.view), step=view.step_now(page.view))


@router.get("/people")
def people(page: StudyPage, number: PageNumber = 1) -> Response:
    """All people, and a line to add one."""
    return _people(page, number=number)


@router.post("/people/find")
def find(form: Sent, page: StudyPage) -> Response:
    """The people of a name or code; what is looked for is in no address."""
    return _people(page, wanted=form["text"])


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


@router.post("/people/{code}/group")
def say_group(form: Sent, page: StudyPage, code: str) -> Response:
    """Correct the group of a person."""
    said = partial(commands.say_group, by=code, person=code, group=form["group"])
    return page.finish(form, said, f"/people/{code}", "changed")


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


def _people(
    page: StudyRequest, typed: str = "", start: bool = False, matches: Matches = (), number: int = 1, wanted: str = ""
) -> Response:
    first = not (page.study.setup.open or any(person.is_start for person in page.view.known))
    found = page.view.search(wanted) if wanted.strip() else page.view.known
    shown: dict[str, Any] = {"found": found, "number": number, "per_page": PER_PAGE, "wanted": wanted}
    return page.page("people.html", typed=typed, start=start or first, matches=matches, **shown)


MOST_SHOWN = 50
DECIDED = {"merge": "merged", "apart": "apart", "unmerge": "unmerged"}  # with the page's text


@router.get("/same")
def queue(page: StudyPage, undo: Annotated[int | None, Query(ge=1)] = None) -> Response:
    """Groups of people who may be one, most similar first, and the merges made so far; ``undo`` is the last step."""
    merged = {other: keep for other, keep in page.study.state.merged.items() if not page.study.person(keep).gone}
    undone = page.study.undone
    return page.page("same.html", merged=merged, most=MOST_SHOWN, undo=None if undo in undone else undo)


@router.post("/same")
def resolve_duplicate(form: Sent, page: StudyPage) -> Response:
    """Merge people into the first of them, keep them apart, or un-merge; one step, which can be undone at once."""
    action, sent = form["action"], [value for key, value in form.fields if key in ("one", "other") and value.strip()]
    people = list(dict.fromkeys(page.view.find(value) for value in sent))
    if action not in DECIDED:
        raise InputError("there is no action {action!r}", action=action[:20])
    if len(people) < 2 and action != "unmerge":
        raise InputError("choose at least two people")

    def command(draft: Draft) -> None:
        if action == "unmerge":
            commands.unmerge(draft, form["other"].strip().upper())
        for other in people[1:] if action == "merge" else ():
            commands.merge(draft, people[0], other)
        for one, other in combinations(people, 2) if action == "apart" else ():
            commands.keep_apart(draft, one, other)

    events = page.submit(form, command).events
    return page.go("/same", DECIDED[action], undo=events[0].seq if events else None)


MOST_NAMES = 8  # of contacts in a row of the table
SCRIPT_TEXTS = (
    "state.named", "state.surveying", "state.surveyed", "state.partial", "state.refused", "state.no-show",
    "state.not found", "tag.start", "network.suggested", "network.asked", "network.contacts", "network.named_by",
    "network.nobody", "network.open", "network.show", "network.more", "network.found", "network.found_one",
    "network.found_none", "network.reach", "network.close", "network.page", "no",
)  # fmt: skip


@router.get("/network")
def network(page: StudyPage, number: Annotated[int, Query(alias="page", ge=1)] = 1) -> Response:
    """Table of the known network, page by page, and the picture, which the script draws from :func:`api.picture`."""
    known = page.view.known
    last = max(1, -(-len(known) // PER_PAGE))
    number = min(number, last)
    rows = [person.code for person in known[(number - 1) * PER_PAGE : number * PER_PAGE]]
    contacts = contacts_of(page.study, rows)
    shown: dict[str, Any] = {"people": len(known), "look": look_of, "rows": rows, "most": MOST_NAMES}
    shown["texts"] = {key: page.text.pages[key] for key in SCRIPT_TEXTS}
    return page.page("network.html", contacts=contacts, number=number, last=last, per_page=PER_PAGE, **shown)
