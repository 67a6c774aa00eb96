"""The hidden network: immutable adjacency arrays with people's labels."""

import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from claim.errors import InputError
from claim.io.columns import PROBABILITY_NAMES
from claim.io.text import Source, shown

if TYPE_CHECKING:
    import networkx

    from claim.networks.groups import Groups, People

Label: TypeAlias = int | str
IntArray: TypeAlias = npt.NDArray[np.int32]
OffsetArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

NetworkLike: TypeAlias = Any  # a name, a path, or an object that Network.of takes

EDGE_PROBABILITY = "probability"  # name of the edge attribute in networkx graphs and XML files


@dataclass(frozen=True)
class Dropped:
    """What was left out when a network was made, for a note to the user."""

    self_loops: int = 0
    duplicates: int = 0

    def __bool__(self) -> bool:
        return bool(self.self_loops or self.duplicates)

    def __str__(self) -> str:
        counts = {"self-loop": self.self_loops, "duplicate edge": self.duplicates}
        parts = [f"{count} {what}{'s' * (count > 1)}" for what, count in counts.items() if count]
        return f"dropped {' and '.join(parts)}" if parts else "nothing dropped"


@dataclass(frozen=True, eq=False)
class Network:
    """People ``0..n-1`` and their contacts in compressed sparse rows.

    ``contacts[offsets[u]:offsets[u + 1]]`` are the contacts of ``u`` in ascending order. An undirected edge stands in
    both rows; a directed one in the row of its source. ``probabilities`` run parallel to ``contacts`` and are ``None``
    where every edge shares the one ``p`` given to a cascade. Use :meth:`from_edges` to make one.
    """

    offsets: OffsetArray
    contacts: IntArray
    labels: Sequence[Label]
    directed: bool = False
    probabilities: FloatArray | None = None
    name: str = "network"
    dropped: Dropped = field(default_factory=Dropped)
    people_file: Source | None = None  # says more about the people, and is read when that is asked for

    def __post_init__(self) -> None:
        for array in (self.offsets, self.contacts, self.probabilities):
            if array is not None:
                array.setflags(write=False)

    @classmethod
    def from_edges(
        cls,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        *,
        n: int | None = None,
        labels: Sequence[Label] | None = None,
        directed: bool = False,
        probabilities: npt.ArrayLike | None = None,
        name: str = "network",
    ) -> "Network":
        """A network from two arrays of indices ``0..n-1``; self-loops and repeated edges are dropped and counted.

        Of a repeated edge the first one's probability is kept. People without any edge exist if ``n`` or ``labels``
        says so.
        """
        u, v = _index_array(sources), _index_array(targets)
        if len(u) != len(v):
            raise InputError(f"edges need as many sources as targets, got {len(u)} and {len(v)}")
        n = _people_count(u, v, n, labels)
        p = None if probabilities is None else _checked_probabilities(probabilities, len(u))

        edges = np.flatnonzero(u != v)
        if not directed:
            u, v = np.minimum(u, v), np.maximum(u, v)
        first = np.unique(u[edges] * np.int64(n) + v[edges], return_index=True)[1]
        dropped = Dropped(len(u) - len(edges), len(edges) - len(first))
        edges = edges[first]
        u, v = u[edges], v[edges]
        if not directed:
            u, v, edges = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([edges, edges])
        order = np.lexsort((v, u))
        offsets = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(u, minlength=n), out=offsets[1:])
        p = None if p is None else p[edges[order]]
        people = tuple(range(n) if labels is None else labels)
        return cls(offsets, v[order].astype(np.int32), people, directed, p, name, dropped)

    @classmethod
    def of(cls, thing: Any) -> "Network":
        """Convert a networkx graph, a scipy sparse matrix or PyG data.

        PyG data are an object with ``edge_index`` of shape [2, E] and ``num_nodes``. A matrix or PyG data that has
        every edge in both directions is undirected; its values are not used. :func:`claim.load` also takes names and
        paths.
        """
        networkx, sparse = sys.modules.get("networkx"), sys.modules.get("scipy.sparse")  # imported already, or not used
        if isinstance(thing, Network):
            return thing
        if networkx is not None and isinstance(thing, networkx.Graph):
            return cls.from_networkx(thing)
        if sparse is not None and sparse.issparse(thing):
            rows, columns = thing.shape
            if rows != columns:
                raise InputError(f"a matrix of a network is square, got {rows} rows and {columns} columns")
            sources, targets = thing.nonzero()
            return cls._from_pairs(sources, targets, rows)
        if hasattr(thing, "edge_index") and hasattr(thing, "num_nodes"):
            index = thing.edge_index
            index = np.asarray(index.detach().cpu() if hasattr(index, "detach") else index)
            if index.ndim != 2 or len(index) != 2:
                raise InputError(f"edge_index must have the shape [2, E], got {list(index.shape)}")
            return cls._from_pairs(index[0], index[1], None if thing.num_nodes is None else int(thing.num_nodes))
        kinds = "a network name, path, Network, networkx graph, scipy sparse matrix or PyG data"
        raise InputError(f"expected {kinds}, got {type(thing).__name__}")

    @classmethod
    def from_networkx(cls, graph: "networkx.Graph[Any]", name: str | None = None) -> "Network":
        """A network from a networkx graph; every edge has the attribute ``probability`` (or ``p``), or none has."""
        labels = [node if isinstance(node, int | str) else str(node) for node in graph.nodes]
        index: dict[Hashable, int] = {node: i for i, node in enumerate(graph.nodes)}
        edges = list(graph.edges(data=True))
        given = [value for *_, data in edges for key, value in data.items() if str(key).casefold() in PROBABILITY_NAMES]
        if given and len(given) < len(edges):
            raise InputError(f"{len(edges) - len(given)} of {len(edges)} edges have no {EDGE_PROBABILITY}")
        sources, targets = ([index[edge[end]] for edge in edges] for end in (0, 1))
        p, name = given or None, name or graph.name or "network"
        return cls.from_edges(sources, targets, labels=labels, directed=graph.is_directed(), probabilities=p, name=name)

    @classmethod
    def _from_pairs(cls, sources: npt.ArrayLike, targets: npt.ArrayLike, n: int | None) -> "Network":
        """A network from directed pairs, undirected if each has its opposite."""
        u, v = _index_array(sources), _index_array(targets)
        n = _people_count(u, v, n, None)
        directed = not np.array_equal(np.unique(u * n + v), np.unique(v * n + u))
        network = cls.from_edges(u, v, n=n, directed=directed)
        return network if directed else replace(network, dropped=Dropped(network.dropped.self_loops))

    def to_networkx(self) -> "networkx.Graph[Any]":
        """The same network as a networkx graph with labels as nodes."""
        import networkx

        graph: networkx.Graph[Any] = (networkx.DiGraph if self.directed else networkx.Graph)(name=self.name)
        graph.add_nodes_from(self.labels)
        sources, targets, probabilities = self.edges()
        for i, (u, v) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True)):
            attributes = {} if probabilities is None else {EDGE_PROBABILITY: float(probabilities[i])}
            graph.add_edge(self.labels[u], self.labels[v], **attributes)
        return graph

    @property
    def n(self) -> int:
        """The number of people."""
        return len(self.offsets) - 1

    @property
    def m(self) -> int:
        """The number of edges; an undirected edge counts once."""
        return len(self.contacts) if self.directed else len(self.contacts) // 2

    @cached_property
    def degrees(self) -> IntArray:
        """The number of contacts of each person (out-degree if directed)."""
        return np.diff(self.offsets).astype(np.int32)

    def contacts_of(self, person: int) -> IntArray:
        """The contacts of one person, ascending."""
        return self.contacts[self.offsets[person] : self.offsets[person + 1]]

    def edges(self) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Sources, targets and probabilities of all edges; an undirected one once, smaller index first."""
        sources = np.repeat(np.arange(len(self.degrees), dtype=np.int32), self.degrees)
        keep = slice(None) if self.directed else sources < self.contacts
        probabilities = None if self.probabilities is None else self.probabilities[keep]
        return sources[keep], self.contacts[keep], probabilities

    @cached_property
    def _index(self) -> dict[Label, int]:
        by_text: dict[Label, int] = {str(label): i for i, label in enumerate(self.labels)}
        return by_text | {label: i for i, label in enumerate(self.labels)}

    def index_of(self, label: Label) -> int:
        """The index of a person's label; ``"7"`` also finds the integer label 7, and 7 the text label ``"7"``."""
        known = self._index
        found = known.get(label) if isinstance(label, Hashable) else None
        found = known.get(str(label)) if found is None else found
        if found is None:
            raise InputError(f"there is no person {label!r} in {self.name}")
        return found

    def indices_of(self, labels: Iterable[Label]) -> list[int]:
        """The indices of people given by label, each once."""
        return list(dict.fromkeys(map(self.index_of, label_list(labels))))

    def with_people(self, labels: Iterable[Label]) -> "Network":
        """The network with all of these people; those who were not in it have no contacts."""
        there = {str(label) for label in self.labels}
        more = [label for label in dict.fromkeys(label_list(labels)) if str(label) not in there]
        if not more:
            return self
        offsets = np.append(self.offsets, np.full(len(more), self.offsets[-1]))
        return replace(self, offsets=offsets, labels=(*self.labels, *more))

    @cached_property
    def people(self) -> "People":
        """What is known of the people besides their contacts."""
        from claim.networks.groups import People, read_people

        return People({}) if self.people_file is None else read_people(self.people_file, self.labels)

    def groups(self, attribute: str) -> "Groups":
        """The groups that an attribute of the people makes."""
        from claim.networks.groups import Groups

        known = self.people.attributes
        if attribute not in known:
            listed = f"known: {', '.join(map(shown, known))}" if known else "add a file of people"
            raise InputError(f"{self.name}: {shown(attribute)} is not known of its people ({listed})")
        return Groups.of(attribute, known[attribute])

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the structure: direction, labels, edges and probabilities, whatever file they came from."""
        sources, targets, probabilities = self.edges()
        digest = sha256(f"{self.directed} {self.n}\n".encode())
        digest.update("\n".join(map(str, self.labels)).encode())
        for array in (sources, targets, probabilities):
            if array is not None:
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.checksum == other.checksum if isinstance(other, Network) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.checksum)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"Network({self.name!r}, {kind}, {self.n} people, {self.m} edges)"


def label_list(labels: Iterable[Label]) -> list[Label]:
    """The labels of people as a list; one label alone is refused."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"people must be a list of labels, got {labels!r}")
    return list(labels)


def _index_array(values: npt.ArrayLike) -> OffsetArray:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InputError("edges are given as two flat arrays of integer indices")
    return array.astype(np.int64)


def _people_count(u: OffsetArray, v: OffsetArray, n: int | None, labels: Sequence[Label] | None) -> int:
    seen = int(max(u.max(), v.max())) + 1 if len(u) else 0
    if len(u) and min(u.min(), v.min()) < 0:
        raise InputError("indices of people start at 0")
    if labels is not None:
        if len(set(labels)) < len(labels):
            raise InputError("two people have the same label")
        if n is not None and n != len(labels):
            raise InputError(f"{len(labels)} labels for {n} people")
        n = len(labels)
    if n is not None and seen > n:
        raise InputError(f"an edge names person {seen - 1}, but there are only {n} people (0 to {n - 1})")
    return seen if n is None else n


def _checked_probabilities(values: npt.ArrayLike, count: int) -> FloatArray:
    p = np.asarray(values, dtype=np.float64)
    if p.shape != (count,):
        raise InputError(f"{p.size} probabilities for {count} edges")
    if not ((p >= 0) & (p <= 1)).all():  # also false for NaN
        raise InputError(f"probability must be between 0 and 1, got {p[~((p >= 0) & (p <= 1))][0]}")
    return p
