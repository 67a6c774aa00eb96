"""What the Q-network sees of a discovered network: rows of people, their features, states and batches of states."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from claim.discovery import Discovered, Status
from claim.learning.config import Shape
from claim.learning.netmf import netmf

Float32Array = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.int64]
FLAGS = 2  # features beside the others: surveyed, open to choice
SIGNALS = (
    *(
        "contacts",
        "people alike",
        "mean contacts of contacts",
        "most contacts of a contact",
        "fewest contacts of a contact",
    ),
    *("people surveyed", "people known", "mean contacts of the surveyed", "their deviation", "share named by several"),
)


def observe(discovered: Discovered, shape: Shape) -> tuple["RowGraph", "State"]:
    """The rows of a discovered network, and the state S_t = (F_t, A_t) on them."""
    graph = class_rows(discovered)
    if shape.features == "netmf":
        vectors = netmf(graph.adjacency(), graph.multiplicity, shape.dimensions, cover=graph.cover)
    else:
        vectors = signals(graph)
    flags = np.stack([graph.surveyed, np.zeros(graph.rows)], axis=1).astype(np.float32)
    flags[graph.frontier, 1] = 1.0
    return graph, State.of(graph, np.concatenate([vectors, flags], axis=1))


def signals(graph: "RowGraph") -> Float32Array:
    """What a team can count about the people of each row and about the study: (rows, signals), see ``SIGNALS``.

    Counts are logarithms of 1 + x, those of the study relative to a typical one.
    """
    count, sources, targets = graph.multiplicity.astype(np.float64), graph.sources, graph.targets
    contacts = np.bincount(sources, count[targets], minlength=graph.rows)
    around = np.bincount(sources, count[targets] * contacts[targets], minlength=graph.rows) / np.maximum(contacts, 1)
    most, fewest = np.zeros(graph.rows), np.full(graph.rows, np.inf)
    np.maximum.at(most, sources, contacts[targets])
    np.minimum.at(fewest, sources, contacts[targets])
    fewest[contacts == 0] = 0
    people, surveyed = count.sum(), np.log1p(contacts[graph.surveyed])
    several = count[(contacts > 1) & ~graph.surveyed].sum() / max(people - len(surveyed), 1)
    spread = (surveyed.mean() - 1.5, surveyed.std()) if len(surveyed) else (0.0, 0.0)
    study = np.log(max(len(surveyed), 1) / 5), np.log(max(people, 1) / 50), *spread, several
    rows = np.log1p([contacts, count - 1, around, most, fewest])
    return np.concatenate([rows.T, np.tile(study, (graph.rows, 1))], axis=1).astype(np.float32)


@dataclass(frozen=True)
class RowGraph:
    """Rows of people who cannot be distinguished by what was seen, and the edges between rows, in both directions.

    An edge between two rows means that every member of the one is a contact of every member of the other.
    """

    multiplicity: Float32Array  # (rows,), people per row
    sources: IndexArray  # (edges,)
    targets: IndexArray  # (edges,)
    surveyed: npt.NDArray[np.bool_]  # (rows,)
    frontier: IndexArray  # rows that may be chosen
    members: tuple[tuple[int, ...], ...]  # local indices of the people of each row

    @property
    def rows(self) -> int:
        return len(self.multiplicity)

    @property
    def cover(self) -> npt.NDArray[np.bool_]:
        """Rows that touch every edge: the surveyed ones, and both ends of edges between others."""
        between_others = ~(self.surveyed[self.sources] | self.surveyed[self.targets])
        covering = self.surveyed.copy()
        covering[self.sources[between_others]] = True
        return covering

    def adjacency(self) -> Float32Array:
        """The edges between rows as a dense (rows, rows) matrix of 0 and 1."""
        dense = np.zeros((self.rows, self.rows), dtype=np.float32)
        dense[self.sources, self.targets] = 1.0
        return dense


def class_rows(discovered: Discovered) -> RowGraph:
    """Surveyed people in the order of their surveys, then the classes of all others."""
    members = [(person,) for person in discovered.surveyed] + [group.members for group in discovered.classes]
    row_of = {person: row for row, people in enumerate(members) for person in people}
    status = np.array([discovered.status[people[0]] for people in members])
    near = [sorted({row_of[contact] for contact in discovered.contacts[people[0]]}) for people in members]
    return RowGraph(
        np.array([len(people) for people in members], dtype=np.float32),
        np.repeat(np.arange(len(members)), np.array([len(rows) for rows in near], dtype=np.int64)),
        np.array([row for rows in near for row in rows], dtype=np.int64),
        status == Status.SURVEYED,
        np.flatnonzero(status == Status.NAMED),
        tuple(members),
    )


@dataclass(frozen=True)
class State:
    """S_t = (F_t, A_t) on rows, as the replay buffer keeps it.

    Both matrices are in compressed rows and share their pattern, for which the diagonal of the adjacency is stored as
    zeros. ``smoothing`` is sqrt(c_i) P_ij / sqrt(c_j) with P = D^-1/2 (A + I) D^-1/2 between people; it is symmetric.
    """

    features: Float32Array  # (rows, features)
    multiplicity: Float32Array  # (rows,), c: people per row
    offsets: IndexArray  # (rows + 1,)
    columns: IndexArray  # (entries,)
    adjacency: Float32Array  # (entries,), A
    smoothing: Float32Array  # (entries,)
    frontier: IndexArray  # rows that may be chosen

    @classmethod
    def of(cls, graph: RowGraph, features: Float32Array) -> "State":
        """The state of a row graph with the features of its rows."""
        own, count = np.arange(graph.rows), graph.multiplicity
        sources = np.concatenate([graph.sources, own])
        columns = np.concatenate([graph.targets, own])
        order = np.lexsort((columns, sources))
        sources, columns = sources[order], columns[order]
        between = (sources != columns).astype(np.float32)
        contacts = np.bincount(graph.sources, count[graph.targets], minlength=graph.rows)  # of each member
        degree = contacts.astype(np.float32) + 1.0
        # Members of a class are no contacts of each other: the diagonal is a person's own share, not their class's.
        weight = np.where(between > 0, np.sqrt(count[sources] * count[columns]), 1.0)
        smoothing = weight / np.sqrt(degree[sources] * degree[columns])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=graph.rows))])
        return cls(features, count, offsets, columns, between, smoothing.astype(np.float32), graph.frontier)


# PyTorch warns once per process that CSR is in beta; what is used of it is tested.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1), check_invariants=False)


@dataclass(frozen=True)
class Batch:
    """The rows of several states, one state after the other; the matrices are block-diagonal and sparse."""

    starts: IndexArray  # (states,), where each state begins
    features: Tensor  # (rows, features)
    multiplicity: Tensor  # (rows, 1)
    people: Tensor  # (rows, 1), of the whole state that a row belongs to
    adjacency: Tensor  # (rows, rows), sparse
    smoothing: Tensor  # (rows, rows), sparse
    places: Tensor  # (rows,), in a table of ``width`` rows for every state
    width: int  # rows of the largest state

    @classmethod
    def of(cls, states: Sequence[State]) -> "Batch":
        """Stack states."""
        counts = np.array([len(state.multiplicity) for state in states])
        starts, width = np.cumsum(counts) - counts, int(counts.max())
        entries = np.array([len(state.columns) for state in states])
        ends = np.concatenate([state.offsets[1:] for state in states]) + np.repeat(np.cumsum(entries) - entries, counts)
        offsets = torch.from_numpy(np.concatenate([[0], ends]))
        columns = torch.from_numpy(np.concatenate([state.columns for state in states]) + np.repeat(starts, entries))
        multiplicity = np.concatenate([state.multiplicity for state in states])
        people = np.repeat(np.add.reduceat(multiplicity, starts), counts)

        def matrix(values: list[Float32Array]) -> Tensor:
            weights = torch.from_numpy(np.concatenate(values))
            return torch.sparse_csr_tensor(offsets, columns, weights, (len(ends),) * 2, check_invariants=False)

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

    def padded(self, rows: Tensor) -> Tensor:
        """Values of rows (rows, k) as a table (states, width, k), with zeros where a state has fewer rows."""
        size = len(self.starts)
        table = rows.new_zeros(size * self.width, rows.shape[1]).index_copy(0, self.places, rows)
        return table.view(size, self.width, -1)
