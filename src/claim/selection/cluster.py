"""Reverse sets in the worker processes of a Ray cluster, with the same result as in one process.

Each worker draws its pieces from their seeds and keeps them; what travels are numbers of sets for each person. The
arrays of the network are in Ray's shared memory, once for each machine. If a worker dies, another one draws its pieces
again.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from claim.jobs.ray import connect
from claim.networks.network import IntArray, OffsetArray
from claim.selection.reverse import Drawn, Piece, ReverseSampler, ReverseSets

ATTEMPTS = 3  # that a worker is replaced in one step


class Worker:
    """The reverse sets of one process, with the steps that led to them."""

    def __init__(self, *arrays: Any) -> None:
        self.sets = ReverseSets(ReverseSampler(*arrays))

    def call(self, step: str, *arguments: Any) -> Any:
        """Take one step of a :class:`claim.selection.reverse.Holder`."""
        return getattr(self.sets, step)(*arguments)

    def process(self) -> int:
        """The number of this process."""
        return os.getpid()

    def cover(self, person: int) -> tuple[OffsetArray, OffsetArray]:
        """The people whose gains shrink when a person's sets are covered, and by how much."""
        less: OffsetArray = np.zeros(self.sets.sampler.n, dtype=np.int64)
        self.sets.cover(person, less)
        people = np.flatnonzero(less)
        return people, less[people]


class RayReverseSets:
    """Reverse sets on a cluster; see :class:`claim.selection.reverse.Holder`."""

    def __init__(self, sampler: ReverseSampler, address: str | None = None, workers: int | None = None) -> None:
        self._ray, self.sampler = connect(address, workers), sampler
        self._shared = [self._ray.put(each) for each in sampler]
        self._kind = self._ray.remote(num_cpus=1, max_restarts=0)(Worker)
        cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        count = min(workers or cores, cores)  # one more would wait for a core for ever
        self._workers = [self._kind.remote(*self._shared) for _ in range(count)]
        self._pieces: list[dict[Piece, tuple[int, IntArray]]] = [{} for _ in range(count)]  # of each worker, with seeds
        self._since: list[tuple[Any, ...]] = []  # steps of all workers since they began to cover sets

    def draw(self, pieces: Sequence[Piece], seed: int, stops: IntArray) -> list[Drawn]:
        """See :class:`claim.selection.reverse.Holder`."""
        shares = self._shares(pieces)
        found = self._each(lambda worker, i: worker.call.remote("draw", shares[i], seed, stops))
        for i, share in enumerate(shares):
            self._pieces[i] |= dict.fromkeys(share, (seed, stops))
        by_piece = {
            piece: each
            for share, part in zip(shares, found, strict=True)
            for piece, each in zip(share, part, strict=True)
        }
        return [by_piece[piece] for piece in pieces]

    def drop(self, pieces: Sequence[Piece]) -> None:
        """See :class:`claim.selection.reverse.Holder`."""
        shares = [[piece for piece in pieces if piece in held] for held in self._pieces]
        self._each(lambda worker, i: worker.call.remote("drop", shares[i]))
        for held, share in zip(self._pieces, shares, strict=True):
            for piece in share:
                del held[piece]

    def begin(self) -> OffsetArray:
        """See :class:`claim.selection.reverse.Holder`."""
        self._since = []
        counts = self._each(lambda worker, i: worker.call.remote("begin"))
        self._since = [("call", "begin")]
        return np.sum(counts, axis=0)  # type: ignore[no-any-return]

    def follow(self, people: IntArray) -> None:
        """See :class:`claim.selection.reverse.Holder`."""
        self._each(lambda worker, i: worker.call.remote("follow", people))
        self._since.append(("call", "follow", people))

    def cover(self, person: int, gains: OffsetArray) -> None:
        """See :class:`claim.selection.reverse.Holder`."""
        for people, less in self._each(lambda worker, i: worker.cover.remote(person)):
            gains[people] += less
        self._since.append(("cover", person))

    def meet(self, pieces: Sequence[Piece], seed: int, leaders: IntArray) -> int:
        """See :class:`claim.selection.reverse.Holder`."""
        shares = self._shares(pieces)
        return sum(self._each(lambda worker, i: worker.call.remote("meet", shares[i], seed, leaders)))

    def close(self) -> None:
        """End the workers, and a cluster that was started for them."""
        self._ray.shutdown()

    def _shares(self, pieces: Sequence[Piece]) -> list[list[Piece]]:
        return [list(pieces[i :: len(self._workers)]) for i in range(len(self._workers))]

    def _each(self, step: Callable[[Any, int], Any]) -> list[Any]:
        """The results of a step that all workers take; one that died is replaced, and its successor takes it."""
        begun = [step(worker, i) for i, worker in enumerate(self._workers)]
        return [self._result(begun[i], step, i) for i in range(len(begun))]

    def _result(self, begun: Any, step: Callable[[Any, int], Any], i: int) -> Any:
        for attempt in range(ATTEMPTS + 1):
            try:
                return self._ray.get(begun)
            except self._ray.exceptions.RayActorError:
                if attempt == ATTEMPTS:
                    raise
                self._replace(i)
                begun = step(self._workers[i], i)
        raise AssertionError

    def _replace(self, i: int) -> None:
        """Start a worker that draws the pieces of one that died and repeats the steps it had taken since."""
        self._workers[i] = worker = self._kind.remote(*self._shared)
        for piece, (seed, stops) in self._pieces[i].items():
            worker.call.remote("draw", [piece], seed, stops)
        for name, *arguments in self._since:
            getattr(worker, name).remote(*arguments)
