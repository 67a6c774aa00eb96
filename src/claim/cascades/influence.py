"""How many people a set of leaders reaches, with its standard error."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index

import numpy as np
import numpy.typing as npt

from claim.cascades.coins import gap_table
from claim.cascades.kernels import spread
from claim.cascades.reference import coin_probability
from claim.cascades.threads import in_chunks
from claim.errors import InputError
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray
from claim.randomness import Rng, as_generator, draw_seed

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
