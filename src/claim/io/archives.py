"""Files brought in together, zip files and workbooks, within limits."""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import reduce
from pathlib import Path, PurePosixPath
from typing import IO

from claim.errors import InputError
from claim.io.text import Source, shown
from claim.io.xml import MAX_TEXT, read_xml
from claim.messages import Count

MAX_FILES = 50  # brought in together
MAX_FILE_BYTES = 32 * 1024**2
MAX_UNPACKED_BYTES = 64 * 1024**2  # of all members of a zip file together
MAX_MEMBERS = 2_000  # of a zip file; an ODK export may carry photos, which are never unpacked
MAX_RATIO = 200  # CSV and XML shrink 5 to 30 times; a bomb 1000 times
FREE_BYTES = 1024**2  # up to this size any ratio is fine


def gathered(files: Path | str | Source | Iterable[Path | str | Source]) -> list[Source]:
    """Read one file or several into memory, none of them too large."""
    each = [files] if isinstance(files, Path | str | Source) else list(files)
    if not each:
        raise InputError("no file was given")
    if len(each) > MAX_FILES:
        problem = "{count} files at once; at most {most} can be brought in together"
        raise InputError(problem, count=len(each), most=MAX_FILES)
    sources = [file if isinstance(file, Source) else _in_memory(Path(file)) for file in each]
    for source in sources:
        if len(source.content or b"") > MAX_FILE_BYTES:
            raise source.error(None, "is larger than {most} MiB", most=MAX_FILE_BYTES >> 20)
        if not source.content:
            raise source.error(None, "is empty")
    return sources


def _in_memory(path: Path) -> Source:
    return Source(path.name, Source(path).head(MAX_FILE_BYTES + 1))


MAGICS = (b"PK\x03\x04", b"PK\x05\x06")  # the second is that of an empty zip file
_ENTRY_MAGIC = b"PK\x01\x02"
_PACKED = (".zip", ".xlsx", ".ods", ".docx", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz", ".jar")
_PACKED_MAGICS = (*MAGICS, b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, struct.error, OSError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, LookupError,
)  # fmt: skip
_SKIPPED = ("__MACOSX/", ".DS_Store", "Thumbs.db")


class Archive:
    """A checked zip file; members are unpacked one at a time and only if asked for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        content = source.content or b""
        # Counted before zipfile builds an object for every entry.
        if content.count(_ENTRY_MAGIC) > MAX_MEMBERS:
            raise source.error(None, "a zip file of more than {most} members", most=Count(MAX_MEMBERS))
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        except _DAMAGE:
            raise self._damaged() from None
        if len(self._members) != sum(not info.is_dir() for info in self._zip.infolist()):
            raise source.error(None, "a zip file with two members of the same name")
        for info in self._zip.infolist():
            self._check(info)
        self._left = MAX_UNPACKED_BYTES

    @property
    def names(self) -> list[str]:
        """The members, without folders and what operating systems leave behind."""
        return [name for name in self._members if not name.startswith(_SKIPPED) and not name.endswith(_SKIPPED)]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def size(self, name: str) -> int:
        """The size in bytes that the zip file claims for a member."""
        return self._members[name].file_size

    def refuse_packed(self) -> None:
        """Refuse members that are packed themselves; for zip files of tables, which never hold any."""
        for name in self.names:
            if PurePosixPath(name).suffix.lower() in _PACKED:
                raise self._packed(name)

    def read(self, name: str) -> Source:
        """A member, unpacked, as a file of its own; all of them together are bounded."""
        info = self._members[name]
        try:
            with self._zip.open(info) as stream:
                content = b"".join(self._pieces(stream, info))
        except _DAMAGE:
            raise self._damaged() from None
        if content.startswith(_PACKED_MAGICS):
            raise self._packed(name)
        return Source(name, content, inside=self._source.shown_name)

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
            unsafe = shown(info.orig_filename)
            raise self._source.error(None, "a zip file with the unsafe member name {member}", member=unsafe)
        if info.flag_bits & 0x1:
            raise self._source.error(None, "a zip file with a password; unpack it first")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise self._source.error(None, "a zip file with a link in it, {member}", member=shown(info.filename))
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._source.error(None, "a zip file packed in an unusual way; pack it again as a plain zip file")
        wanted = info.filename.lower().endswith((".csv", ".xml", ".rels"))  # photos are never unpacked
        if wanted and info.file_size > max(FREE_BYTES, MAX_RATIO * info.compress_size):
            raise self._bomb(info)

    def _bomb(self, info: zipfile.ZipInfo) -> InputError:
        return self._source.error(None, "{member} inside unpacks to an absurd size", member=shown(info.filename))

    def _packed(self, name: str) -> InputError:
        return self._source.error(None, "{member} inside is packed again", member=shown(name))

    def _damaged(self) -> InputError:
        return self._source.error(None, "a zip file that is damaged or incomplete")


def _is_plain(name: str) -> bool:
    """A relative path that stays where it is, in printable characters."""
    parts = name.rstrip("/").split("/")
    fine = bool(name) and name.isprintable() and "\\" not in name and ":" not in name
    return fine and all(part not in ("", ".", "..") for part in parts)


# Workbooks ------------------------------------------------------------------------------------------------------------

WORKBOOK, _STRINGS, _SHEET = "xl/workbook.xml", "xl/sharedStrings.xml", re.compile(r"xl/worksheets/[^/]+\.xml")
_PARTS = ("[Content_Types].xml", "_rels/.rels", WORKBOOK, "xl/_rels/workbook.xml.rels", "xl/styles.xml", _STRINGS)
_REFERENCE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_UNREADABLE = "a cell that cannot be read"
_NUL = "a cell that cannot be read (it has a NUL character in it)"

Cells = tuple[str, ...]


def read_sheets(
    source: Source, archive: Archive, max_columns: int, max_cells: int
) -> Iterator[tuple[Source, list[tuple[int, Cells]]]]:
    """The sheets of an Excel workbook with the rows that have anything in them, and their numbers.

    The library lays every sheet out as a full rectangle of texts and unpacks the file itself, so everything it will
    see is checked before and packed again.
    """
    from python_calamine import CalamineSheet, CalamineWorkbook, SheetTypeEnum

    parts = {name: archive.read(name) for name in archive.names if name in _PARTS or _SHEET.fullmatch(name)}
    lengths = _string_lengths(parts[_STRINGS]) if _STRINGS in parts else []
    left = MAX_UNPACKED_BYTES  # characters of all cells that share strings
    for part in parts.values():  # all of them: the workbook says which are sheets
        left = _check_sheet(part, lengths, left, max_columns, max_cells)

    def sheets() -> Iterator[CalamineSheet]:
        try:
            book = CalamineWorkbook.from_filelike(io.BytesIO(_packed(parts)))
            for sheet in book.sheets_metadata:
                if sheet.typ == SheetTypeEnum.WorkSheet:
                    yield book.get_sheet_by_name(sheet.name)
        except Exception:
            raise source.error(None, "not a workbook (XLSX), or one that lacks one of its sheets") from None

    for sheet in sheets():  # one in memory at a time
        named = Source(sheet.name, b"", inside=source.shown_name)
        yield named, _texts(named, sheet.to_python(skip_empty_area=False))


def _packed(parts: Mapping[str, Source]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part.content or b"")
    return buffer.getvalue()


def _string_lengths(part: Source) -> list[int]:
    """The lengths of a workbook's shared strings; many cells can share one."""
    lengths: list[int] = []
    for name, attributes, text, _ in read_xml(part, "sst"):
        if name == "si" and attributes is not None:
            lengths.append(0)
        elif name == "t" and attributes is None and lengths:
            lengths[-1] += len(text)
            if lengths[-1] > MAX_TEXT:
                raise part.error(None, "a cell is longer than {most} characters", most=Count(MAX_TEXT))
            if "_x0000_" in text:
                raise part.error(None, _NUL)
    return lengths


def _check_sheet(part: Source, lengths: Sequence[int], left: int, max_columns: int, max_cells: int) -> int:
    """Check the cells of a sheet: their places, types and sizes; returns the shared characters that are left."""
    row = column = bottom = right = 0
    kind = value = ""  # of the cell we are in
    for name, attributes, text, _ in read_xml(part):
        if name == "row" and attributes is not None:
            given = attributes.get("r", "")
            row, column = int(given) if given.isdecimal() and len(given) < 9 else row + 1, 0
        elif name == "c" and attributes is not None:
            kind, value = attributes.get("t", "n"), ""
            place = _REFERENCE.fullmatch(attributes.get("r", ""))
            if place is None and "r" in attributes:
                raise part.error(row, _UNREADABLE)
            row, column = (int(place[2]), _column_number(place[1])) if place else (row, column + 1)
        elif name in ("v", "t") and attributes is None and kind:
            value += text
        elif name == "c":
            if value:
                bottom, right = max(bottom, row), max(right, column)
                if right > max_columns:
                    raise part.error(row, "more than {most} columns", most=Count(max_columns))
                if bottom * right > max_cells:
                    raise part.error(row, "more than {most} cells in all", most=Count(max_cells))
                if not _is_readable(kind, value.strip(), len(lengths)):
                    raise part.error(row, _UNREADABLE)
                left -= lengths[int(value)] if kind == "s" else 0
                if left < 0:
                    raise part.error(row, "more than {most} characters in all", most=Count(MAX_UNPACKED_BYTES))
            kind = value = ""
    return left


def _is_readable(kind: str, value: str, strings: int) -> bool:
    """Whether a cell of this type can have this value."""
    if kind == "s":  # the number of a shared string
        return value.isdecimal() and len(value) <= 8 and int(value) < strings
    if kind == "n" and value:
        try:
            return "_" not in value and len(value) <= 40 and abs(float(value)) < 1e300
        except ValueError:
            return False
    return kind in ("n", "str", "inlineStr", "b", "d", "e")


def _column_number(letters: str) -> int:
    """28 for ``AB``."""
    return reduce(lambda number, letter: number * 26 + ord(letter) - ord("A") + 1, letters.upper(), 0)


def _texts(sheet: Source, rows: Iterable[Iterable[object]]) -> list[tuple[int, Cells]]:
    found = [(line, tuple(map(_text, row))) for line, row in enumerate(rows, start=1)]
    for line, cells in found:
        if any("\0" in cell for cell in cells):
            raise sheet.error(line, _NUL)
    return [(line, cells) for line, cells in found if any(cells)]


def _text(value: object) -> str:
    """A cell's value as text; dates and times in ISO format, a date without the time if that is midnight."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        moment = (value + timedelta(microseconds=500_000)).replace(microsecond=0)
        return moment.isoformat() if moment.time() != time() else moment.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)
