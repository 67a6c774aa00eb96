"""The name key: which code is whose, in a small encrypted file of its own, apart from everything else that goes out.

It is a SQLCipher file like a study's, under a passphrase of its own, with one table ``names(code, name)``. The caller
asks for the passphrase again and notes the export in the study's log.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from claim.errors import ClaimError, InputError
from claim.field import cipher, files
from claim.field.cipher import Gate

FILE_NAME = "names.claimkey"
_KIND = 0x636B6579  # "ckey", SQLite's application_id: a study file is not a name key
_GATE = Gate()


class WrongKey(ClaimError):
    """The one thing that is said, whatever the cause."""

    def __init__(self) -> None:
        super().__init__("wrong passphrase, or not a name key")


def write_name_key(path: Path, names: Mapping[str, str], passphrase: str, work: int = cipher.WORK) -> None:
    """Write codes and names; the file appears whole or not at all, readable by its owner only."""
    cipher.check_new_passphrase(passphrase)
    salt = cipher.new_salt(work)
    key = cipher.derive_key(passphrase, salt)
    try:
        with files.replacing(Path(path)) as temporary:
            _fill(temporary, key, salt, names)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None


def read_name_key(path: Path, passphrase: str, gate: Gate = _GATE) -> dict[str, str]:
    """Names by code; wrong passphrases take longer and longer."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with gate.attempt(path):
        try:
            names = _read(path, passphrase)
        except WrongKey:
            gate.failed(path)
            raise
        gate.passed(path)
    return names


def _fill(path: Path, key: bytes, salt: bytes, names: Mapping[str, str]) -> None:
    with contextlib.closing(cipher.connect(path, key, salt)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_KIND}")
        connection.execute("CREATE TABLE names (code TEXT PRIMARY KEY, name TEXT NOT NULL)")
        connection.executemany("INSERT INTO names VALUES (?, ?)", list(names.items()))
        connection.execute("COMMIT")


def _read(path: Path, passphrase: str) -> dict[str, str]:
    salt = files.first_bytes(path, cipher.SALT_BYTES)
    try:
        key = cipher.derive_key(passphrase, salt)
    except cipher.WrongPassphrase:
        raise WrongKey from None
    try:
        with contextlib.closing(cipher.connect(path, key, salt)) as connection:
            kind = connection.execute("PRAGMA application_id").fetchone()[0]
            if kind != _KIND or connection.execute("PRAGMA cipher_integrity_check").fetchall():
                raise WrongKey
            return dict(connection.execute("SELECT code, name FROM names ORDER BY rowid").fetchall())
    except cipher.driver().Error:
        raise WrongKey from None
