"""Reverse influence sampling (IMM) with its guarantee, for large networks."""

import math
from dataclasses import dataclass

import numpy as np

from claim.cascades.coins import _GOLDEN, gap, gap_table, stream, uniform, world_state
from claim.cascades.influence import NO_PROBABILITIES, check_probability, edge_coins, in_chunks
from claim.cascades.kernels import grown, kernel, memberships
from claim.cascades.reference import coin_probability
from claim.networks import Network
from claim.networks.network import FloatArray, IntArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.greedy import Candidates, Chosen, Ties, tie_priority
from claim.selection.kernels import best_candidate

# mypy: disable-error-code="no-untyped-def,untyped-decorator"


@kernel
def draw_reverse_sets(offsets, contacts, thinned, p, table, seed, first, count):
    """Everybody who would have reached one random person, in samples ``first ...``.

    ``offsets`` and ``contacts`` hold for each person those who can reach them directly. Returns the people, sample by
    sample, and where each sample begins (with a closing entry).
    """
    power, guide, log_fail = table
    n = len(offsets) - 1
    found_in = np.full(n, -1, dtype=np.int32)  # the last of these samples in which each person was found
    queue = np.empty(n, dtype=np.int32)
    members = np.empty(4 * count + 64, dtype=np.int32)
    starts = np.zeros(count + 1, dtype=np.int32)
    filled = 0
    for i in range(count):
        base = world_state(seed, first + i)
        root = min(int(uniform(stream(base, n)) * n), n - 1)
        found_in[root] = i
        queue[0] = root
        head, size = 0, 1
        while head < size:
            person = queue[head]
            head += 1
            end = offsets[person + 1]
            state = stream(base, person)
            position = offsets[person] + gap(uniform(state), power, guide, log_fail)
            while position < end:
                state += _GOLDEN
                live = True
                if len(thinned):
                    live = uniform(state) * p <= thinned[position]
                    state += _GOLDEN
                contact = contacts[position]
                if live and found_in[contact] != i:
                    found_in[contact] = i
                    queue[size] = contact
                    size += 1
                position += 1 + gap(uniform(state), power, guide, log_fail)
        members = grown(members, filled + size)
        members[filled : filled + size] = queue[:size]
        filled += size
        starts[i + 1] = filled
    return members[:filled], starts


@kernel
def cover_most(k, must, free, priority, members, starts, set_offsets, set_numbers):
    """Greedy choice of ``k`` people who are in the most sets: the leaders and an upper bound.

    ``set_numbers[set_offsets[u]:set_offsets[u + 1]]`` are the sets of person ``u``. No choice of ``k`` people covers
    more sets than those covered so far plus the largest gains still to be had, whenever that is asked: the bound is the
    smallest such sum. Spends ``free``.
    """
    n = len(set_offsets) - 1
    gains = np.empty(n, dtype=np.int64)
    for person in range(n):
        gains[person] = set_offsets[person + 1] - set_offsets[person]
    covered = np.zeros(len(starts) - 1, dtype=np.bool_)
    leaders = np.empty(k, dtype=np.int64)
    reached = 0
    count = 0
    bound = len(covered)
    while True:
        if count >= len(must):
            bound = min(bound, reached + largest_sum(gains, free, k - len(must)))
        if count == k:
            break
        person = must[count] if count < len(must) else best_candidate(gains, free, priority)
        if person < 0:
            break
        leaders[count] = person
        count += 1
        free[person] = False
        reached += gains[person]
        for i in range(set_offsets[person], set_offsets[person + 1]):
            number = set_numbers[i]
            if not covered[number]:
                covered[number] = True
                for j in range(starts[number], starts[number + 1]):
                    gains[members[j]] -= 1
    return leaders[:count], bound


@kernel
def largest_sum(gains, free, count):
    """The sum of the ``count`` largest gains among the free."""
    those = gains[free]
    if count >= len(those):
        return those.sum()
    if count == 0:
        return 0
    return np.partition(those, len(those) - count)[len(those) - count :].sum()


@kernel
def sets_met(n, leaders, members, starts):
    """In how many sets at least one of the leaders is."""
    is_leader = np.zeros(n, dtype=np.bool_)
    for leader in leaders:
        is_leader[leader] = True
    met = 0
    for number in range(len(starts) - 1):
        for i in range(starts[number], starts[number + 1]):
            if is_leader[members[i]]:
                met += 1
                break
    return met


EPSILON = 0.05
GREEDY_SHARE = 1 - 1 / math.e
MOST_STORED = 100_000_000  # numbers of 4 bytes kept in both halves together
FEWEST_STORED = 4_000_000  # drawn, with as many more a person as below, even if the bound is met before:
FEWEST_A_PERSON = 100  # the bound is loose, and a few more sets still choose clearly better
BATCH = 8_000_000  # numbers drawn before they are put away


@dataclass(frozen=True)
class ReverseCoins:
    """For each person who can reach them directly, and with which probability."""

    offsets: OffsetArray
    contacts: IntArray
    thinned: FloatArray
    p: float

    @classmethod
    def of(cls, network: Network, p: float) -> "ReverseCoins":
        """The edges against their direction; an undirected network is its own reverse."""
        coin, thinned = coin_probability(network, p), edge_coins(network)
        if not network.directed:
            return cls(network.offsets, network.contacts, thinned, coin)
        order = np.argsort(network.contacts, kind="stable")
        sources = np.repeat(np.arange(network.n, dtype=np.int32), network.degrees)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(network.contacts, minlength=network.n))])
        return cls(offsets, sources[order], thinned[order] if len(thinned) else NO_PROBABILITIES, coin)


class ReverseSets:
    """A growing number of reverse sets in two flat arrays that never hold more than ``capacity`` numbers together."""

    def __init__(self, coins: ReverseCoins, seed: int, capacity: int) -> None:
        self.coins, self.seed = coins, seed
        self.n = len(coins.offsets) - 1
        self.count = 0
        self.full = False
        self.capacity = max(capacity, self.n + 1)  # one set always fits
        self._members = np.empty(self.capacity, dtype=np.int32)  # costs nothing until written to
        self._starts = np.zeros(self.capacity + 1, dtype=np.int32)

    @property
    def members(self) -> IntArray:
        """The people of all sets, set by set."""
        return self._members[: self._starts[self.count]]

    @property
    def starts(self) -> IntArray:
        """Where each set begins in ``members``, with a closing entry."""
        return self._starts[: self.count + 1]

    @property
    def stored(self) -> int:
        """How many numbers are kept."""
        return self.count + int(self._starts[self.count])

    def grow(self, target: int) -> None:
        """Draw sets until there are ``target`` of them or the next one does not fit."""
        while self.count < target and not self.full:
            for members, starts in in_chunks(self._draw, self._next(target)):
                self._put_away(members, starts)

    def _next(self, target: int) -> int:
        """How many sets to draw at once so that they fit into a batch, judged by those so far."""
        mean = self.stored / self.count if self.count else self.n + 1
        return min(target - self.count, max(1, int(BATCH / mean)), max(64, self.count))

    def _draw(self, first: int, count: int) -> tuple[IntArray, IntArray]:
        """Sets ``first ...`` of those still to be drawn; sets are only put away when all threads are done."""
        coins, table = self.coins, gap_table(self.coins.p)
        return draw_reverse_sets(  # type: ignore[no-any-return]
            coins.offsets, coins.contacts, coins.thinned, coins.p, table, self.seed, self.count + first, count
        )

    def _put_away(self, members: IntArray, starts: IntArray) -> None:
        """Keep the sets that fit; once one does not, none after it is kept, so that large sets are not left out."""
        needed = self.stored + np.arange(1, len(starts)) + starts[1:]
        fitting = 0 if self.full else int(np.searchsorted(needed, self.capacity, side="right"))
        self.full |= fitting < len(starts) - 1
        filled = int(self._starts[self.count])
        self._members[filled : filled + starts[fitting]] = members[: starts[fitting]]
        self._starts[self.count + 1 : self.count + 1 + fitting] = starts[1 : fitting + 1] + filled
        self.count += fitting


def ris(
    network: Network,
    candidates: Candidates,
    k: int,
    p: float,
    rng: np.random.Generator,
    ties: Ties = "random",
    epsilon: float = EPSILON,
    most_stored: int = MOST_STORED,
) -> Chosen:
    """The ``k`` leaders and the share of the best possible influence that they are sure to have.

    Sure means with probability 1 - 1/n. The share aimed at is 1 - 1/e - ``epsilon``; where memory does not allow it (at
    most ``most_stored`` numbers of 4 bytes), what was reached is returned.
    """
    check_probability(p)
    coins = ReverseCoins.of(network, p)
    priority = tie_priority(network.n, ties, rng)
    if coins.p == 0 or not len(coins.contacts):  # everybody reaches themselves only: any choice is the best
        order = np.argsort(-priority)
        free = order[candidates.open_to_choice()[order]].tolist()
        return Chosen([*candidates.must, *free][:k], 1.0)
    choosing, judging = (ReverseSets(coins, draw_seed(rng), most_stored // 2) for _ in range(2))
    plan = Plan.of(network.n, k, epsilon)
    for number in plan.numbers:
        choosing.grow(number)
        judging.grow(number)
        leaders, upper = _choose(choosing, candidates, k, priority, plan.doubt)
        guarantee = _lower_bound(judging, leaders, plan.doubt) / upper
        enough = choosing.stored + judging.stored >= FEWEST_STORED + FEWEST_A_PERSON * network.n
        if (guarantee >= GREEDY_SHARE - epsilon and enough) or choosing.full or judging.full:
            break
    return Chosen(leaders.tolist(), guarantee)


@dataclass(frozen=True)
class Plan:
    """How many sets to draw in each half, round by round, and the doubt allowed in each bound."""

    numbers: list[int]
    doubt: float

    @classmethod
    def of(cls, n: int, k: int, epsilon: float) -> "Plan":
        """The schedule of OPIM-C with failure probability 1/n; ``doubt`` is the logarithm of 3 rounds n."""
        k = min(k, n)
        rounds = max(1, math.ceil(math.log2(max(2.0, n / (epsilon**2 * k)))))
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)  # log of n choose k
        sure = math.log(6 * n)
        first = 2 * (GREEDY_SHARE * math.sqrt(sure) + math.sqrt(GREEDY_SHARE * (ways + sure))) ** 2
        return cls([math.ceil(first) << i for i in range(rounds + 1)], math.log(3 * (rounds + 1) * n))


def _choose(
    sets: ReverseSets, candidates: Candidates, k: int, priority: OffsetArray, doubt: float
) -> tuple[OffsetArray, float]:
    """Leaders and an upper bound on the influence of the best possible choice."""
    offsets, numbers = memberships(sets.n, sets.members, sets.starts)
    must = np.array(candidates.must, dtype=np.int64)
    free = candidates.open_to_choice()
    leaders, most = cover_most(k, must, free, priority, sets.members, sets.starts, offsets, numbers)
    highest = (math.sqrt(most + doubt / 2) + math.sqrt(doubt / 2)) ** 2
    return leaders, min(highest * sets.n / sets.count, float(sets.n))


def _lower_bound(sets: ReverseSets, leaders: OffsetArray, doubt: float) -> float:
    """What the leaders surely reach (at least themselves), judged on sets they were not chosen with."""
    met = sets_met(sets.n, leaders, sets.members, sets.starts)
    lowest = (math.sqrt(met + 2 * doubt / 9) - math.sqrt(doubt / 2)) ** 2 - doubt / 18
    return max(float(lowest * sets.n / sets.count), float(len(leaders)))
