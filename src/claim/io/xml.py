"""XML without entities, external references or endless depth, streamed in bounded memory."""

from collections.abc import Callable
from typing import NoReturn, Protocol
from xml.parsers import expat

from claim.io.archives import MAX_CELL, Upload
from claim.io.text import Source, shown

_CHUNK = 1 << 16
_MAX_MARKUP = 1 << 22  # bytes of one tag or comment
_MAX_DEPTH = 200
_MAX_TEXT = 1000  # characters kept of an element's text; only short values are of interest


class Handler(Protocol):
    """Is told of every element in the vocabulary of the root."""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins."""

    def end(self, name: str, text: str, line: int) -> None:
        """An element ends; ``text`` is what stood between its last tag and its end."""


def parse_xml(source: Source, root: str, handler: Handler) -> None:
    """Send the elements of a file to the handler; the outermost one must be called ``root``."""
    _Stream(source, root, handler).run()


class _Stream:
    def __init__(self, source: Source, root: str, handler: Handler) -> None:
        self._source, self._root, self._handler = source, root, handler
        self._depth = 0
        self._prefix = ""
        self._text: list[str] = []
        self._text_size = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        # Entities can blow a small file up to any size or pull in other files; network files never need them.
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.EntityDeclHandler = self._refuse_doctype
        self._parser.ExternalEntityRefHandler = self._refuse_doctype

    def run(self) -> None:
        """Feed the file to the parser piece by piece."""
        fed = 0
        try:
            with self._source.open() as stream:
                while chunk := stream.read(_CHUNK):
                    self._parser.Parse(chunk, False)
                    fed += len(chunk)
                    if fed - self._parser.CurrentByteIndex > _MAX_MARKUP:
                        raise self._source.error(self._line, "one tag is longer than 4 MiB")
                self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._source.error(error.lineno, f"not well-formed XML: {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError):  # pyexpat, of an encoding Python does not know
            raise self._source.error(1, "the XML names an unknown encoding; save it as UTF-8 text") from None

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._source.error(self._line, f"elements are nested more than {_MAX_DEPTH} deep")
        prefix, _, local = name.rpartition(":")
        if self._depth == 1:
            self._prefix = prefix
            if local != self._root:
                raise self._source.error(self._line, f"expected <{self._root}>, found {shown(name)}")
        self._forget_text()
        if prefix == self._prefix:  # others draw pictures, such as viz:color and y:ShapeNode
            self._handler.start(local, attributes, self._line)

    def _end(self, name: str) -> None:
        self._depth -= 1
        prefix, _, local = name.rpartition(":")
        if prefix == self._prefix:
            self._handler.end(local, "".join(self._text).strip(), self._line)
        self._forget_text()

    def _characters(self, text: str) -> None:
        if self._text_size < _MAX_TEXT:
            self._text.append(text)
            self._text_size += len(text)

    def _forget_text(self) -> None:
        self._text.clear()
        self._text_size = 0

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise self._source.error(self._line, "document types and entities (<!DOCTYPE ...>) are refused for safety")


_MAX_TABLE_MARKUP = 1 << 20  # bytes of one tag or comment
_MAX_TABLE_DEPTH = 100

Start = Callable[[str, dict[str, str], int], None]
End = Callable[[str, str, int], None]


def parse_table_xml(upload: Upload, root: str, start: Start, end: End) -> None:
    """Tell of every element: its local name, its attributes (also by local name) and its line; then of its text.

    ``text`` is what stood directly before the end tag, after the last tag in it.
    """
    _TableStream(upload, root, start, end).run()


class _TableStream:
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
                if begin + len(chunk) - self._parser.CurrentByteIndex > _MAX_TABLE_MARKUP:
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
        if self._depth > _MAX_TABLE_DEPTH:
            raise self._upload.error(self._line, f"elements are nested more than {_MAX_TABLE_DEPTH} deep")
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
