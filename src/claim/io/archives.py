"""Files as they are uploaded, and the files in a zip, within limits."""

import codecs
import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from claim.errors import InputError
from claim.io.text import Source, printable, shown

MAX_FILES = 50  # brought in together
MAX_FILE_BYTES = 32 * 1024**2
MAX_UNPACKED_BYTES = 64 * 1024**2  # of all members of a zip file together
MAX_MEMBERS = 2_000  # of a zip file; an ODK export may carry photos, which are never unpacked
MAX_RATIO = 200  # CSV and XML shrink 5 to 30 times; a bomb 1000 times
FREE_BYTES = 1024**2  # up to this size any ratio is fine

MAX_ROWS = 50_000  # of one table
MAX_COLUMNS = 1_000
MAX_CELLS = 1_000_000  # of all tables together
MAX_CELL = 32_767  # characters, as in Excel
MAX_NAME = 10_000
MAX_CODE = 200

MAX_PROBLEMS = 100  # told in full; the others are only counted
SAMPLE_ROWS = 5  # shown in a preview


_MAX_SHOWN_NAME = 120
_NOT_UTF8 = "not UTF-8 text; save it again as UTF-8 (in Excel: “CSV UTF-8”)"
_WIDE = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True)
class Upload:
    """A file's name, used only in messages and to tell tables apart, and its content."""

    name: str
    content: bytes
    inside: str = ""  # the zip file it was unpacked from

    @classmethod
    def of(cls, path: Path) -> "Upload":
        """A file read from disk, never more of it than the cap."""
        with Source(path).open() as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
        return cls(path.name, content)

    @property
    def shown_name(self) -> str:
        """The name as it may stand in a message: without folders, printable, short."""
        base = PurePosixPath(PureWindowsPath(self.name).name).name or "file"
        short = printable(base)[-_MAX_SHOWN_NAME:]
        return f"{self.inside} [{short}]" if self.inside else short

    def error(self, line: int | None, problem: str) -> InputError:
        """An error in this file."""
        return InputError.at(self.shown_name, line, problem)

    def text(self) -> str:
        """The content as text: UTF-8 with or without a byte order mark, or UTF-16 with one."""
        if self.content.startswith(_WIDE):
            raise self.error(1, _NOT_UTF8)
        wide = self.content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        try:
            text = self.content.decode("utf-16" if wide else "utf-8-sig")
        except UnicodeDecodeError as error:
            line = None if wide else self.content.count(b"\n", 0, error.start) + 1
            raise self.error(line, _NOT_UTF8) from None
        if "\0" in text:
            raise self.error(
                text.count("\n", 0, text.index("\0")) + 1, "not a text file (it has a NUL character in it)"
            )
        return text


def gathered(files: Path | str | Upload | Iterable[Path | str | Upload]) -> list[Upload]:
    """One file or several, from disk or from memory, none of them too large."""
    each = [files] if isinstance(files, Path | str | Upload) else list(files)
    if not each:
        raise InputError("no file was given")
    if len(each) > MAX_FILES:
        raise InputError(f"{len(each)} files at once; at most {MAX_FILES} can be brought in together")
    uploads = [file if isinstance(file, Upload) else Upload.of(Path(file)) for file in each]
    for upload in uploads:
        if len(upload.content) > MAX_FILE_BYTES:
            raise upload.error(None, f"is larger than {MAX_FILE_BYTES >> 20} MiB")
        if not upload.content:
            raise upload.error(None, "is empty")
    return uploads


MAGIC = b"PK\x03\x04"
EMPTY_MAGIC = b"PK\x05\x06"
_ENTRY_MAGIC = b"PK\x01\x02"
_PACKED = (".zip", ".xlsx", ".ods", ".docx", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz", ".jar")
_PACKED_MAGICS = (MAGIC, EMPTY_MAGIC, b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, struct.error, OSError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, LookupError,
)  # fmt: skip
_SKIPPED = ("__MACOSX/", ".DS_Store", "Thumbs.db")


def is_zip(upload: Upload) -> bool:
    """Whether the content is a zip file's."""
    return upload.content.startswith((MAGIC, EMPTY_MAGIC))


class Archive:
    """A checked zip file; members are unpacked one at a time and only if asked for."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        # Counted before zipfile builds an object for every entry.
        if upload.content.count(_ENTRY_MAGIC) > MAX_MEMBERS:
            raise upload.error(None, f"a zip file of more than {MAX_MEMBERS:,} members")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(upload.content))
            self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        except _DAMAGE:
            raise self._damaged() from None
        if len(self._members) != sum(not info.is_dir() for info in self._zip.infolist()):
            raise upload.error(None, "a zip file with two members of the same name")
        for info in self._zip.infolist():
            self._check(info)
        self._left = MAX_UNPACKED_BYTES

    @property
    def names(self) -> list[str]:
        """The members, without folders and what operating systems leave behind."""
        return [name for name in self._members if not name.startswith(_SKIPPED) and not name.endswith(_SKIPPED)]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def refuse_packed(self) -> None:
        """Refuse members that are packed themselves; for zip files of tables, which never hold any."""
        for name in self.names:
            if PurePosixPath(name).suffix.lower() in _PACKED:
                raise self._upload.error(None, f"{shown(name)} inside is packed again")

    def read(self, name: str) -> Upload:
        """A member, unpacked, as a file of its own; all of them together are bounded."""
        info = self._members[name]
        try:
            with self._zip.open(info) as stream:
                content = b"".join(self._pieces(stream, info))
        except _DAMAGE:
            raise self._damaged() from None
        member = Upload(name, content, inside=self._upload.shown_name)
        if content.startswith(_PACKED_MAGICS):
            raise self._upload.error(None, f"{shown(name)} inside is packed again")
        return member

    def _pieces(self, stream: IO[bytes], info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content piece by piece; what it unpacks to is counted, whatever the zip file says of it."""
        done = 0
        allowed = max(FREE_BYTES, MAX_RATIO * info.compress_size)
        while piece := stream.read(1 << 16):
            done += len(piece)
            self._left -= len(piece)
            if self._left < 0 or done > allowed:
                raise self._bomb(info)
            yield piece

    def _check(self, info: zipfile.ZipInfo) -> None:
        if not _is_plain(info.filename) or "\0" in info.orig_filename:
            raise self._upload.error(None, f"a zip file with the unsafe member name {shown(info.orig_filename)}")
        if info.flag_bits & 0x1:
            raise self._upload.error(None, "a zip file with a password; unpack it first")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise self._upload.error(None, f"a zip file with a link in it, {shown(info.filename)}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._upload.error(None, "a zip file packed in an unusual way; pack it again as a plain zip file")
        if _wanted(info) and info.file_size > max(FREE_BYTES, MAX_RATIO * info.compress_size):
            raise self._bomb(info)

    def _bomb(self, info: zipfile.ZipInfo) -> InputError:
        return self._upload.error(None, f"{shown(info.filename)} inside unpacks to an absurd size")

    def _damaged(self) -> InputError:
        return self._upload.error(None, "a zip file that is damaged or incomplete")


def _wanted(info: zipfile.ZipInfo) -> bool:
    return info.filename.lower().endswith((".csv", ".xml", ".rels"))  # photos are never unpacked


def _is_plain(name: str) -> bool:
    """A relative path that stays where it is, in printable characters."""
    parts = name.rstrip("/").split("/")
    fine = bool(name) and name.isprintable() and "\\" not in name and ":" not in name
    return fine and all(part not in ("", ".", "..") for part in parts)
