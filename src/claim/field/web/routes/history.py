"""Everything that happened, in codes and names, and undo."""

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import ClaimError, InputError
from claim.field import commands
from claim.field.commands import FOR_GOOD
from claim.field.events import Event, Restored, clock_set_back, events_after, short_head
from claim.field.library import kept_name
from claim.field.web.context import Here, InStudy, short
from claim.field.web.forms import Sent
from claim.field.wire import as_data

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
