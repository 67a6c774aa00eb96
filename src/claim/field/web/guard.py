"""The door: every request passes here first, whatever its path.

In this order: the ``Host`` has to be ours (a page elsewhere may have its name lead to 127.0.0.1), the request has to
come from one of our pages or from the address bar, with the cookie that the launch token was turned into, and a write
needs our own ``Origin``. Bodies are capped. Nothing that goes wrong behind the door is logged with its message, because
messages may hold names.
"""

import logging
import traceback

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from claim.field.web.app_state import AppState
from claim.field.web.i18n import chosen_language, texts_in
from claim.io.archives import MAX_FILE_BYTES

LOG = logging.getLogger("claim.field.web")
MAX_BODY = 1 << 20  # bytes: a form; names have 10,000 characters at most
MAX_UPLOAD = MAX_FILE_BYTES + (1 << 20)
MAX_DRAINED = 1 << 30  # bytes of a body beyond the cap that are read and dropped
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
    """A body beyond the cap; ``more``: there is more of it."""

    def __init__(self, more: bool) -> None:
        super().__init__()
        self.more = more


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
        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refusal(scope)
        if answer is None and _length(Headers(scope=scope)) > _cap(scope["path"]):
            answer = await self._too_large(scope, receive, more=True)
        elif answer is None:
            self._state.lock_if_idle()
            self._state.touch()
            try:
                await self._app(scope, _capped(receive, _cap(scope["path"])), send_with_headers)
            except TooLarge as error:
                answer = await self._too_large(scope, receive, error.more)
            except Exception as error:
                LOG.error("unexpected %s at %s", type(error).__name__, _where(error))
                answer = _no(500, "something went wrong here; nothing was changed by it")
        if answer is not None and not begun:
            await answer(scope, receive, send_with_headers)

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
        return None

    async def _too_large(self, scope: Scope, receive: Receive, more: bool) -> PlainTextResponse:
        """The limit in the language of the pages; browsers show it once they could send the rest, within bounds."""
        left = MAX_DRAINED
        while more and left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
        accepted = Headers(scope=scope).get("accept-language", "")
        text = texts_in(chosen_language(self._state.preferences.language, accepted))
        most = MAX_FILE_BYTES if _cap(scope["path"]) == MAX_UPLOAD else MAX_BODY
        return _no(413, text("too_large", most=most >> 20))


def _capped(receive: Receive, cap: int) -> Receive:
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > cap:
            raise TooLarge(message.get("more_body", False))
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
