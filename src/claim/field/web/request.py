"""A request: the form it sends, the study it is about, its language, and the page that answers it."""

import hashlib
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from claim.errors import ClaimError, InputError
from claim.field.advice.leaders import LeaderChoice
from claim.field.advice.recommend import Advice, recommend
from claim.field.store.session import Done, OpenStudy
from claim.field.study.commands import Draft
from claim.field.study.study import Study
from claim.field.view import View, progress
from claim.field.web.app_state import AppState
from claim.field.web.guard import MAX_UPLOAD
from claim.field.web.i18n import LANGUAGES, Texts, chosen_language, texts_in
from claim.field.web.picture import Places, places_of
from claim.io.archives import MAX_FILES
from claim.io.text import Source
from claim.messages import Message

FOLDER = Path(__file__).parent
LONGEST_SHOWN = 80  # characters of a name in a list
T = TypeVar("T")
MAX_FIELDS = 5_000
OURS = ("csrf", "nonce", "at")  # fields that are not typed
UNSHOWN = ("passphrase", "again", "new_passphrase", "key_passphrase", "key_again")


class Forged(ClaimError):
    """A form without our token."""

    def __init__(self) -> None:
        super().__init__("this form is not from this page: go back and send it again")


class _InMemory(MultiPartParser):
    """Files brought in hold names: they never touch the disk, however large."""

    spool_max_size = MAX_UPLOAD + 1


@dataclass(frozen=True)
class Form:
    """The fields of a form, in order, and its files."""

    fields: tuple[tuple[str, str], ...] = ()
    files: list[Source] = field(default_factory=list)
    path: str = ""  # where it was sent

    def __getitem__(self, name: str) -> str:
        """A field; empty if it was not sent."""
        return next((value for key, value in self.fields if key == name), "")

    def starting(self, prefix: str) -> dict[str, str]:
        """Fields whose name begins like this, by the rest of the name."""
        return {key.removeprefix(prefix): value for key, value in self.fields if key.startswith(prefix)}

    def whole(self, name: str) -> int | None:
        """A whole number; None if the field is empty."""
        text = self[name].strip()
        if not text:
            return None
        if len(text) > 18 or not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit():
            raise InputError("a whole number is needed, not {text!r}", text=text[:20])
        return int(text)

    @property
    def token(self) -> str | None:
        """Names this submission: the same form sent twice is one step, other words in the same form are another."""
        return token_of(self.path, *chain(*self.fields)) if self["nonce"] else None

    @property
    def typed(self) -> list[tuple[str, str]]:
        """What a person entered, to show it again; never passphrases."""
        return [(key, value) for key, value in self.fields if value and key not in (*OURS, *UNSHOWN)]


def token_of(*parts: str) -> str:
    """A token for a submission, from where it was sent and what is in it."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


async def read_form(request: Request) -> Form:
    """The form of a request; refused without our token."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    form = await (_multipart(request) if kind == "multipart/form-data" else _urlencoded(request))
    if not state_of(request).is_csrf(form["csrf"]):
        raise Forged
    request.state.form = form  # for the page that says what went wrong
    return form


Sent = Annotated[Form, Depends(read_form)]


async def _urlencoded(request: Request) -> Form:
    text = (await request.body()).decode("ascii", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise InputError("this form has too many fields") from None
    return Form(_plain(pairs), path=request.url.path)


async def _multipart(request: Request) -> Form:
    parser = _InMemory(request.headers, request.stream(), max_files=MAX_FILES, max_fields=MAX_FIELDS)
    try:
        sent = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        raise InputError("this form cannot be read") from None
    fields = [(key, value) for key, value in sent.multi_items() if isinstance(value, str)]
    files = [value for _, value in sent.multi_items() if isinstance(value, UploadFile)]
    chosen = [
        file for file in files if file.filename or file.size
    ]  # without a choice a browser sends a file of nothing
    uploads = [Source(file.filename or "file", await file.read()) for file in chosen]
    await sent.close()
    return Form(_plain(fields), uploads, request.url.path)


def _plain(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Line ends as the web sends them made one kind, halves of characters replaced."""
    return tuple((key, value.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")) for key, value in pairs)


# Pages ---------------------------------------------------------------------------------------------------------------


class PageRequest:
    """A request for a page outside of any study; templates know it as ``page``."""

    study_id: str | None = None
    practice = False

    def __init__(self, http: Request) -> None:
        self.http = http
        self.app = state_of(http)

    @cached_property
    def text(self) -> Texts:
        """The texts in the language of the page."""
        accepted = self.http.headers.get("accept-language", "")
        return texts_in(chosen_language(self.app.preferences.language, accepted))

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page; as the answer to a form it is shown at an address of its own.

        A browser keeps what was sent with the page that came of it, also in the files from which it restores windows.
        After a redirect there is nothing to keep.
        """
        done = self.http.query_params.get("done", "")
        values |= {"page": self, "app": self.app, "t": self.text, "nonce": secrets.token_urlsafe(12)}
        values["done"] = f"done.{done}" if f"done.{done}" in self.text else None
        made = HTMLResponse(environment().get_template(template).render(values), status)
        sent_by_page = self.http.method == "POST" and self.http.headers.get("sec-fetch-mode") == "navigate"
        return RedirectResponse(f"/answers/{self.app.answers.keep(made)}", 303) if sent_by_page else made

    def go(self, path: str, done: str | None = None, **query: Any) -> RedirectResponse:
        """On to another page, after a form; ``done`` says what was done."""
        asked = {key: value for key, value in {"done": done, **query}.items() if value is not None}
        return RedirectResponse(f"{path}?{urlencode(asked)}" if asked else path, 303)


class StudyRequest(PageRequest):
    """A request for a page of an open study."""

    def __init__(self, http: Request, study: str) -> None:
        super().__init__(http)
        self.study_id: str = study
        self.opened: OpenStudy = self.app.study(study)
        self.base = f"/s/{study}"
        self.practice = self.app.is_practice(study)
        self._read = False

    @property
    def view(self) -> View:
        """The study now: the file is read once in a request, here or by the command that is run."""
        if not self._read:
            self.opened.refresh()
            self._read = True
        return self.opened.view

    @property
    def study(self) -> Study:
        """The study now."""
        return self.view.study

    def run(self, command: Callable[[Draft], T], token: str | None = None, expect: int | None = None) -> Done[T]:
        """Run a command; inside it :attr:`view` is what the draft is based on."""
        self._read = True
        return self.opened.run(command, token=token, expect=expect)

    def submit(self, form: Form, command: Callable[[Draft], T], *, check: bool = False) -> Done[T]:
        """Run what a form asks for, once however often it is sent; ``check`` refuses one made on an older state."""
        return self.run(command, form.token, form.whole("at") if check else None)

    def finish(
        self, form: Form, command: Callable[[Draft], object], path: str, done: str | None = None, *, check: bool = False
    ) -> Response:
        """Run what a form asks for, see :meth:`submit`, and go on to another page."""
        self.submit(form, command, check=check)
        return self.go(path, done)

    # What pages show, computed once for a view ------------------------------------------------------------------------

    def advice(self, count: int | None) -> Advice:
        """Whom to survey next; without a count an open round goes on."""
        return self.view.once(("advice", count), lambda: recommend(self.study, count))

    def leaders(self, attendance: float | None = None) -> LeaderChoice:
        """Whom to ask to lead."""
        return self.view.once(("leaders", attendance), lambda: self._leaders(attendance))

    def _leaders(self, attendance: float | None) -> LeaderChoice:
        return LeaderChoice(self.study, attendance=attendance, groups=self.view.groups)

    def places(self) -> Places:
        """Where people are in the picture."""
        return self.view.once("places", lambda: places_of(self.study, self.view.carried))

    def reasons(self, reasons: Iterable[Message]) -> list[str]:
        """Reasons in the language of the page."""
        return [self.text.message(reason, lambda code: short(self.view.name(code))) for reason in reasons]

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of the study."""
        view = self.view
        setup = view.study.setup
        values |= {"view": view, "setup": setup, "name": view.name, "person": view.study.person}
        values["progress"] = view.once("progress", lambda: progress(view))
        return super().page(template, status, overdue=setup.overdue(datetime.now(UTC).date()), **values)

    def go(self, path: str = "", done: str | None = None, **query: Any) -> RedirectResponse:
        """On to another page of the study."""
        return super().go(f"{self.base}{path}", done, **query)


def state_of(http: Request) -> AppState:
    """The state of the assistant that serves a request."""
    found: AppState = http.app.state.assistant
    return found


AnyPage = Annotated[PageRequest, Depends()]
StudyPage = Annotated[StudyRequest, Depends()]


def attempt(compute: Callable[[], T]) -> tuple[T | None, ClaimError | None]:
    """What is computed, or the error that the page shows in its place."""
    try:
        return compute(), None
    except ClaimError as error:
        return None, error


def short(name: str) -> str:
    """A name for a list."""
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"


def moment(at: str | None) -> str:
    """A time of the log as the clock of this machine shows it, with the zone."""
    return "" if not at else datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M %Z")


@cache
def environment() -> Environment:
    """Templates: everything is escaped, a missing value is an error."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"short": short, "moment": moment, "clock": lambda at: at.replace("T", " ")}
    made.tests["has"] = lambda values, key: key in values
    made.globals["languages"] = LANGUAGES
    return made
