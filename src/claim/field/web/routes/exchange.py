"""Exports and imports."""

import secrets
from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.exchange import EXPORTS, IMPORTERS, Preview, export_zip, preview
from claim.field.exchange.export import FILE_NAME, write_name_key
from claim.field.exchange.study import bundle_of, import_preview, known_names
from claim.field.study import commands
from claim.field.web import app_state
from claim.field.web.app_state import Pending
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Form, Sent
from claim.io import files

router = APIRouter(prefix="/s/{study}")


@router.get("/export")
def export(here: InStudy) -> Response:
    """The formats there are."""
    return here.page("export.html", formats=tuple(EXPORTS))


@router.post("/export")
def take_out(form: Sent, here: InStudy) -> Response:
    """A file with codes."""
    wanted = form["format"]
    view = here.view
    file = export_zip(bundle_of(view).with_positions(app_state.places(view)), wanted, view.study.head)
    here.run(form, lambda draft: commands.exported(draft, wanted))
    return download(file.content, file.name, file.media_type)


@router.post("/export/names")
def name_key(form: Sent, here: InStudy) -> Response:
    """The name key: the study's passphrase again, and one for the file."""
    check_passphrase(here, form["passphrase"])
    if form["key_passphrase"] != form["key_again"]:
        raise InputError(here.words("new.not_same"))
    directory = here.opened.store.path.parent
    target = directory / f".{secrets.token_hex(8)}.key"
    with files.temporary(target) as path:  # encrypted from the first byte
        write_name_key(path, bundle_of(here.view).names, form["key_passphrase"])
        content = path.read_bytes()
    here.run(form, lambda draft: commands.exported(draft, "names", with_names=True))
    return download(content, FILE_NAME, "application/octet-stream")


def check_passphrase(here: Here, passphrase: str) -> None:
    """Ask again: open the study a second time; wrong ones wait longer each time."""
    if here.practice:
        raise InputError(here.words("practice.no_passphrase"))
    here.desk.library.open(here.study_id, passphrase).lock()


def download(content: bytes, name: str, media_type: str) -> Response:
    """A file to keep; ``name`` is one of ours, never something typed."""
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


MOST_DUPLICATES = 200


@router.get("/import")
def begin(here: InStudy) -> Response:
    """Which files?"""
    return here.page("import.html", formats=[importer.title for importer in IMPORTERS])


@router.post("/import")
def look(form: Sent, here: InStudy) -> Response:
    """Take the files into memory and look at them."""
    return _keep(here, Pending(here.study_id, form.files))


@router.get("/import/{key}")
def show(here: InStudy, key: str) -> Response:
    """What is in the files."""
    pending = _pending(here, key)
    looked_at = _preview(here, pending)
    formats = [(importer.name, importer.title) for importer in IMPORTERS]
    found = looked_at.report.duplicates
    more = max(0, len(found) - MOST_DUPLICATES)
    return here.page(
        "preview.html",
        preview=f"{here.base}/import/{key}",
        looked=looked_at,
        formats=formats,
        pending=pending,
        found=found[:MOST_DUPLICATES],
        more=more,
    )


@router.post("/import/{key}")
def settle(form: Sent, here: InStudy, key: str) -> Response:
    """Another format or other columns: a preview of its own, so that each page takes what it shows."""
    pending = _pending(here, key)
    other = form["format"] != (pending.format or form["was"])
    mapping = {} if other else form.starting("map.")
    changed = replace(pending, format=form["format"] or None, mapping=mapping, join_names=form.ticked("join"))
    return _keep(here, changed)


@router.post("/import/{key}/take")
def take(form: Sent, here: InStudy, key: str) -> Response:
    """All of it, as one step."""
    looked_at = _preview(here, _pending(here, key))
    same, merges = _answers(form)
    here.run(form, lambda draft: import_preview(draft, looked_at, merges=merges, same=same), check=True)
    here.desk.drop(key)
    return here.go("/people", "imported")


@router.post("/import/{key}/drop")
def drop(form: Sent, here: InStudy, key: str) -> Response:
    """Forget the files."""
    here.desk.drop(key)
    return here.go("/import", "dropped")


def _keep(here: Here, pending: Pending) -> Response:
    _preview(here, pending)  # refused here if broken
    return here.go(f"/import/{here.desk.keep(pending)}")


def _pending(here: Here, key: str) -> Pending:
    pending = here.desk.pending(here.study_id, key)
    if pending is None:
        raise InputError(here.words("import.expired"))
    return pending


def _preview(here: Here, pending: Pending) -> Preview:
    return preview(
        pending.files,
        format=pending.format,
        mapping=pending.mapping,
        existing=known_names(here.view),
        join_names=pending.join_names,
    )


def _answers(form: Form) -> tuple[dict[str, str], dict[str, str]]:
    """Who in the file is whom in the study (``dup.<code>`` is ``s:<code>``), and whom else in the file (``f:``)."""
    same, merges = dict[str, str](), dict[str, str]()
    for code, answer in form.starting("dup.").items():
        kind, _, other = answer.partition(":")
        if kind == "s":
            same[code] = other
        elif kind == "f" and other not in merges:
            merges[code] = other
    final = {merges.get(code, code): other for code, other in same.items()}
    return final, merges
