"""From a passphrase to an open encrypted file.

The whole file is encrypted by SQLCipher (AES-256 in CBC mode, a fresh IV and an HMAC-SHA512 for every page). Its key is
derived by scrypt, which is slow and needs much memory, from the passphrase and the file's salt: the 16 bytes with which
every SQLCipher file begins. The first of them says how much work the derivation is (the binary logarithm of N), the
other 15 are random: a file needs nothing beside it, and the work can grow with the years.
"""

import hashlib
import secrets
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from claim.errors import ClaimError, InputError, install_command

WORK = 17  # N = 2^17 with r = 8: 128 MB and about half a second
WORKS = range(10, 20)  # a hostile file can ask for half a gigabyte at most
SHORTEST_PASSPHRASE = 10
SALT_BYTES = 16
SPARE = 1 << 20
BUSY_SECONDS = 10.0
LONGEST_WAIT = 30.0

_derivation = threading.Lock()  # one at a time: each takes 128 MB


class WrongPassphrase(ClaimError):
    """A wrong passphrase or a damaged file: the message does not say which, so that it gives nothing away."""

    def __init__(self) -> None:
        super().__init__("wrong passphrase, or not a study file")


def new_salt(work: int = WORK) -> bytes:
    """A salt for a new file; ``work`` is one of :data:`WORKS`."""
    return bytes([work]) + secrets.token_bytes(SALT_BYTES - 1)


def derive_key(passphrase: str, salt: bytes) -> bytes:
    """The key of a file, by its salt."""
    if len(salt) != SALT_BYTES or salt[0] not in WORKS:
        raise WrongPassphrase
    n = 1 << salt[0]
    text = unicodedata.normalize("NFKC", passphrase).encode("utf-8", "surrogatepass")
    try:
        with _derivation:
            return hashlib.scrypt(text, salt=salt, n=n, r=8, p=1, maxmem=128 * 8 * n + SPARE, dklen=32)
    except (MemoryError, ValueError) as error:
        problem = "there is not enough memory to open a study ({megabytes} MB are needed)"
        raise ClaimError(problem, megabytes=n >> 10) from error


def check_new_passphrase(passphrase: str) -> None:
    """Refuse a passphrase that could be tried out."""
    if len(passphrase.strip()) < SHORTEST_PASSPHRASE:
        problem = "a passphrase has at least {count} characters; several words are best"
        raise InputError(problem, count=SHORTEST_PASSPHRASE)


def key_pragma(key: bytes, salt: bytes) -> str:
    """SQLCipher's way to write a key that is used as it is."""
    return f"\"x'{key.hex()}{salt.hex()}'\""


def connect(path: Path, key: bytes, salt: bytes) -> Any:
    """A connection that reads and writes the encrypted file, and nothing plain anywhere."""
    connection = driver().connect(str(path), timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    for pragma in (
        "cipher_log_level = NONE",  # it would write to standard error
        f"key = {key_pragma(key, salt)}",
        "cipher_memory_security = ON",
        "journal_mode = DELETE",  # encrypted like the file; a file that stands alone can be replaced as a whole
        "synchronous = EXTRA",  # on the disk, the directory too, before a commit returns
        "secure_delete = ON",
        "temp_store = MEMORY",
        "foreign_keys = ON",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def driver() -> Any:
    """The database module, or an error that says how to install it."""
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise ClaimError("encrypted studies need SQLCipher: {install}", install=install_command("app")) from error
    return dbapi2


class Gate:
    """Makes every further wrong passphrase wait longer, for each file, as long as the process lives."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._failures: dict[Path, int] = {}
        self._locks: dict[Path, threading.Lock] = {}

    @contextmanager
    def attempt(self, path: Path, wrong: type[Exception] = WrongPassphrase) -> Iterator[None]:
        """Try a passphrase, one try of a file at a time.

        After a wrong one, wait a quarter of a second, then twice as long each time, up to half a minute.
        """
        with self._locks.setdefault(path, threading.Lock()):
            try:
                yield
            except wrong:
                self._failures[path] = self._failures.get(path, 0) + 1
                self._sleep(min(LONGEST_WAIT, 0.25 * 2 ** (self._failures[path] - 1)))
                raise
            self._failures.pop(path, None)
