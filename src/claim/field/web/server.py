"""What is slow the first time, done once in the background before somebody waits for it."""

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator

import numpy as np
import uvicorn

from claim.errors import InputError
from claim.field.store.library import Library
from claim.field.web.app import create_app
from claim.field.web.app_state import LANGUAGES, Desk
from claim.field.web.context import environment
from claim.field.web.i18n import words_in


def warm_up() -> None:
    """Read the pages and words, then load or compile what leaders are chosen with."""
    pages = environment()
    for name in pages.list_templates():
        pages.get_template(name)
    for language in LANGUAGES:
        words_in(language)
    _choose_once()


def _choose_once() -> None:
    from claim.cascades import influence
    from claim.discovery import Discovered
    from claim.networks import Network
    from claim.selection.foresight import FreeForesight
    from claim.selection.foresight.selection_state import View
    from claim.selection.selectors import GreedySelector

    network = Network.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    seen = Discovered.from_network(network, [0, 1])
    foresight = FreeForesight(0.5, 10)
    leaders = foresight.select(seen, 2, np.random.default_rng(0))
    foresight.ranges().around(*foresight.guess_reach(View.of(seen), leaders, 0))
    foresight.reasons(seen, leaders)
    GreedySelector(0.5, 10).select(seen, 2, np.random.default_rng(0))
    influence(network, leaders, 0.5, 10, 0)


LOOPBACK = "127.0.0.1"
WATCH_SECONDS = 5.0


def serve(port: int = 0, *, rehearsal: bool = False, opened: Callable[[str], None]) -> None:
    """Serve until interrupted; ``opened`` is told the address, with its one-time token, when the door is open."""
    with bound(port) as door:
        desk = Desk(Library(), port=door.getsockname()[1])
        if rehearsal:
            desk.practise()
        done = threading.Event()
        watch = threading.Thread(target=_watch, args=(desk, done), daemon=True)
        try:
            watch.start()
            threading.Thread(target=warm_up, daemon=True).start()
            _Server(create_app(desk), lambda: opened(address_of(desk))).run(sockets=[door])
        finally:
            done.set()
            desk.leave()


def address_of(desk: Desk) -> str:
    """The address to open, with the one-time token."""
    return f"http://{LOOPBACK}:{desk.port}/launch?token={desk.launch_token}"


@contextlib.contextmanager
def bound(port: int) -> Iterator[socket.socket]:
    """A socket on loopback; no other machine can reach it."""
    if not 0 <= port <= 65535:
        raise InputError(f"a port is between 1 and 65535, or 0 for a free one, not {port}")
    with socket.socket() as door:
        if os.name == "posix":  # elsewhere it would let another program take the port over
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((LOOPBACK, port))
            door.listen()
        except OSError as error:
            raise InputError(f"port {port} cannot be used ({error.strerror}): choose another with --port") from None
        yield door


class _Server(uvicorn.Server):
    """Says when it is ready; writes no log of requests."""

    def __init__(self, app: object, ready: Callable[[], None]) -> None:
        settings = {"access_log": False, "log_level": logging.WARNING, "server_header": False, "lifespan": "off"}
        super().__init__(uvicorn.Config(app, ws="none", timeout_graceful_shutdown=3, **settings))  # type: ignore[arg-type]
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets)
        self._ready()


def _watch(desk: Desk, done: threading.Event) -> None:
    """Lock when nobody has been here for long, although nobody asks for a page."""
    while not done.wait(WATCH_SECONDS):
        desk.lock_if_idle()
