"""Text files of any encoding: bounded, decoded with the line of an error, cleaned for display."""

import codecs
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING

from claim.errors import InputError, install_command
from claim.messages import Count, Message

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


MAX_BYTES = 2 * 1024**3  # of text, unpacked
MAX_EDGE_BYTES = 64 * 1024**3  # of text that is nothing but pairs of numbers: it is not held in memory
MAX_LINE = 1_000_000  # characters
GZIP_FREE_BYTES = 64 * 1024**2  # up to this size any compression ratio is fine
GZIP_MAX_RATIO = 200  # edge lists shrink 3 to 20 times; a bomb 1000 times

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_WINDOW = 1 << 27  # bytes of memory that a file may ask for
_ZSTD_PIECE = 1 << 14  # packed bytes at once: what they unpack to is in memory
_BUFFER = 1 << 20
_MAX_SHOWN_NAME = 120
_UNDECODED = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BEGINNING = 4096  # bytes from which an encoding is guessed


def printable(text: str) -> str:
    """The text with everything that could disturb a terminal or break the line written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shown(text: str, limit: int = 60) -> str:
    """A piece of a file as it may be quoted in a message: one line, printable, short."""
    escaped = printable(text[: limit + 1])
    return f"'{escaped[:limit]}…'" if len(escaped) > limit else f"'{escaped}'"


def decoded(content: bytes) -> tuple[str, str] | None:
    """A text in UTF-16 or Windows-1252 and the name of its encoding; None for UTF-8 and for what is not a text."""
    encoding = _utf_16(content) or _windows_1252(content)
    try:
        text = content.decode(encoding) if encoding else ""
    except UnicodeDecodeError:
        return None
    guessed = encoding != "UTF-16"
    return (text, encoding) if text and not (guessed and _CONTROLS.search(text)) else None


def _utf_16(content: bytes) -> str:
    """UTF-16 by its byte order mark, or by a NUL in most pairs of bytes, always in the same place."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "" if content.startswith(codecs.BOM_UTF32_LE) else "UTF-16"
    first, second = (content[place:_BEGINNING:2] for place in (0, 1))
    for own, other, encoding in ((first, second, "UTF-16-LE"), (second, first, "UTF-16-BE")):
        if b"\0" not in own and other and 3 * other.count(0) >= 2 * len(other):
            return encoding
    return ""


def _windows_1252(content: bytes) -> str:
    """Windows-1252 if few bytes are not ASCII and most of these are not UTF-8 either; in Cyrillic, say, most are."""
    text = content.decode("utf-8", "surrogateescape")
    wrong = len(_UNDECODED.findall(text))
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    return "Windows-1252" if right < wrong < len(content) / 3 else ""


@dataclass(frozen=True)
class Source:
    """A file on disk, or bytes with a file's name; errors name the file and the line."""

    name: str | os.PathLike[str]
    content: bytes | None = None
    inside: str = ""  # the archive that the bytes were unpacked from

    @property
    def path(self) -> Path:
        """The name as a path."""
        return Path(self.name)

    @property
    def shown_name(self) -> str:
        """The name in messages; that of bytes, which may come from anywhere, short and without folders."""
        if self.content is None:
            return printable(str(self.name))
        base = printable(PurePosixPath(PureWindowsPath(self.name).name).name or "file")[-_MAX_SHOWN_NAME:]
        return f"{self.inside} [{base}]" if self.inside else base

    def error(self, line: int | None, problem: str, /, **values: object) -> InputError:
        """An error in this file; ``values`` belong in the places of ``problem``."""
        return InputError.at(self.shown_name, line, Message(problem, values))

    @contextmanager
    def open(self, most: int | None = None) -> Iterator[io.BufferedReader]:
        """Open the unpacked bytes, never more of them than ``most`` or the size limit."""
        with self._open_raw() as raw:
            yield io.BufferedReader(self._unpacked(raw, MAX_BYTES if most is None else most), _BUFFER)

    def head(self, size: int = 4096) -> bytes:
        """The first unpacked bytes."""
        with self.open() as stream:
            return stream.read(size)

    def lines(self, stream: IO[bytes], *, ends: bool = False) -> Iterator[tuple[int, str]]:
        """Numbered lines (ended by ``\\n``, ``\\r\\n`` or ``\\r``) of UTF-8, with or without their ends.

        A byte order mark is left out.
        """
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="" if ends else None)
        for number, line in enumerate(iter(lambda: text.readline(MAX_LINE + 2), ""), start=1):
            bare = line.rstrip("\r\n")
            if len(bare) > MAX_LINE:
                raise self.error(number, "the line is longer than {most} characters", most=Count(MAX_LINE))
            if _UNDECODED.search(line):
                raise self.error(number, "not a text file in UTF-8; save it as UTF-8 (in Excel: “CSV UTF-8”)")
            if "\0" in line:
                raise self.error(number, "not a text file (it has a NUL character in it)")
            yield number, line if ends else bare

    def _open_raw(self) -> IO[bytes]:
        if self.content is not None:
            return io.BytesIO(self.content)
        try:
            mode = self.path.stat().st_mode
            if stat.S_ISDIR(mode):
                raise self.error(None, "is a folder, not a file")
            if not stat.S_ISREG(mode):  # a pipe could block for ever and cannot be read twice
                raise self.error(None, "is not a regular file")
            return self.path.open("rb")
        except FileNotFoundError:
            raise self.error(None, "no such file") from None
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from None

    def _unpacked(self, raw: IO[bytes], most: int) -> "_Bounded":
        try:
            beginning = raw.read(len(_ZSTD_MAGIC))
            size = raw.seek(0, os.SEEK_END)
            raw.seek(0)
        except OSError as error:
            raise self._unreadable(error) from None
        gzipped, zstd = beginning.startswith(_GZIP_MAGIC), beginning == _ZSTD_MAGIC
        if not (gzipped or zstd):
            return _Bounded(self, raw, most)
        limit = min(most, max(GZIP_FREE_BYTES, GZIP_MAX_RATIO * size))
        return _Bounded(self, gzip.GzipFile(fileobj=raw) if gzipped else self._unzstd(raw), limit)

    def _unzstd(self, raw: IO[bytes]) -> "_Zstd":
        try:
            return _Zstd(raw)
        except ImportError:
            problem = "reading zstd files needs zstandard: {command}"
            raise self.error(None, problem, command=install_command("zstd")) from None

    def _unreadable(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return self.error(None, "cannot be read ({reason})", reason=reason)


class _Zstd:
    """Unpacks zstd, frame after frame; an incomplete last frame is an EOFError, as of gzip."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._raw, self._make = raw, zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj
        self._damage: type[Exception] = zstandard.ZstdError
        self._frame, self._packed, self._ready = self._make(), b"", b""

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end."""
        while not self._ready:
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data + self._packed, self._make()
            fresh = self._packed or self._raw.read(_ZSTD_PIECE)
            if not fresh:
                if self._begun:
                    raise EOFError
                return b""
            self._begun = True
            self._packed = b""
            try:
                self._ready = self._frame.decompress(fresh)
            except self._damage as error:
                raise zlib.error(str(error)) from None
            if self._frame.eof:
                self._begun = False
        piece, self._ready = self._ready[:size], self._ready[size:]
        return piece

    _begun = False  # whether a frame has begun and not ended


class _Bounded(io.RawIOBase):
    """Passes bytes on until the limit, and turns damage into errors that name the file."""

    def __init__(self, source: Source, inner: "IO[bytes] | gzip.GzipFile | _Zstd", limit: int) -> None:
        self._source, self._inner, self._limit, self._done = source, inner, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        chunk = self._read(len(view))
        self._done += len(chunk)
        if self._done > self._limit:
            raise self._source.error(None, "holds more than {most} MiB of text", most=Count(self._limit >> 20))
        view[: len(chunk)] = chunk
        return len(chunk)

    def _read(self, size: int) -> bytes:
        try:
            return self._inner.read(size)
        except EOFError:
            raise self._source.error(None, "the packed file ends too early (an incomplete download?)") from None
        except (gzip.BadGzipFile, zlib.error):
            raise self._source.error(None, "the packed file is damaged") from None
        except OSError as error:
            raise self._source._unreadable(error) from None


# Bidirectional controls and marks, line and paragraph separators, and the invisible operators.
_ACTING = "\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_UNHARMLESS = rf"\x00-\x1f\x7f-\x9f{_ACTING}\ud800-\udfff\ufffe\uffff"
_ESCAPED = re.compile(rf"[{_UNHARMLESS}]|\\(?=u\{{)")
_ESCAPED_FOR_CSV = re.compile(rf"(?![\t\r\n])[{_UNHARMLESS}]|\\(?=u\{{)")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{1,6})\}")

FORMULA_STARTS = "=+-@\t\r\n" + "\uff1d\uff0b\uff0d\uff20"  # the last four are full-width; some spreadsheets take them
_GUARDED = "'" + FORMULA_STARTS


def escaped(text: str) -> str:
    """The text with every character that could act written as an escape."""
    return _ESCAPED.sub(_escape, text)


def escaped_list(codes: tuple[str, ...]) -> str:
    """Codes in one cell with bars between them; a bar in a code is escaped."""
    return "|".join(escaped(code).replace("|", "\\u{7c}") for code in codes)


def unescaped(text: str) -> str:
    """What :func:`escaped` was given; other things that look like escapes are left alone."""
    return _ESCAPE.sub(_unescape, text) if "\\u{" in text else text


def unescaped_list(text: str) -> tuple[str, ...]:
    """What :func:`escaped_list` was given."""
    return tuple(unescaped(part) for part in text.split("|")) if text else ()


def csv_cell(text: str) -> str:
    """A text as it goes into a CSV cell (quoting is the CSV writer's business)."""
    return guarded(_ESCAPED_FOR_CSV.sub(_escape, text))


def guarded(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet might take it for a formula."""
    return f"'{cell}" if cell and cell[0] in _GUARDED else cell


def unguarded(cell: str) -> str:
    """A CSV cell without its guard; ``'t Hooft`` has none."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in _GUARDED else cell


def _escape(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match[0]):x}}}"


def _unescape(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    character = chr(number) if number <= 0x10FFFF else ""
    ours = character in ("\\", "|") or (character and _ESCAPED.fullmatch(character))
    return character if ours else match[0]
