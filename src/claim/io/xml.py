"""XML without entities, external references or endless depth, streamed in bounded memory; GraphML and GEXF."""

from collections.abc import Mapping
from typing import NoReturn, Protocol
from xml.parsers import expat

from claim.io.text import Source, shown

MAX_TEXT = 32_767  # characters of an element's text, as of a cell in Excel
_CHUNK = 1 << 16
_MAX_MARKUP = 1 << 20  # bytes of one tag or comment
_MAX_DEPTH = 200
_MAX_DECLARED = 10_000  # names of values


class Handler(Protocol):
    """Receives the elements; those with another prefix than the root's, such as ``viz:color``, keep it."""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins."""

    def end(self, name: str, text: str, line: int) -> None:
        """An element ends; ``text``, at most a little longer than ``MAX_TEXT``, stands after the last tag in it."""


def parse_xml(source: Source, root: str | None, handler: Handler) -> None:
    """Send the elements of a file to the handler; the outermost one must be called ``root`` (None: anything)."""
    _Stream(source, root, handler).run()


class _Stream:
    def __init__(self, source: Source, root: str | None, handler: Handler) -> None:
        self._source, self._root, self._handler = source, root, handler
        self._depth, self._prefix = 0, ""
        self._text: list[str] = []
        self._text_size = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        # Entities can blow a small file up to any size or pull in other files; none of our formats needs them.
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.EntityDeclHandler = self._refuse_doctype
        self._parser.ExternalEntityRefHandler = self._refuse_doctype

    def run(self) -> None:
        fed = 0
        try:
            with self._source.open() as stream:
                while chunk := stream.read(_CHUNK):
                    self._parser.Parse(chunk, False)
                    fed += len(chunk)
                    if fed - self._parser.CurrentByteIndex > _MAX_MARKUP:
                        raise self._source.error(self._line, "one tag is longer than 1 MiB")
                self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise self._source.error(error.lineno, "not well-formed XML: {reason}", reason=reason) from None
        except (LookupError, ValueError):  # pyexpat, of an encoding Python does not know
            raise self._source.error(1, "the XML names an unknown encoding; save it as UTF-8") from None

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._source.error(self._line, "elements are nested more than {depth} deep", depth=_MAX_DEPTH)
        if self._depth == 1:
            prefix, colon, local = name.rpartition(":")
            self._prefix = prefix + colon
            if self._root is not None and local != self._root:
                raise self._source.error(
                    self._line, "expected <{root}>, found {found}", root=self._root, found=shown(name)
                )
        self._forget_text()
        self._handler.start(name.removeprefix(self._prefix), attributes, self._line)

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._handler.end(name.removeprefix(self._prefix), "".join(self._text), self._line)
        self._forget_text()

    def _characters(self, text: str) -> None:
        if self._text_size <= MAX_TEXT:
            self._text.append(text)
            self._text_size += len(text)

    def _forget_text(self) -> None:
        self._text.clear()
        self._text_size = 0

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise self._source.error(self._line, "document types and entities (<!DOCTYPE ...>) are refused for safety")


DIRECTIONS = {"true": True, "1": True, "directed": True, "false": False, "0": False, "undirected": False}


class GraphHandler(Protocol):
    """Receives the nodes and edges of a GraphML or GEXF file; ``kind`` is ``node`` or ``edge``."""

    def graph(self, directed: bool) -> None:
        """The graph begins; whether its edges are directed unless they say otherwise."""

    def element(self, kind: str, attributes: Mapping[str, str], direction: str, line: int) -> None:
        """A node or edge begins; ``direction`` is what an edge says of itself, in lower case, or nothing."""

    def value(self, kind: str, title: str, text: str, line: int) -> None:
        """A named value of the latest node or edge."""

    def default(self, kind: str, title: str, text: str, line: int) -> None:
        """The value of nodes or edges that do not have one of this name."""


def parse_graph(source: Source, handler: GraphHandler, root: str) -> None:
    """Send the one graph of a GraphML (``root`` is ``graphml``) or GEXF (``gexf``) file to the handler."""
    parse_xml(source, root, _Graph(source, handler, "type" if root == "gexf" else "directed"))


class _Graph:
    """GraphML declares values by ``<key>`` and gives them in ``<data>``, GEXF by ``<attribute>`` in ``<attvalue>``."""

    def __init__(self, source: Source, handler: GraphHandler, direction: str) -> None:
        self._source, self._handler, self._direction = source, handler, direction
        self._titles: dict[tuple[str, str], str] = {}  # kind and id; the kind "all" is both
        self._class = ""  # of the attributes that are being declared
        self._declared = ("", "")
        self._key = ""  # of the <data> we are in
        self._inside = ""  # the node or edge we are in
        self._graphs = self._open_graphs = 0

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        match name:
            case "node" | "edge":
                if self._inside or "pid" in attributes:
                    raise self._source.error(line, "nodes nested in nodes cannot be read")
                self._inside = name
                direction = attributes.get(self._direction, "").strip().lower()
                self._handler.element(name, attributes, direction, line)
            case "data":
                self._key = attributes.get("key", "")
            case "attvalue" if self._inside:
                key = attributes.get("for", attributes.get("id", ""))  # old files say id
                self._value(key, attributes.get("value", ""), line)
            case "graph":
                self._start_graph(attributes, line)
            case "key":
                self._declare(attributes.get("for", "all"), attributes, "attr.name")
            case "attributes":
                self._class = attributes.get("class", "")
            case "attribute":
                self._declare(self._class, attributes, "title")
            case "hyperedge":
                raise self._source.error(line, "hyperedges (edges between more than two people) cannot be read")
            case _ if name.endswith(":position") and self._inside == "node":
                self._handler.value("node", "x", attributes.get("x", ""), line)
                self._handler.value("node", "y", attributes.get("y", ""), line)

    def end(self, name: str, text: str, line: int) -> None:
        match name:
            case "node" | "edge":
                self._inside = ""
            case "data" if self._inside and self._key:
                self._value(self._key, text, line)
                self._key = ""
            case "default" if self._declared in self._titles:
                self._handler.default(self._declared[0], self._titles[self._declared], text, line)
            case "graph":
                self._open_graphs -= 1

    def _start_graph(self, attributes: Mapping[str, str], line: int) -> None:
        if self._open_graphs or self._inside:
            raise self._source.error(line, "graphs nested in graphs cannot be read")
        if self._graphs:
            raise self._source.error(line, "more than one graph in the file")
        self._graphs, self._open_graphs = 1, 1
        default = attributes.get("edgedefault", attributes.get("defaultedgetype", ""))
        self._handler.graph(DIRECTIONS.get(default.strip().lower(), False))

    def _declare(self, kind: str, attributes: Mapping[str, str], title: str) -> None:
        key = attributes.get("id", "")
        self._declared = kind, key
        if len(self._titles) < _MAX_DECLARED:
            self._titles[kind, key] = attributes.get(title, key)

    def _value(self, key: str, text: str, line: int) -> None:
        title = self._titles.get((self._inside, key)) or self._titles.get(("all", key)) or key
        self._handler.value(self._inside, title, text, line)
