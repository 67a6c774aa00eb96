"""Taking data out: codes by default; names only in an encrypted file, after asking again, and noted in the log."""

import secrets

from fastapi import APIRouter
from fastapi.responses import Response

from claim.errors import InputError
from claim.field import commands, files
from claim.field.exchange import EXPORTS, export_zip
from claim.field.exchange.namekey import FILE_NAME, write_name_key
from claim.field.exchange.study import bundle_of
from claim.field.web import cached
from claim.field.web.context import Here, InStudy
from claim.field.web.forms import Sent

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
    file = export_zip(bundle_of(view).with_positions(cached.places(view)), wanted, view.study.head)
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
