"""History with undo, settings, passphrase, backup and the end of a study."""

import secrets
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import ClaimError, InputError
from claim.field.store.library import file_head, kept_name
from claim.field.store.store import Conflict, NotSaved
from claim.field.study import commands
from claim.field.study.commands import FOR_GOOD
from claim.field.study.events import Event, Restored, as_data, clock_set_back, events_after, short_head
from claim.field.study.names import clean
from claim.field.web.context import Here, InStudy, Visit, short
from claim.field.web.forms import Sent, rules_to_choose, setup_from, values_of
from claim.field.web.routes.exchange import check_passphrase, download
from claim.io import files

router = APIRouter(prefix="/s/{study}")
PER_PAGE = 50
MOST_LINES = 12  # of one step
ABOUT = ("person", "by", "one", "other", "keep")


@dataclass(frozen=True)
class Step:
    """What one command appended, in words."""

    number: int
    at: str
    lines: list[str]
    undone: bool
    lasting: bool


@router.get("/history")
def history(here: InStudy, page: Annotated[int, Query(ge=1, le=100_000)] = 1, head: str = "") -> Response:
    """The steps, last first; the head of the log, and whether the log contains one that was written down."""
    log = here.study.log
    batches = [list(group) for _, group in groupby(log, key=lambda event: event.batch)][::-1]
    shown = batches[(page - 1) * PER_PAGE : page * PER_PAGE]
    steps = [_step(here, batch) for batch in shown]
    later, problem = _checked(here, head)
    return here.page(
        "history.html",
        steps=steps,
        number=page,
        last=max(1, -(-len(batches) // PER_PAGE)),
        head=here.study.head,
        short_head=short_head(here.study.head),
        later=later,
        problem=problem,
        set_back=clock_set_back(log),
    )


@router.post("/history/undo")
def undo(form: Sent, here: InStudy) -> Response:
    """Undo a step, or bring back one that was undone."""
    number = form.whole("number")
    if number is None:
        raise InputError("say which step to undo")
    here.run(form, lambda draft: commands.undo(draft, number))
    return here.go("/history", "undone")


def _checked(here: Here, head: str) -> tuple[int | None, str]:
    """How many events follow a head that was written down, or what is wrong with it."""
    if not head.strip():
        return None, ""
    try:
        return events_after(head, here.study.log), ""
    except ClaimError as error:
        return None, str(error)


def _step(here: Here, batch: list[Event]) -> Step:
    lines = list(dict.fromkeys(_line(here, event) for event in batch[:MOST_LINES]))
    if len(batch) > MOST_LINES:
        lines.append(here.words("history.more", count=len(batch) - MOST_LINES))
    gone = all(event.seq in here.study.undone for event in batch)
    return Step(batch[0].seq, batch[0].at, lines, gone, any(isinstance(event.body, FOR_GOOD) for event in batch))


def _line(here: Here, event: Event) -> str:
    if isinstance(event.body, Restored):
        return _restored(here, event.body)
    data = as_data(event.body)
    people = list(dict.fromkeys(data[key] for key in ABOUT if data.get(key) in here.study.state.people))
    told = here.words.listed(_named(here, code) for code in people)
    extra = _extra(here, data)
    parts = [here.words(f"event.{event.type}"), told, extra]
    return ": ".join(part for part in parts if part)


def _restored(here: Here, body: Restored) -> str:
    if not body.replaced:
        return here.words("event.Restored")
    kept = here.opened.store.path.parent / kept_name(here.study_id, body.replaced)
    return here.words("history.restored", head=short_head(body.replaced), discarded=body.discarded, kept=kept)


def _named(here: Here, code: str) -> str:
    name = here.view.texts.get(here.study.state.people[code].name)
    return code if name is None else f"{short(name)} ({code})"


def _extra(here: Here, data: dict[str, Any]) -> str:
    for key, prefix in (("outcome", "outcome"), ("answer", "answer"), ("wish", "wish")):
        if isinstance(data.get(key), str):
            return here.words(f"{prefix}.{data[key]}")
    if isinstance(data.get("events"), list):
        return f"{min(data['events'])}–{max(data['events'])}"
    return str(data.get("what", ""))


@router.get("/settings")
def settings(here: InStudy) -> Response:
    """All settings."""
    return _settings(here, values_of(here.study.setup))


@router.post("/settings")
def change(form: Sent, here: InStudy) -> Response:
    """Change the settings of the study; what was typed stays in the form if something is wrong with it."""
    try:
        setup = setup_from(form, here.study.setup)
        here.run(form, lambda draft: commands.change_settings(draft, setup), check=True)
    except (Conflict, NotSaved):
        raise
    except ClaimError as error:
        return _settings(here, values_of(here.study.setup) | dict(form.fields), str(error), 400)
    return here.go("/settings", "changed")


@router.post("/settings/lock")
def auto_lock(form: Sent, here: InStudy) -> Response:
    """After how many minutes studies lock themselves."""
    minutes = form.whole("minutes")
    here.desk.prefer(replace(here.desk.preferences, lock_minutes=0 if minutes is None else minutes))
    return here.go("/settings", "changed")


@router.post("/settings/passphrase")
def passphrase(form: Sent, here: InStudy) -> Response:
    """Another passphrase, after asking for the present one."""
    check_passphrase(here, form["passphrase"])
    if form["new_passphrase"] != form["again"]:
        raise InputError(here.words("new.not_same"))
    here.opened.change_passphrase(form["new_passphrase"])
    return here.go("/settings", "passphrase")


@router.post("/settings/backup")
def backup(form: Sent, here: InStudy) -> Response:
    """An encrypted copy to keep elsewhere."""
    if here.practice:
        raise InputError(here.words("practice.no_passphrase"))
    with files.temporary(here.opened.store.path.parent / f".{secrets.token_hex(8)}.copy") as path:
        here.opened.backup(path)
        content = path.read_bytes()
    name = f"study-{here.study_id}-{file_head(here.study.head)}.backup"
    return download(content, name, "application/octet-stream")


@router.post("/settings/erase")
def erase(form: Sent, here: InStudy) -> Response:
    """Erase the names of undone steps."""
    here.run(form, commands.erase_undone)
    return here.go("/settings", "erased")


@router.post("/settings/close")
def close(form: Sent, here: InStudy) -> Response:
    """Destroy the key; the title is typed to confirm it."""
    if clean(form["confirm"]) != clean(here.study.setup.title) or not form["confirm"].strip():
        raise InputError(here.words("settings.close_wrong"))
    closed = here.desk.close_study(here.study_id)
    return Visit(here.request, here.desk).page("closed.html", closed=closed)


def _settings(here: Here, values: dict[str, object], problem: str = "", status: int = 200) -> Response:
    undone = any(event.seq in here.study.undone for event in here.study.log)
    rules = rules_to_choose(here.words, str(values["policy"]))
    return here.page("settings.html", status, values=values, policies=rules, problem=problem, undone=undone)
