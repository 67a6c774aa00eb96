"""GraphML and GEXF; people go by their node's id."""

import math
from array import array

import numpy as np

from claim.io.columns import PROBABILITY_NAMES
from claim.io.text import Source, shown
from claim.io.xml import DIRECTIONS, GraphPart, read_graph
from claim.networks.formats.base import Format, Options, People, parse_probability
from claim.networks.network import FloatArray, Network


def read(source: Source, options: Options, root: str) -> Network:
    """Read the one graph of a file whose outermost element is ``root``; nodes and edges may come in any order."""
    people = People(source)
    declared: dict[int, None] = {}
    undeclared: dict[int, int] = {}  # person -> line of the first edge that needs it
    sources, targets, lines, probabilities = array("q"), array("q"), array("q"), array("d")
    directed, default = False, math.nan

    def person(part: GraphPart, name: str) -> int:
        label = part.attributes.get(name, "").strip()
        if not label:
            raise source.error(part.line, f"{'a node' if part.kind == 'node' else 'an edge'} has no {name}")
        return people.number(label, part.line)

    for part in read_graph(source, root):
        match part.kind:
            case "graph":
                directed = DIRECTIONS.get(part.direction, False)
            case "node":
                node = person(part, "id")
                if node in declared:
                    raise source.error(part.line, f"node {shown(part.attributes['id'])} is declared twice")
                declared[node] = None
                undeclared.pop(node, None)
            case "edge":
                if part.direction and options.directed is None:
                    _check_direction(source, part, directed)
                sources.append(person(part, "source"))
                targets.append(person(part, "target"))
                for end in (sources[-1], targets[-1]):
                    if end not in declared:
                        undeclared.setdefault(end, part.line)
                lines.append(part.line)
                own = next(
                    (text for name, text in part.attributes.items() if name.casefold() in PROBABILITY_NAMES), None
                )
                probabilities.append(default if own is None else parse_probability(source, part.line, own.strip()))
            case "edge value" if part.title.casefold() in PROBABILITY_NAMES:
                probabilities[-1] = parse_probability(source, part.line, part.text.strip())
            case "edge default" if part.title.casefold() in PROBABILITY_NAMES:
                default = parse_probability(source, part.line, part.text.strip())

    if undeclared:
        missing, line = min(undeclared.items(), key=lambda item: item[1])
        raise source.error(line, f"the edge names {shown(list(people.index)[missing])}, but there is no such node")
    labels, index = people.labelled(order=list(declared))
    u, v = (index[np.array(ends, dtype=np.int64)] for ends in (sources, targets))
    if options.directed is not None:
        directed = options.directed
    p = _complete(source, options, np.array(probabilities), lines)
    return Network.from_edges(u, v, labels=labels, directed=directed, probabilities=p)


def _check_direction(source: Source, edge: GraphPart, directed: bool) -> None:
    if edge.direction not in DIRECTIONS:
        raise source.error(edge.line, f"an edge is directed or undirected, not {shown(edge.direction)}")
    if DIRECTIONS[edge.direction] != directed:
        raise source.error(edge.line, "directed and undirected edges are mixed; say which to read them as")


def _complete(source: Source, options: Options, values: FloatArray, lines: "array[int]") -> FloatArray | None:
    """The probabilities of all edges, or None if no edge has one."""
    missing = np.isnan(values)
    if missing.all() and not (options.probabilities and len(values)):
        return None
    if missing.any():
        raise source.error(lines[int(missing.argmax())], "the probability of this edge is missing")
    return values


def _format(root: str) -> Format:
    return Format(
        (f".{root}",),
        lambda head: head.startswith(b"<") and f"<{root}".encode() in head,
        lambda source, options: read(source, options, root),
    )


GRAPHML, GEXF = _format("graphml"), _format("gexf")
