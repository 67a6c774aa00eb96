"""The application: pages behind the guard, errors as pages, and the server on loopback."""

import contextlib
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from claim.errors import ClaimError, InputError
from claim.field.store.cipher import WrongPassphrase
from claim.field.store.library import Library
from claim.field.store.store import Conflict, Damaged, NotSaved
from claim.field.study.names import NameIndex
from claim.field.web import api, exchange, home, people, printing, sessions, settings, survey
from claim.field.web.app_state import AppState, Locked, NoStudy
from claim.field.web.guard import Guard
from claim.field.web.i18n import LANGUAGES, texts_in
from claim.field.web.request import FOLDER, Forged, Form, PageRequest, environment

STATUS: dict[type[ClaimError], int] = {
    Locked: 423, NoStudy: 404, Forged: 403, WrongPassphrase: 403, Conflict: 409, Damaged: 503, NotSaved: 507,
}  # fmt: skip  # 400 for others
LOOPBACK = "127.0.0.1"
WATCH_SECONDS = 5.0
ASK_SECONDS = 0.3
PAGES = (home, people, survey, sessions, printing, exchange, settings)


def create_app(state: AppState) -> FastAPI:
    """The application over its state."""
    app = FastAPI(title="claim field assistant", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.assistant = state
    for pages in PAGES:
        app.include_router(pages.router, include_in_schema=False)
    app.include_router(api.router)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    for kind in (ClaimError, OSError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _error)
    app.add_middleware(Guard, state=state)
    return app


def _error(request: Request, error: Exception) -> Response:
    """The error as a page that shows again what was typed, or as JSON for the script on the pages."""
    page, headers, study = PageRequest(request), None, request.path_params.get("study", "")
    if isinstance(error, OSError):  # a disk that is full, gone or read-only, wherever it is noticed
        error = NotSaved("the study file cannot be used ({problem})", problem=os.strerror(error.errno or 0))
    if isinstance(error, ClaimError):
        if page.app.is_locked(study):  # meanwhile: then that is the error, and not what came of it
            error = Locked(study)
        kind, status = type(error).__name__, next((STATUS[each] for each in STATUS if isinstance(error, each)), 400)
    elif isinstance(error, RequestValidationError):  # its own message has what was in the fields
        kind, status = "invalid", 422
    else:
        assert isinstance(error, HTTPException)
        kind, status, headers = "none", error.status_code, error.headers
    locked = error.study if isinstance(error, Locked) else ""
    message = page.text(f"error.{kind}") if f"error.{kind}" in page.text else page.text.message(error)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": kind, "message": message}, status, headers)
    if locked and request.method in ("GET", "HEAD"):
        return page.go("/", study=locked)
    form: Form = getattr(request.state, "form", Form())
    again = isinstance(error, Conflict | NotSaved | Locked) and bool(form.typed) and not form.files
    values = {"kind": kind, "message": message, "typed": form.typed, "again": again, "locked": locked}
    answer = page.page("error.html", status, back=_back(request), **values)
    answer.headers.update(headers or {})
    return answer


def _back(request: Request) -> str:
    """The page a form was on, as the browser says; our own pages only."""
    from_page = urlsplit(request.headers.get("referer", ""))
    ours = from_page.netloc == request.headers.get("host") and from_page.path.startswith("/")
    study = request.path_params.get("study")
    return from_page.path if ours and not from_page.path.startswith("//") else (f"/s/{study}" if study else "/")


# Serving -------------------------------------------------------------------------------------------------------------


def serve(
    port: int = 0,
    *,
    rehearsal: bool = False,
    opened: Callable[[str], None],
    asked_again: Callable[[], bool] | None = None,
) -> None:
    """Serve until interrupted; ``opened`` is called with the address and its one-time token once the server listens.

    ``asked_again`` tells whether the user wants to be let in again. Studies are then locked, and ``opened`` is called
    with a new address.
    """
    with bound(port) as door:
        state = AppState(Library(), port=door.getsockname()[1])
        if rehearsal:
            state.practise()
        done = threading.Event()
        try:
            threading.Thread(target=_watch, args=(state, done), daemon=True).start()
            threading.Thread(target=warm_up, daemon=True).start()

            def ready() -> None:
                opened(address_of(state))
                if asked_again is not None:
                    threading.Thread(target=_open_again, args=(state, done, asked_again, opened), daemon=True).start()

            _Server(create_app(state), ready).run(sockets=[door])
        finally:
            done.set()
            state.shut_down()


def address_of(state: AppState) -> str:
    """The address to open, with the one-time token."""
    return f"http://{LOOPBACK}:{state.port}/launch?token={state.launch_token}"


@contextlib.contextmanager
def bound(port: int) -> Iterator[socket.socket]:
    """A socket on loopback; no other machine can reach it."""
    if not 0 <= port <= 65535:
        raise InputError("a port is between 1 and 65535, or 0 for a free one, not {port}", port=port)
    with socket.socket() as door:
        if sys.platform == "win32":  # there SO_REUSEADDR would let another program take the port over
            door.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((LOOPBACK, port))
            door.listen()
        except OSError as error:
            text = "port {port} cannot be used ({problem}): choose another with --port"
            raise InputError(text, port=port, problem=error.strerror) from None
        yield door


class _Server(uvicorn.Server):
    """Says when it is ready; writes no log of requests."""

    def __init__(self, app: object, ready: Callable[[], None]) -> None:
        settings = {"access_log": False, "log_level": logging.WARNING, "server_header": False, "lifespan": "off"}
        super().__init__(uvicorn.Config(app, ws="none", timeout_graceful_shutdown=3, **settings))  # type: ignore[arg-type]
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets)
        self._ready()


def _watch(state: AppState, done: threading.Event) -> None:
    """Lock idle studies although no page is asked for."""
    while not done.wait(WATCH_SECONDS):
        state.lock_if_idle()


def _open_again(
    state: AppState, done: threading.Event, asked: Callable[[], bool], opened: Callable[[str], None]
) -> None:
    """Give out a new one-time address whenever it is asked for."""
    while not done.wait(ASK_SECONDS):
        if asked():
            state.renew_launch()
            opened(address_of(state))


def warm_up() -> None:
    """Read the pages and texts, then load or compile what names and leaders are found with."""
    from claim.cascades import influence
    from claim.discovery import Discovered
    from claim.networks import Network
    from claim.selection.foresight import NAME, foresight_named
    from claim.selection.selectors import MethodSelector

    for name in environment().list_templates():
        environment().get_template(name)
    for language in LANGUAGES:
        texts_in(language)
    NameIndex([("P1", "Ana"), ("P2", "Anna")]).alike()
    network, rng = Network.from_edges([0, 1, 2, 3], [1, 2, 3, 0]), np.random.default_rng(0)
    seen, foresight = Discovered.from_network(network, [0, 1]), foresight_named(NAME, p=0.5, samples=10)
    leaders = foresight.select(seen, 2, rng)
    foresight.expect(seen, leaders, rng)
    foresight.reasons(seen, leaders)
    MethodSelector(0.5, 10).select(seen, 2, rng)
    influence(network, leaders, 0.5, 10, 0)
