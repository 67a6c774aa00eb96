"""Influence by simulated cascades on all cores, with its standard error, and one cascade step by step."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import index
from time import perf_counter
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from claim.cascades.coins import gap_table
from claim.cascades.kernels import spread
from claim.cascades.reference import coin_probability, live_contacts
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray
from claim.randomness import Rng, as_generator, draw_seed

T = TypeVar("T")
WORTH_THREADS = 4e-3  # seconds; starting threads costs up to one of these milliseconds
TRIAL = 32  # one part in this many is done first to see how long the rest would take


def thread_count() -> int:
    """How many threads to use: ``OMP_NUM_THREADS`` if set (as joblib does in its workers), else one per core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(given)) if given.isdigit() else os.cpu_count() or 1


def in_chunks(work: Callable[[int, int], T], total: int, seconds: float | None = None) -> list[T]:
    """``work(first, count)`` over consecutive chunks of ``0..total-1``, results in order.

    Work that is over soon stays on this thread. How long it takes is told by ``seconds`` or, where nobody can tell,
    measured on the first few; results must not depend on the chunks.
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
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda i: work(bounds[i], bounds[i + 1] - bounds[i]), range(threads)))


NO_PROBABILITIES = np.zeros(0)
FEWEST_FOR_REGRESSION = 300  # with fewer worlds the coefficient is noise and its error looks too small


@dataclass(frozen=True)
class Influence:
    """The mean number of people reached (leaders included) and the standard error of that mean."""

    mean: float
    stderr: float
    samples: int

    @classmethod
    def of(cls, reach: npt.NDArray[np.int32], surprise: FloatArray | None = None) -> "Influence":
        """Mean and standard error of the reach in each world; one world has no standard error (NaN).

        With ``surprise``, the part of the reach that follows from lucky or unlucky coins is taken out: its true mean is
        0, so what its sample mean adds is known to be noise. This is a control variate; its coefficient is the
        regression of reach on surprise.
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


def influence(
    network: Network, leaders: Iterable[int], p: float = 0.1, samples: int = 10_000, rng: Rng = 0
) -> Influence:
    """Expected reach of the leaders (indices) under the independent cascade model.

    Every active person tries once to activate each contact, with probability ``p`` or, where the network has them, with
    the edge's own probability.
    """
    return Influence.of(*play_cascades(network, leaders, p, samples, draw_seed(as_generator(rng))))


def play_cascades(
    network: Network, leaders: Iterable[int], p: float, samples: int, seed: int
) -> tuple[IntArray, FloatArray]:
    """Reach and surprise (see :meth:`Influence.of`) in each of ``samples`` worlds that follow from the seed alone."""
    check_probability(p)
    check_samples(samples)
    chosen = check_people(network.n, leaders)
    reach = np.full(samples, len(chosen), dtype=np.int32)
    surprise = np.zeros(samples)
    coin = coin_probability(network, p)
    if coin == 0 or len(chosen) == 0:
        return reach, surprise
    thinned, table = edge_coins(network), gap_table(coin)
    worth, expected = _worth_of_contacts(network, chosen, p)

    def simulate(first: int, count: int) -> None:
        out = slice(first, first + count)
        spread(
            network.offsets, network.contacts, thinned, coin, table, chosen, seed, first,
            not network.directed, worth, expected, reach[out], surprise[out],
        )  # fmt: skip

    in_chunks(simulate, samples)
    return reach, surprise


def _worth_of_contacts(network: Network, leaders: IntArray, p: float) -> tuple[FloatArray, FloatArray]:
    """A guess at what reaching each person brings, and for each person the expected worth behind their live edges.

    Any worth keeps the estimate right; this one, the person and their expected live edges, makes it precise. Leaders
    are worth nothing: they are reached already.
    """
    coins = p if network.probabilities is None else network.probabilities
    per_edge = np.broadcast_to(coins, network.contacts.shape)
    worth = 1.0 + _row_sums(network, per_edge)
    worth[leaders] = 0.0
    return worth, _row_sums(network, per_edge * worth[network.contacts])


def _row_sums(network: Network, values: FloatArray) -> FloatArray:
    total = np.concatenate([[0.0], np.cumsum(values)])
    sums: FloatArray = total[network.offsets[1:]] - total[network.offsets[:-1]]
    return sums


def edge_coins(network: Network) -> FloatArray:
    """The probabilities that thin the coins in a kernel: one per edge, or none."""
    return NO_PROBABILITIES if network.probabilities is None else network.probabilities


def check_people(n: int, people: Iterable[int]) -> IntArray:
    """The people as an array without repeats, or an error that names who does not exist."""
    try:
        chosen = list(dict.fromkeys(map(index, people)))
    except TypeError as error:
        raise InputError("people are given by their indices: network.index_of(label) tells them") from error
    unknown = next((person for person in chosen if not 0 <= person < n), None)
    if unknown is not None:
        raise InputError(f"there is no person {unknown}: indices run from 0 to {n - 1}")
    return np.array(chosen, dtype=np.int32)


def check_probability(p: float) -> None:
    """Refuse what is not a probability, NaN included."""
    if not 0 <= p <= 1:
        raise InputError(f"the probability p must be between 0 and 1, not {p}")


def check_samples(samples: int) -> None:
    """Refuse to average over nothing."""
    if samples < 1:
        raise InputError(f"samples must be at least 1, not {samples}")


@dataclass(frozen=True)
class Reached:
    """One person reached: by whom (``None`` for a leader) and at which step (0 for a leader)."""

    person: int
    by: int | None
    step: int


def cascade(network: Network, leaders: Iterable[int], p: float = 0.1, rng: Rng = 0) -> list[Reached]:
    """Play one independent cascade; people in the order in which they are reached."""
    check_probability(p)
    seed = draw_seed(as_generator(rng))
    story = [Reached(int(person), None, 0) for person in check_people(network.n, leaders)]
    active = {event.person for event in story}
    for event in story:  # grows while it is read: everybody reached gets a turn
        for contact in live_contacts(network, event.person, p, seed, world=0):
            if contact not in active:
                active.add(contact)
                story.append(Reached(contact, event.person, event.step + 1))
    return story
