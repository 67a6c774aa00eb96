"""The studies of a data directory: one encrypted file each, under a random name that tells nothing."""

import os
import re
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from claim.errors import InputError
from claim.field import cipher, commands, files
from claim.field.opened import OpenStudy
from claim.field.setup import Setup
from claim.field.store import Store
from claim.field.troubles import plain_errors

DIRECTORY_VARIABLE = "CLAIM_STUDIES"
ENDING = ".study"
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class StudyFile:
    """What can be told of a study without its passphrase."""

    id: str
    path: Path
    size: int
    modified: str


@dataclass(frozen=True)
class Closed:
    """What remains of a closed study: its id, and the hash that stands for its log."""

    study: str
    events: int
    head: str
    at: str


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
            which = f"no study whose id begins with {name!r}" if name else "no study"
            raise InputError(f"there is {which} in {self.directory}")
        if len(found) > 1:
            raise InputError(f"several studies are meant: {', '.join(file.id for file in found)}")
        return found[0]

    def open(self, name: str, passphrase: str) -> OpenStudy:
        """Unlock a study, given by its id or how the id begins."""
        return OpenStudy(Store.open(self.find(name).path, passphrase))

    def restore(self, backup: str | os.PathLike[str], passphrase: str, *, replace: bool = False) -> OpenStudy:
        """Bring a backup back, after checking all of it; an existing study is only replaced if that is asked for."""
        files.private_directory(self.directory)
        if not Path(backup).is_file():
            raise InputError(f"{backup}: there is no such file")
        copy = self.directory / f".{secrets.token_hex(8)}.tmp"
        with files.temporary(copy):
            shutil.copyfile(backup, copy)
            files.sync(copy)
            study = _checked(copy, passphrase)
            target = self._path(study)
            if target.exists() and not replace:
                raise InputError(f"study {study} is here already: say that the backup shall replace it")
            target.with_name(target.name + "-journal").unlink(missing_ok=True)  # it belongs to the file that goes
            os.replace(copy, target)
            files.sync_directory(self.directory)
        return OpenStudy(Store.open(target, passphrase))

    def close_study(self, opened: OpenStudy) -> Closed:
        """End a study for good: a last event, then the key is destroyed. Backups are not touched."""
        done = opened.run(commands.close)
        last = done.events[-1]
        study = opened.study.state.study
        path = opened.store.path
        opened.lock()
        files.shred(path)
        return Closed(study, last.seq, last.hash, last.at)

    def delete(self, name: str) -> None:
        """Destroy a study without opening it."""
        if not name:
            raise InputError("say which study to delete")
        files.shred(self.find(name).path)

    def _path(self, study: str) -> Path:
        if not _ID.fullmatch(study):
            raise InputError(f"{study!r} is not the id of a study")
        return self.directory / f"{study}{ENDING}"


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


def _checked(path: Path, passphrase: str) -> str:
    """The id of the study in a file, if all of it is in order."""
    with OpenStudy(Store.open(path, passphrase)) as opened:
        return opened.study.state.study
