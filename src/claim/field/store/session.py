"""A study that is unlocked: the store, the fold over its log, and the names that belong to the codes."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from claim.errors import InputError
from claim.field.store.cipher import WORK
from claim.field.store.store import Conflict, Store, Verified, now
from claim.field.study.commands import Draft
from claim.field.study.events import Log
from claim.field.study.names import ALIKE, Match, NameIndex, Prepared
from claim.field.study.study import Study

T = TypeVar("T")
ATTEMPTS = 25  # at planning again when another process was quicker
LONGEST_PAUSE = 0.04  # seconds between attempts, so that two processes do not collide in step for ever


@dataclass(frozen=True)
class Done(Generic[T]):
    """What a command gave back (None if its token had been used before) and the events it appended."""

    result: T | None
    events: Log
    repeated: bool = False


class View:
    """A study at one moment, together with its names."""

    def __init__(self, study: Study, texts: dict[str, str], prepared: dict[str, Prepared] | None = None) -> None:
        self.study = study
        self.texts = texts
        self._prepared = prepared or {}  # from the moment before, so that only new names are prepared

    def later(self, study: Study, texts: dict[str, str]) -> "View":
        """The view of a later moment; what was erased is not handed on."""
        known = self.index.prepared if "index" in vars(self) else self._prepared
        kept = set(texts.values())
        return View(study, texts, {name: each for name, each in known.items() if name in kept})

    def name(self, code: str) -> str:
        """What a person is called; their code if the name was erased."""
        root = self.study.state.root(code)
        return self.texts.get(self.study.state.people[root].name, root)

    def spellings(self, code: str) -> list[str]:
        """All names of a person, the current one first, each once."""
        codes = self.study.state.codes_of(code)
        found = [self.texts.get(self.study.state.people[each].name) for each in codes]
        return list(dict.fromkeys(name for name in found if name is not None))

    @cached_property
    def index(self) -> NameIndex:
        """The names of everybody who is there, under all spellings."""
        present = [person for person in self.study.people.values() if not person.gone]
        names = ((person.code, name) for person in present for name in self.spellings(person.code))
        return NameIndex(names, self._prepared)

    def find(self, text: str) -> str:
        """The current code of the one person with that code or, whatever its accents and order, that name."""
        for code in (text.strip(), text.strip().upper()):
            if code in self.study.state.people:
                return self.study.state.root(code)
        found = self.index.same(text)
        if len(found) > 1:
            raise InputError(f"several people are called {text!r}: use a code ({', '.join(found)})")
        if not found:
            near = self.index.similar(text, limit=1)
            hint = f"; did you mean {near[0].name} ({near[0].code})?" if near else ""
            raise InputError(f"nobody is called {text!r}{hint}")
        return found[0]

    def possible_duplicates(self, at_least: float = ALIKE) -> list[tuple[str, Match]]:
        """Pairs of people who may be the same, most similar first, without those the team looked at already."""
        apart = self.study.state.apart
        pairs = self.index.alike(at_least)
        return [pair for pair in pairs if (min(pair[0], pair[1].code), max(pair[0], pair[1].code)) not in apart]


class OpenStudy:
    """Reads are on :attr:`view`; everything that changes the study goes through :meth:`run`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._turn = threading.RLock()
        self._view = View(Study(store.events()), store.texts())

    @property
    def view(self) -> View:
        """The study as this process knows it; :meth:`refresh` looks at the file again."""
        return self._view

    @property
    def study(self) -> Study:
        """The study of the current view."""
        return self._view.study

    def refresh(self) -> View:
        """Take in what other processes appended."""
        with self._turn:
            log = self.study.log
            new = self.store.events(log[-1] if log else None)
            if new:
                self._view = self._view.later(self.study.after(new), self.store.texts())
            return self._view

    def run(self, command: Callable[[Draft], T], *, expect: int | None = None, token: str | None = None) -> Done[T]:
        """Draft with a command (see :mod:`claim.field.study.commands`) and append; saved when this returns.

        ``expect``: the position the user was looking at; if the study has moved on, this is a :class:`Conflict`.
        ``token``: names one submission; a second one with the same token appends nothing.
        """
        with self._turn:
            for _ in range(ATTEMPTS - 1):
                try:
                    return self._run(command, expect, token)
                except Conflict:
                    if expect is not None:
                        raise
                    time.sleep(secrets.randbelow(1000) / 1000 * LONGEST_PAUSE)
            return self._run(command, expect, token)

    def _run(self, command: Callable[[Draft], T], expect: int | None, token: str | None) -> Done[T]:
        view = self.refresh()
        earlier = self.store.appended_with(token) if token is not None else None
        if earlier is not None:
            return Done(None, earlier, repeated=True)
        if expect is not None and expect != view.study.position:
            raise Conflict("the study was changed elsewhere meanwhile: look at it again, then repeat the step")
        at = now()
        draft = Draft(view.study, view.texts, at)
        result = command(draft)
        if not draft.bodies:
            return Done(result, ())
        done = self.store.append(
            draft.bodies, secrets=draft.secrets, erase=draft.erase, expect=view.study.position, token=token, at=at
        )
        texts = {key: text for key, text in draft.texts.items() if key not in draft.erase}
        if not done.repeated:
            self._view = view.later(view.study.after(done.events), texts)
        return Done(result, done.events, done.repeated)

    def verify(self) -> Verified:
        """Check file, chain and names, and that the log folds."""
        found = self.store.verify()
        Study(self.store.events())
        return found

    def backup(self, target: Path) -> None:
        """An encrypted copy."""
        self.store.backup(target)

    def change_passphrase(self, passphrase: str, work: int = WORK) -> None:
        """Another passphrase for the file (not for its backups)."""
        self.store.change_passphrase(passphrase, work)

    def lock(self) -> None:
        """Forget the key and everything read with it."""
        with self._turn:
            self.store.close()
            self._view = View(Study(), {})

    def __enter__(self) -> "OpenStudy":
        return self

    def __exit__(self, *_: object) -> None:
        self.lock()
