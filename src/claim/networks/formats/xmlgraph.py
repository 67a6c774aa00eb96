"""What GraphML and GEXF share: declared nodes, edges between them, and a probability beside an edge."""

import math
from array import array
from collections.abc import Mapping

import numpy as np

from claim.networks.formats.base import PROBABILITY_NAMES, Options, Parsed, parse_probability
from claim.networks.formats.people import People
from claim.networks.formats.text import Source, shown
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
