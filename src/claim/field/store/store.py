"""The study file: an SQLCipher database with the events, the texts they commit to, and the tokens of submissions."""

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from claim.errors import ClaimError, InputError
from claim.field.store import cipher
from claim.field.store.cipher import Gate, WrongPassphrase
from claim.field.study.events import (
    BrokenLog,
    Event,
    Log,
    Secret,
    SetBack,
    as_data,
    canonical,
    clock_set_back,
    head_of,
    read_log,
)
from claim.io import files


class Conflict(ClaimError):
    """The study was changed by another page or program."""


class Damaged(ClaimError):
    """The file is not what was written."""


class NotSaved(ClaimError):
    """Nothing was written: the disk is full, or the file cannot be written to."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Database errors as one line a person can act on; messages hold no names."""
    try:
        yield
    except cipher.driver().Error as error:
        raise _translated(str(error)) from error
    except OSError as error:
        raise NotSaved("the study file cannot be used ({problem})", problem=os.strerror(error.errno or 0)) from error


def _translated(problem: str) -> ClaimError:
    if "locked" in problem:
        return Conflict("another program is writing to the study: try again in a moment")
    if "not a database" in problem or "malformed" in problem:
        return Damaged("the study file is damaged: restore a backup")
    if "full" in problem or "disk I/O" in problem:
        return NotSaved("nothing was saved: the disk is full or cannot be written to")
    if "readonly" in problem or "unable to open" in problem:
        return NotSaved("nothing was saved: the study file cannot be opened for writing")
    return NotSaved("nothing was saved: {problem}", problem=problem)


COLUMNS = ("seq", "at", "batch", "type", "body", "previous", "hash")  # of the table of events

# One list of statements a version: the first makes a file of version 1, the second turns that into version 2 ...
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE events (seq INTEGER PRIMARY KEY, at VARCHAR NOT NULL, batch INTEGER NOT NULL,
           type VARCHAR NOT NULL, body TEXT NOT NULL, previous VARCHAR NOT NULL, hash VARCHAR NOT NULL)""",
        "CREATE TABLE texts (commitment VARCHAR PRIMARY KEY, nonce VARCHAR NOT NULL, text TEXT NOT NULL)",
    ),
    (
        "CREATE TABLE tokens (token VARCHAR PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL)",
        """CREATE TRIGGER events_stay BEFORE DELETE ON events
           BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END""",
        """CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events
           BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    ),
    (),  # no new table; a program that does not know the event Restored says that a newer one is needed
    (),  # likewise for the settings and events of open studies, and for marks
    (),  # likewise for sessions, appointments and follow-up answers
    (),  # likewise for groups
)
VERSION = len(MIGRATIONS)


def version_of(connection: Any) -> int:
    """The version of a file; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: Any) -> None:
    """Bring a file to the present version, in the caller's transaction: whole or not at all."""
    version = version_of(connection)
    if version > VERSION:
        problem = "the study file has version {version}, this program knows {known}: install a newer one"
        raise ClaimError(problem, version=version, known=VERSION)
    for statement in chain(*MIGRATIONS[version:]):
        connection.execute(statement)
    if version < VERSION:
        connection.execute(f"PRAGMA user_version = {VERSION}")


LONGEST_TOKEN = 200


class Transaction:
    """What can be read and written in one transaction on a study file."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def events(self, after: Event | None = None) -> Log:
        """The events, or those after a known one, with the chain verified."""
        query = f"SELECT {', '.join(COLUMNS)} FROM events WHERE seq > ? ORDER BY seq"
        found = self.connection.execute(query, [after.seq if after else 0])
        rows = (dict(zip(COLUMNS, row, strict=True)) for row in found)
        return read_log(({**row, "body": json.loads(row["body"])} for row in rows), after)

    def texts(self) -> dict[str, str]:
        """The texts that have not been erased by commitment, each checked against it."""
        found = self.connection.execute("SELECT commitment, nonce, text FROM texts").fetchall()
        if any(Secret(text, nonce).commitment != commitment for commitment, nonce, text in found):
            raise Damaged("a name in the study file was changed after it was entered: restore a backup")
        return {commitment: text for commitment, _, text in found}

    def written_with(self, token: str | None) -> slice | None:
        """Which events of the log were written with a token; None if it is new, or there is none."""
        if token is not None and not 0 < len(token) <= LONGEST_TOKEN:
            raise InputError("a token has between 1 and {count} characters", count=LONGEST_TOKEN)
        found = self.connection.execute("SELECT first, last FROM tokens WHERE token = ?", [token]).fetchone()
        return None if found is None else slice(found[0] - 1, found[1])

    def write(
        self, events: Sequence[Event], secrets: Mapping[str, Secret], erase: Iterable[str], token: str | None
    ) -> None:
        """Insert sealed events and their texts, erase others, and remember the token."""
        rows = [{**each.as_data(), "body": canonical(as_data(each.body))} for each in events]
        places = ", ".join(f":{name}" for name in COLUMNS)
        self.connection.executemany(f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({places})", rows)
        texts = [(key, each.nonce, each.text) for key, each in secrets.items()]
        self.connection.executemany("INSERT INTO texts (commitment, nonce, text) VALUES (?, ?, ?)", texts)
        self.connection.executemany("DELETE FROM texts WHERE commitment = ?", [[each] for each in sorted(erase)])
        if token is not None and events:
            span = (token, events[0].seq, events[-1].seq)
            self.connection.execute("INSERT INTO tokens (token, first, last) VALUES (?, ?, ?)", span)


GATE = Gate()

# A process drops all its locks on a file when it closes any handle of it (POSIX), so that the salt must not be read
# while a transaction is under way elsewhere in the process: everything that touches study files takes turns.
_turn = threading.RLock()


@dataclass(frozen=True)
class Verified:
    """What was checked and found in order."""

    events: int
    texts: int
    erased: int  # commitments whose text is gone
    head: str
    set_back: tuple[SetBack, ...] = ()  # the chain is in order, the times are not


class Contents(NamedTuple):
    """What a study file holds: events, and the texts they commit to."""

    log: Log
    texts: dict[str, str]


class Store:
    """An open study file."""

    def __init__(self, path: Path, key: bytes, salt: bytes) -> None:
        self.path = path
        self._key, self._salt = bytearray(key), salt
        self._identity = files.identity(path)
        self._read: Contents | None = None  # when the file was opened, until it is asked for

    # Opening and closing ---------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, passphrase: str, work: int = cipher.WORK) -> "Store":
        """A new, empty file that only its owner can read."""
        cipher.check_new_passphrase(passphrase)
        salt = cipher.new_salt(work)
        key = cipher.derive_key(passphrase, salt)
        with _turn:
            files.create_private(path)
            store = cls(path, key, salt)
            with store.transaction(write=True) as file:
                migrate(file.connection)
            files.sync(path.parent)
        return store

    @classmethod
    def open(cls, path: Path, passphrase: str, gate: Gate = GATE) -> "Store":
        """An existing file, checked page by page and event by event; wrong passphrases take longer and longer."""
        with ExitStack() as on_error:
            with gate.attempt(path):
                with _turn:
                    salt = files.first_bytes(path, cipher.SALT_BYTES)
                store = cls(path, cipher.derive_key(passphrase, salt), salt)
                on_error.callback(store.close)
                try:
                    with store.transaction() as file:
                        version = version_of(file.connection)
                    if 0 < version != VERSION:
                        with store.transaction(write=True) as file:
                            migrate(file.connection)
                except Damaged as error:  # the first page does not open, for whatever reason
                    raise WrongPassphrase from error
                if version == 0:
                    raise WrongPassphrase
            store._read = store._checked()
            on_error.pop_all()
        return store

    def close(self) -> None:
        """Let go of the file and of the key."""
        with _turn:
            self._disconnect()
            self._key[:] = bytes(len(self._key))
            self._read = None

    @cached_property
    def _connection(self) -> Any:
        return self._connect()

    def _disconnect(self) -> None:
        if "_connection" in vars(self):
            self._connection.close()
            del self._connection

    def _connect(self) -> Any:
        if not any(self._key):
            raise InputError("the study is locked")
        return cipher.connect(self.path, bytes(self._key), self._salt)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Transaction]:
        """One transaction; to ``write``, it has the write lock from the beginning. An error rolls it back."""
        with _turn, plain_errors():
            self._check_identity()  # before, because a replaced file is overwritten; again when it is locked
            with _transaction(self._connection, "IMMEDIATE" if write else "DEFERRED"):
                self._check_identity()
                yield Transaction(self._connection)

    def _check_identity(self) -> None:
        if any(self._key) and files.identity(self.path) != self._identity:
            raise Conflict("the study file was replaced by another one: open it again")

    # Reading ---------------------------------------------------------------------------------------------------------

    def events(self) -> Log:
        """All events, with the chain verified."""
        with self.transaction() as file:
            return file.events()

    def contents(self) -> Contents:
        """All events and texts, checked; what was read when the file was opened is handed out once."""
        with _turn:
            read, self._read = self._read, None
            if read is not None:
                return read
            with self.transaction() as file:
                return Contents(file.events(), file.texts())

    def verify(self) -> Verified:
        """Check every page's HMAC, the structure, the chain and every name; an error says what is wrong."""
        log, texts = self._checked()
        promised = {each.body.commitment for each in log} - {None}
        return Verified(len(log), len(texts), len(promised - texts.keys()), head_of(log), clock_set_back(log))

    def _checked(self) -> Contents:
        with self.transaction() as file:
            for check, fine in (("cipher_integrity_check", []), ("integrity_check", ["ok"])):
                found = [row[0] for row in file.connection.execute(f"PRAGMA {check}")]
                if found != fine:
                    raise Damaged("the study file is damaged ({problem}): restore a backup", problem=found[0])
            try:
                return Contents(file.events(), file.texts())
            except BrokenLog as error:
                raise Damaged("{error}: restore a backup", error=error) from error

    def compact(self) -> None:
        """Leave no free page after erasing; what was erased is overwritten already, so a full disk does no harm."""
        with _turn, suppress(cipher.driver().OperationalError):
            self._connection.execute("VACUUM")

    # Copies ----------------------------------------------------------------------------------------------------------

    def backup(self, target: Path) -> None:
        """An encrypted copy that opens with the passphrase of this moment; never half written."""
        with _turn, files.replacing(target) as temporary:
            self._copy(temporary, bytes(self._key), self._salt)

    def change_passphrase(self, passphrase: str, work: int = cipher.WORK) -> None:
        """Encrypt everything anew under another passphrase; the old file is overwritten.

        The new file takes the old one's place in one step, under the old one's write lock: after a crash one of the two
        is there, whole. Another process that still has the old file open gets an error at its next step.
        """
        cipher.check_new_passphrase(passphrase)
        salt = cipher.new_salt(work)
        key = cipher.derive_key(passphrase, salt)
        with _turn:
            with self._locked(), files.replacing(self.path, shred_old=True) as temporary:
                self._copy(temporary, key, salt)
                self._disconnect()
            self._key[:], self._salt = key, salt
            self._identity = files.identity(self.path)

    def replace_with(self, other: Path, keep: Path, expect: Log) -> None:
        """Put another study file in the place of this one, which is kept as a backup; then let go of the file.

        ``expect`` is the log the caller decided on; the write lock lets no event be appended to it meanwhile. The
        backup is on the disk before the file is replaced: after a crash the study is there as it was, or replaced and
        its backup beside it.
        """
        with _turn:
            with self._locked():
                if self.events() != expect:
                    raise Conflict("the study was changed meanwhile: compare it with the backup again")
                self.backup(keep)
                self._disconnect()
                files.move(other, self.path)
            self.close()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The write lock, from a connection of its own. Windows does not let go of an open file, and needs no lock:
        there a file that another program has open cannot be replaced anyway."""
        if os.name == "nt":
            yield
            return
        with plain_errors():
            lock = self._connect()
            try:
                lock.execute("BEGIN IMMEDIATE")
                self._check_identity()
                yield
            finally:
                lock.close()

    def _copy(self, target: Path, key: bytes, salt: bytes) -> None:
        with plain_errors():
            connection = self._connection
            connection.execute(f"ATTACH DATABASE ? AS copy KEY {cipher.key_pragma(key, salt)}", [str(target)])
            try:
                with _transaction(connection):
                    connection.execute("SELECT sqlcipher_export('copy')")
                    connection.execute(f"PRAGMA copy.user_version = {version_of(connection)}")
            finally:
                connection.execute("DETACH DATABASE copy")


@contextmanager
def _transaction(connection: Any, kind: str = "DEFERRED") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
