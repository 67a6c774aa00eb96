"""Influence by simulated cascades on all cores, with its standard error, and one cascade step by step."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from operator import index
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from claim.cascades.kernels import GapTable, gap_table, live_contacts, spread
from claim.errors import InputError, check_number, check_whole
from claim.networks import Network
from claim.networks.network import BoolArray, FloatArray, IntArray, OffsetArray
from claim.randomness import Rng, as_generator, draw_seed
from claim.results import Tabular

T = TypeVar("T")
WORTH_THREADS = 1e-3  # seconds; handing work to another thread costs up to a tenth of it
TRIAL = 32  # one part in this many is done first to see how long the rest would take
FEWEST_FOR_REGRESSION = 300  # with fewer worlds the coefficient is noise and its error looks too small


@dataclass(frozen=True)
class Influence(Tabular):
    """The mean number of people reached (leaders included) and the standard error of that mean."""

    mean: float
    stderr: float
    samples: int

    def records(self) -> list[dict[str, Any]]:
        """One row."""
        return [asdict(self)]

    @classmethod
    def of(cls, reach: npt.NDArray[np.int32], surprise: FloatArray | None = None) -> "Influence":
        """Mean and standard error of the reach in each world; one world has no standard error (NaN).

        ``surprise`` is a control variate: its true mean is 0, so what its sample mean adds to the reach is noise and is
        subtracted. The coefficient is the regression of reach on surprise.
        """
        samples = len(reach)
        if samples == 1:
            return cls(float(reach[0]), float("nan"), 1)
        mean, variance, free = reach.mean(), reach.var(), samples - 1
        if surprise is not None and samples >= FEWEST_FOR_REGRESSION and surprise.var() > 0:
            covariance = ((reach - mean) * (surprise - surprise.mean())).mean()
            slope = covariance / surprise.var()
            mean, variance, free = mean - slope * surprise.mean(), variance - slope * covariance, samples - 2
        return cls(float(mean), float(np.sqrt(max(variance, 0.0) / free)), samples)


def influence_of(network: Network, leaders: Iterable[int], p: float, samples: int, rng: Rng) -> Influence:
    """Expected reach under the independent cascade model of leaders given by their indices."""
    return Influence.of(*simulate_cascades(network, leaders, p, samples, draw_seed(as_generator(rng))))


def simulate_cascades(
    network: Network, leaders: Iterable[int], p: float, samples: int, seed: int
) -> tuple[IntArray, FloatArray]:
    """Reach and surprise (see :meth:`Influence.of`) in each of ``samples`` worlds that follow from the seed alone."""
    check_number(0, 1, probability=p)
    check_whole(1, samples=samples)
    chosen = check_people(network.n, leaders)
    reach = np.full(samples, len(chosen), dtype=np.int32)
    surprise = np.zeros(samples)
    rows = RowSampler.of(network, p)
    if rows.p == 0 or len(chosen) == 0:
        return reach, surprise
    surprises = Surprises.of(network, chosen, p)

    def simulate(first: int, count: int) -> None:
        out = slice(first, first + count)
        spread(rows, chosen, seed, first, not network.directed, surprises, reach[out], surprise[out])

    in_chunks(simulate, samples)
    return reach, surprise


class RowSampler(NamedTuple):
    """The contacts of each person, as kernels draw cascades from them."""

    offsets: OffsetArray  # (n + 1,); the contacts of u are contacts[offsets[u]:offsets[u + 1]]
    contacts: IntArray
    probabilities: FloatArray  # one for each contact, or empty if p is the probability of all
    p: float  # the largest probability
    table: GapTable
    silent_below: npt.NDArray[np.uint64]  # (n,); a person whose first random bits are below has no live edge

    @classmethod
    def of(cls, network: Network, p: float, against: bool = False) -> "RowSampler":
        """Whom each person can activate; ``against`` the direction of the edges, who can activate each person."""
        offsets, contacts = network.offsets, network.contacts
        own = np.zeros(0) if network.probabilities is None else network.probabilities
        if against and network.directed:
            order = np.argsort(contacts, kind="stable")
            offsets = np.concatenate([[0], np.cumsum(np.bincount(contacts, minlength=network.n))])
            contacts = np.repeat(np.arange(network.n, dtype=np.int32), network.degrees)[order]
            own = own[order] if len(own) else own
        p = largest_probability(network, p)
        table = gap_table(p or 1.0)
        return cls(offsets, contacts, own, float(p), table, table.silent_below(np.diff(offsets)))


def largest_probability(network: Network, p: float) -> float:
    """The probability that gaps are drawn with: ``p``, or the largest of the network's own probabilities."""
    return p if network.probabilities is None else float(network.probabilities.max(initial=0.0))


class Surprises(NamedTuple):
    """What a live edge to each person adds to the surprise of a world; see :meth:`Influence.of`.

    ``worth`` is a guess at what reaching a person brings. Any worth keeps the estimate right; this one, the person and
    their expected live edges, makes it precise. Leaders are worth nothing: they are reached already.
    """

    worth: FloatArray  # (n,)
    expected: FloatArray  # (n,) the expected worth behind the live edges of each person
    change: FloatArray  # (n, 2) by a live edge to a person who is active already, and to one who is new
    leaf: BoolArray  # (n,) people of a single contact, who reach no one: whom they would reach has reached them
    worth_of_leaf: float

    @classmethod
    def of(cls, network: Network, leaders: IntArray, p: float) -> "Surprises":
        """Only undirected networks whose edges have the same probability have leaves that are counted apart."""
        own = network.probabilities
        per_edge = np.broadcast_to(p if own is None else own, network.contacts.shape)
        worth = 1.0 + _row_sums(network, per_edge)
        worth[leaders] = 0.0
        expected = _row_sums(network, per_edge * worth[network.contacts])
        leaf = (network.degrees == 1) & (own is None) & (not network.directed)
        leaf[leaders] = False
        return cls(worth, expected, np.column_stack([worth, worth - expected]), leaf, 1.0 + p)


def _row_sums(network: Network, values: FloatArray) -> FloatArray:
    total = np.concatenate([[0.0], np.cumsum(values)])
    sums: FloatArray = total[network.offsets[1:]] - total[network.offsets[:-1]]
    return sums


class Reached(NamedTuple):
    """One person reached: by whom (``None`` for a leader) and at which step (0 for a leader)."""

    person: int
    by: int | None
    step: int


def cascade(network: Network, leaders: Iterable[int], p: float = 0.1, rng: Rng = 0) -> list[Reached]:
    """The trace of one independent cascade: people in the order in which they are reached."""
    check_number(0, 1, probability=p)
    seed = draw_seed(as_generator(rng))
    trace = [Reached(int(person), None, 0) for person in check_people(network.n, leaders)]
    active, rows = {event.person for event in trace}, RowSampler.of(network, p)
    for event in trace if rows.p else ():  # grows while it is read
        for contact in live_contacts(rows, event.person, seed, 0).tolist():
            if contact not in active:
                active.add(contact)
                trace.append(Reached(contact, event.person, event.step + 1))
    return trace


def check_people(n: int, people: Iterable[int]) -> IntArray:
    """The people as an array without repeats; raises an error for indices that do not exist."""
    try:
        chosen = list(dict.fromkeys(map(index, people)))
    except TypeError as error:
        raise InputError("people are given by their indices; network.index_of(label) returns one") from error
    unknown = next((person for person in chosen if not 0 <= person < n), None)
    if unknown is not None:
        raise InputError(f"there is no person {unknown}: indices run from 0 to {n - 1}")
    return np.array(chosen, dtype=np.int32)


def thread_count() -> int:
    """The number of threads to use: ``OMP_NUM_THREADS`` if set (as joblib does in its workers), else one per core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(given)) if given.isdigit() else os.cpu_count() or 1


def in_chunks(work: Callable[[int, int], T], total: int, seconds: float | None = None) -> list[T]:
    """``work(first, count)`` over consecutive chunks of ``0..total-1``, results in order.

    Short work stays on this thread. Its duration is ``seconds`` or, if that is None, estimated from the first few;
    results must not depend on the chunks.
    """
    threads = min(thread_count(), total)
    if threads == 1 or (seconds is not None and seconds < WORTH_THREADS):
        return [work(0, total)]
    if seconds is not None:
        return _in_threads(work, 0, total, threads)
    tried = -(-total // TRIAL)
    began = perf_counter()
    results = [work(0, tried)]
    remaining = (perf_counter() - began) * (total - tried) / tried
    if remaining < WORTH_THREADS:
        return [*results, work(tried, total - tried)]
    return results + _in_threads(work, tried, total, threads)


def _in_threads(work: Callable[[int, int], T], first: int, last: int, threads: int) -> list[T]:
    bounds = [first + (last - first) * i // threads for i in range(threads + 1)]
    begun = [_pool().submit(work, begin, end - begin) for begin, end in pairwise(bounds[1:])]
    return [work(first, bounds[1] - first), *(each.result() for each in begun)]


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads beside the calling one; they are kept, because starting them takes as long as short work."""
    return ThreadPoolExecutor(os.cpu_count() or 1)


if hasattr(os, "register_at_fork"):  # a forked process has the pool, but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
