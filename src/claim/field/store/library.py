"""The studies of a data directory: one encrypted file each, under a random name that tells nothing."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from claim.errors import InputError
from claim.field.store import cipher
from claim.field.store.session import OpenStudy
from claim.field.store.store import Conflict, Store, plain_errors
from claim.field.study import commands
from claim.field.study.events import SHORTEST_HASH, ConsentWithdrawn, Log, PersonAdded, head_of, short_head
from claim.field.study.setup import Setup
from claim.io import files

DIRECTORY_VARIABLE = "CLAIM_STUDIES"
ENDING = ".study"
KEPT = ".replaced"  # a study that a backup replaced; itself a backup
Backup = str | os.PathLike[str] | bytes  # a file, or its content; encrypted
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class StudyFile:
    """What is visible of a study without its passphrase."""

    id: str
    path: Path
    size: int
    modified: str


@dataclass(frozen=True)
class Comparison:
    """How the log of a study that is here and the log of a backup differ, in numbers of events."""

    shared: int
    here: int  # events that the backup lacks
    backup: int  # events that are not here
    head_here: str
    head_backup: str
    withdrawn: tuple[str, ...]  # people who withdrew here and whose names are still in the backup


class Replaced(NamedTuple):
    """The study as the backup has it, and where the study it replaced is kept."""

    opened: OpenStudy
    kept: Path


class StudyHere(InputError):
    """The study of a backup is here: the two have to be compared before one replaces the other."""

    def __init__(self, study: str, log: Log) -> None:
        super().__init__("study {study} is here already: compare it with the backup before you replace it", study=study)
        self.study = study
        self.log = log  # of the backup


class Library:
    """A directory of studies; made, for its owner only, when the first study is."""

    def __init__(self, directory: str | os.PathLike[str] | None = None, work: int = cipher.WORK) -> None:
        self.directory = Path(directory) if directory is not None else default_directory()
        self._work = work

    def list(self) -> list[StudyFile]:
        """The studies there are, last changed first."""
        found = [path for path in self.directory.glob(f"*{ENDING}") if _ID.fullmatch(path.stem)]
        return sorted((_describe(path) for path in found), key=lambda file: file.modified, reverse=True)

    def create(self, setup: Setup, passphrase: str) -> OpenStudy:
        """A new study, open."""
        with plain_errors():
            files.private_directory(self.directory)
        study = secrets.token_hex(8)
        path = self._path(study)
        store = Store.create(path, passphrase, self._work)
        try:
            opened = OpenStudy(store)
            opened.run(lambda draft: commands.create(draft, study, setup))
        except BaseException:
            store.close()
            path.unlink(missing_ok=True)
            raise
        return opened

    def find(self, name: str = "") -> StudyFile:
        """The study whose id begins like this; the only study if nothing is given."""
        found = [file for file in self.list() if file.id.startswith(name.lower())]
        if not found:
            if not name:
                raise InputError("there is no study in {directory}", directory=self.directory)
            problem = "there is no study whose id begins with {name!r} in {directory}"
            raise InputError(problem, name=name, directory=self.directory)
        if len(found) > 1:
            raise InputError("several studies are meant: {studies}", studies=", ".join(file.id for file in found))
        return found[0]

    def open(self, name: str, passphrase: str) -> OpenStudy:
        """Unlock a study, given by its id or how the id begins."""
        return OpenStudy(Store.open(self.find(name).path, passphrase))

    def restore(self, backup: Backup, passphrase: str) -> OpenStudy:
        """Bring a backup back, after checking all of it; :class:`StudyHere` if its study is here."""
        with self._copied(backup) as copy:
            with OpenStudy(Store.open(copy, passphrase)) as new:
                study = new.study.state.study
                target = self._path(study)
                if target.exists():
                    raise StudyHere(study, new.study.log)
                new.run(commands.restored)
            target.with_name(target.name + "-journal").unlink(missing_ok=True)  # of a file that is gone
            files.move(copy, target)
        return OpenStudy(Store.open(target, passphrase))

    def replace(self, here: OpenStudy, backup: Backup, passphrase: str, current: str, expect: Comparison) -> Replaced:
        """Put a backup in the place of the open study ``here``, which is locked and kept as a backup of its own.

        ``passphrase`` opens the backup; ``current`` is the study's passphrase, before and after. ``expect`` is the
        comparison that was decided on; a :class:`Conflict` if it no longer holds.
        """
        study = here.study.state.study
        self.open(study, current).lock()
        before = here.refresh().study
        with self._copied(backup) as copy:
            with OpenStudy(Store.open(copy, passphrase)) as new:
                if (new.study.state.study, compare(before.log, new.study.log)) != (study, expect):
                    raise Conflict("the study was changed meanwhile: compare it with the backup again")
                new.run(lambda draft: commands.restored(draft, before.head, expect.here))
                if passphrase != current:  # an older one may be known to others
                    new.store.change_passphrase(current, self._work)
            kept = self.directory / kept_name(study, before.head)
            here.store.replace_with(copy, kept, before.log)
        here.lock()
        return Replaced(self.open(study, current), kept)

    @contextmanager
    def _copied(self, backup: Backup) -> Iterator[Path]:
        """A private copy of a backup in the directory of the studies; gone at the end unless it was moved."""
        with plain_errors():
            files.private_directory(self.directory)
        content = backup if isinstance(backup, bytes) else files.first_bytes(Path(backup), -1)
        with files.temporary(self.directory / f".{secrets.token_hex(8)}.tmp") as copy:
            copy.write_bytes(content)
            yield copy

    def close_study(self, opened: OpenStudy) -> dict[str, Any]:
        """End a study for good: a last event, then the key is destroyed. Backups made by the team are not touched.

        Returns what remains: the study's id, and the head that stands for its log.
        """
        last = opened.run(commands.close).events[-1]
        study, head = opened.study.state.study, opened.study.head
        opened.lock()
        self.delete(study)
        return {"study": study, "events": last.seq, "head": head, "at": last.at}

    def delete(self, name: str) -> None:
        """Destroy a study without opening it, and the copies of it that were kept when backups replaced it."""
        if not name:
            raise InputError("say which study to delete")
        found = self.find(name)
        for path in (*self.directory.glob(f"{found.id}-*{KEPT}"), found.path):
            files.shred(path)

    def _path(self, study: str) -> Path:
        if not _ID.fullmatch(study):
            raise InputError("{study!r} is not the id of a study", study=study)
        return self.directory / f"{study}{ENDING}"


def compare(here: Log, backup: Log) -> Comparison:
    """Compare the logs of a study and of its backup: they share a beginning, then either may go on."""
    pairs = enumerate(zip(here, backup, strict=False))
    shared = next((i for i, (one, other) in pairs if one.hash != other.hash), min(len(here), len(backup)))
    known = {event.body.person for event in here[:shared] if isinstance(event.body, PersonAdded)}
    gone = [{e.body.person: None for e in log if isinstance(e.body, ConsentWithdrawn)} for log in (here, backup)]
    withdrawn = tuple(person for person in gone[0] if person in known and person not in gone[1])
    return Comparison(shared, len(here) - shared, len(backup) - shared, head_of(here), head_of(backup), withdrawn)


def kept_name(study: str, head: str) -> str:
    """The name of the file that keeps a replaced study: its id and its head, no title."""
    return f"{study}-{file_head(head)}{KEPT}"


def file_head(head: str) -> str:
    """A head for the name of a file."""
    return short_head(head, SHORTEST_HASH).replace(":", "-")


def default_directory() -> Path:
    """``CLAIM_STUDIES``, else ``studies`` in the user's data directory."""
    named = os.environ.get(DIRECTORY_VARIABLE)
    if named:
        return Path(named)
    from claim.networks.catalogue import user_data_directory

    return user_data_directory() / "studies"


def _describe(path: Path) -> StudyFile:
    found = path.stat()
    modified = datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return StudyFile(path.stem, path, found.st_size, modified)
