"""What pages share: the study at hand, the words, the frame around every page."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from claim.field.store.session import Done, OpenStudy, View
from claim.field.store.store import Conflict
from claim.field.study.commands import Draft
from claim.field.study.events import Exported, RecommendationShown
from claim.field.study.study import Study
from claim.field.web.app_state import LANGUAGES, Desk
from claim.field.web.forms import Form, new_nonce
from claim.field.web.i18n import Words, chosen_language, words_in

FOLDER = Path(__file__).parent
LONGEST_SHOWN = 80  # characters of a name in a list
QUIET = (RecommendationShown, Exported)  # events that make no form out of date
T = TypeVar("T")


@dataclass(frozen=True)
class Visit:
    """A request for a page, outside of any study."""

    request: Request
    desk: Desk

    @cached_property
    def words(self) -> Words:
        """The language of the page."""
        accepted = self.request.headers.get("accept-language", "")
        return words_in(chosen_language(self.desk.preferences.language, accepted))

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page; as the answer to a form it is shown at an address of its own.

        A browser keeps what was sent with the page that came of it, also in the files from which it restores windows.
        After a redirect there is nothing to keep.
        """
        done = self.request.query_params.get("done", "")
        frame: dict[str, Any] = {
            "t": self.words,
            "lang": self.words.language,
            "languages": LANGUAGES,
            "desk": self.desk,
            "csrf": self.desk.csrf,
            "nonce": new_nonce(),
            "done": f"done.{done}" if f"done.{done}" in self.words else None,
            "study": None,
            "practice": False,
            "at": "",
            "path": self.request.url.path,
        }
        made = HTMLResponse(environment().get_template(template).render(frame | values), status)
        sent_by_page = self.request.method == "POST" and self.request.headers.get("sec-fetch-mode") == "navigate"
        return RedirectResponse(f"/answers/{self.desk.keep_answer(made)}", 303) if sent_by_page else made

    def go(self, path: str, done: str | None = None, **query: Any) -> RedirectResponse:
        """On to another page, after a form; ``done`` says what was done."""
        asked = {key: value for key, value in {"done": done, **query}.items() if value is not None}
        return RedirectResponse(f"{path}?{urlencode(asked)}" if asked else path, 303)


@dataclass(frozen=True)
class Here(Visit):
    """A request for a page of an open study."""

    study_id: str
    opened: OpenStudy

    @property
    def view(self) -> View:
        """The study at this moment."""
        return self.opened.view

    @property
    def study(self) -> Study:
        """The study at this moment."""
        return self.opened.study

    @property
    def base(self) -> str:
        """Where the study's pages are."""
        return f"/s/{self.study_id}"

    @property
    def practice(self) -> bool:
        """Whether this is the rehearsal."""
        return self.desk.is_practice(self.study_id)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of the study."""
        view = self.view
        frame = {
            "study": self.study_id,
            "base": self.base,
            "title": view.study.setup.title,
            "setup": view.study.setup,
            "practice": self.practice,
            "overdue": view.study.setup.overdue(datetime.now(UTC).date()),
            "at": seen_position(view.study),
            "name": view.name,
            "person": view.study.person,
        }
        return super().page(template, status, **(frame | values))

    def go(self, path: str = "", done: str | None = None, **query: Any) -> RedirectResponse:
        """On to another page of the study."""
        return super().go(f"{self.base}{path}", done, **query)

    def run(self, form: Form, command: Callable[[Draft], T], *, check: bool = False) -> Done[T]:
        """Do what a form asks, once however often it is sent; ``check`` refuses one made on an older state."""
        wanted = form.expected if check else None

        def checked(draft: Draft) -> T:
            if wanted is not None and wanted != seen_position(draft.study):
                raise Conflict("the study was changed elsewhere meanwhile: look at it again, then repeat the step")
            return command(draft)

        return self.opened.run(checked, token=form.token)

    def said(self, reasons: tuple[Any, ...]) -> list[str]:
        """Reasons in the language of the page."""
        return [self.words.reason(reason, lambda code: short(self.view.name(code))) for reason in reasons]


def visit(request: Request) -> Visit:
    """Dependency: a page outside of any study."""
    return Visit(request, request.app.state.desk)


def here(request: Request, study: str) -> Here:
    """Dependency: a page of a study, with what other programs did to it taken in."""
    desk: Desk = request.app.state.desk
    opened = desk.study(study)
    opened.refresh()
    return Here(request, desk, study, opened)


Visiting = Annotated[Visit, Depends(visit)]
InStudy = Annotated[Here, Depends(here)]


def seen_position(study: Study) -> int:
    """The last event that changes what a page shows."""
    return next((event.seq for event in reversed(study.log) if not isinstance(event.body, QUIET)), 0)


def short(name: str) -> str:
    """A name for a list."""
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"


def moment(at: str | None) -> str:
    """A time of the log, for people."""
    return "" if not at else at[:16].replace("T", " ")


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
    made.filters |= {"short": short, "moment": moment}
    return made
