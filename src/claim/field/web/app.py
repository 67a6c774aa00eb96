"""The application: routes behind the guard, and what is said when something goes wrong."""

import os
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from claim.errors import ClaimError
from claim.field.store.cipher import WrongPassphrase
from claim.field.store.store import Conflict, Damaged, NotSaved
from claim.field.web.app_state import Desk, Locked, NoStudy
from claim.field.web.context import FOLDER, Visit, visit
from claim.field.web.forms import Forged, Form
from claim.field.web.guard import Guard
from claim.field.web.routes import api, exchange, home, leaders, people, settings, survey

STATUS: dict[type[ClaimError], int] = {
    Locked: 423, NoStudy: 404, Forged: 403, WrongPassphrase: 403, Conflict: 409, Damaged: 503, NotSaved: 507,
}  # fmt: skip
PAGES = (
    home.router, people.router, survey.next_router, survey.router, leaders.router, leaders.practice_router,
    exchange.router, settings.router,
)  # fmt: skip


def create_app(desk: Desk) -> FastAPI:
    """The application for one desk."""
    app = FastAPI(title="claim field assistant", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desk = desk
    for router in PAGES:
        app.include_router(router, include_in_schema=False)
    app.include_router(api.router)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    app.add_exception_handler(ClaimError, _trouble)
    app.add_exception_handler(OSError, _disk_trouble)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _no_page)
    app.add_middleware(Guard, desk=desk)
    return app


def status_of(error: ClaimError) -> int:
    """The HTTP status that fits an error best."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


def _trouble(request: Request, error: Exception) -> Response:
    """Something a person can act on: what was typed is shown again, nothing of it is lost."""
    assert isinstance(error, ClaimError)
    desk: Desk = request.app.state.desk
    error = _locked_meanwhile(request, error, desk)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": _kind(error), "message": said(visit(request), error)}, status_of(error))
    if isinstance(error, Locked) and request.method in ("GET", "HEAD"):
        return visit(request).go("/", study=error.study)
    return _trouble_page(visit(request), error)


def _disk_trouble(request: Request, error: Exception) -> Response:
    """A disk that is full, gone or read-only, wherever it is noticed."""
    assert isinstance(error, OSError)
    return _trouble(request, NotSaved(f"the study file cannot be used ({os.strerror(error.errno or 0)})"))


def _locked_meanwhile(request: Request, error: ClaimError, desk: Desk) -> ClaimError:
    """A study can be locked while a request is under way; whatever came of that is no other error."""
    study = request.path_params.get("study")
    known = isinstance(study, str) and any(file.id == study for file in desk.library.list())
    return Locked(study) if study and known and not desk.is_open(study) else error


def _trouble_page(page: Visit, error: ClaimError) -> Response:
    form: Form = getattr(page.request.state, "form", Form())
    typed = [(key, value) for key, value in form.typed if value]
    return page.page(
        "trouble.html",
        status_of(error),
        kind=_kind(error),
        message=said(page, error),
        typed=[(page.words(f"field.{key}"), value) for key, value in typed if f"field.{key}" in page.words],
        fields=typed,
        again=isinstance(error, Conflict | NotSaved | Locked) and bool(typed) and not form.files,
        back=_back(page.request),
        locked=error.study if isinstance(error, Locked) else "",
    )


def said(page: Visit, error: ClaimError) -> str:
    """The error in the page's language where the catalogue has it, else as it is."""
    key = f"error.{_kind(error)}"
    return page.words(key) if key in page.words else page.words.trouble(error)


def _kind(error: ClaimError) -> str:
    return type(error).__name__


def _back(request: Request) -> str:
    """The page a form was on, as the browser says; our own pages only."""
    from_page = urlsplit(request.headers.get("referer", ""))
    ours = from_page.netloc == request.headers.get("host") and from_page.path.startswith("/")
    study = request.path_params.get("study")
    return from_page.path if ours and not from_page.path.startswith("//") else (f"/s/{study}" if study else "/")


def _not_valid(request: Request, error: Exception) -> Response:
    """Which fields were wrong and how, without what was in them."""
    assert isinstance(error, RequestValidationError)
    if not request.url.path.startswith("/api/"):
        return _plain_page(visit(request), "invalid", 422)
    found: list[dict[str, Any]] = [{"where": list(each["loc"]), "problem": each["type"]} for each in error.errors()]
    return JSONResponse({"error": "invalid", "message": "not valid", "details": found}, 422)


def _no_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": "none", "message": str(error.detail)}, error.status_code, error.headers)
    answer = _plain_page(visit(request), "none", error.status_code)
    answer.headers.update(error.headers or {})
    return answer


def _plain_page(page: Visit, kind: str, status: int) -> Response:
    values = {"typed": [], "fields": [], "again": False, "back": "/", "locked": ""}
    return page.page("trouble.html", status, kind=kind, message=page.words(f"error.{kind}"), **values)
