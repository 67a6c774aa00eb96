"""XML without entities, external references or endless depth, streamed in bounded memory; GraphML and GEXF."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, NoReturn
from xml.parsers import expat

from claim.errors import InputError
from claim.io.text import Source, shown

MAX_TEXT = 32_767  # characters of an element's text, as of a cell in Excel
_CHUNK = 1 << 16
_MAX_MARKUP = 1 << 20  # bytes of one tag or comment
_MAX_DEPTH = 200
_MAX_DECLARED = 10_000  # names of values


class Tag(NamedTuple):
    """An element begins or ends; names lose the root's prefix and keep others, such as ``viz:color``."""

    name: str
    attributes: dict[str, str] | None  # None: the element ends
    text: str  # at the end: what stands after the last tag in the element, at most a little longer than ``MAX_TEXT``
    line: int


def read_xml(source: Source, root: str | None = None) -> Iterator[Tag]:
    """The tags of a file; the outermost element must be called ``root`` (None: anything)."""
    tags = _Tags(source, root)
    parser, fed, last = tags.parser, 0, False
    with source.open() as stream:
        while not last:
            chunk, failure = stream.read(_CHUNK), None
            last, fed = not chunk, fed + len(chunk)
            try:
                parser.Parse(chunk, last)
                if fed - parser.CurrentByteIndex > _MAX_MARKUP:
                    failure = source.error(parser.CurrentLineNumber, "one tag is longer than 1 MiB")
            except InputError as error:
                failure = error
            except expat.ExpatError as error:
                reason = expat.ErrorString(error.code)
                failure = source.error(error.lineno, "not well-formed XML: {reason}", reason=reason)
            except (LookupError, ValueError):  # pyexpat, of an encoding Python does not know
                failure = source.error(1, "the XML names an unknown encoding; save it as UTF-8")
            yield from tags.found
            tags.found.clear()
            if failure is not None:
                raise failure


class _Tags:
    """Collects the tags that an expat parser finds."""

    def __init__(self, source: Source, root: str | None) -> None:
        self.found: list[Tag] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        # Entities can blow a small file up to any size or pull in other files; none of our formats needs them.
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.EntityDeclHandler = self._refuse_doctype
        self.parser.ExternalEntityRefHandler = self._refuse_doctype
        self._source, self._root = source, root
        self._depth, self._prefix, self._text = 0, "", ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._source.error(line, "elements are nested more than {depth} deep", depth=_MAX_DEPTH)
        if self._depth == 1:
            prefix, colon, local = name.rpartition(":")
            self._prefix = prefix + colon
            if self._root not in (None, local):
                raise self._source.error(line, "expected <{root}>, found {found}", root=self._root, found=shown(name))
        self.found.append(Tag(name.removeprefix(self._prefix), attributes, "", line))
        self._text = ""

    def _end(self, name: str) -> None:
        self._depth -= 1
        self.found.append(Tag(name.removeprefix(self._prefix), None, self._text, self.parser.CurrentLineNumber))
        self._text = ""

    def _characters(self, text: str) -> None:
        if len(self._text) <= MAX_TEXT:
            self._text += text

    def _refuse_doctype(self, *_: object) -> NoReturn:
        problem = "document types and entities (<!DOCTYPE ...>) are refused for safety"
        raise self._source.error(self.parser.CurrentLineNumber, problem)


DIRECTIONS = {"true": True, "1": True, "directed": True, "false": False, "0": False, "undirected": False}


class GraphPart(NamedTuple):
    """The graph, a node or an edge begins, or: a named value of the latest node or edge, or of edges without one.

    ``direction`` is what the graph or edge says of itself, in lower case, or nothing.
    """

    kind: Literal["graph", "node", "edge", "node value", "edge value", "edge default"]
    line: int
    attributes: Mapping[str, str] = {}
    direction: str = ""
    title: str = ""
    text: str = ""


def read_graph(source: Source, root: str) -> Iterator[GraphPart]:
    """The parts of the one graph in a GraphML (``root`` is ``graphml``) or GEXF (``gexf``) file.

    GraphML declares values by ``<key>`` and gives them in ``<data>``, GEXF by ``<attribute>`` in ``<attvalue>``.
    """
    titles: dict[tuple[str, str], str] = {}  # of values, by kind and id; the kind "all" is both
    declared = "", ""  # kind and id of the value that is being declared
    key = ""  # of the <data> we are in
    inside: Literal["", "node", "edge"] = ""
    graphs = open_graphs = 0

    def value(key: str, text: str, line: int) -> GraphPart:
        title = titles.get((inside, key)) or titles.get(("all", key)) or key
        return GraphPart("edge value" if inside == "edge" else "node value", line, title=title, text=text)

    for name, attributes, text, line in read_xml(source, root):
        if attributes is None:
            match name:
                case "node" | "edge":
                    inside = ""
                case "data" if inside and key:
                    yield value(key, text, line)
                    key = ""
                case "default" if declared in titles and declared[0] in ("edge", "all"):
                    yield GraphPart("edge default", line, title=titles[declared], text=text)
                case "graph":
                    open_graphs -= 1
            continue
        match name:
            case "node" | "edge":
                if inside or "pid" in attributes:
                    raise source.error(line, "nodes nested in nodes cannot be read")
                inside = "node" if name == "node" else "edge"
                direction = attributes.get("type" if root == "gexf" else "directed", "")
                yield GraphPart(inside, line, attributes, direction.strip().lower())
            case "data":
                key = attributes.get("key", "")
            case "attvalue" if inside:
                yield value(attributes.get("for", attributes.get("id", "")), attributes.get("value", ""), line)
            case "graph":
                if open_graphs or inside:
                    raise source.error(line, "graphs nested in graphs cannot be read")
                if graphs:
                    raise source.error(line, "more than one graph in the file")
                graphs = open_graphs = 1
                direction = attributes.get("edgedefault", attributes.get("defaultedgetype", ""))
                yield GraphPart("graph", line, attributes, direction.strip().lower())
            case "attributes":
                declared = attributes.get("class", ""), ""
            case "key" | "attribute":
                kind = attributes.get("for", "all") if name == "key" else declared[0]
                declared = kind, attributes.get("id", "")
                if len(titles) < _MAX_DECLARED:
                    titles[declared] = attributes.get("attr.name" if name == "key" else "title", declared[1])
            case "hyperedge":
                raise source.error(line, "hyperedges (edges between more than two people) cannot be read")
            case _ if name.endswith(":position") and inside == "node":
                yield GraphPart("node value", line, title="x", text=attributes.get("x", ""))
                yield GraphPart("node value", line, title="y", text=attributes.get("y", ""))
