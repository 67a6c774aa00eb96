"""History with undo, settings, passphrase, backup and the end of a study."""

from dataclasses import replace
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import ClaimError, InputError
from claim.field.advice.recommend import offered
from claim.field.store.library import file_head, kept_name
from claim.field.store.store import Conflict, NotSaved
from claim.field.study import commands
from claim.field.study.events import Event, Restored, as_data, clock_set_back, events_after, short_head
from claim.field.study.names import clean
from claim.field.study.setup import DEFAULT_POLICY, Setup
from claim.field.web.exchange import check_passphrase, download, encrypted_file
from claim.field.web.i18n import Texts
from claim.field.web.request import Form, PageRequest, Sent, StudyPage, StudyRequest, attempt, short

router = APIRouter(prefix="/s/{study}")
PER_PAGE = 50
MOST_LINES = 12  # of one step
ABOUT = ("person", "by", "one", "other", "keep", "contact")


@router.get("/history")
def history(
    page: StudyPage, number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1, head: str = ""
) -> Response:
    """The steps, last first; the head of the log, and whether the log contains one that was written down."""
    log = page.study.log
    batches = [list(group) for _, group in groupby(log, key=lambda event: event.batch)][::-1]
    steps = [_step(page, batch) for batch in batches[(number - 1) * PER_PAGE : number * PER_PAGE]]
    last = max(1, -(-len(batches) // PER_PAGE))
    later, problem = attempt(lambda: events_after(head, log)) if head.strip() else (None, None)
    of_log: dict[str, Any] = {"short_head": short_head(page.study.head), "set_back": clock_set_back(log)}
    return page.page("history.html", steps=steps, number=number, last=last, later=later, problem=problem, **of_log)


@router.post("/history/undo")
def undo(form: Sent, page: StudyPage) -> Response:
    """Undo a step, or bring back one that was undone."""
    number = form.whole("number") or 0  # there is no step 0
    back = "/same" if form["back"] == "/same" else "/history"
    return page.finish(form, lambda draft: commands.undo(draft, number), back, "undone")


def _step(page: StudyRequest, batch: list[Event]) -> dict[str, Any]:
    lines = list(dict.fromkeys(_line(page, event) for event in batch[:MOST_LINES]))
    if len(batch) > MOST_LINES:
        lines.append(page.text("history.more", count=len(batch) - MOST_LINES))
    gone = all(event.seq in page.study.undone for event in batch)
    permanent = any(event.body.permanent for event in batch)
    return {"number": batch[0].seq, "at": batch[0].at, "lines": lines, "undone": gone, "permanent": permanent}


def _line(page: StudyRequest, event: Event) -> str:
    if isinstance(event.body, Restored) and event.body.replaced:
        kept = page.opened.store.path.parent / kept_name(page.study_id, event.body.replaced)
        head = short_head(event.body.replaced)
        return page.text("history.restored", head=head, discarded=event.body.discarded, kept=kept)
    data = as_data(event.body)
    people = list(dict.fromkeys(data[key] for key in ABOUT if data.get(key) in page.study.state.people))
    names = ", ".join(_named(page, code) for code in people)
    session = page.text("sessions.one", number=data["session"]) if data.get("session") else ""
    text = page.view.texts.get(data.get("reason") or data.get("place") or data.get("group") or "", "")
    parts = [page.text(f"event.{event.type}"), session, names, _extra(page, data), f"“{short(text)}”" if text else ""]
    return ": ".join(part for part in parts if part)


def _named(page: StudyRequest, code: str) -> str:
    name = page.view.texts.get(page.study.state.people[code].name)
    return f"{short(name)} ({code})" if name else code


def _extra(page: StudyRequest, data: dict[str, Any]) -> str:
    for key in ("outcome", "answer", "wish"):
        if isinstance(data.get(key), str):
            return page.text(f"{key}.{data[key]}")
    if isinstance(data.get("at"), str):
        return str(data["at"]).replace("T", " ")
    if isinstance(data.get("events"), list):
        return f"{min(data['events'])}–{max(data['events'])}"
    return str(data.get("what", ""))


@router.get("/settings")
def settings(page: StudyPage) -> Response:
    """All settings."""
    return _settings(page, values_of(page.study.setup, page.text))


@router.post("/settings")
def change(form: Sent, page: StudyPage) -> Response:
    """Change the settings of the study; what was typed stays in the form if something is wrong with it."""
    try:
        setup = setup_from(form, page.study.setup)
        page.submit(form, lambda draft: commands.change_settings(draft, setup), check=True)
    except (Conflict, NotSaved):
        raise
    except ClaimError as error:
        return _settings(page, values_of(page.study.setup, page.text) | dict(form.fields), error, 400)
    return page.go("/settings", "changed")


@router.post("/settings/lock")
def auto_lock(form: Sent, page: StudyPage) -> Response:
    """After how many minutes studies lock themselves."""
    page.app.save_preferences(replace(page.app.preferences, lock_minutes=form.whole("minutes") or 0))
    return page.go("/settings", "changed")


@router.post("/settings/label")
def label(form: Sent, page: StudyPage) -> Response:
    """What is shown of the study while it is locked."""
    page.app.label(page.study_id, clean(form["label"]))
    return page.go("/settings", "changed")


@router.post("/settings/passphrase")
def passphrase(form: Sent, page: StudyPage) -> Response:
    """Another passphrase, after asking for the present one."""
    check_passphrase(page, form["passphrase"])
    if form["new_passphrase"] != form["again"]:
        raise InputError(page.text("new.not_same"))
    page.opened.store.change_passphrase(form["new_passphrase"])
    return page.go("/settings", "passphrase")


@router.post("/settings/backup")
def backup(form: Sent, page: StudyPage) -> Response:
    """An encrypted copy to keep elsewhere."""
    if page.practice:
        raise InputError(page.text("practice.no_passphrase"))
    content = encrypted_file(page, page.opened.store.backup)
    name = f"study-{page.study_id}-{file_head(page.study.head)}.backup"
    return download(content, name, "application/octet-stream")


@router.post("/settings/erase")
def erase(form: Sent, page: StudyPage) -> Response:
    """Erase the names of undone steps."""
    return page.finish(form, commands.erase_undone, "/settings", "erased")


@router.post("/settings/close")
def close(form: Sent, page: StudyPage) -> Response:
    """Destroy the key; the title is typed to confirm it."""
    if clean(form["confirm"]) != clean(page.study.setup.title) or not form["confirm"].strip():
        raise InputError(page.text("settings.close_wrong"))
    closed = page.app.close_study(page.study_id)
    return PageRequest(page.http).page("closed.html", closed=closed)


def _settings(page: StudyRequest, values: dict[str, object], problem: object = "", status: int = 200) -> Response:
    rules = rules_to_choose(page.text, str(values["policy"]))
    return page.page("settings.html", status, values=values, policies=rules, problem=problem)


# The form of the settings, also for new studies ---------------------------------------------------------------------


def setup_from(form: Form, before: Setup | None = None) -> Setup:
    """The settings a form asks for; a changed consent text gets the next version by itself."""
    base, share = before or Setup("-"), form.whole("attendance")
    asked: dict[str, Any] = {name: form[name] for name in ("refusal_rule", "policy", "selector")}
    asked |= {name: form.whole(name) for name in ("budget", "interviews", "leaders")}
    asked |= {"question": _text(form["question"]), "p": _number(form["p"])}
    if share is not None and share != percent(base.attendance):  # otherwise it stays as exact as it was
        asked["attendance"] = share / 100
    made = replace(
        base,
        title=clean(form["title"]),
        size_low=form.whole("size_low"),
        size_high=form.whole("size_high"),
        consent_text=_text(form["consent_text"]),
        retention=form["retention"].strip() or None,
        open=bool(form["open"]),
        hub_question=bool(form["hub_question"]),
        group=clean(form["group"]),
        groups_of_contacts=bool(form["groups_of_contacts"]),
        **{name: value for name, value in asked.items() if value not in (None, "")},  # an empty field changes nothing
    )
    if before is None or made.consent_text == before.consent_text:
        return made
    version = before.consent_version
    following = str(int(version) + 1) if version.isdigit() and len(version) < 9 else f"{version[:50]}+"
    return replace(made, consent_version=following)


def values_of(setup: Setup, text: Texts) -> dict[str, Any]:
    """The settings as fields of a form, numbers as the language writes them."""
    values = {name: "" if value is None else value for name, value in vars(setup).items()}
    return values | {"attendance": percent(setup.attendance), "p": text.number(setup.p, 6)}


def percent(attendance: float) -> int:
    """How many of a hundred leaders come."""
    return round(100 * attendance)


def rules_to_choose(text: Texts, present: str) -> list[tuple[str, str]]:
    """The rules that say whom to survey next, with what they are called; that of the study is among them."""
    names = dict.fromkeys((*offered(), present))
    return [(name, _called(text, name)) for name in names if name]


def _called(text: Texts, name: str) -> str:
    variant, _, family = name.partition(":")
    if family and f"policy.{variant}.family" in text:
        return text(f"policy.{variant}.family", family=family)
    called = text(f"policy.{name}") if f"policy.{name}" in text else name
    return text("policy.recommended", rule=called) if name == DEFAULT_POLICY else called


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ".")) if text.strip() else None
    except ValueError:
        raise InputError("a number between 0 and 1 is needed, not {text!r}", text=text[:20]) from None


def _text(text: str) -> str:
    """Lines of text without control and direction characters."""
    return "\n".join(clean(line) for line in text.strip().split("\n"))
