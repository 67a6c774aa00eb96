"""Files that are written whole or not at all, their checksums, and folders that one process works in at a time."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from claim.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks; there nobody is kept from starting twice
    fcntl = None  # type: ignore[assignment]

HALF_WRITTEN = ".claim-part"  # no file of anybody else ends like this


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file at once, so that nobody ever sees half of it."""
    data = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=HALF_WRITTEN)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the new name with nothing behind it
        os.chmod(temporary, 0o644)  # as other files: mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder before the work, so that a place that cannot be written to costs no time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot make this folder ({error.strerror})") from error
    check_writable(folder)


def check_writable(folder: Path) -> None:
    """Refuse a folder that nothing can be written to: by trying, since rights say nothing of read-only disks."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot write to this folder ({error.strerror})") from error


@contextmanager
def locked(folder: Path, taken: str) -> Iterator[None]:
    """Keep a second process out of a folder, with words for it; the lock goes with the process, however that ends.

    Whoever has the folder clears what a process that was killed left half-written.
    """
    with (folder / ".lock").open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(f"{folder}: {taken}") from None
        _clear_half_written(folder)
        yield


def _clear_half_written(folder: Path) -> None:
    """Remove what processes that were killed while they wrote left here and one level below."""
    for left in [*folder.glob(f".*{HALF_WRITTEN}"), *folder.glob(f"*/.*{HALF_WRITTEN}")]:
        with suppress(OSError):
            left.unlink()


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
