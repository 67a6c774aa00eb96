"""The state of the running assistant: open studies, sessions, previews, preferences."""

import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from fastapi.responses import HTMLResponse

from claim.errors import ClaimError, InputError
from claim.field.advice.leaders import LeaderAdvice, choose_leaders
from claim.field.advice.recommend import Advice, recommend
from claim.field.advice.rehearsal import Rehearsal
from claim.field.advice.rules import prepare
from claim.field.exchange import Upload
from claim.field.store.library import Closed, Comparison, Library, StudyHere, compare
from claim.field.store.session import OpenStudy, View
from claim.field.store.store import Conflict
from claim.field.study.events import Log
from claim.field.study.names import Match
from claim.field.study.setup import Setup
from claim.field.web.picture import Places, places_of
from claim.io import files

FILE_NAME = "preferences.json"
LANGUAGES = ("en", "es")
LOCK_MINUTES = range(1, 241)


@dataclass(frozen=True)
class Preferences:
    """``language`` None: as the browser asks."""

    language: str | None = None
    lock_minutes: int = 15

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in LANGUAGES:
            raise InputError(f"the language is one of {', '.join(LANGUAGES)}")
        if self.lock_minutes not in LOCK_MINUTES:
            raise InputError(f"minutes to auto-lock are between {LOCK_MINUTES[0]} and {LOCK_MINUTES[-1]}")


def read(directory: Path) -> Preferences:
    """The preferences of a directory; the defaults if there are none or they cannot be read."""
    try:
        data: Any = json.loads((directory / FILE_NAME).read_text(encoding="utf-8"))
        return Preferences(data.get("language"), int(data.get("lock_minutes", 15)))
    except (OSError, ValueError, AttributeError, TypeError, InputError):
        return Preferences()


def write(directory: Path, preferences: Preferences) -> None:
    """Keep them, for the owner only."""
    files.private_directory(directory)
    with files.replacing(directory / FILE_NAME) as temporary:
        temporary.write_text(json.dumps(asdict(preferences)), encoding="utf-8")


MOST_PENDING = 5  # previews of one study
MOST_ANSWERS = 20  # pages that answer a form


class Locked(ClaimError):
    """The study has to be unlocked first."""

    def __init__(self, study: str) -> None:
        super().__init__("the study is locked")
        self.study = study


class NoStudy(ClaimError):
    """There is no such study."""

    def __init__(self) -> None:
        super().__init__("there is no such study")


@dataclass(frozen=True)
class Pending:
    """One preview of files that are not imported yet; in memory only."""

    study: str
    files: list[Upload]
    format: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    join_names: bool = True


@dataclass(frozen=True)
class PendingRestore:
    """A backup of a study that is here, before it replaces the study; in memory only."""

    id: str
    study: str
    content: bytes = field(repr=False)
    passphrase: str = field(repr=False)
    log: Log = field(repr=False)


class Desk:
    """One team at one machine; all of it is forgotten when the program ends."""

    def __init__(self, library: Library, *, port: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.library = library
        self.port = port
        self.rehearsal: Rehearsal | None = None
        self._pending: dict[str, Pending] = {}
        self.pending_restore: PendingRestore | None = None
        self.csrf = secrets.token_urlsafe(32)
        self.preferences = read(library.directory)
        self._answers: dict[str, HTMLResponse] = {}
        self._session = secrets.token_urlsafe(32)
        self._launch: str | None = secrets.token_urlsafe(32)
        self._open: dict[str, OpenStudy] = {}
        self._turn = threading.RLock()
        self._clock = clock
        self._last = clock()

    # Who may come in -------------------------------------------------------------------------------------------------

    @property
    def hosts(self) -> frozenset[str]:
        """What a browser on this machine calls this server."""
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers share cookies between the ports of a machine."""
        return f"claim_{self.port}"

    @property
    def launch_token(self) -> str | None:
        """What the first address carries; None once it was used."""
        return self._launch

    def redeem(self, token: str) -> str | None:
        """The session for the launch token, once; None for anything else."""
        with self._turn:
            if self._launch is None or not _same(token, self._launch):
                return None
            self._launch = None
            return self._session

    def is_session(self, cookie: str) -> bool:
        """Whether a cookie is the one that was given out."""
        return self._launch is None and _same(cookie, self._session)

    def is_csrf(self, token: str) -> bool:
        """Whether a form comes from one of our pages."""
        return _same(token, self.csrf)

    # Studies ---------------------------------------------------------------------------------------------------------

    def study(self, name: str) -> OpenStudy:
        """An open study; :class:`Locked` if it is there but closed up, :class:`NoStudy` if there is none."""
        opened = self._open.get(name)
        if opened is not None:
            return opened
        if any(file.id == name for file in self.library.list()):
            raise Locked(name)
        raise NoStudy

    def is_open(self, name: str) -> bool:
        """Whether a study is unlocked."""
        return name in self._open

    def is_practice(self, name: str) -> bool:
        """Whether a study is the rehearsal."""
        return self.rehearsal is not None and self.rehearsal.study == name

    def titles(self) -> dict[str, str]:
        """The open studies, by id."""
        return {name: opened.study.setup.title for name, opened in self._open.items()}

    def create(self, setup: Setup, passphrase: str) -> str:
        """A new study, open; returns its id."""
        return self._take(self.library.create(setup, passphrase))

    def unlock(self, name: str, passphrase: str) -> None:
        """Open a study; a wrong passphrase waits longer each time."""
        if not any(file.id == name for file in self.library.list()):
            raise NoStudy
        opened = self.library.open(name, passphrase)
        with self._turn:
            if name in self._open:
                opened.lock()
                self.touch()
            else:
                self._take(opened)

    def restore(self, backup: bytes, passphrase: str) -> str | None:
        """Bring a backup back, open; returns the study's id.

        If the study is here, it has to be unlocked, so that the two can be compared: the backup becomes
        :attr:`pending_restore`, and None is returned.
        """
        try:
            with self._uploaded(backup) as path:
                return self._take(self.library.restore(path, passphrase))
        except StudyHere as found:
            self.study(found.study)
            pending = PendingRestore(secrets.token_urlsafe(16), found.study, backup, passphrase, found.log)
            self.pending_restore = pending
            return None

    def compared(self, pending: PendingRestore) -> Comparison:
        """How a study and its pending backup differ now."""
        return compare(self.study(pending.study).refresh().study.log, pending.log)

    def replace(self, pending_id: str, seen_head: str, current: str) -> str:
        """Put the pending backup in the place of its study, open; returns the study's id.

        ``seen_head`` is the head of the study when the two were compared, ``current`` the study's passphrase.
        """
        with self._turn:
            pending = self.pending_restore
            if pending is None or pending.id != pending_id:
                raise InputError("this backup is no longer waiting: see whether it is back, or choose it again")
            comparison = self.compared(pending)
            if comparison.head_here != seen_head:
                raise Conflict("the study was changed meanwhile: compare it with the backup again")
            with self._uploaded(pending.content) as path:
                here = self.study(pending.study)
                done = self.library.replace(here, path, pending.passphrase, current, comparison)
            self.pending_restore = None
            return self._take(done.opened)

    @contextmanager
    def _uploaded(self, backup: bytes) -> Iterator[Path]:
        """A backup as a file for a moment; it is encrypted."""
        directory = files.private_directory(self.library.directory)
        with files.temporary(directory / f".{secrets.token_hex(8)}.upload") as path:
            path.write_bytes(backup)
            yield path

    def practise(self) -> str:
        """Begin a rehearsal, or go on with the one that is open; returns its id."""
        with self._turn:
            if self.rehearsal is None:
                self.rehearsal = Rehearsal.begin(self.preferences.language or "en")
                self._open[self.rehearsal.study] = self.rehearsal.opened
            return self.rehearsal.study

    def end_practice(self) -> None:
        """Throw the rehearsal away."""
        with self._turn:
            if self.rehearsal is not None:
                self._open.pop(self.rehearsal.study, None)
                self.rehearsal.end()
                self.rehearsal = None

    def close_study(self, name: str) -> Closed:
        """Destroy an open study's key."""
        if self.is_practice(name):
            raise InputError("a practice study is thrown away, not closed")
        with self._turn:
            closed = self.library.close_study(self.study(name))
            self._open.pop(name, None)
            self._pending = {key: each for key, each in self._pending.items() if each.study != name}
            return closed

    def _take(self, opened: OpenStudy) -> str:
        name, setup = opened.study.state.study, opened.study.setup
        threading.Thread(target=prepare, args=(setup.policy, setup.budget), daemon=True).start()
        with self._turn:
            self._open[name] = opened
            self.touch()
        return name

    # Pages and files that wait in memory -----------------------------------------------------------------------------

    def keep_answer(self, page: HTMLResponse) -> str:
        """Keep the page that answers a form until the browser asks for it; returns its id."""
        key = secrets.token_hex(8)
        with self._turn:
            self._answers[key] = page
            for old in list(self._answers)[:-MOST_ANSWERS]:
                del self._answers[old]
        return key

    def answer(self, key: str) -> HTMLResponse | None:
        """The page that was kept under this id."""
        return self._answers.get(key)

    def keep(self, pending: Pending) -> str:
        """Keep a preview in memory; returns its id. The oldest one goes when a study has too many."""
        key = secrets.token_hex(8)
        with self._turn:
            self._pending[key] = pending
            for old in [each for each, kept in self._pending.items() if kept.study == pending.study][:-MOST_PENDING]:
                del self._pending[old]
        return key

    def pending(self, study: str, key: str) -> Pending | None:
        """The preview of this id, if it belongs to the study and has not expired."""
        found = self._pending.get(key)
        return found if found is not None and found.study == study else None

    def drop(self, key: str) -> None:
        """Forget a preview."""
        self._pending.pop(key, None)

    # Putting away ----------------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Somebody is here."""
        self._last = self._clock()

    def lock(self) -> None:
        """Lock every study; a rehearsal has nothing to protect and stays."""
        with self._turn:
            self._pending.clear()
            self._answers.clear()
            self.pending_restore = None
            for name in [each for each in self._open if not self.is_practice(each)]:
                self._open.pop(name).lock()

    def lock_if_idle(self) -> bool:
        """Lock if nobody was here for long enough."""
        idle = self._clock() - self._last >= self.preferences.lock_minutes * 60
        if idle:
            self.lock()
        return idle

    def leave(self) -> None:
        """The program ends."""
        self.lock()
        self.end_practice()

    def prefer(self, chosen: Preferences) -> None:
        """Change what this machine remembers."""
        write(self.library.directory, chosen)
        self.preferences = chosen


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


T = TypeVar("T")
_kept: WeakKeyDictionary[View, dict[Any, Any]] = WeakKeyDictionary()  # goes with the view: nothing outlives a lock
_turn = threading.RLock()


def once(view: View, key: Any, compute: Callable[[], T]) -> T:
    """The value for this view, computed if it is not there yet."""
    with _turn:
        values = _kept.setdefault(view, {})
        if key not in values:
            values[key] = compute()
        found: T = values[key]
        return found


def duplicates(view: View) -> list[tuple[str, Match]]:
    """Pairs who may be the same person."""
    return once(view, "duplicates", view.possible_duplicates)


def advice(view: View, count: int | None) -> Advice:
    """Whom to survey next; without a count an open round goes on."""
    return once(view, ("advice", count), lambda: recommend(view.study, count))


def leaders(view: View, attendance: float | None = None) -> LeaderAdvice:
    """Whom to ask to lead."""
    return once(view, ("leaders", attendance), lambda: choose_leaders(view.study, attendance=attendance))


def places(view: View) -> Places:
    """Where everybody is in the picture."""
    return once(view, "places", lambda: places_of(view.study))
