"""Bringing files in: look, settle columns and duplicates, take all of it or nothing; one undo takes it back."""

from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from claim.errors import InputError
from claim.field.exchange import IMPORTERS, Preview, preview
from claim.field.exchange.study import import_preview, known_names
from claim.field.web.context import Here, InStudy
from claim.field.web.desk import Pending
from claim.field.web.forms import Form, Sent

router = APIRouter(prefix="/s/{study}")
MOST_DUPLICATES = 200


@router.get("/import")
def begin(here: InStudy) -> HTMLResponse:
    """Which files?"""
    return here.page("import.html", formats=[importer.title for importer in IMPORTERS])


@router.post("/import")
def look(form: Sent, here: InStudy) -> Response:
    """Take the files into memory and look at them."""
    pending = Pending(form.files)
    _preview(here, pending)  # refused here if broken
    here.desk.pending[here.study_id] = pending
    return here.go("/import/preview")


@router.get("/import/preview")
def show(here: InStudy) -> HTMLResponse:
    """What is in the files."""
    pending = _pending(here)
    looked_at = _preview(here, pending)
    formats = [(importer.name, importer.title) for importer in IMPORTERS]
    found = looked_at.report.duplicates
    more = max(0, len(found) - MOST_DUPLICATES)
    return here.page(
        "preview.html", looked=looked_at, formats=formats, pending=pending, found=found[:MOST_DUPLICATES], more=more
    )


@router.post("/import/preview")
def settle(form: Sent, here: InStudy) -> Response:
    """Another format or other columns."""
    pending = _pending(here)
    other = form["format"] != (pending.format or form["was"])
    mapping = {} if other else form.starting("map.")
    changed = replace(pending, format=form["format"] or None, mapping=mapping, join_names=form.ticked("join"))
    _preview(here, changed)
    here.desk.pending[here.study_id] = changed
    return here.go("/import/preview")


@router.post("/import/take")
def take(form: Sent, here: InStudy) -> Response:
    """All of it, as one step."""
    looked_at = _preview(here, _pending(here))
    same, merges = _answers(form)
    here.run(form, lambda draft: import_preview(draft, looked_at, merges=merges, same=same))
    here.desk.pending.pop(here.study_id, None)
    return here.go("/people", "imported")


@router.post("/import/drop")
def drop(form: Sent, here: InStudy) -> Response:
    """Forget the files."""
    here.desk.pending.pop(here.study_id, None)
    return here.go("/import", "dropped")


def _pending(here: Here) -> Pending:
    pending = here.desk.pending.get(here.study_id)
    if pending is None:
        raise InputError(here.words("import.none"))
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
