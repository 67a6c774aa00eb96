"""Networks from more pairs of numbers than should be held in memory: the pairs wait in a file."""

import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, overload

import numpy as np

from claim.errors import InputError
from claim.networks.network import Dropped, IntArray, Label, Network, OffsetArray

IN_MEMORY = 1 << 28  # bytes of pairs; more of them wait in a temporary file
PIECE = 1 << 20  # pairs that are read from it at once; fewer in all need no compiled code, which takes time to load
SPARSE = 8  # times the number of people are labels far apart
MANY = 1_000_000  # people whose labels are not held as Python objects


class NumberLabels(Sequence[Label]):
    """Labels that are whole numbers, in an array of 8 bytes each."""

    def __init__(self, numbers: OffsetArray) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Label: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Label]: ...
    def __getitem__(self, place: int | slice) -> Label | Sequence[Label]:
        if isinstance(place, slice):
            return NumberLabels(self.numbers[place])
        return int(self.numbers[place])


class Pairs:
    """Pairs of labels that are whole numbers from 0, collected piece by piece."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 -- closed with the pairs
        self._labels: list[OffsetArray] = []  # sorted, each once; the later ones are smaller
        self.count = 0

    def __enter__(self) -> "Pairs":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add_text(self, text: bytes) -> None:
        """Add the pairs in a text that has nothing but whole numbers of up to 18 digits and what separates them."""
        if len(text) < PIECE:
            self.add(np.array(text.replace(b",", b" ").split(), dtype="S18").astype(np.int64).reshape(-1, 2))
            return
        from claim.networks.kernels import parse_numbers

        numbers = np.empty(len(text) // 2 + 1, dtype=np.int64)
        found = parse_numbers(np.frombuffer(text, dtype=np.uint8), numbers)
        self.add(numbers[:found].reshape(-1, 2))

    def add(self, pairs: OffsetArray) -> None:
        """Add pairs, of shape (pairs, 2)."""
        self._file.write(pairs.tobytes())
        self.count += len(pairs)
        self._labels.append(_each_once(pairs.ravel()))
        while len(self._labels) > 1 and 2 * len(self._labels[-1]) > len(self._labels[-2]):
            self._labels.append(_each_once(np.concatenate([self._labels.pop(), self._labels.pop()])))

    def network(self, directed: bool) -> Network:
        """The network, as :meth:`Network.from_edges` makes it of all pairs at once."""
        labels = _each_once(np.concatenate([np.zeros(0, dtype=np.int64), *self._labels]))
        n = len(labels)
        if self.count < PIECE:
            one, other = (np.searchsorted(labels, ends) for ends in self._read().T)
            return Network.from_edges(one, other, labels=labels.tolist(), directed=directed)
        from claim.networks import kernels

        if n > np.iinfo(np.int32).max:
            raise InputError(f"more than {np.iinfo(np.int32).max:,} people")
        table = None  # of the place of each label, unless they are far apart
        if int(labels[-1]) < SPARSE * n:
            table = np.zeros(int(labels[-1]) + 1, dtype=np.int32)
            table[labels] = np.arange(n)
        offsets = np.zeros(n + 1, dtype=np.int64)
        loops = 0
        for one, other in self._indices(labels, table):
            loops += int((one == other).sum())
            kernels.count(one, other, directed, offsets)
        np.cumsum(offsets, out=offsets)
        contacts, filled = np.empty(int(offsets[-1]), dtype=np.int32), offsets[:-1].copy()
        for one, other in self._indices(labels, table):
            kernels.fill(one, other, directed, contacts, filled)
        del filled
        before = len(contacts)
        kept = int(kernels.tidy(offsets, contacts))
        repeated = (before - kept) // (1 if directed else 2)
        if kept < before:
            contacts = contacts[:kept].copy()
        people = tuple(labels.tolist()) if n <= MANY else NumberLabels(labels)
        return Network(offsets, contacts, people, directed, dropped=Dropped(loops, repeated))

    def _read(self) -> OffsetArray:
        """All pairs, of shape (pairs, 2)."""
        self._file.seek(0)
        return np.frombuffer(self._file.read(), dtype=np.int64).reshape(-1, 2)

    def _indices(self, labels: OffsetArray, table: IntArray | None) -> Iterator[tuple[IntArray, IntArray]]:
        self._file.seek(0)
        while piece := self._file.read(16 * PIECE):
            found = np.frombuffer(piece, dtype=np.int64)
            pairs = (np.searchsorted(labels, found) if table is None else table[found]).astype(np.int32).reshape(-1, 2)
            yield pairs[:, 0], pairs[:, 1]


def _each_once(numbers: OffsetArray) -> OffsetArray:
    """The numbers in ascending order, each once; quicker than the hash table of ``np.unique``."""
    ordered = np.sort(numbers)
    return ordered[np.diff(ordered, prepend=-1) > 0]
