"""GEXF, the format of Gephi: nodes and edges in XML, with ``<attvalue>`` beside an edge."""

from claim.networks.formats.base import PROBABILITY_NAMES, Format, Options, Parsed, parse_probability
from claim.networks.formats.text import Source, shown
from claim.networks.formats.xml import parse_xml
from claim.networks.formats.xmlgraph import GraphRecorder

_DIRECTIONS = {"directed": True, "undirected": False}


def read(source: Source, options: Options) -> Parsed:
    """Read a GEXF file; people go by their node's id."""
    reader = _Reader(source, options)
    parse_xml(source, "gexf", reader)
    return reader.graph.parsed()


class _Reader:
    def __init__(self, source: Source, options: Options) -> None:
        self.graph = GraphRecorder(source, options)
        self._source, self._options = source, options
        self._probability_ids: set[str] = set()
        self._attribute_class: str | None = None
        self._attribute: str | None = None
        self._graphs = 0
        self._in_node = self._in_edge = False

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "graph":
            self._start_graph(attributes, line)
        elif name == "node":
            self._start_node(attributes, line)
        elif name == "edge":
            self._in_edge = True
            self.graph.edge(attributes, line, self._direction(attributes.get("type"), line))
        elif name == "attributes":
            self._attribute_class = attributes.get("class")
        elif name == "attribute":
            self._start_attribute(attributes)
        elif name == "attvalue" and self._in_edge and _meant(attributes) in self._probability_ids:
            self.graph.probability(attributes.get("value", ""), line)

    def end(self, name: str, text: str, line: int) -> None:
        if name == "node":
            self._in_node = False
        elif name == "edge":
            self._in_edge = False
        elif name == "default" and self._attribute in self._probability_ids:
            self.graph.default_probability = parse_probability(self._source, line, text)

    def _start_graph(self, attributes: dict[str, str], line: int) -> None:
        self._graphs += 1
        if self._graphs > 1:
            problem = "graphs nested in graphs cannot be read" if self._in_node else "more than one graph in the file"
            raise self._source.error(line, problem)
        self.graph.directed = attributes.get("defaultedgetype", "").strip().lower() == "directed"

    def _start_node(self, attributes: dict[str, str], line: int) -> None:
        if self._in_node or "pid" in attributes:
            raise self._source.error(line, "nodes nested in nodes cannot be read")
        self._in_node = True
        self.graph.node(attributes, line)

    def _start_attribute(self, attributes: dict[str, str]) -> None:
        self._attribute = None
        if self._attribute_class == "edge" and attributes.get("title", "").casefold() in PROBABILITY_NAMES:
            self._attribute = attributes.get("id", "")
            self._probability_ids.add(self._attribute)

    def _direction(self, kind: str | None, line: int) -> bool | None:
        kind = None if kind is None else kind.strip().lower()
        if kind is not None and kind not in _DIRECTIONS and self._options.directed is None:
            raise self._source.error(line, f"an edge is directed or undirected, not {shown(kind)}")
        return None if kind is None else _DIRECTIONS.get(kind)


def _meant(attributes: dict[str, str]) -> str | None:
    return attributes.get("for", attributes.get("id"))  # old files say id where newer ones say for


FORMAT = Format("GEXF", (".gexf",), lambda head: head.startswith(b"<") and b"<gexf" in head, read)
