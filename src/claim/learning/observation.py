"""What the Q-network sees of a discovered network: rows of people, features, batches."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from claim.discovery import Discovered, Status
from claim.learning.config import Config
from claim.learning.deepwalk import DeepWalk
from claim.learning.netmf import netmf

Float32Array = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowGraph:
    """Rows, the edges between them (both directions) and who stands behind them.

    An edge between two rows means that every member of the one is a contact of every member of the other.
    """

    multiplicity: Float32Array  # people per row
    sources: IndexArray
    targets: IndexArray
    surveyed: npt.NDArray[np.bool_]
    frontier: IndexArray  # rows that may be chosen
    members: tuple[tuple[int, ...], ...]  # local indices of the people of each row

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.multiplicity)

    @property
    def people(self) -> float:
        """How many people they stand for."""
        return float(self.multiplicity.sum())

    @property
    def degrees(self) -> Float32Array:
        """The number of contacts of each member of a row."""
        weights = self.multiplicity[self.targets]
        return np.bincount(self.sources, weights, minlength=self.rows).astype(np.float32)

    @property
    def cover(self) -> npt.NDArray[np.bool_]:
        """Rows of which every edge has one: the surveyed ones, and both ends of edges between others."""
        between_others = ~(self.surveyed[self.sources] | self.surveyed[self.targets])
        covering = self.surveyed.copy()
        covering[self.sources[between_others]] = True
        return covering

    def adjacency(self) -> Float32Array:
        """The edges between rows as a dense matrix of 0 and 1."""
        dense = np.zeros((self.rows, self.rows), dtype=np.float32)
        dense[self.sources, self.targets] = 1.0
        return dense


def class_rows(discovered: Discovered) -> RowGraph:
    """Surveyed people in the order of their surveys, then the classes."""
    classes = discovered.classes
    members = [(person,) for person in discovered.surveyed] + [group.members for group in classes]
    statuses = [Status.SURVEYED] * len(discovered.surveyed) + [group.status for group in classes]
    return _row_graph(discovered, members, statuses)


def person_rows(discovered: Discovered) -> RowGraph:
    """Every person their own row, for features that differ within a class."""
    people = range(len(discovered))
    return _row_graph(discovered, [(person,) for person in people], [discovered.status[person] for person in people])


def _row_graph(discovered: Discovered, members: list[tuple[int, ...]], statuses: list[Status]) -> RowGraph:
    row_of = {person: row for row, people in enumerate(members) for person in people}
    sources: list[int] = []
    targets: list[int] = []
    for row, people in enumerate(members):
        near = sorted({row_of[contact] for contact in discovered.contacts[people[0]]})
        sources.extend([row] * len(near))
        targets.extend(near)
    return RowGraph(
        np.array([len(people) for people in members], dtype=np.float32),
        np.array(sources, dtype=np.int64),
        np.array(targets, dtype=np.int64),
        np.array([status == Status.SURVEYED for status in statuses], dtype=np.bool_),
        np.array([row for row, status in enumerate(statuses) if status == Status.NAMED], dtype=np.int64),
        tuple(members),
    )


@dataclass(frozen=True)
class State:
    """S_t = (F_t, A_t) on rows: features, multiplicities, adjacency in compressed rows, and the rows open to choice.

    The diagonal is stored with the adjacency (as zeros), so that both matrices share their pattern: ``adjacency`` is A,
    and ``smoothing`` is sqrt(c_i) P_ij / sqrt(c_j) with P = D^-1/2 (A + I) D^-1/2 between people, which is symmetric.
    """

    features: Float32Array
    multiplicity: Float32Array
    offsets: IndexArray
    columns: IndexArray
    adjacency: Float32Array
    smoothing: Float32Array
    frontier: IndexArray

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.multiplicity)

    @classmethod
    def of(cls, graph: RowGraph, features: Float32Array) -> "State":
        """The state of a row graph with the features of its rows."""
        own = np.arange(graph.rows)
        sources = np.concatenate([graph.sources, own])
        columns = np.concatenate([graph.targets, own])
        order = np.lexsort((columns, sources))
        sources, columns = sources[order], columns[order]
        between = (sources != columns).astype(np.float32)
        degree = graph.degrees + 1.0
        count = graph.multiplicity
        # Within a class nobody is a contact of anybody: the diagonal is a person's own share, not their class's.
        weight = np.where(between > 0, np.sqrt(count[sources] * count[columns]), 1.0)
        smoothing = weight / np.sqrt(degree[sources] * degree[columns])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=graph.rows))])
        return cls(features, count, offsets, columns, between, smoothing.astype(np.float32), graph.frontier)


# PyTorch says once a process that CSR is in beta; let it say so where nobody hears it. What is used of it is tested.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1), check_invariants=False)


@dataclass(frozen=True)
class Batch:
    """The rows of several states, one state after the other; the matrices are block-diagonal and sparse."""

    starts: IndexArray  # where each state begins
    features: Tensor  # (rows, features)
    multiplicity: Tensor  # (rows, 1)
    people: Tensor  # (rows, 1), of the whole state that a row belongs to
    adjacency: Tensor  # sparse
    smoothing: Tensor  # sparse
    places: Tensor  # of each row, in a table of as many rows for every state as the largest has
    width: int

    @classmethod
    def of(cls, states: Sequence[State]) -> "Batch":
        """Stack states."""
        counts = np.array([state.rows for state in states])
        starts, width = np.cumsum(counts) - counts, int(counts.max())
        entries = np.array([len(state.columns) for state in states])
        ends = np.concatenate([state.offsets[1:] for state in states]) + np.repeat(np.cumsum(entries) - entries, counts)
        offsets = torch.from_numpy(np.concatenate([[0], ends]))
        columns = np.concatenate([state.columns for state in states]) + np.repeat(starts, entries)
        within = torch.from_numpy(columns)
        multiplicity = np.concatenate([state.multiplicity for state in states])
        people = np.repeat(np.add.reduceat(multiplicity, starts), counts)

        def matrix(values: list[Float32Array]) -> Tensor:
            size = (len(ends), len(ends))
            weights = torch.from_numpy(np.concatenate(values))
            return torch.sparse_csr_tensor(offsets, within, weights, size, check_invariants=False)

        return cls(
            starts,
            torch.from_numpy(np.concatenate([state.features for state in states])),
            torch.from_numpy(multiplicity[:, None]),
            torch.from_numpy(people[:, None]),
            matrix([state.adjacency for state in states]),
            matrix([state.smoothing for state in states]),
            torch.from_numpy(np.arange(len(ends)) + np.repeat(np.arange(len(states)) * width - starts, counts)),
            width,
        )

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.starts)

    def padded(self, rows: Tensor) -> Tensor:
        """Something of every row as a (size, width, ...) table, with zeros where a state has fewer rows."""
        table = rows.new_zeros(self.size * self.width, rows.shape[1]).index_copy(0, self.places, rows)
        return table.view(self.size, self.width, -1)


class _Symmetric(torch.autograd.Function):
    """A symmetric sparse matrix times a dense one; the gradient is the same product."""

    @staticmethod
    def forward(context: torch.autograd.function.FunctionCtx, matrix: Tensor, dense: Tensor) -> Tensor:
        """The product."""
        context.matrix = matrix  # type: ignore[attr-defined]
        return matrix @ dense

    @staticmethod
    def backward(context: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[None, Tensor]:
        """No gradient for the matrix."""
        return None, context.matrix @ gradient.contiguous()  # type: ignore[attr-defined]


def multiply(matrix: Tensor, dense: Tensor) -> Tensor:
    """Symmetric sparse matrix times dense, differentiable in the dense one."""
    product: Tensor = _Symmetric.apply(matrix, dense)  # type: ignore[no-untyped-call]
    return product


FLAGS = 2  # surveyed, open to choice


@dataclass
class Featuriser:
    """Node features of successive graphs of one study: DeepWalk or its closed form, and two flags."""

    config: Config
    rng: np.random.Generator
    _previous: Float32Array | None = None  # vectors of the people known at the last step, to start from

    def __call__(self, discovered: Discovered) -> tuple[RowGraph, State]:
        """The rows of a graph and the state."""
        if self.config.features == "netmf":
            graph = class_rows(discovered)
            vectors = netmf(graph.adjacency(), graph.multiplicity, self.config.dimensions, cover=graph.cover)
        else:
            graph = person_rows(discovered)
            walks = DeepWalk(dimensions=self.config.dimensions)
            vectors = walks.embed(discovered.as_network(), self.rng, self._previous)
            self._previous = vectors
        return graph, State.of(graph, np.concatenate([vectors, _flags(graph)], axis=1))


def _flags(graph: RowGraph) -> Float32Array:
    flags = np.zeros((graph.rows, FLAGS), dtype=np.float32)
    flags[graph.surveyed, 0] = 1.0
    flags[graph.frontier, 1] = 1.0
    return flags
