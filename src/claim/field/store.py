"""One encrypted SQLite file a study: events are appended, texts can be erased, nothing else changes.

:meth:`Store.append` returns only after the commit is on the disk. It takes the file's write lock before it looks where
the log stands, so that two processes cannot fork a log: whoever decided on an older log gets a :class:`Conflict`.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, select, text
from sqlalchemy.pool import StaticPool

from claim.errors import ClaimError, InputError
from claim.field import cipher, files, rows
from claim.field.cipher import Gate, WrongPassphrase
from claim.field.events import Body, BrokenLog, Event, Log, Secret, SetBack, clock_set_back, head_of, read_log
from claim.field.schema import EVENTS, TEXTS, VERSION, migrate, version_of
from claim.field.troubles import Conflict, Damaged, NotSaved, plain_errors
from claim.field.wire import as_data

GATE = Gate()
__all__ = ["GATE", "Appended", "Conflict", "Damaged", "NotSaved", "Store", "Verified", "now"]

# A process drops all its locks on a file when it closes any handle of it (POSIX), so that the salt must not be read
# while a transaction is under way elsewhere in the process: everything that touches study files takes turns.
_turn = threading.RLock()


@dataclass(frozen=True)
class Appended:
    """The events as they were written; ``repeated`` if the token had been seen and nothing was written now."""

    events: Log
    repeated: bool = False


@dataclass(frozen=True)
class Verified:
    """What was checked and found in order."""

    events: int
    texts: int
    erased: int  # commitments whose text is gone
    head: str
    set_back: tuple[SetBack, ...] = ()  # the chain is in order, the times are not


class Store:
    """An open study file."""

    def __init__(self, path: Path, key: bytes, salt: bytes) -> None:
        self.path = path
        self._key, self._salt = bytearray(key), salt
        self._identity = files.identity(path)
        self._engine = create_engine(
            "sqlite://", module=cipher.driver(), creator=self._connect, poolclass=StaticPool, hide_parameters=True
        )
        event.listen(self._engine, "begin", _begin)

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
            with store._transaction("IMMEDIATE") as connection:
                migrate(connection)
            files.sync_directory(path.parent)
        return store

    @classmethod
    def open(cls, path: Path, passphrase: str, gate: Gate = GATE) -> "Store":
        """An existing file, checked page by page and event by event; wrong passphrases take longer and longer."""
        path = Path(path)
        with gate.attempt(path):
            try:
                store = cls._opened(path, passphrase)
            except WrongPassphrase:
                gate.failed(path)
                raise
            gate.passed(path)
        try:
            store.verify()
        except ClaimError:
            store.close()
            raise
        return store

    @classmethod
    def _opened(cls, path: Path, passphrase: str) -> "Store":
        with _turn:
            salt = files.first_bytes(path, cipher.SALT_BYTES)
        key = cipher.derive_key(passphrase, salt)
        store = cls(path, key, salt)
        try:
            with store._transaction() as connection:
                version = version_of(connection)
            if version == 0:
                raise WrongPassphrase
            if version != VERSION:
                with store._transaction("IMMEDIATE") as connection:
                    migrate(connection)
        except Damaged as error:  # the first page does not open: nobody can tell why
            store.close()
            raise WrongPassphrase from error
        except ClaimError:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Let go of the file and of the key."""
        with _turn:
            self._engine.dispose()
            self._key[:] = bytes(len(self._key))

    def _connect(self) -> Any:
        if not any(self._key):
            raise InputError("the study is locked")
        return cipher.connect(self.path, bytes(self._key), self._salt)

    @contextmanager
    def _transaction(self, kind: str = "DEFERRED") -> Iterator[Connection]:
        """One transaction on the file that was opened, with errors in plain words."""
        with _turn, plain_errors():
            self._check_identity()  # before, because a replaced file is overwritten; again when it is locked
            with self._engine.connect() as connection:
                connection = connection.execution_options(transaction=kind)
                with connection.begin():
                    self._check_identity()
                    yield connection

    def _check_identity(self) -> None:
        if any(self._key) and files.identity(self.path) != self._identity:
            raise Conflict("the study file was replaced by another one: open it again")

    # Reading ---------------------------------------------------------------------------------------------------------

    def events(self, after: Event | None = None) -> Log:
        """The events, or those after a known one, with the chain verified."""
        with self._transaction() as connection:
            found = connection.execute(select(EVENTS).where(EVENTS.c.seq > (after.seq if after else 0)).order_by("seq"))
            return read_log((rows.row_data(row) for row in found.mappings()), after)

    def appended_with(self, token: str) -> Log | None:
        """The events appended with a token; None if it was not used."""
        with self._transaction() as connection:
            return rows.used(connection, token)

    def texts(self) -> dict[str, str]:
        """The texts that have not been erased by commitment, each checked against it."""
        with self._transaction() as connection:
            found = connection.execute(select(TEXTS)).all()
        for row in found:
            if Secret(row.text, row.nonce).commitment != row.commitment:
                raise Damaged("a name in the study file was changed after it was entered: restore a backup")
        return {row.commitment: row.text for row in found}

    def verify(self) -> Verified:
        """Check every page's HMAC, the structure, the chain and every name; an error says what is wrong."""
        with self._transaction() as connection:
            for check, fine in (("cipher_integrity_check", []), ("integrity_check", ["ok"])):
                found = list(connection.execute(text(f"PRAGMA {check}")).scalars())
                if found != fine:
                    raise Damaged(f"the study file is damaged ({found[0]}): restore a backup")
        try:
            log = self.events()
        except BrokenLog as error:
            raise Damaged(f"{error}: restore a backup") from error
        texts = self.texts()
        promised = {value for each in log for name, value in as_data(each.body).items() if name in ("name", "reason")}
        erased = len(promised - texts.keys())
        return Verified(len(log), len(texts), erased, head_of(log), clock_set_back(log))

    # Writing ---------------------------------------------------------------------------------------------------------

    def append(
        self,
        bodies: Sequence[Body],
        *,
        secrets: Mapping[str, Secret] | None = None,
        erase: Iterable[str] = (),
        expect: int | None = None,
        token: str | None = None,
        at: str | None = None,
    ) -> Appended:
        """Append a batch, whole or not at all, and erase texts with it; on the disk when this returns.

        ``expect`` is the number of the last event the caller knows. A ``token`` that was used before changes nothing
        and gives back what was appended then.
        """
        erased = sorted(erase)
        with self._transaction("IMMEDIATE") as connection:
            earlier = rows.used(connection, token)
            if earlier is not None:
                return Appended(earlier, repeated=True)
            last = connection.execute(select(EVENTS).order_by(EVENTS.c.seq.desc()).limit(1)).mappings().first()
            events = rows.sealed(bodies, last, expect, at or now())
            rows.write(connection, events, secrets or {}, erased, token)
        if erased:
            self._compact()
        return Appended(events)

    def _compact(self) -> None:
        """Leave no free page behind; what was erased is overwritten already, so that a full disk does no harm here."""
        with _turn, self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            if raw is not None:
                try:
                    raw.execute("VACUUM")
                except cipher.driver().OperationalError:
                    return

    # Copies ----------------------------------------------------------------------------------------------------------

    def backup(self, target: Path) -> None:
        """An encrypted copy that opens with the passphrase of this moment; never half written."""
        with _turn, files.replacing(Path(target)) as temporary:
            self._copy(temporary, bytes(self._key), self._salt)

    def change_passphrase(self, passphrase: str, work: int = cipher.WORK) -> None:
        """Encrypt everything anew under another passphrase; the old file is overwritten.

        The new file takes the old one's place in one step, under the old one's write lock: after a crash one of the two
        is there, whole. Another process that still has the old file open is told so at its next step.
        """
        cipher.check_new_passphrase(passphrase)
        salt = cipher.new_salt(work)
        key = cipher.derive_key(passphrase, salt)
        with _turn:
            with self._locked(), files.replacing(self.path, shred_old=True) as temporary:
                self._copy(temporary, key, salt)
                self._engine.dispose()
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
                self._engine.dispose()
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
        with plain_errors(), self._engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.execute(f"ATTACH DATABASE ? AS copy KEY {cipher.key_pragma(key, salt)}", (str(target),))
            try:
                raw.execute("BEGIN")
                raw.execute("SELECT sqlcipher_export('copy')")
                version = raw.execute("PRAGMA main.user_version").fetchone()[0]
                raw.execute(f"PRAGMA copy.user_version = {version}")
                raw.execute("COMMIT")
            finally:
                if raw.in_transaction:
                    raw.execute("ROLLBACK")
                raw.execute("DETACH DATABASE copy")


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('transaction', 'DEFERRED')}")
