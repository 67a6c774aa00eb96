"""Bringing files in: look, settle columns and duplicates, take all of it or nothing; one undo takes it back."""

from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import InputError
from claim.field.exchange import IMPORTERS, Preview, preview
from claim.field.exchange.study import import_preview, known_names
from claim.field.web.context import Here, InStudy
from claim.field.web.desk import Pending
from claim.field.web.forms import Form, Sent

router = APIRouter(prefix="/s/{study}")
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
