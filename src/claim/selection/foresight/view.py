"""What was discovered, as arrays: the seen contacts, who was surveyed, and who cannot be told apart."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from claim.discovery import Discovered, Status
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class View:
    """A discovered network for kernels.

    ``group`` numbers the classes of people whom nothing seen can tell apart; a surveyed person is a class of their own.
    """

    network: Network
    surveyed: BoolArray
    start: BoolArray
    group: IntArray
    groups: int

    @classmethod
    def of(cls, discovered: Discovered) -> "View":
        """The arrays of what was discovered."""
        n = len(discovered)
        surveyed = np.array([status == Status.SURVEYED for status in discovered.status], dtype=np.bool_)
        start = np.zeros(n, dtype=np.bool_)
        start[discovered.start] = True
        group, groups = _numbered_classes(discovered, n)
        return cls(discovered.as_network(), surveyed, start, group, groups)

    @property
    def n(self) -> int:
        """How many people were discovered."""
        return self.network.n

    @cached_property
    def degree(self) -> FloatArray:
        """Seen contacts of each person: all of them for the surveyed."""
        return self.network.degrees.astype(np.float64)

    @cached_property
    def named(self) -> FloatArray:
        """od(u): by how many surveyed people each person was named."""
        contacts = self.network.contacts
        rows = np.repeat(np.arange(self.n), self.network.degrees)
        named: FloatArray = np.bincount(rows, weights=self.surveyed[contacts], minlength=self.n).astype(np.float64)
        return named


def _numbered_classes(discovered: Discovered, n: int) -> tuple[IntArray, int]:
    group = np.full(n, -1, dtype=np.int32)
    count = 0
    for people in discovered.classes:
        group[list(people.members)] = count
        count += 1
    alone = np.flatnonzero(group < 0)
    group[alone] = np.arange(count, count + len(alone))
    return group, count + len(alone)
