"""The door: every request passes here first, whatever its path.

In this order: the ``Host`` has to be ours (a page elsewhere may have its name lead to 127.0.0.1), the request has to
come from one of our pages or from the address bar, with the cookie that the launch token was turned into, and a write
needs our own ``Origin``. Bodies are capped. Nothing that goes wrong behind the door is logged with its message, because
messages may hold names.
"""

import logging
import traceback
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from claim.field.web.app_state import AppState
from claim.io.archives import MAX_FILE_BYTES

LOG = logging.getLogger("claim.field.web")
MAX_BODY = 1 << 20  # bytes: a form; names have 10,000 characters at most
MAX_UPLOAD = MAX_FILE_BYTES + (1 << 20)
UPLOADS = ("/restore", "/import")  # how the paths end that take files
READS = ("GET", "HEAD")
OWN_FETCHES = (None, "same-origin", "none")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    # Not "no-referrer": with that, browsers send "Origin: null" from forms. Other hosts see nothing either way.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class TooLarge(Exception):
    """A body beyond the cap."""


class Guard:
    """ASGI middleware, the outermost."""

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or turn it away."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        sender = _Sender(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, sender)
            return
        self._state.lock_if_idle()
        self._state.touch()
        await self._let_in(scope, _capped(receive, _cap(scope["path"])), sender)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._state.hosts:
            return _no(403, "not here")
        if headers.get("sec-fetch-site") not in OWN_FETCHES:
            return _no(403, "not from there")
        if scope["path"] == "/launch" and scope["method"] in READS:
            return None
        if not self._state.is_session(cookie_parser(headers.get("cookie", "")).get(self._state.cookie, "")):
            return _no(403, "not open: start the program again and use the address it shows")
        if scope["method"] not in READS and headers.getlist("origin") != [f"http://{headers['host'].lower()}"]:
            return _no(403, "writes come from our own pages only")
        if _length(headers) > _cap(scope["path"]):
            return _no(413, "too large")
        return None

    async def _let_in(self, scope: Scope, receive: Receive, sender: "_Sender") -> None:
        try:
            await self._app(scope, receive, sender)
        except TooLarge:
            await _answer_instead(_no(413, "too large"), scope, receive, sender)
        except Exception as error:
            LOG.error("unexpected %s at %s", type(error).__name__, _where(error))
            await _answer_instead(
                _no(500, "something went wrong here; nothing was changed by it"), scope, receive, sender
            )


class _Sender:
    """Puts our headers on every answer, and knows whether one has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            _put_headers(message)
        await self._send(message)


def _put_headers(message: MutableMapping[str, Any]) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        headers[name] = value


async def _answer_instead(answer: PlainTextResponse, scope: Scope, receive: Receive, sender: _Sender) -> None:
    if not sender.begun:
        await answer(scope, receive, sender)


def _capped(receive: Receive, cap: int) -> Receive:
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > cap:
            raise TooLarge
        return message

    return limited


def _cap(path: str) -> int:
    return MAX_UPLOAD if path.endswith(UPLOADS) else MAX_BODY


def _length(headers: Headers) -> int:
    given = headers.get("content-length", "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0


def _no(status: int, words: str) -> PlainTextResponse:
    return PlainTextResponse(f"{words}\n", status)


def _where(error: Exception) -> str:
    """Where in the program, without what it was about."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename.rpartition('/')[2]}:{last.lineno}"
