"""Reverse sets: the people who would have reached a random person, drawn in pieces and kept where they are drawn."""

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from claim.cascades.influence import in_chunks
from claim.cascades.kernels import LONGEST_IN_TABLE, UNIT, GapTable, gap_table
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray, OffsetArray
from claim.selection.kernels import FARTHEST, SHORTEST, count_members, cover_sets, draw_reverse_sets, sets_of

T = TypeVar("T")
Piece: TypeAlias = tuple[int, int]  # the first sample and how many there are: a piece is drawn from these alone
TOGETHER = 32  # pieces at a time


class ReverseSampler(NamedTuple):
    """The contacts who can activate each person, and the roots of reverse sets, as kernels draw from them.

    A person whose contacts all fail is a set of their own. The probability of that is known, so only the other sets
    are drawn (Nguyen, Nguyen, Phan and Dinh, "Importance sketching of influence dynamics in billion-scale networks",
    ICDM 2017): the root is drawn by the probability that a contact succeeds, and then one does.
    """

    offsets: OffsetArray  # (n + 1,); the contacts of u are contacts[offsets[u]:offsets[u + 1]]
    contacts: IntArray
    probabilities: FloatArray  # one for each contact, or empty if one is that of all
    largest: FloatArray  # (n,) the largest probability of each person's contacts, or empty
    per_gap: FloatArray  # (n,) 1 / log(1 - largest), below 0, or empty
    table: GapTable  # if one probability is that of all
    alone: FloatArray  # (n,) the probability that all contacts fail; for people with many contacts a lower bound
    roots: FloatArray  # (n,) cumulative sum of 1 - alone
    guide: IntArray  # (n,) the first root of each of n equal slices of that sum

    @classmethod
    def of(cls, network: Network, p: float) -> "ReverseSampler":
        """The sampler of a network; ``p`` is the probability of every tie unless the network has its own."""
        offsets, contacts, own = _against(network)
        degrees = np.diff(offsets)
        largest, per_gap, table = np.zeros(0), np.zeros(0), gap_table(p or 1.0)
        if network.probabilities is None:
            most = table.at_most[np.minimum(degrees, LONGEST_IN_TABLE)]
            alone = np.where(degrees < LONGEST_IN_TABLE, most * UNIT, 0.0) if p else np.ones(network.n)
        else:
            largest = np.zeros(network.n)
            some = np.flatnonzero(degrees)
            largest[some] = np.maximum.reduceat(own, offsets[some]) if len(some) else 0.0
            with np.errstate(divide="ignore", over="ignore"):
                per_gap = np.clip(1.0 / np.log1p(-largest), -FARTHEST, -SHORTEST)
            alone = np.where(degrees > 0, (1.0 - largest) ** degrees, 1.0)
        roots = np.cumsum(1.0 - alone)
        slices = np.arange(network.n) / max(network.n, 1) * (roots[-1] if len(roots) else 0.0)
        guide = np.searchsorted(roots, slices).astype(np.int32)
        sampler = cls(offsets, contacts, own, largest, per_gap, table, alone, roots, guide)
        for array in (*sampler[:5], *sampler[6:]):
            array.setflags(write=False)  # as arrays are that processes share, so that kernels are compiled once
        return sampler

    @property
    def n(self) -> int:
        """The number of people."""
        return len(self.alone)

    @property
    def weight(self) -> float:
        """The expected number of people who are not a set of their own."""
        return float(self.roots[-1]) if len(self.roots) else 0.0


def _against(network: Network) -> tuple[OffsetArray, IntArray, FloatArray]:
    """Offsets, contacts and probabilities of the contacts who can activate each person."""
    own = np.zeros(0) if network.probabilities is None else network.probabilities
    if not network.directed:
        return network.offsets, network.contacts, own
    order = np.argsort(network.contacts, kind="stable")
    offsets = np.zeros(network.n + 1, dtype=np.int64)
    np.cumsum(np.bincount(network.contacts, minlength=network.n), out=offsets[1:])
    sources = np.repeat(np.arange(network.n, dtype=np.int32), network.degrees)[order]
    return offsets, sources, own[order] if len(own) else own


class Drawn(NamedTuple):
    """What is known of a piece without its sets."""

    kept: int  # sets that are kept
    stored: int  # people in them
    met: int  # sets that met one of the people they stop at, which are not kept
    found: int  # people in all sets, up to where they stopped


class Holder(Protocol):
    """Draws reverse sets, keeps them, and covers them: :class:`ReverseSets`, or processes that have one each."""

    def draw(self, pieces: Sequence[Piece], seed: int, stops: IntArray) -> list[Drawn]:
        """Draw and keep the sets that meet none of the people in ``stops``."""

    def drop(self, pieces: Sequence[Piece]) -> None:
        """Forget the sets of some pieces."""

    def begin(self) -> OffsetArray:
        """Uncover all sets; the number of sets that each person is in: (n,)."""

    def follow(self, people: IntArray) -> None:
        """Find the sets of some people, whom ``cover`` may be called with until the next call."""

    def cover(self, person: int, gains: OffsetArray) -> None:
        """Cover the sets of a person, and subtract them from the gains of all in them."""

    def meet(self, pieces: Sequence[Piece], seed: int, leaders: IntArray) -> int:
        """The number of sets of these pieces with a leader among them; none are kept."""

    def close(self) -> None:
        """End what was started for the sets."""


class ReverseSets:
    """Sets in the memory of this process, piece by piece."""

    def __init__(self, sampler: ReverseSampler) -> None:
        self.sampler = sampler
        self._pieces: dict[Piece, tuple[IntArray, IntArray]] = {}  # people set by set, and where each set begins
        self._covered: dict[Piece, npt.NDArray[np.bool_]] = {}
        self._sets: dict[Piece, tuple[IntArray, IntArray]] = {}  # of the people followed
        self._rows: dict[int, int] = {}  # where the people followed are in these

    def draw(self, pieces: Sequence[Piece], seed: int, stops: IntArray) -> list[Drawn]:
        """See :class:`Holder`."""

        def draw(first: int, count: int) -> tuple[IntArray, IntArray, int, int]:
            return draw_reverse_sets(self.sampler, seed, first, count, stops, True)  # type: ignore[no-any-return]

        found = []
        for piece, (members, starts, met, people) in zip(pieces, _each(draw, pieces), strict=True):
            self._pieces[piece] = members, starts
            found.append(Drawn(len(starts) - 1, len(members), met, people))
        return found

    def drop(self, pieces: Sequence[Piece]) -> None:
        """See :class:`Holder`."""
        for piece in pieces:
            del self._pieces[piece]

    def begin(self) -> OffsetArray:
        """See :class:`Holder`."""
        self._covered = {piece: np.zeros(len(starts) - 1, np.bool_) for piece, (_, starts) in self._pieces.items()}
        held = [members for members, _ in self._pieces.values()]

        def count(first: int, number: int) -> OffsetArray:
            total: OffsetArray = np.zeros(self.sampler.n, dtype=np.int64)
            for members in held[first : first + number]:
                count_members(members, total)
            return total

        return np.sum(in_chunks(count, len(held)), axis=0) if held else np.zeros(self.sampler.n, dtype=np.int64)

    def follow(self, people: IntArray) -> None:
        """See :class:`Holder`."""
        row = np.full(self.sampler.n, -1, dtype=np.int32)
        row[people] = np.arange(len(people))

        def find(piece: Piece) -> tuple[IntArray, IntArray]:
            return sets_of(row, len(people), *self._pieces[piece])  # type: ignore[no-any-return]

        found = _each(lambda *piece: find(piece), list(self._pieces))
        self._sets = dict(zip(self._pieces, found, strict=True))
        self._rows = {person: place for place, person in enumerate(people.tolist())}

    def cover(self, person: int, gains: OffsetArray) -> None:
        """See :class:`Holder`."""
        place = self._rows[person]
        for piece, (begins, sets) in self._sets.items():
            cover_sets(sets[begins[place] : begins[place + 1]], *self._pieces[piece], self._covered[piece], gains)

    def meet(self, pieces: Sequence[Piece], seed: int, leaders: IntArray) -> int:
        """See :class:`Holder`."""

        def count(first: int, number: int) -> int:
            return int(draw_reverse_sets(self.sampler, seed, first, number, leaders, False)[2])

        return sum(_each(count, pieces))

    def close(self) -> None:
        """See :class:`Holder`."""


def _each(work: Callable[[int, int], T], pieces: Sequence[Piece]) -> list[T]:
    """The results of ``work`` for each piece, in order, on all threads."""
    if not pieces:
        return []
    done = in_chunks(lambda first, number: list(starmap(work, pieces[first : first + number])), len(pieces))
    return [result for chunk in done for result in chunk]
