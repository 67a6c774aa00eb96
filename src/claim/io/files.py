"""Files that are written whole or not at all, private files, and their checksums."""

import hashlib
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from claim.errors import InputError

HALF_WRITTEN = ".claim-part"  # no other program's files end like this


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file at once, so that no reader ever sees half of it."""
    with temporary(path.with_name(f".{path.name}.{secrets.token_hex(4)}{HALF_WRITTEN}")) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        os.chmod(new, 0o644)  # as other files
        move(new, path)


def make_folder(folder: Path) -> None:
    """Make a folder before the work, so that a place that cannot be written to costs no time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = "{folder}: cannot make this folder ({reason})"
        raise InputError(problem, folder=folder, reason=error.strerror) from error
    check_writable(folder)


def check_writable(folder: Path) -> None:
    """Refuse a folder that nothing can be written to: by trying, since rights say nothing of read-only disks."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = "{folder}: cannot write to this folder ({reason})"
        raise InputError(problem, folder=folder, reason=error.strerror) from error


@contextmanager
def locked(folder: Path, taken: str) -> Iterator[None]:
    """Keep a second process out of a folder; ``taken`` is the error for it.

    The lock goes with the process, however that ends. What a process that was killed left half-written, in the folder
    and one level below, is removed.
    """
    try:
        lock = FileLock(folder / ".lock", timeout=0).acquire()
    except Timeout:
        raise InputError.at(folder, None, taken) from None
    with lock:
        for left in [*folder.glob(f".*{HALF_WRITTEN}"), *folder.glob(f"*/.*{HALF_WRITTEN}")]:
            with suppress(OSError):
                left.unlink()
        yield


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
        raise InputError("{path} already exists", path=path) from None
    os.close(handle)
    os.chmod(path, 0o600)


def first_bytes(path: Path, count: int) -> bytes:
    """The beginning of a file."""
    if not path.is_file():
        raise InputError("{path}: no such file", path=path)
    with open(path, "rb") as file:
        return file.read(count)


def identity(path: Path) -> Identity:
    """Which file a path leads to, so that a replaced one is noticed."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """An empty private file that is gone at the end, with its journal, unless it was moved away."""
    create_private(path)
    try:
        yield path
    finally:
        for leftover in (path, path.with_name(f"{path.name}-journal")):
            leftover.unlink(missing_ok=True)


@contextmanager
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
    _replace(new, path)
    sync(path.parent)


def _replace(new: Path, path: Path) -> None:
    """Replace a file; Windows refuses while another process reads it, so there it is tried again for a second."""
    for wait in (0.01, 0.1, 0.9) if sys.platform == "win32" else ():
        try:
            return os.replace(new, path)
        except PermissionError:
            time.sleep(wait)
    os.replace(new, path)


def shred(path: Path) -> None:
    """Overwrite a file with random bytes, beginning with its salt, then delete it and what belongs to it."""
    with open(path, "r+b") as file:
        _overwrite(file.fileno())
    for each in (path, *(path.with_name(path.name + ending) for ending in ("-journal", "-wal", "-shm"))):
        each.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Make a file's content or a directory's entries durable, the latter where the system can."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _overwrite(handle: int) -> None:
    left = os.fstat(handle).st_size
    os.lseek(handle, 0, os.SEEK_SET)
    while left > 0:
        left -= os.write(handle, secrets.token_bytes(min(PIECE, left)))
    os.fsync(handle)
