"""Coming in: launch, first run, unlocking, new studies, restoring backups, language."""

from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from claim.errors import ClaimError, InputError
from claim.field.store.cipher import WrongPassphrase
from claim.field.store.store import Conflict
from claim.field.study.setup import Setup
from claim.field.web.app_state import Locked
from claim.field.web.context import Visiting
from claim.field.web.forms import Sent, rules_to_choose, setup_from, values_of

router = APIRouter()


@router.get("/launch")
def launch(page: Visiting, token: str = "") -> Response:
    """Turn the launch token into a cookie, once, and lead away from the address that has it."""
    session = page.desk.redeem(token)
    if session is None:
        return PlainTextResponse("this address was used already: start the program again\n", 403)
    practice = page.desk.rehearsal
    answer = page.go(f"/s/{practice.study}" if practice is not None else "/")
    answer.set_cookie(page.desk.cookie, session, httponly=True, samesite="strict", path="/")
    return answer


@router.get("/")
def studies(page: Visiting, study: str = "") -> Response:
    """The studies there are, locked and open; the first run if there is none."""
    return _studies(page, wanted=study)


@router.get("/answers/{key}")
def answer(page: Visiting, key: str) -> Response:
    """The page that came of a form; once it is forgotten, the studies."""
    return page.desk.answer(key) or page.go("/")


@router.post("/unlock")
def unlock(page: Visiting, form: Sent) -> Response:
    """Open a study with its passphrase."""
    try:
        page.desk.unlock(form["study"], form["passphrase"])
    except WrongPassphrase:
        return _studies(page, 403, wanted=form["study"], problem=page.words("error.WrongPassphrase"))
    return page.go(f"/s/{form['study']}")


@router.post("/lock")
def lock(page: Visiting, form: Sent) -> Response:
    """Lock all studies."""
    page.desk.lock()
    return page.go("/", "locked")


@router.get("/new")
def new_study(page: Visiting) -> Response:
    """The form for a new study."""
    suggested = Setup("-", question=page.words("new.question"), consent_text=page.words("new.consent"))
    return _new(page, values_of(suggested) | {"title": ""})


@router.post("/new")
def create(page: Visiting, form: Sent) -> Response:
    """Begin a study; what was typed stays in the form if something is wrong with it."""
    try:
        if not form.ticked("understood"):
            raise InputError(page.words("new.must_understand"))
        if form["passphrase"] != form["again"]:
            raise InputError(page.words("new.not_same"))
        study = page.desk.create(setup_from(form), form["passphrase"])
    except ClaimError as error:
        return _new(page, values_of(Setup("-")) | dict(form.fields), str(error), 400)
    return page.go(f"/s/{study}/people", "created")


@router.post("/rehearsal")
def rehearse(page: Visiting, form: Sent) -> Response:
    """Begin to practise."""
    if page.desk.preferences.language is None:
        page.desk.preferences = replace(page.desk.preferences, language=page.words.language)
    return page.go(f"/s/{page.desk.practise()}")


@router.post("/restore")
def restore(page: Visiting, form: Sent) -> Response:
    """Bring a backup back; if its study is here, show first how the two differ."""
    if len(form.files) != 1:
        raise InputError(page.words("home.choose_file"))
    try:
        study = page.desk.restore(form.files[0].content or b"", form["passphrase"])
    except Locked as error:
        path = page.desk.library.find(error.study).path
        problem = page.words("restore.locked", study=error.study[:6], path=path)
        return _studies(page, 423, wanted=error.study, problem=problem)
    return page.go("/restore") if study is None else page.go(f"/s/{study}", "restored")


@router.get("/restore")
def compared(page: Visiting) -> Response:
    """How the study that is here and the backup differ."""
    return _compared(page)


@router.post("/restore/replace")
def replace_study(page: Visiting, form: Sent) -> Response:
    """Put the backup that this page showed in the place of the study."""
    try:
        study = page.desk.replace(form["pending"], form["head"], form["passphrase"])
    except WrongPassphrase:
        return _compared(page, 403, page.words("restore.wrong"))
    except Conflict as error:
        return _compared(page, 409, str(error))
    return page.go(f"/s/{study}/history", "replaced")


@router.post("/restore/drop")
def drop_backup(page: Visiting, form: Sent) -> Response:
    """Leave the study as it is."""
    page.desk.pending_restore = None
    return page.go("/", "left")


@router.post("/language")
def language(page: Visiting, form: Sent) -> Response:
    """Another language, remembered by this machine."""
    page.desk.prefer(replace(page.desk.preferences, language=form["language"]))
    back = form["back"]
    return page.go(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/")


def _studies(page: Visiting, status: int = 200, *, wanted: str, problem: str = "") -> Response:
    found = page.desk.library.list()
    titles = page.desk.titles()
    locked = [file for file in found if file.id not in titles]
    values = {"locked": locked, "titles": titles, "wanted": wanted, "problem": problem}
    return page.page("studies.html" if found or titles else "first.html", status, **values)


def _compared(page: Visiting, status: int = 200, problem: str = "") -> Response:
    pending = page.desk.pending_restore
    if pending is None:
        return page.go("/")
    found, folder = page.desk.compared(pending), page.desk.library.directory
    return page.page("compared.html", status, pending=pending, found=found, folder=folder, problem=problem)


def _new(page: Visiting, values: dict[str, object], problem: str = "", status: int = 200) -> Response:
    rules = rules_to_choose(page.words, str(values.get("policy", "")))
    return page.page("new.html", status, values=_Shown(values), policies=rules, problem=problem)


class _Shown(dict[str, object]):
    """Fields to show again; an unticked box is not among them."""

    def __missing__(self, key: str) -> str:
        return ""
