"""Exports and imports."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.exchange import EXPORTS, IMPORTERS, Preview, export_zip, preview
from claim.field.exchange.export import FILE_NAME, write_name_key
from claim.field.exchange.study import bundle_of, import_preview
from claim.field.study import commands
from claim.field.web.app_state import Pending
from claim.field.web.request import Form, Sent, StudyPage, StudyRequest
from claim.io import files
from claim.io.archives import MAX_FILE_BYTES, MAX_FILES

router = APIRouter(prefix="/s/{study}")


@router.get("/export")
def export(page: StudyPage) -> Response:
    """The formats there are."""
    return page.page("export.html", formats=tuple(EXPORTS))


@router.post("/export")
def take_out(form: Sent, page: StudyPage) -> Response:
    """A file with codes."""
    wanted, view = form["format"], page.view
    content = export_zip(bundle_of(view).with_positions(page.places()), wanted, view.study.head)
    page.submit(form, lambda draft: commands.exported(draft, wanted))
    return download(content, f"study-{wanted}.zip", "application/zip")


@router.post("/export/names")
def name_key(form: Sent, page: StudyPage) -> Response:
    """The name key: the study's passphrase again, and one for the file."""
    check_passphrase(page, form["passphrase"])
    if form["key_passphrase"] != form["key_again"]:
        raise InputError(page.text("new.not_same"))
    names = bundle_of(page.view).names
    content = encrypted_file(page, lambda path: write_name_key(path, names, form["key_passphrase"]))
    page.submit(form, lambda draft: commands.exported(draft, "names", with_names=True))
    return download(content, FILE_NAME, "application/octet-stream")


def check_passphrase(page: StudyRequest, passphrase: str) -> None:
    """Ask again: open the study a second time; wrong ones wait longer each time."""
    if page.practice:
        raise InputError(page.text("practice.no_passphrase"))
    page.app.library.open(page.study_id, passphrase).lock()


def encrypted_file(page: StudyRequest, write: Callable[[Path], None]) -> bytes:
    """The content of a file that is written beside the study, encrypted from the first byte, and removed again."""
    with files.temporary(page.opened.store.path.parent / f".{secrets.token_hex(8)}.tmp") as path:
        write(path)
        return path.read_bytes()


def download(content: bytes, name: str, media_type: str) -> Response:
    """A file to keep; ``name`` is one of ours, never something typed."""
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


MOST_DUPLICATES = 200
NOTES_A_PAGE = 200
HEADERS = {"": None, "yes": True, "no": False}  # whether the first row names the columns; None: as found


@router.get("/import")
def begin(page: StudyPage) -> Response:
    """Which files?"""
    return page.page("import.html", importers=IMPORTERS, files=MAX_FILES, most=MAX_FILE_BYTES >> 20)


@router.post("/import")
def look(form: Sent, page: StudyPage) -> Response:
    """Take the files into memory and look at them."""
    return _keep(page, Pending(form.files))


@router.get("/import/{key}")
def show(page: StudyPage, key: str, number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1) -> Response:
    """What is in the files; what is left out of them is listed on several pages if it is much."""
    pending = _pending(page, key)
    looked = _preview(page, pending)
    values: dict[str, Any] = {"looked": looked, "pending": pending, "importers": IMPORTERS, "most": MOST_DUPLICATES}
    last = max(1, -(-len(looked.notes) // NOTES_A_PAGE))
    number = min(number, last)
    notes = looked.notes[(number - 1) * NOTES_A_PAGE : number * NOTES_A_PAGE]
    values |= {"notes": notes, "number": number, "last": last, "headers": HEADERS}
    return page.page("preview.html", preview=f"{page.base}/import/{key}", **values)


@router.post("/import/{key}")
def change_preview(form: Sent, page: StudyPage, key: str) -> Response:
    """Another format or other columns: a preview of its own, so that each page takes what it shows."""
    pending = _pending(page, key)
    header = HEADERS.get(form["header"])
    same_format, same_header = form["format"] == (pending.format or form["was"]), header == pending.header
    mapping = form.starting("map.") if same_format and same_header else {}
    # Another header means other columns, by which a format that was not chosen is found anew.
    format = pending.format if same_format and not same_header else form["format"] or None
    join_names = bool(form["join"])
    return _keep(page, replace(pending, format=format, mapping=mapping, join_names=join_names, header=header))


@router.post("/import/{key}/take")
def take(form: Sent, page: StudyPage, key: str) -> Response:
    """All of it, as one step."""
    looked_at = _preview(page, _pending(page, key))
    same, merges = _same_people(form)
    page.submit(form, lambda draft: import_preview(draft, looked_at, merges=merges, same=same), check=True)
    page.app.previews[page.study_id].pop(key, None)
    return page.go("/people", "imported")


@router.post("/import/{key}/drop")
def drop(form: Sent, page: StudyPage, key: str) -> Response:
    """Forget the files."""
    page.app.previews[page.study_id].pop(key, None)
    return page.go("/import", "dropped")


def _keep(page: StudyRequest, pending: Pending) -> Response:
    _preview(page, pending)  # refused here if broken
    return page.go(f"/import/{page.app.previews[page.study_id].keep(pending)}")


def _pending(page: StudyRequest, key: str) -> Pending:
    try:
        return page.app.previews[page.study_id][key]
    except KeyError:
        raise InputError(page.text("import.expired")) from None


def _preview(page: StudyRequest, pending: Pending) -> Preview:
    return preview(**vars(pending), existing=page.view.index.names)


def _same_people(form: Form) -> tuple[dict[str, str], dict[str, str]]:
    """Who in the file is whom in the study (``dup.<code>`` is ``s:<code>``), and whom else in the file (``f:``)."""
    same, merges = dict[str, str](), dict[str, str]()
    for code, answer in form.starting("dup.").items():
        kind, _, other = answer.partition(":")
        if kind == "s":
            same[code] = other
        elif kind == "f" and other not in merges:
            merges[code] = other
    return {merges.get(code, code): other for code, other in same.items()}, merges
