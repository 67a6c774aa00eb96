"""What follow-up answers say about p: simulated cascades on the seen contacts and on likely unseen ones.

A world draws the unseen contacts and, for every contact, a number between 0 and 1: the contact passes the news on if
that number is below p. A person is reached if all contacts on some way from a leader who came do so. The smallest p at
which a person is reached is therefore the largest number on the best way, and one world tells who is reached for every
p at once.

How many unseen contacts there are is uncertain, and the answers determine p only as far as that is known. Worlds
are drawn for several numbers of unseen contacts, each as likely as foresight finds the number of people then reached.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import betabinom

from claim.cascades.kernels import kernel
from claim.networks.network import BoolArray, FloatArray, IntArray, OffsetArray
from claim.selection.foresight import NAME as FORESIGHT
from claim.selection.foresight import foresight_named
from claim.selection.foresight.reach import estimated_people
from claim.selection.foresight.selection_state import NOT_NAMED, SeenNetwork, closure, excess_degree, spread

WORLDS = 50  # for each of the factors
FACTORS = (0.0, 0.015, 0.06, 0.25, 0.5, 1.0, 1.5)  # unseen contacts, against the mean that foresight assumes
GRID: FloatArray = (np.arange(100) + 0.5) ** 2 / 100**2  # of p; equal steps of the root: Jeffreys' prior of a rate
ANCHORS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # values of p at which foresight is asked
SAMPLES = 200  # worlds of foresight
DOUBT = 0.4  # further standard deviation of the logarithm of the reach: worlds are simpler than communities are
MOST_UNKNOWN = 2000  # people whom no one named: of more, hardly a way leads back to people who were
GROUPS = 6  # of people asked
LEVEL = 0.9
WIDE = 0.4  # an interval that tells little: those of 40 people asked are 0.1 to 0.36 wide
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
NEVER = 2.0  # above every p


@dataclass(frozen=True)
class Estimate:
    """p by its posterior median, with a 90 % interval."""

    p: float
    low: float
    high: float

    @property
    def vague(self) -> bool:
        """Whether more people should be asked before the estimate is used."""
        return self.high - self.low > WIDE


@dataclass(frozen=True)
class Worlds:
    """Simulated worlds in which some leaders came, for several numbers of unseen contacts."""

    limits: FloatArray  # (factors, worlds, n) the smallest p at which each person is reached
    weights: FloatArray  # (p of GRID, factors) how likely each number of unseen contacts is

    def reached(self, people: Sequence[int], p: float) -> tuple[float, float, float]:
        """How many of these people are reached: the mean, and the ends of a 90 % range."""
        counts = (self.limits[:, :, people] < p).sum(axis=2).ravel()
        weights = np.repeat(self.weights[np.abs(GRID - p).argmin()] / WORLDS, WORLDS)
        order = np.argsort(counts)
        ends = np.searchsorted(np.cumsum(weights[order]), ENDS).clip(0, len(counts) - 1)
        low, high = counts[order][ends]
        return float(counts @ weights), float(low), float(high)

    def estimate(self, asked: Sequence[int], yes: BoolArray) -> Estimate:
        """p from the answers of the people asked.

        Answers are counted in groups of people who are reached as easily along seen contacts: p shows in those who are
        near the leaders, unseen contacts show in the others. The likelihood of a count is that of a beta-binomial
        distribution with the mean and the variance over the worlds: people are reached together, through the same
        contacts, so that their answers are not independent.
        """
        posterior, people = self.weights.copy(), np.array(asked, dtype=np.int64)
        along_seen = np.minimum(self.limits[FACTORS.index(0.0)][:, people], 1.0).mean(axis=0)
        for group in np.array_split(np.argsort(along_seen, kind="stable"), min(GROUPS, len(people))):
            limits = self.limits[:, :, people[group]]
            counts = np.array([(limits < p).sum(axis=2) for p in GRID])  # (p, factors, worlds)
            posterior *= betabinom.pmf(int(yes[group].sum()), len(group), *_shape(counts, len(group)))
        below = np.cumsum(posterior.sum(axis=1)) / posterior.sum()
        low, middle, high = np.interp((ENDS[0], 0.5, ENDS[1]), below, GRID)
        return Estimate(float(middle), float(low), float(high))


def _shape(counts: FloatArray, asked: int) -> tuple[FloatArray, FloatArray]:
    """The parameters of beta-binomial distributions with the mean and variance of counts (..., worlds).

    Half a person is added to each end, so that nothing is impossible because no world showed it.
    """
    share = (counts.sum(axis=-1) + 0.5) / (asked * WORLDS + 1)
    together = (counts.var(axis=-1) / (asked * share * (1 - share)) - 1) / max(asked - 1, 1)  # correlation of answers
    size = 1 / np.clip(together, 1e-3, 0.95) - 1
    return share * size, (1 - share) * size


def draw_worlds(view: SeenNetwork, came: Sequence[int], people: float | None, rng: np.random.Generator) -> Worlds:
    """Draw worlds in which these leaders came; ``people`` is the number of people there are, if it is known."""
    hidden = HiddenContacts.of(view, estimated_people(view)[0] if people is None else people)
    sources, targets, _ = view.network.edges()
    leaders = np.array(came, dtype=np.int64)
    limits, totals = np.empty((len(FACTORS), WORLDS, view.n)), np.zeros((len(GRID), len(FACTORS)))
    for world in range(WORLDS):
        ends = [np.concatenate(each) for each in zip((sources, targets), hidden.draw(rng), strict=True)]
        numbers = rng.random(len(ends[0]))
        seen = np.arange(len(numbers)) < len(sources)
        factor_from = rng.uniform(0, FACTORS[-1], len(numbers))
        for i, factor in enumerate(FACTORS):  # the contacts of a smaller factor are some of those of a larger one
            there = seen | (factor_from < factor)
            found = smallest_p(hidden.n, ends[0][there], ends[1][there], numbers[there], leaders)
            limits[i, world] = found[: view.n]
            totals[:, i] += np.searchsorted(np.sort(found), GRID) / WORLDS
    return Worlds(limits, _weights(view, leaders, people, totals))


def _weights(view: SeenNetwork, came: OffsetArray, people: float | None, totals: FloatArray) -> FloatArray:
    """The probability of each factor for each p, given how many people are reached in all, (p, factors).

    The logarithm of the reach is normally distributed, with the median and the 90 % range that foresight expects.
    """
    selectors = [foresight_named(FORESIGHT, p=p, samples=SAMPLES, people=people) for p in ANCHORS]
    expected = np.log([selector.expect_in(view, came.tolist(), seed=0) for selector in selectors])
    median, low, high = (np.interp(np.log(GRID), np.log(ANCHORS), column) for column in expected.T)
    deviation = np.hypot((high - low) / 3.29, DOUBT)  # 3.29 deviations lie between the 5 % and the 95 % quantile
    weights = np.exp(-0.5 * ((np.log(totals) - median[:, None]) / deviation[:, None]) ** 2) + 1e-12
    found: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return found


@dataclass(frozen=True)
class HiddenContacts:
    """Who may have contacts that were not seen: people not surveyed, and people whom no one named.

    The number of a person's unseen contacts is Poisson distributed around a rate from a gamma distribution, which has
    the mean and the spread that foresight estimates. A share ``closure`` of them is named by the same surveyed person.
    """

    n: int  # people who were seen and people who were not
    mean: FloatArray  # (n,) unseen contacts of each person
    shape: FloatArray  # (n,) of the gamma distribution of their rate
    namers: IntArray  # surveyed contacts of person u: namers[starts[u]:starts[u + 1]]
    starts: OffsetArray
    closure: float

    @classmethod
    def of(cls, view: SeenNetwork, people: float) -> "HiddenContacts":
        """What foresight estimates from a seen network in which there are so many people in all."""
        unknown = int(np.clip(round(people) - view.n, 0, MOST_UNKNOWN))
        excess = excess_degree(view)
        evenness = 1.0 / spread(view, excess)
        named = np.concatenate((view.named, np.zeros(unknown)))
        mean = excess * np.where(named > 0, (evenness + named) / (evenness + 1.0), NOT_NAMED)
        mean[: view.n][view.surveyed] = 0.0
        shape = evenness + named
        starts = np.concatenate(([0], np.cumsum(named))).astype(np.int64)
        namers = view.network.contacts[view.surveyed[view.network.contacts]]
        return cls(len(named), mean, shape, namers, starts, closure(view))

    def draw(self, rng: np.random.Generator) -> tuple[OffsetArray, OffsetArray]:
        """The ends of the unseen contacts of one world, as many as for the largest factor."""
        counts = rng.poisson(FACTORS[-1] * self.mean * rng.gamma(self.shape) / self.shape)
        halves: OffsetArray = np.repeat(np.arange(self.n), counts).astype(
            np.int64
        )  # of contacts, to be joined in pairs
        pool = self._pools(halves, rng)
        order = np.lexsort((rng.random(len(halves)), pool))
        halves, pool = halves[order], pool[order]
        place = np.arange(len(pool)) - np.searchsorted(pool, pool)  # within the pool
        left = np.flatnonzero((place[:-1] % 2 == 0) & (pool[:-1] == pool[1:]))
        ones, others = halves[left], halves[left + 1]
        return ones[ones != others], others[ones != others]

    def _pools(self, halves: OffsetArray, rng: np.random.Generator) -> OffsetArray:
        """The pool in which each half finds its other half: the person who named both, or -1 for all people."""
        named = np.diff(self.starts)[halves]
        local = np.flatnonzero((rng.random(len(halves)) < self.closure) & (named > 0))
        pool: OffsetArray = np.full(len(halves), -1, dtype=np.int64)
        chosen = self.starts[halves[local]] + (rng.random(len(local)) * named[local]).astype(np.int64)
        pool[local] = self.namers[chosen]
        return pool


@kernel
def smallest_p(n, ones, others, numbers, came):  # type: ignore[no-untyped-def]
    """The smallest p at which each person is reached from ``came``: the way whose largest number is the smallest.

    Dijkstra's algorithm with the largest number of a way in the place of its length.
    """
    begin = np.zeros(n + 2, dtype=np.int64)
    for i in range(len(ones)):
        begin[ones[i] + 2] += 1
        begin[others[i] + 2] += 1
    begin = np.cumsum(begin)
    contact, number = np.empty(2 * len(ones), dtype=np.int64), np.empty(2 * len(ones))
    for i in range(len(ones)):
        for one, other in ((ones[i], others[i]), (others[i], ones[i])):
            contact[begin[one + 1]], number[begin[one + 1]] = other, numbers[i]
            begin[one + 1] += 1
    found = np.full(n, NEVER)
    waiting = [(0.0, person) for person in came]
    while waiting:
        limit, person = heapq.heappop(waiting)
        if limit < found[person]:
            found[person] = limit
            for i in range(begin[person], begin[person + 1]):
                if found[contact[i]] == NEVER:
                    heapq.heappush(waiting, (max(limit, number[i]), contact[i]))
    return found
