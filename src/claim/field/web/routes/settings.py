"""Settings of the study and of the machine: passphrase, backup, auto-lock, erasing, closing."""

import secrets
from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import ClaimError, InputError
from claim.field import commands, files
from claim.field.library import file_head
from claim.field.names import clean
from claim.field.troubles import Conflict, NotSaved
from claim.field.web.context import Here, InStudy, Visit
from claim.field.web.forms import Sent
from claim.field.web.routes.exports import check_passphrase, download
from claim.field.web.setups import rules_to_choose, setup_from, values_of

router = APIRouter(prefix="/s/{study}")


@router.get("/settings")
def settings(here: InStudy) -> Response:
    """All settings."""
    return _settings(here, values_of(here.study.setup))


@router.post("/settings")
def change(form: Sent, here: InStudy) -> Response:
    """Change the settings of the study; what was typed stays in the form if something is wrong with it."""
    try:
        setup = setup_from(form, here.study.setup)
        here.run(form, lambda draft: commands.change_settings(draft, setup), check=True)
    except (Conflict, NotSaved):
        raise
    except ClaimError as error:
        return _settings(here, values_of(here.study.setup) | dict(form.fields), str(error), 400)
    return here.go("/settings", "changed")


@router.post("/settings/lock")
def auto_lock(form: Sent, here: InStudy) -> Response:
    """After how many minutes studies lock themselves."""
    minutes = form.whole("minutes")
    here.desk.prefer(replace(here.desk.preferences, lock_minutes=0 if minutes is None else minutes))
    return here.go("/settings", "changed")


@router.post("/settings/passphrase")
def passphrase(form: Sent, here: InStudy) -> Response:
    """Another passphrase, after asking for the present one."""
    check_passphrase(here, form["passphrase"])
    if form["new_passphrase"] != form["again"]:
        raise InputError(here.words("new.not_same"))
    here.opened.change_passphrase(form["new_passphrase"])
    return here.go("/settings", "passphrase")


@router.post("/settings/backup")
def backup(form: Sent, here: InStudy) -> Response:
    """An encrypted copy to keep elsewhere."""
    if here.practice:
        raise InputError(here.words("practice.no_passphrase"))
    with files.temporary(here.opened.store.path.parent / f".{secrets.token_hex(8)}.copy") as path:
        here.opened.backup(path)
        content = path.read_bytes()
    name = f"study-{here.study_id}-{file_head(here.study.head)}.backup"
    return download(content, name, "application/octet-stream")


@router.post("/settings/erase")
def erase(form: Sent, here: InStudy) -> Response:
    """Erase the names of undone steps."""
    here.run(form, commands.erase_undone)
    return here.go("/settings", "erased")


@router.post("/settings/close")
def close(form: Sent, here: InStudy) -> Response:
    """Destroy the key; the title is typed to confirm it."""
    if clean(form["confirm"]) != clean(here.study.setup.title) or not form["confirm"].strip():
        raise InputError(here.words("settings.close_wrong"))
    closed = here.desk.close_study(here.study_id)
    return Visit(here.request, here.desk).page("closed.html", closed=closed)


def _settings(here: Here, values: dict[str, object], problem: str = "", status: int = 200) -> Response:
    undone = any(event.seq in here.study.undone for event in here.study.log)
    rules = rules_to_choose(here.words, str(values["policy"]))
    return here.page("settings.html", status, values=values, policies=rules, problem=problem, undone=undone)
