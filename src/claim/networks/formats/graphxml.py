"""GraphML and GEXF; people go by their node's id."""

import math
from array import array
from collections.abc import Mapping

import numpy as np

from claim.io.columns import PROBABILITY_NAMES
from claim.io.text import Source, shown
from claim.io.xml import DIRECTIONS, parse_graph
from claim.networks.formats.base import Format, Options, Parsed, People, parse_probability
from claim.networks.network import FloatArray


def read(source: Source, options: Options, root: str) -> Parsed:
    """Read the one graph of a file whose outermost element is ``root``."""
    graph = _Graph(source, options)
    parse_graph(source, graph, root)
    return graph.parsed()


class _Graph:
    """Collects nodes and edges in any order and checks at the end that they fit together."""

    def __init__(self, source: Source, options: Options) -> None:
        self._source, self._options = source, options
        self._directed = False  # as the file says
        self._default_probability = math.nan
        self._people = People(source)
        self._declared: dict[int, None] = {}
        self._undeclared: dict[int, int] = {}  # person -> line of the first edge that needs it
        self._sources, self._targets, self._probabilities = array("q"), array("q"), array("d")
        self._lines = array("q")

    def graph(self, directed: bool) -> None:
        self._directed = directed

    def element(self, kind: str, attributes: Mapping[str, str], direction: str, line: int) -> None:
        if kind == "node":
            self._node(attributes, line)
            return
        self._check_direction(direction, line)
        for ends, side in ((self._sources, "source"), (self._targets, "target")):
            person = self._person(attributes, side, "an edge", line)
            ends.append(person)
            if person not in self._declared:
                self._undeclared.setdefault(person, line)
        self._probabilities.append(self._default_probability)
        self._lines.append(line)
        for name, value in attributes.items():
            self.value(kind, name, value, line)

    def value(self, kind: str, title: str, text: str, line: int) -> None:
        if kind == "edge" and title.casefold() in PROBABILITY_NAMES:
            self._probabilities[-1] = parse_probability(self._source, line, text.strip())

    def default(self, kind: str, title: str, text: str, line: int) -> None:
        if kind in ("edge", "all") and title.casefold() in PROBABILITY_NAMES:
            self._default_probability = parse_probability(self._source, line, text.strip())

    def parsed(self) -> Parsed:
        """Everything collected, once the file has been read."""
        if self._undeclared:
            person, line = min(self._undeclared.items(), key=lambda item: item[1])
            name = shown(list(self._people.index)[person])
            raise self._source.error(line, f"the edge names {name}, but there is no such node")
        labels, index = self._people.labelled(order=list(self._declared))
        directed = self._directed if self._options.directed is None else self._options.directed
        sources = index[np.array(self._sources, dtype=np.int64)]
        targets = index[np.array(self._targets, dtype=np.int64)]
        return Parsed(labels, sources, targets, directed, self._checked_probabilities())

    def _node(self, attributes: Mapping[str, str], line: int) -> None:
        person = self._person(attributes, "id", "a node", line)
        if person in self._declared:
            raise self._source.error(line, f"node {shown(attributes['id'])} is declared twice")
        self._declared[person] = None
        self._undeclared.pop(person, None)

    def _check_direction(self, direction: str, line: int) -> None:
        if self._options.directed is not None or not direction:
            return
        if direction not in DIRECTIONS:
            raise self._source.error(line, f"an edge is directed or undirected, not {shown(direction)}")
        if DIRECTIONS[direction] != self._directed:
            raise self._source.error(line, "directed and undirected edges are mixed; say which to read them as")

    def _person(self, attributes: Mapping[str, str], name: str, what: str, line: int) -> int:
        label = attributes.get(name, "").strip()
        if not label:
            raise self._source.error(line, f"{what} has no {name}")
        return self._people.number(label, line)

    def _checked_probabilities(self) -> FloatArray | None:
        values = np.array(self._probabilities, dtype=np.float64)
        missing = np.isnan(values)
        if not missing.any() and len(values):
            return values
        if len(values) and (self._options.probabilities or not missing.all()):
            raise self._source.error(self._lines[int(missing.argmax())], "the probability of this edge is missing")
        return None


def _format(name: str, root: str) -> Format:
    return Format(
        name,
        (f".{root}",),
        lambda head: head.startswith(b"<") and f"<{root}".encode() in head,
        lambda source, options: read(source, options, root),
    )


GRAPHML, GEXF = _format("GraphML", "graphml"), _format("GEXF", "gexf")
