"""Reverse influence sampling (OPIM-C) with its guarantee, for large networks."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claim.errors import InputError, check_number
from claim.networks.network import BoolArray, FloatArray, IntArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.greedy import Chosen, Task
from claim.selection.kernels import best_candidate
from claim.selection.reverse import TOGETHER, Holder, Piece, ReverseSampler, ReverseSets

EPSILON = 0.05
GREEDY_SHARE = 1 - 1 / math.e
MOST_STORED = 100_000_000  # numbers of 4 bytes
PRECISION = 0.03  # sets are drawn until the noise in the gains of all leaders is at most this share of the reach,
FEWEST_DRAWN = 1_000_000  # or until there are so many numbers and as many more a person as below,
FEWEST_A_PERSON = 10  # even if the bound is met before: it is loose, and more sets still choose clearly better
PIECE = 500_000  # numbers in a piece, or as many as there are people
LARGEST_PIECE = 4_000_000
FEWEST_A_ROUND = 0.25  # numbers for each person before leaders are chosen, which takes about as long as drawing them
FIRST_PIECE = 64  # sets, before their size is known
FEWEST = 8  # sets
PILOT = 500_000  # numbers drawn before sentinels are chosen
SENTINEL_SHARE = 0.25  # of the numbers stored: a person in sets that hold so many becomes a sentinel
SHORTLIST = 1000  # people whose sets are indexed at a time
MARGIN = 0.005  # more than the share aimed at is expected before it is tested
STEPS = 2  # rounds for each doubling of the number of sets


def ris(
    task: Task,
    epsilon: float = EPSILON,
    most_stored: int = MOST_STORED,
    holding: Callable[[ReverseSampler], Holder] = ReverseSets,
) -> Chosen:
    """The ``k`` leaders and the share of the best possible influence that they have with probability 1 - 1/n.

    The share aimed at is 1 - 1/e - ``epsilon``; where memory (at most ``most_stored`` numbers of 4 bytes) does not
    allow it, the share reached is returned. Sets are kept by ``holding``.
    """
    check_number(0, 1, probability=task.p)
    if not task.model.is_plain:
        raise InputError(f"ris knows the model ic only, got {task.model}")
    sampler, priority = ReverseSampler.of(task.network, task.p), task.priority()
    if sampler.weight == 0:  # everyone reaches themselves only: any choice is the best
        order = np.argsort(-priority)
        free = order[task.candidates.open_to_choice()[order]].tolist()
        return Chosen([*task.candidates.must, *free][: task.k], 1.0)
    holder = holding(sampler)
    try:
        search = Search(task, sampler, priority, holder, most_stored)
        return search.run(GREEDY_SHARE - epsilon, *_schedule(task.network.n, task.k, epsilon))
    finally:
        holder.close()


def _schedule(n: int, k: int, epsilon: float) -> tuple[list[int], float]:
    """The numbers of sets at which to stop, if not before for want of memory, and the doubt allowed in each bound.

    The numbers of OPIM-C (Tang et al., SIGMOD 2018) with failure probability 1/n; with ``STEPS`` for each doubling, and
    smaller ones for sets that fill the memory, the doubt is log(3 numbers n).
    """
    k = min(k, n)
    rounds = max(1, math.ceil(math.log2(max(2.0, n / (epsilon**2 * k)))))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)  # log of n choose k
    sure = math.log(6 * n)
    first = 2 * (GREEDY_SHARE * math.sqrt(sure) + math.sqrt(GREEDY_SHARE * (ways + sure))) ** 2
    last = math.ceil(first) << rounds
    numbers = [math.ceil(last / 2 ** (i / STEPS)) for i in range(STEPS * int(math.log2(last / FEWEST)), -1, -1)]
    return numbers, math.log(3 * len(numbers) * n)


class Choice(NamedTuple):
    """Leaders chosen on the sets drawn so far."""

    leaders: list[int]
    covered: int  # sets
    upper: float  # a bound on the influence of the best possible choice
    is_precise: bool


class Search:
    """The search for leaders on a growing number of reverse sets."""

    def __init__(
        self, task: Task, sampler: ReverseSampler, priority: OffsetArray, holder: Holder, most_stored: int
    ) -> None:
        self.task, self.sampler, self.priority, self.holder = task, sampler, priority, holder
        self.most_stored = most_stored
        self.choosing, self.testing = draw_seed(task.rng), draw_seed(task.rng)
        self.first = list(task.candidates.must)  # leaders in any case, then sentinels: sets end where they meet one
        self._restart()

    def _restart(self) -> None:
        self.pieces: list[Piece] = []
        self.drawn, self.stored, self.met, self.found = 0, 0, 0, 0
        self.full = False

    def run(self, target: float, numbers: list[int], doubt: float) -> Chosen:
        """Draw sets until leaders are chosen with precision and are proven to have the ``target`` share."""
        self._add_sentinels(numbers)
        for i, number in enumerate(numbers):
            self._grow(number)
            is_last = self.full or number == numbers[-1]
            if self.drawn + self.found < self.sampler.n * FEWEST_A_ROUND and not is_last:
                continue
            choice = self._choose(doubt)
            if is_last:
                return Chosen(choice.leaders, self._test(choice, self.drawn, doubt)[0])
            if choice.is_precise:
                guarantee = self._prove(choice, target, numbers[: i + 1], doubt)
                if guarantee >= target:
                    return Chosen(choice.leaders, guarantee)
        raise AssertionError("the last number of sets ends the search")

    def _prove(self, choice: Choice, target: float, numbers: list[int], doubt: float) -> float:
        """Test the leaders on about as many sets as the target needs; 0 if all these numbers are too few."""
        met, among = float(choice.covered), self.drawn  # too many by a little: leaders fit their own sets
        for number in numbers:
            expected = self._lower(choice.leaders, met * number / among, number, doubt) / choice.upper
            if expected >= target + MARGIN:
                guarantee, met = self._test(choice, number, doubt)
                among = number
                if guarantee >= target:
                    return guarantee
        return 0.0

    def _test(self, choice: Choice, number: int, doubt: float) -> tuple[float, int]:
        """The share of the best that leaders are proven to have by sets drawn for it, and how many sets they meet."""
        met = self.holder.meet(self._cut(0, number), self.testing, np.array(choice.leaders, dtype=np.int32))
        return self._lower(choice.leaders, met, number, doubt) / choice.upper, met

    def _grow(self, number: int) -> None:
        """Draw sets until there are so many, or as many as before if memory does not hold them."""
        before, begun, stops = (self.drawn, self.stored, self.met, self.found), [], np.array(self.first, dtype=np.int32)
        pieces = self._cut(self.drawn, number) if not self.full else []
        for i in range(0, len(pieces), TOGETHER):
            begun += pieces[i : i + TOGETHER]
            for drawn in self.holder.draw(pieces[i : i + TOGETHER], self.choosing, stops):
                self.stored += drawn.stored + drawn.kept
                self.met += drawn.met
                self.found += drawn.found
            if self.stored > self.most_stored and self.pieces:
                self.holder.drop(begun)
                (self.drawn, self.stored, self.met, self.found), self.full = before, True
                return
        self.pieces += begun
        self.drawn = max(self.drawn, number)

    def _cut(self, begin: int, end: int) -> list[Piece]:
        """The samples in pieces, which do not depend on who draws them."""
        mean = (self.found + self.drawn) / self.drawn if self.drawn else PIECE / FIRST_PIECE
        size = max(1, int(min(max(self.sampler.n, PIECE), LARGEST_PIECE) / mean))
        return [(first, min(size, end - first)) for first in range(begin, end, size)]

    def _add_sentinels(self, numbers: list[int]) -> None:
        """Fix the first leaders where they are in sets that hold much of what is stored.

        The idea of HIST (Guo et al., SIGMOD 2020). Sets that meet a sentinel need not be drawn to the end. The bound on
        the best possible choice stays valid: it covers at most what it adds to the sentinels, and they themselves.
        """
        for number in numbers:
            self._grow(number)
            if self.full or self.drawn + self.found >= PILOT:
                break
        gains, free = self.holder.begin(), self.task.candidates.open_to_choice()
        must, left = len(self.first), int(gains.sum())
        while len(self.first) < self.task.k - 1 and left:
            person = int(best_candidate(gains, free, self.priority))
            if person < 0:
                break
            self.holder.follow(np.array([person], dtype=np.int32))
            self.holder.cover(person, gains)
            before, left = left, int(gains.sum())
            if before - left < SENTINEL_SHARE * before:
                break
            self.first.append(person)
            free[person] = False
        if len(self.first) > must:
            self.holder.drop(self.pieces)
            self._restart()

    def _choose(self, doubt: float) -> Choice:
        """Greedy coverage; sets of one person count by their probability."""
        task, k = self.task, self.task.k
        scale = self.sampler.weight / self.drawn  # people for each set
        own = self.sampler.alone / scale
        gains, free = self.holder.begin(), task.candidates.open_to_choice()
        leaders, covered, reached, last = list(self.first), self.met, self.met + float(own[self.first].sum()), 0
        free[leaders] = False
        others = k - len(task.candidates.must)  # that the best possible choice is free to make
        shortlist = Shortlist(self, gains, own, free)
        most, most_covered = math.inf, math.inf
        while True:
            first, second = shortlist.bounds(others)
            most, most_covered = min(most, reached + first), min(most_covered, covered + second)
            person = shortlist.best() if len(leaders) < k else -1
            if person < 0:
                break
            last = int(gains[person])
            covered += last
            reached += last + own[person]
            self.holder.cover(person, gains)
            free[person] = False
            leaders.append(person)
        # What the best choice covers is bounded with doubt, the sets of one person in it are known
        upper = scale * (most + _excess(min(most, most_covered), doubt))
        noise = (len(leaders) - len(self.first)) * math.sqrt(last)
        enough = self.found + self.drawn >= FEWEST_DRAWN + FEWEST_A_PERSON * self.sampler.n
        return Choice(leaders, covered, min(upper, float(self.sampler.n)), enough or noise <= PRECISION * reached)

    def _lower(self, leaders: list[int], met: float, drawn: int, doubt: float) -> float:
        """A lower bound on the influence of leaders, from sets they were not chosen with."""
        lowest = (math.sqrt(met + 2 * doubt / 9) - math.sqrt(doubt / 2)) ** 2 - doubt / 18
        alone = float(self.sampler.alone[leaders].sum())
        return max(alone + max(lowest, 0.0) * self.sampler.weight / drawn, float(len(leaders)))


def _excess(covered: float, doubt: float) -> float:
    """How much larger than the number of sets covered its expectation may be."""
    return doubt + math.sqrt(2 * doubt * (covered + doubt / 2))


class Shortlist:
    """The people of the largest gains, and a bound on the gains of all others, which only shrink."""

    def __init__(self, search: Search, gains: OffsetArray, own: FloatArray, free: BoolArray) -> None:
        self.search, self.gains, self.own, self.free = search, gains, own, free
        self._renew()

    def _renew(self) -> None:
        values = np.where(self.free, self.gains + self.own, -1.0)
        self.people = _highest(values, self.search.priority, max(SHORTLIST, 4 * self.search.task.k))
        values[self.people] = -1.0
        self.beyond = float(values.max())
        self.beyond_gain = float(np.where(values >= 0, self.gains, 0).max())
        self.search.holder.follow(self.people)

    def best(self) -> int:
        """The free person of the largest gain; among equals the one of the highest priority; -1 if no one is free."""
        people = self.people[self.free[self.people]]
        values = self.gains[people] + self.own[people]
        if self.beyond >= 0 and not (len(people) and values.max() > self.beyond):
            self._renew()
            return int(self.people[0])
        if not len(people):
            return -1
        ties = people[values == values.max()]
        return int(ties[np.argmax(self.search.priority[ties])])

    def bounds(self, count: int) -> tuple[float, float]:
        """The most that ``count`` free people gain together, and how many sets."""
        people = self.people[self.free[self.people]]
        gains = self.gains[people]
        values = gains + self.own[people]
        return _largest(values, self.beyond, count), _largest(gains, self.beyond_gain, count)


def _highest(values: FloatArray, priority: OffsetArray, count: int) -> IntArray:
    """Those of the highest values, of at least 0, in order; among equals by priority."""
    if count < len(values):
        least = np.partition(values, -count)[-count]
        above, ties = np.flatnonzero(values > least), np.flatnonzero(values == least)
        ties = ties[np.argsort(-priority[ties])][: count - len(above)]
        found = np.concatenate([above, ties])
    else:
        found = np.arange(len(values))
    found = found[values[found] >= 0]
    order: IntArray = found[np.lexsort((-priority[found], -values[found]))].astype(np.int32)
    return order


def _largest(values: npt.NDArray[np.generic], beyond: float, count: int) -> float:
    """The sum of the ``count`` largest values, where any number of further ones are at most ``beyond``."""
    largest = np.sort(values)[::-1][:count]
    rest = max(beyond, 0.0)
    return float(np.maximum(largest, rest).sum() + rest * (count - len(largest)))
