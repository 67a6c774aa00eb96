"""Forms as they are sent: read in memory with bounds, and only from our own pages."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from claim.errors import ClaimError, InputError
from claim.field.exchange import Upload
from claim.field.exchange.files.limits import MAX_FILES
from claim.field.web.desk import Desk
from claim.field.web.guard import MAX_UPLOAD

MAX_FIELDS = 5_000
OURS = ("csrf", "nonce", "at")  # fields that nobody types
UNSHOWN = ("passphrase", "again", "new_passphrase", "key_passphrase", "key_again")


class Forged(ClaimError):
    """A form without our token."""

    def __init__(self) -> None:
        super().__init__("this form is not from this page: go back and send it again")


class _InMemory(MultiPartParser):
    """Files brought in hold names: they never touch the disk, however large."""

    spool_max_size = MAX_UPLOAD + 1


@dataclass(frozen=True)
class Form:
    """The fields of a form, in order, and its files."""

    fields: tuple[tuple[str, str], ...] = ()
    files: list[Upload] = field(default_factory=list)
    path: str = ""  # where it was sent

    def __getitem__(self, name: str) -> str:
        """A field; empty if it was not sent."""
        return next((value for key, value in self.fields if key == name), "")

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return [value for key, value in self.fields if key == name]

    def starting(self, prefix: str) -> dict[str, str]:
        """Fields whose name begins like this, by the rest of the name."""
        return {key.removeprefix(prefix): value for key, value in self.fields if key.startswith(prefix)}

    def ticked(self, name: str) -> bool:
        """Whether a box was ticked."""
        return bool(self[name])

    def whole(self, name: str) -> int | None:
        """A whole number; None if the field is empty."""
        text = self[name].strip()
        if not text:
            return None
        if len(text) > 18 or not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit():
            raise InputError(f"a whole number is needed, not {text[:20]!r}")
        return int(text)

    @property
    def token(self) -> str | None:
        """Names this submission: the same form sent twice is one step, other words in the same form are another."""
        if not self["nonce"]:
            return None
        content = "\0".join((self.path, *(f"{key}\0{value}" for key, value in self.fields)))
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def expected(self) -> int | None:
        """Where the study stood when the form was made."""
        return self.whole("at")

    @property
    def typed(self) -> list[tuple[str, str]]:
        """What a person entered, to show it again; never passphrases."""
        return [(key, value) for key, value in self.fields if key not in (*OURS, *UNSHOWN)]


async def read_form(request: Request) -> Form:
    """The form of a request; refused without our token."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    form = await (_multipart(request) if kind == "multipart/form-data" else _urlencoded(request))
    desk: Desk = request.app.state.desk
    if not desk.is_csrf(form["csrf"]):
        raise Forged
    request.state.form = form  # for the page that says what went wrong
    return form


Sent = Annotated[Form, Depends(read_form)]


def new_nonce() -> str:
    """What makes a form on a page one of its kind."""
    return secrets.token_urlsafe(12)


async def _urlencoded(request: Request) -> Form:
    text = (await request.body()).decode("ascii", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise InputError("this form has too many fields") from None
    return Form(_plain(pairs), path=request.url.path)


async def _multipart(request: Request) -> Form:
    parser = _InMemory(request.headers, request.stream(), max_files=MAX_FILES, max_fields=MAX_FIELDS)
    try:
        sent = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        raise InputError("this form cannot be read") from None
    fields = [(key, value) for key, value in sent.multi_items() if isinstance(value, str)]
    files = [value for _, value in sent.multi_items() if isinstance(value, UploadFile)]
    uploads = [Upload(file.filename or "file", await file.read()) for file in files]
    await sent.close()
    return Form(_plain(fields), [upload for upload in uploads if upload.content], request.url.path)


def _plain(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Line ends as the web sends them made one kind, halves of characters replaced."""
    return tuple((key, value.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")) for key, value in pairs)
