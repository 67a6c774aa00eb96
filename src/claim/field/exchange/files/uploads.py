"""Files as they are handed in: a name to show and bytes, of bounded size, decoded strictly."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from claim.errors import InputError
from claim.field.exchange.files.limits import MAX_FILE_BYTES, MAX_FILES
from claim.networks.formats.text import Source, printable

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
