"""Files that only their owner can read, that appear whole, and that leave as little as possible when they go."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from claim.errors import InputError

Identity = tuple[int, int]
PIECE = 1 << 20


def private_directory(path: Path) -> Path:
    """A directory only its owner can enter, whatever the umask."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.chmod(path, 0o700)
    return path


def create_private(path: Path) -> None:
    """An empty file only its owner can read; the database's journals take over its mode."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileExistsError:
        raise InputError(f"{path}: is there already") from None
    os.close(handle)
    os.chmod(path, 0o600)


def first_bytes(path: Path, count: int) -> bytes:
    """The beginning of a file."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    with open(path, "rb") as file:
        return file.read(count)


def identity(path: Path) -> Identity:
    """Which file a path leads to, so that a replaced one is noticed."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


@contextlib.contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """An empty private file that is gone at the end, with its journal, unless it was moved away."""
    create_private(path)
    try:
        yield path
    finally:
        for leftover in (path, path.with_name(f"{path.name}-journal")):
            leftover.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing(path: Path, *, shred_old: bool = False) -> Iterator[Path]:
    """A private temporary file beside ``path`` that takes its place in one step if the block succeeds."""
    with temporary(path.with_name(f".{secrets.token_hex(8)}.tmp")) as new:
        yield new
        old = os.open(path, os.O_RDWR) if shred_old and os.name != "nt" else None
        move(new, path)
        if old is not None:
            with os.fdopen(old, "r+b") as file:
                _overwrite(file.fileno())


def move(new: Path, path: Path) -> None:
    """Put a file in the place of another in one step, durably."""
    sync(new)
    os.replace(new, path)
    sync_directory(path.parent)


def shred(path: Path) -> None:
    """Overwrite a file with random bytes, beginning with its salt, then delete it and what belongs to it."""
    handle = os.open(path, os.O_RDWR)
    try:
        _overwrite(handle)
    finally:
        os.close(handle)
    for each in (path, *(path.with_name(path.name + ending) for ending in ("-journal", "-wal", "-shm"))):
        each.unlink(missing_ok=True)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a directory's entries durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Make a file's content durable."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _overwrite(handle: int) -> None:
    left = os.fstat(handle).st_size
    os.lseek(handle, 0, os.SEEK_SET)
    while left > 0:
        left -= os.write(handle, secrets.token_bytes(min(PIECE, left)))
    os.fsync(handle)
