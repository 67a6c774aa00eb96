"""The name key: encrypted, whole, one answer to every wrong passphrase."""

import stat
from pathlib import Path

import pytest

from claim.errors import ClaimError, InputError
from claim.field.exchange.export import FILE_NAME, WrongKey, read_name_key, write_name_key
from claim.field.exchange.records import Bundle, PersonRecord
from claim.field.store.cipher import Gate
from claim.field.store.store import Store

PASSPHRASE = "correct horse battery staple"
NAMES = {"P1": "Zoe Adler", "P2": "</script>\u202e'; DROP TABLE names; --", "P3": "x" * 10_000}
QUICK = 10
NO_WAIT = Gate(sleep=lambda seconds: None)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / FILE_NAME
    write_name_key(path, NAMES, PASSPHRASE, work=QUICK)
    return path


def test_round_trip(key: Path) -> None:
    assert read_name_key(key, PASSPHRASE) == NAMES
    bundle = Bundle((PersonRecord("P1"), PersonRecord("P4"))).with_names(read_name_key(key, PASSPHRASE))
    assert bundle.names == {"P1": "Zoe Adler"}


def test_only_the_owner_can_read_and_nothing_is_plain(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [path.name for path in key.parent.iterdir()] == [FILE_NAME]
    content = key.read_bytes()
    assert b"Zoe" not in content
    assert b"SQLite" not in content
    assert b"names" not in content


@pytest.mark.parametrize("passphrase", ["", "wrong", PASSPHRASE + " ", "'; --", "\0"])
def test_wrong_passphrase(key: Path, passphrase: str) -> None:
    waits: list[float] = []
    gate = Gate(sleep=waits.append)
    for _ in range(3):
        with pytest.raises(WrongKey, match=r"^wrong passphrase, or not a name key$"):
            read_name_key(key, passphrase, gate)
    assert waits == sorted(waits)
    assert waits[2] > waits[0]


def test_damage_is_noticed(key: Path) -> None:
    content = bytearray(key.read_bytes())
    content[len(content) // 2] ^= 1
    key.write_bytes(content)
    with pytest.raises(WrongKey):
        read_name_key(key, PASSPHRASE, NO_WAIT)


@pytest.mark.parametrize("content", [b"", b"short", b"SQLite format 3\0" + bytes(4096), bytes(8192)])
def test_other_files_are_not_name_keys(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(WrongKey):
        read_name_key(path, PASSPHRASE, NO_WAIT)


def test_a_study_is_not_a_name_key(tmp_path: Path) -> None:
    Store.create(tmp_path / "a.study", PASSPHRASE, work=QUICK).close()
    with pytest.raises(WrongKey):
        read_name_key(tmp_path / "a.study", PASSPHRASE, NO_WAIT)


def test_what_cannot_be_written_or_found(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least"):
        write_name_key(tmp_path / "k", NAMES, "short")
    with pytest.raises(ClaimError, match="cannot be written"):
        write_name_key(tmp_path / "nowhere" / "k", NAMES, PASSPHRASE, work=QUICK)
    with pytest.raises(InputError, match="no such file"):
        read_name_key(tmp_path / "k", PASSPHRASE)
    assert list(tmp_path.iterdir()) == []
