"""GraphML: nodes and edges in XML, with ``<key>`` declaring what ``<data>`` means."""

from claim.networks.formats.base import PROBABILITY_NAMES, Format, Options, Parsed, parse_probability
from claim.networks.formats.text import Source
from claim.networks.formats.xml import parse_xml
from claim.networks.formats.xmlgraph import GraphRecorder


def read(source: Source, options: Options) -> Parsed:
    """Read the one graph of a GraphML file; people go by their node's id."""
    reader = _Reader(source, options)
    parse_xml(source, "graphml", reader)
    return reader.graph.parsed()


class _Reader:
    def __init__(self, source: Source, options: Options) -> None:
        self.graph = GraphRecorder(source, options)
        self._source = source
        self._probability_keys: set[str] = set()
        self._open_key: str | None = None  # of the <key> or <data> element we are in
        self._graphs = 0
        self._in_graph = self._in_edge = False

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "key":
            self._start_key(attributes)
        elif name == "graph":
            self._start_graph(attributes, line)
        elif name == "hyperedge":
            raise self._source.error(line, "hyperedges (edges between more than two people) cannot be read")
        elif name == "node":
            self.graph.node(attributes, line)
        elif name == "edge":
            self._in_edge = True
            self.graph.edge(attributes, line, _direction(attributes.get("directed")))
        elif name == "data":
            self._open_key = attributes.get("key")

    def end(self, name: str, text: str, line: int) -> None:
        if name == "default" and self._open_key in self._probability_keys:
            self.graph.default_probability = parse_probability(self._source, line, text)
        elif name == "data" and self._in_edge and self._open_key in self._probability_keys:
            self.graph.probability(text, line)
        elif name == "edge":
            self._in_edge = False
        elif name == "graph":
            self._in_graph = False

    def _start_key(self, attributes: dict[str, str]) -> None:
        self._open_key = attributes.get("id")
        name = attributes.get("attr.name", self._open_key or "")
        belongs_to_edges = attributes.get("for", "all") in ("edge", "all")
        if self._open_key and belongs_to_edges and name.casefold() in PROBABILITY_NAMES:
            self._probability_keys.add(self._open_key)

    def _start_graph(self, attributes: dict[str, str], line: int) -> None:
        if self._in_graph:
            raise self._source.error(line, "graphs nested in graphs cannot be read")
        self._graphs += 1
        if self._graphs > 1:
            raise self._source.error(line, "more than one graph in the file")
        self._in_graph = True
        self.graph.directed = attributes.get("edgedefault", "").strip().lower() == "directed"


def _direction(value: str | None) -> bool | None:
    return None if value is None else value.strip().lower() in ("true", "1")


FORMAT = Format("GraphML", (".graphml",), lambda head: head.startswith(b"<") and b"<graphml" in head, read)
