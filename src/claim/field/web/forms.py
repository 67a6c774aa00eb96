"""Forms as they are sent: read in memory with bounds, and only from our own pages."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from claim.errors import ClaimError, InputError
from claim.field.advice.rules import offered
from claim.field.exchange import Upload
from claim.field.study.names import clean
from claim.field.study.setup import DEFAULT_POLICY, Setup
from claim.field.web.app_state import Desk
from claim.field.web.guard import MAX_UPLOAD
from claim.field.web.i18n import Words
from claim.io.archives import MAX_FILES

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


def setup_from(form: Form, before: Setup | None = None) -> Setup:
    """The settings a form asks for; a changed consent text gets the next version by itself."""
    base = before or Setup("-")
    made = replace(
        base,
        title=clean(form["title"]),
        budget=_number(form, "budget", base.budget),
        leaders=_number(form, "leaders", base.leaders),
        question=_text(form["question"]) or base.question,
        size_low=form.whole("size_low"),
        size_high=form.whole("size_high"),
        consent_text=_text(form["consent_text"]),
        refusal_rule=form["refusal_rule"] or base.refusal_rule,  # type: ignore[arg-type]  # checked by Setup
        retention=form["retention"].strip() or None,
        p=_share(form["p"], base.p),
        policy=form["policy"] or base.policy,
        selector=form["selector"] or base.selector,  # type: ignore[arg-type]  # checked by Setup
        attendance=_hundredth(form, base.attendance),
    )
    if before is not None and made.consent_text != before.consent_text:
        return replace(made, consent_version=_next(before.consent_version))
    return made


def values_of(setup: Setup) -> dict[str, Any]:
    """The settings as fields of a form; of a hundred leaders so many come."""
    values = {name: "" if value is None else value for name, value in vars(setup).items()}
    return values | {"attendance": _in_hundred(setup.attendance)}


def rules_to_choose(words: Words, present: str) -> list[tuple[str, str]]:
    """The rules that say whom to survey next, with what they are called; that of the study is among them."""
    names = dict.fromkeys((*offered(), present))
    return [(name, _called(words, name)) for name in names if name]


def _called(words: Words, name: str) -> str:
    variant, _, family = name.partition(":")
    if family and f"policy.{variant}.family" in words:
        return words(f"policy.{variant}.family", family=family)
    called = words(f"policy.{name}") if f"policy.{name}" in words else name
    return words("policy.recommended", rule=called) if name == DEFAULT_POLICY else called


def _next(version: str) -> str:
    return str(int(version) + 1) if version.isdigit() and len(version) < 9 else f"{version[:50]}+"


def _number(form: Form, name: str, default: int) -> int:
    given = form.whole(name)
    return default if given is None else given


def _hundredth(form: Form, default: float) -> float:
    given = form.whole("attendance")
    return default if given in (None, _in_hundred(default)) else given / 100


def _in_hundred(share: float) -> int:
    return round(100 * share)


def _share(text: str, default: float) -> float:
    if not text.strip():
        return default
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise InputError(f"a number between 0 and 1 is needed, not {text[:20]!r}") from None


def _text(text: str) -> str:
    """Lines of text without control and direction characters."""
    return "\n".join(clean(line) for line in text.strip().split("\n"))
