"""GraphML and GEXF."""

import math
from array import array
from collections.abc import Mapping

import numpy as np

from claim.io.text import Source, shown
from claim.io.xml import parse_xml
from claim.networks.formats.base import PROBABILITY_NAMES, Format, Options, Parsed, People, parse_probability
from claim.networks.network import FloatArray


class GraphRecorder:
    """Collects nodes and edges in any order and checks at the end that they fit together."""

    def __init__(self, source: Source, options: Options) -> None:
        self.directed = False  # as the file says
        self.default_probability = math.nan
        self._source, self._options = source, options
        self._people = People(source)
        self._declared: dict[int, None] = {}
        self._undeclared: dict[int, int] = {}  # person -> line of the first edge that needs it
        self._sources, self._targets, self._probabilities = array("q"), array("q"), array("d")
        self._lines = array("q")

    def node(self, attributes: Mapping[str, str], line: int) -> None:
        """A node is declared."""
        name = self._required(attributes, "id", "a node", line)
        person = self._people.number(name, line)
        if person in self._declared:
            raise self._source.error(line, f"node {shown(name)} is declared twice")
        self._declared[person] = None
        self._undeclared.pop(person, None)

    def edge(self, attributes: Mapping[str, str], line: int, directed: bool | None) -> None:
        """An edge begins; ``directed`` is what it says of itself."""
        if self._options.directed is None and directed is not None and directed != self.directed:
            raise self._source.error(line, "directed and undirected edges are mixed; say which to read them as")
        self._sources.append(self._end(attributes, "source", line))
        self._targets.append(self._end(attributes, "target", line))
        self._probabilities.append(self.default_probability)
        self._lines.append(line)
        for name, value in attributes.items():
            if name.casefold() in PROBABILITY_NAMES:
                self.probability(value, line)

    def probability(self, text: str, line: int) -> None:
        """The last edge's probability."""
        self._probabilities[-1] = parse_probability(self._source, line, text)

    def parsed(self) -> Parsed:
        """Everything collected, once the file has been read."""
        if self._undeclared:
            person, line = min(self._undeclared.items(), key=lambda item: item[1])
            name = shown(list(self._people.index)[person])
            raise self._source.error(line, f"the edge names {name}, but there is no such node")
        labels, index = self._people.labelled(order=list(self._declared))
        directed = self.directed if self._options.directed is None else self._options.directed
        sources = index[np.array(self._sources, dtype=np.int64)]
        targets = index[np.array(self._targets, dtype=np.int64)]
        return Parsed(labels, sources, targets, directed, self._checked_probabilities())

    def _end(self, attributes: Mapping[str, str], side: str, line: int) -> int:
        person = self._people.number(self._required(attributes, side, "an edge", line), line)
        if person not in self._declared:
            self._undeclared.setdefault(person, line)
        return person

    def _required(self, attributes: Mapping[str, str], name: str, what: str, line: int) -> str:
        value = attributes.get(name, "").strip()
        if not value:
            raise self._source.error(line, f"{what} has no {name}")
        return value

    def _checked_probabilities(self) -> FloatArray | None:
        values = np.array(self._probabilities, dtype=np.float64)
        missing = np.isnan(values)
        if not missing.any() and len(values):
            return values
        if len(values) and (self._options.probabilities or not missing.all()):
            raise self._source.error(self._lines[int(missing.argmax())], "the probability of this edge is missing")
        return None


def read_graphml(source: Source, options: Options) -> Parsed:
    """Read the one graph of a GraphML file; people go by their node's id."""
    reader = _GraphML(source, options)
    parse_xml(source, "graphml", reader)
    return reader.graph.parsed()


class _GraphML:
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


GRAPHML = Format("GraphML", (".graphml",), lambda head: head.startswith(b"<") and b"<graphml" in head, read_graphml)


_DIRECTIONS = {"directed": True, "undirected": False}


def read_gexf(source: Source, options: Options) -> Parsed:
    """Read a GEXF file; people go by their node's id."""
    reader = _Gexf(source, options)
    parse_xml(source, "gexf", reader)
    return reader.graph.parsed()


class _Gexf:
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


GEXF = Format("GEXF", (".gexf",), lambda head: head.startswith(b"<") and b"<gexf" in head, read_gexf)
