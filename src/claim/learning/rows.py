"""A discovered network as rows with multiplicities: one row per surveyed person, one per class of people alike.

Members of a class have the same contacts, so whatever is computed from the graph is the same for all of them. Working
on rows is exactly equal to working on people, and a few dozen rows stand for hundreds of people.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claim.discovery import Discovered, Status

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
