"""The state of the running assistant: open studies, sessions, previews, preferences."""

import hmac
import json
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from fastapi.responses import HTMLResponse

from claim.errors import ClaimError, InputError
from claim.field.advice.recommend import prepare
from claim.field.advice.rehearsal import Rehearsal
from claim.field.store.library import Comparison, Library, StudyHere, compare
from claim.field.store.session import OpenStudy
from claim.field.store.store import Conflict
from claim.field.study.events import Log
from claim.field.study.setup import Setup
from claim.field.web.i18n import LANGUAGES, texts_in
from claim.io import files
from claim.io.text import Source

T = TypeVar("T")
LOCK_MINUTES = range(1, 241)
LONGEST_LABEL = 60


@dataclass(frozen=True)
class Preferences:
    """What this machine remembers; ``language`` None: as the browser asks.

    ``labels`` are shown for locked studies, by id. They are not encrypted.
    """

    language: str | None = None
    lock_minutes: int = 15
    labels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in LANGUAGES:
            raise InputError("the language is one of {languages}", languages=", ".join(LANGUAGES))
        if self.lock_minutes not in LOCK_MINUTES:
            low, high = LOCK_MINUTES[0], LOCK_MINUTES[-1]
            raise InputError("minutes to auto-lock are between {low} and {high}", low=low, high=high)
        if not all(isinstance(each, str) and len(each) <= LONGEST_LABEL for each in self.labels.values()):
            raise InputError("a label has at most {most} characters", most=LONGEST_LABEL)

    @classmethod
    def read(cls, path: Path) -> "Preferences":
        """The preferences of a file; the defaults if there is none or it cannot be read."""
        try:
            return cls(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, InputError):
            return cls()


MOST_PREVIEWS = 5  # of one study
MOST_ANSWERS = 20


class Locked(ClaimError):
    """The study has to be unlocked first."""

    def __init__(self, study: str) -> None:
        super().__init__("the study is locked")
        self.study = study


class NoStudy(ClaimError):
    """No study has this id."""


@dataclass(frozen=True)
class Pending:
    """Files that are not imported yet and how to read them, as :func:`preview` takes them; in memory only."""

    files: list[Source]
    format: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    join_names: bool = True
    header: bool | None = None


@dataclass(frozen=True)
class PendingRestore:
    """A backup of a study that is here, before it replaces the study; in memory only."""

    id: str
    study: str
    content: bytes = field(repr=False)
    passphrase: str = field(repr=False)
    log: Log = field(repr=False)


class Recent(dict[str, T]):
    """The last few values that were kept, each under a random key."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, value: T) -> str:
        """Keep a value and return its key; the oldest one goes when there are too many."""
        key = secrets.token_hex(8)
        self[key] = value
        for old in list(self)[: -self._most]:
            self.pop(old, None)
        return key


class AppState:
    """One team at one machine; all of it is forgotten when the program ends."""

    def __init__(self, library: Library, *, port: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.library = library
        self.port = port
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})  # as browsers on this machine call us
        self.cookie = f"claim_{port}"  # browsers share cookies between the ports of a machine
        self.rehearsal: Rehearsal | None = None
        self.previews = defaultdict[str, Recent[Pending]](lambda: Recent(MOST_PREVIEWS))  # by study
        self.pending_restore: PendingRestore | None = None
        self.csrf = secrets.token_urlsafe(32)
        self._preferences_file = library.directory / "preferences.json"
        self.preferences = Preferences.read(self._preferences_file)
        self.answers = Recent[HTMLResponse](MOST_ANSWERS)  # pages that answer a form, until the browser asks for them
        self.launch_token: str | None = secrets.token_urlsafe(32)  # in the first address; None once it was used
        self._session: str | None = None  # the cookie of the browser that used the launch token last
        self._open: dict[str, OpenStudy] = {}
        self._turn = threading.RLock()
        self._clock = clock
        self._last = clock()

    # Who may come in -------------------------------------------------------------------------------------------------

    def redeem(self, token: str) -> str | None:
        """A new session for the launch token, once; None for anything else. The session before it ends."""
        with self._turn:
            if self.launch_token is None or not _same(token, self.launch_token):
                return None
            self.launch_token = None
            self._session = secrets.token_urlsafe(32)
            return self._session

    def renew_launch(self) -> None:
        """Issue another launch token, for a browser that was closed; studies are locked, as after a new start."""
        with self._turn:
            self.lock()
            self.launch_token = secrets.token_urlsafe(32)

    def is_session(self, cookie: str) -> bool:
        """Whether a cookie is the one that was given out."""
        return self._session is not None and _same(cookie, self._session)

    def is_csrf(self, token: str) -> bool:
        """Whether a form comes from one of our pages."""
        return _same(token, self.csrf)

    # Studies ---------------------------------------------------------------------------------------------------------

    def study(self, name: str) -> OpenStudy:
        """An open study; :class:`Locked` if it is there but closed up, :class:`NoStudy` if there is none."""
        opened = self._open.get(name)
        if opened is None:
            raise Locked(name) if self.exists(name) else NoStudy("there is no such study")
        return opened

    def exists(self, name: str) -> bool:
        """Whether the library has a study of this id."""
        return any(file.id == name for file in self.library.list())

    def is_locked(self, name: str) -> bool:
        """Whether a study is there but not open."""
        return name not in self._open and self.exists(name)

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
        if not self.exists(name):
            raise NoStudy("there is no such study")
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
            return self._take(self.library.restore(backup, passphrase))
        except StudyHere as found:
            self.study(found.study)
            key = secrets.token_urlsafe(16)
            self.pending_restore = PendingRestore(key, found.study, backup, passphrase, found.log)
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
            here = self.study(pending.study)
            opened, _ = self.library.replace(here, pending.content, pending.passphrase, current, comparison)
            self.pending_restore = None
            return self._take(opened)

    def practise(self, language: str = "en") -> str:
        """Begin a rehearsal, or go on with the one that is open; returns its id."""
        with self._turn:
            if self.rehearsal is None:
                text = texts_in(self.preferences.language or language)
                self.rehearsal = Rehearsal(text("practice.title"), text("practice.question"), text("practice.consent"))
                self._open[self.rehearsal.study] = self.rehearsal.opened
            return self.rehearsal.study

    def end_practice(self) -> None:
        """Throw the rehearsal away."""
        with self._turn:
            if self.rehearsal is not None:
                self._open.pop(self.rehearsal.study, None)
                self.rehearsal.end()
                self.rehearsal = None

    def close_study(self, name: str) -> dict[str, Any]:
        """Destroy an open study's key."""
        if self.is_practice(name):
            raise InputError("a practice study is thrown away, not closed")
        with self._turn:
            closed = self.library.close_study(self.study(name))
            self.label(name, "")
            self._open.pop(name, None)
            self.previews.pop(name, None)
            return closed

    def _take(self, opened: OpenStudy) -> str:
        name, setup = opened.study.state.study, opened.study.setup
        threading.Thread(target=prepare, args=(setup.rule, setup.planned), daemon=True).start()
        with self._turn:
            self._open[name] = opened
            self.touch()
        return name

    # Putting away ----------------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Reset the idle timer."""
        self._last = self._clock()

    def lock(self) -> None:
        """Lock every study; a rehearsal has nothing to protect and stays."""
        with self._turn:
            self.previews.clear()
            self.answers.clear()
            self.pending_restore = None
            for name in [each for each in self._open if not self.is_practice(each)]:
                self._open.pop(name).lock()

    def lock_if_idle(self) -> None:
        """Lock if there was no request for long enough."""
        if self._clock() - self._last >= self.preferences.lock_minutes * 60:
            self.lock()

    def shut_down(self) -> None:
        """The program ends."""
        self.lock()
        self.end_practice()

    def label(self, study: str, text: str) -> None:
        """Show a text for a study while it is locked; an empty one shows none."""
        labels = {name: each for name, each in self.preferences.labels.items() if name != study}
        self.save_preferences(replace(self.preferences, labels=labels | ({study: text} if text else {})))

    def save_preferences(self, chosen: Preferences) -> None:
        """Change what this machine remembers, in a file for the owner only."""
        files.private_directory(self._preferences_file.parent)
        with files.replacing(self._preferences_file) as temporary:
            temporary.write_text(json.dumps(asdict(chosen)), encoding="utf-8")
        self.preferences = chosen


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
