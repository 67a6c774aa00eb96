"""An open study: commands run in one transaction each, and the view follows what was written."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from claim.field.store.store import Conflict, Store, Transaction, Verified, now
from claim.field.study.commands import Draft
from claim.field.study.events import Exported, Log, RecommendationShown
from claim.field.study.study import Study
from claim.field.view import View

T = TypeVar("T")
QUIET = (RecommendationShown, Exported)  # events that make no form out of date


@dataclass(frozen=True)
class Done(Generic[T]):
    """What a command returned (None if its token had been used before) and the events it appended."""

    result: T | None
    events: Log
    repeated: bool = False


class OpenStudy:
    """Reads are on :attr:`view`; everything that changes the study goes through :meth:`run`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._turn = threading.RLock()
        log, texts = store.contents()
        self.view = View(Study(log), texts)  # as this process knows it, see :meth:`refresh`

    @property
    def study(self) -> Study:
        """The study of the current view."""
        return self.view.study

    def refresh(self) -> View:
        """Take in what other processes appended."""
        with self._turn, self.store.transaction() as file:
            return self._read(file)

    def _read(self, file: Transaction) -> View:
        log = self.study.log
        new = file.events(log[-1] if log else None)
        if new:
            self.view = self.view.later(Study((*log, *new)), file.texts())
        return self.view

    def run(self, command: Callable[[Draft], T], *, expect: int | None = None, token: str | None = None) -> Done[T]:
        """Run a command of :mod:`claim.field.study.commands` on the study as it is now; saved when this returns.

        All of it is one transaction that has the write lock: read what is new, check ``expect`` and ``token``, draft
        and seal the events, write them. An error leaves the file and the view as they were.

        ``expect``: the position the user was looking at; if the study has moved on, this is a :class:`Conflict`.
        Advice that was shown and exports do not count.
        ``token``: names one submission; a second one with the same token appends nothing.
        """
        with self._turn:
            with self.store.transaction(write=True) as file:
                view = self._read(file)
                earlier = file.written_with(token)
                if earlier is not None:
                    return Done(None, view.study.log[earlier], repeated=True)
                if expect is not None and _has_moved_on(view.study.log, expect):
                    raise Conflict("the study was changed elsewhere meanwhile: look at it again, then repeat the step")
                draft = Draft(view.study, view.texts, now())
                result = command(draft)
                file.write(draft.events, draft.secrets, draft.erase, token)
            if draft.events:
                texts = {key: text for key, text in draft.texts.items() if key not in draft.erase}
                self.view = view.later(draft.after(), texts)
            if draft.erase:
                self.store.compact()
            return Done(result, tuple(draft.events))

    def verify(self) -> Verified:
        """Check file, chain and names, and that the log folds."""
        found = self.store.verify()
        Study(self.store.events())
        return found

    def lock(self) -> None:
        """Forget the key and everything read with it."""
        with self._turn:
            self.store.close()
            self.view = View(Study(), {})

    def __enter__(self) -> "OpenStudy":
        return self

    def __exit__(self, *_: object) -> None:
        self.lock()


def _has_moved_on(log: Log, position: int) -> bool:
    later = log[max(position, 0) :]
    return not 0 <= position <= len(log) or any(not isinstance(event.body, QUIET) for event in later)
