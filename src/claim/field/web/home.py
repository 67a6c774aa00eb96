"""Coming in: launch, first run, unlocking, new studies, restoring backups, language."""

from collections import defaultdict
from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from claim.errors import ClaimError, InputError
from claim.field.store.cipher import WrongPassphrase
from claim.field.store.store import Conflict
from claim.field.study.setup import Setup
from claim.field.web.app_state import Locked
from claim.field.web.request import AnyPage, Sent
from claim.field.web.settings import rules_to_choose, setup_from, values_of

router = APIRouter()


@router.get("/launch")
def launch(page: AnyPage, token: str = "") -> Response:
    """Turn the launch token into a cookie, once, and lead away from the address that has it."""
    session = page.app.redeem(token)
    if session is None:
        return PlainTextResponse("this address was used already: start the program again\n", 403)
    practice = page.app.rehearsal
    answer = page.go(f"/s/{practice.study}" if practice is not None else "/")
    answer.set_cookie(page.app.cookie, session, httponly=True, samesite="strict", path="/")
    return answer


@router.get("/")
def studies(page: AnyPage, study: str = "") -> Response:
    """The studies there are, locked and open; the first run if there is none."""
    return _studies(page, wanted=study)


@router.get("/answers/{key}")
def answer(page: AnyPage, key: str) -> Response:
    """The page that came of a form; once it is forgotten, the studies."""
    return page.app.answers.get(key) or page.go("/")


@router.post("/unlock")
def unlock(page: AnyPage, form: Sent) -> Response:
    """Open a study with its passphrase."""
    try:
        page.app.unlock(form["study"], form["passphrase"])
    except WrongPassphrase:
        return _studies(page, 403, wanted=form["study"], problem=page.text("error.WrongPassphrase"))
    return page.go(f"/s/{form['study']}")


@router.post("/lock")
def lock(page: AnyPage, form: Sent) -> Response:
    """Lock all studies."""
    page.app.lock()
    return page.go("/", "locked")


@router.get("/new")
def new_study(page: AnyPage) -> Response:
    """The form for a new study."""
    suggested = Setup("-", question=page.text("new.question"), consent_text=page.text("new.consent"))
    return _new(page, values_of(suggested, page.text) | {"title": ""})


@router.post("/new")
def create(page: AnyPage, form: Sent) -> Response:
    """Begin a study; what was typed stays in the form if something is wrong with it."""
    try:
        if not form["understood"]:
            raise InputError(page.text("new.must_understand"))
        if form["passphrase"] != form["again"]:
            raise InputError(page.text("new.not_same"))
        setup = setup_from(form)
        study = page.app.create(setup, form["passphrase"])
    except ClaimError as error:
        return _new(page, values_of(Setup("-"), page.text) | dict(form.fields), error, 400)
    return page.go(f"/s/{study}/next", "created_open") if setup.open else page.go(f"/s/{study}/people", "created")


@router.post("/rehearsal")
def rehearse(page: AnyPage, form: Sent) -> Response:
    """Begin to practise."""
    return page.go(f"/s/{page.app.practise(page.text.language)}")


@router.post("/restore")
def restore(page: AnyPage, form: Sent) -> Response:
    """Bring a backup back; if its study is here, show first how the two differ."""
    if len(form.files) != 1:
        raise InputError(page.text("home.choose_file"))
    try:
        study = page.app.restore(form.files[0].content or b"", form["passphrase"])
    except Locked as error:
        problem = page.text("restore.locked", study=error.study[:6], path=page.app.library.find(error.study).path)
        return _studies(page, 423, wanted=error.study, problem=problem)
    return page.go("/restore") if study is None else page.go(f"/s/{study}", "restored")


@router.get("/restore")
def compared(page: AnyPage) -> Response:
    """How the study that is here and the backup differ."""
    return _compared(page)


@router.post("/restore/replace")
def replace_study(page: AnyPage, form: Sent) -> Response:
    """Put the backup that this page showed in the place of the study."""
    try:
        study = page.app.replace(form["pending"], form["head"], form["passphrase"])
    except WrongPassphrase:
        return _compared(page, 403, page.text("restore.wrong"))
    except Conflict as error:
        return _compared(page, 409, error)
    return page.go(f"/s/{study}/history", "replaced")


@router.post("/restore/drop")
def drop_backup(page: AnyPage, form: Sent) -> Response:
    """Leave the study as it is."""
    page.app.pending_restore = None
    return page.go("/", "left")


@router.post("/language")
def language(page: AnyPage, form: Sent) -> Response:
    """Another language, remembered by this machine."""
    page.app.save_preferences(replace(page.app.preferences, language=form["language"]))
    back = form["back"]
    return page.go(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/")


def _studies(page: AnyPage, status: int = 200, *, wanted: str, problem: object = "") -> Response:
    found = page.app.library.list()
    titles = page.app.titles()
    locked = [file for file in found if file.id not in titles]
    values = {"locked": locked, "titles": titles, "wanted": wanted, "problem": problem}
    return page.page("studies.html" if found or titles else "first.html", status, **values)


def _compared(page: AnyPage, status: int = 200, problem: object = "") -> Response:
    pending = page.app.pending_restore
    if pending is None:
        return page.go("/")
    found, folder = page.app.compared(pending), page.app.library.directory
    return page.page("compared.html", status, pending=pending, found=found, folder=folder, problem=problem)


def _new(page: AnyPage, values: dict[str, object], problem: object = "", status: int = 200) -> Response:
    rules = rules_to_choose(page.text, str(values.get("policy", "")))
    return page.page("new.html", status, values=defaultdict(str, values), policies=rules, problem=problem)
