"""XML read as a stream: no document types, no entities, bounded text and depth, line numbers in errors.

The reader of :mod:`claim.networks.formats.xml` keeps short values only and one vocabulary; workbooks have long texts in
them, and drawings of networks have a second vocabulary for positions, so here every element is told by its local name.
"""

from collections.abc import Callable
from typing import NoReturn
from xml.parsers import expat

from claim.field.exchange.files.limits import MAX_CELL
from claim.field.exchange.files.uploads import Upload
from claim.networks.formats.text import shown

_CHUNK = 1 << 16
_MAX_MARKUP = 1 << 20  # bytes of one tag or comment
_MAX_DEPTH = 100

Start = Callable[[str, dict[str, str], int], None]
End = Callable[[str, str, int], None]


def parse_xml(upload: Upload, root: str, start: Start, end: End) -> None:
    """Tell of every element: its local name, its attributes (also by local name) and its line; then of its text.

    ``text`` is what stood directly before the end tag, after the last tag in it.
    """
    _Stream(upload, root, start, end).run()


class _Stream:
    def __init__(self, upload: Upload, root: str, start: Start, end: End) -> None:
        self._upload, self._root = upload, root
        self._tell_start, self._tell_end = start, end
        self._depth, self._text, self._size = 0, list[str](), 0
        self._parser = expat.ParserCreate(namespace_separator="\n")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        # Entities can blow a small file up to any size or pull in other files; none of these formats needs them.
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.EntityDeclHandler = self._refuse_doctype
        self._parser.ExternalEntityRefHandler = self._refuse_doctype

    def run(self) -> None:
        """Feed the parser piece by piece, so that a single endless tag is noticed early."""
        content = self._upload.content
        try:
            for begin in range(0, len(content), _CHUNK):
                chunk = content[begin : begin + _CHUNK]
                self._parser.Parse(chunk, False)
                if begin + len(chunk) - self._parser.CurrentByteIndex > _MAX_MARKUP:
                    raise self._upload.error(self._line, "one tag is longer than 1 MiB")
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._upload.error(error.lineno, f"not well-formed XML: {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError):  # pyexpat, of an encoding Python does not know
            raise self._upload.error(1, "the XML names an unknown encoding; save it as UTF-8") from None

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._upload.error(self._line, f"elements are nested more than {_MAX_DEPTH} deep")
        local = name.rpartition("\n")[2]
        if self._depth == 1 and local != self._root:
            raise self._upload.error(self._line, f"expected <{self._root}>, found {shown(local)}")
        self._forget_text()
        self._tell_start(local, {key.rpartition("\n")[2]: value for key, value in attributes.items()}, self._line)

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._tell_end(name.rpartition("\n")[2], "".join(self._text), self._line)
        self._forget_text()

    def _characters(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_CELL:
            raise self._upload.error(self._line, f"a text is longer than {MAX_CELL:,} characters")
        self._text.append(text)

    def _forget_text(self) -> None:
        self._text.clear()
        self._size = 0

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise self._upload.error(self._line, "document types and entities (<!DOCTYPE ...>) are refused for safety")
