"""Reverse influence sampling (OPIM-C) with its guarantee, for large networks."""

import math

import numpy as np

from claim.cascades.influence import RowSampler, in_chunks
from claim.cascades.kernels import (
    GOLDEN,
    ONE,
    gap,
    grown,
    index,
    is_live,
    kernel,
    memberships,
    mix,
    stream,
    uniform,
    world_state,
)
from claim.errors import InputError, check_number
from claim.networks.network import IntArray, OffsetArray
from claim.randomness import draw_seed
from claim.selection.greedy import Candidates, Chosen, Task
from claim.selection.kernels import pick_covering

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

EPSILON = 0.05
GREEDY_SHARE = 1 - 1 / math.e
MOST_STORED = 100_000_000  # numbers of 4 bytes kept in both halves together
FEWEST_STORED = 4_000_000  # drawn, with as many more a person as below, even if the bound is met before:
FEWEST_A_PERSON = 100  # the bound is loose, and a few more sets still choose clearly better
BATCH = 8_000_000  # numbers drawn before they are stored


def ris(task: Task, epsilon: float = EPSILON, most_stored: int = MOST_STORED) -> Chosen:
    """The ``k`` leaders and the share of the best possible influence that they have with probability 1 - 1/n.

    The share aimed at is 1 - 1/e - ``epsilon``; where memory (at most ``most_stored`` numbers of 4 bytes) does not
    allow it, the share reached is returned.
    """
    check_number(0, 1, probability=task.p)
    if not task.model.is_plain:
        raise InputError(f"ris knows the model ic only, got {task.model}")
    network, candidates, k = task.network, task.candidates, task.k
    rows, priority = RowSampler.of(network, task.p, against=True), task.priority()
    if rows.p == 0 or not len(rows.contacts):  # everyone reaches themselves only: any choice is the best
        order = np.argsort(-priority)
        free = order[candidates.open_to_choice()[order]].tolist()
        return Chosen([*candidates.must, *free][:k], 1.0)
    choosing, testing = (ReverseSets(rows, draw_seed(task.rng), most_stored // 2) for _ in range(2))
    numbers, doubt = _schedule(network.n, k, epsilon)
    for number in numbers:
        choosing.grow(number)
        testing.grow(number)
        leaders, upper = _choose(choosing, candidates, k, priority, doubt)
        guarantee = _lower_bound(testing, leaders, doubt) / upper
        enough = choosing.stored + testing.stored >= FEWEST_STORED + FEWEST_A_PERSON * network.n
        if (guarantee >= GREEDY_SHARE - epsilon and enough) or choosing.full or testing.full:
            break
    return Chosen(leaders.tolist(), guarantee)


def _schedule(n: int, k: int, epsilon: float) -> tuple[list[int], float]:
    """The number of sets in each half, round by round, and the doubt allowed in each bound, log(3 rounds n).

    The schedule of OPIM-C (Tang et al., SIGMOD 2018) with failure probability 1/n.
    """
    k = min(k, n)
    rounds = max(1, math.ceil(math.log2(max(2.0, n / (epsilon**2 * k)))))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)  # log of n choose k
    sure = math.log(6 * n)
    first = 2 * (GREEDY_SHARE * math.sqrt(sure) + math.sqrt(GREEDY_SHARE * (ways + sure))) ** 2
    return [math.ceil(first) << i for i in range(rounds + 1)], math.log(3 * (rounds + 1) * n)


class ReverseSets:
    """A growing number of reverse sets in two flat arrays that never hold more than ``capacity`` numbers together."""

    def __init__(self, rows: RowSampler, seed: int, capacity: int) -> None:
        self.rows, self.seed = rows, seed
        self.n = len(rows.offsets) - 1
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
        """The position in ``members`` at which each set begins, with a closing entry."""
        return self._starts[: self.count + 1]

    @property
    def stored(self) -> int:
        """How many numbers are kept."""
        return self.count + int(self._starts[self.count])

    def grow(self, target: int) -> None:
        """Draw sets until there are ``target`` of them or the next one does not fit."""
        while self.count < target and not self.full:
            drawn = self.count
            mean = self.stored / drawn if drawn else self.n + 1
            number = min(target - drawn, max(1, int(BATCH / mean)), max(64, drawn))  # so that they fit into a batch

            def draw(first: int, count: int, drawn: int = drawn) -> tuple[IntArray, IntArray]:
                return draw_reverse_sets(self.rows, self.seed, drawn + first, count)  # type: ignore[no-any-return]

            for members, starts in in_chunks(draw, number):
                self._store(members, starts)

    def _store(self, members: IntArray, starts: IntArray) -> None:
        """Keep the sets that fit; once one does not, none after it is kept, so that large sets are not left out."""
        needed = self.stored + np.arange(1, len(starts)) + starts[1:]
        fitting = 0 if self.full else int(np.searchsorted(needed, self.capacity, side="right"))
        self.full |= fitting < len(starts) - 1
        filled = int(self._starts[self.count])
        self._members[filled : filled + starts[fitting]] = members[: starts[fitting]]
        self._starts[self.count + 1 : self.count + 1 + fitting] = starts[1 : fitting + 1] + filled
        self.count += fitting


def _choose(
    sets: ReverseSets, candidates: Candidates, k: int, priority: OffsetArray, doubt: float
) -> tuple[OffsetArray, float]:
    """Leaders and an upper bound on the influence of the best possible choice."""
    offsets, numbers = memberships(sets.n, sets.members, sets.starts)
    leaders, most = pick_covering(
        k, np.array(candidates.must, dtype=np.int64), candidates.open_to_choice(), priority, np.diff(offsets), False,
        sets.members, sets.starts, offsets, numbers,
    )  # fmt: skip
    highest = (math.sqrt(most + doubt / 2) + math.sqrt(doubt / 2)) ** 2
    return leaders, min(highest * sets.n / sets.count, float(sets.n))


def _lower_bound(sets: ReverseSets, leaders: OffsetArray, doubt: float) -> float:
    """A lower bound on the influence of the leaders (at least themselves), from sets they were not chosen with."""
    met = sets_met(sets.n, leaders, sets.members, sets.starts)
    lowest = (math.sqrt(met + 2 * doubt / 9) - math.sqrt(doubt / 2)) ** 2 - doubt / 18
    return max(float(lowest * sets.n / sets.count), float(len(leaders)))


def sets_met(n: int, leaders: OffsetArray, members: IntArray, starts: IntArray) -> int:
    """The number of sets that contain at least one of the leaders."""
    is_leader = np.zeros(n, dtype=np.bool_)
    is_leader[leaders] = True
    return int(np.logical_or.reduceat(is_leader[members], starts[:-1]).sum())


@kernel
def draw_reverse_sets(rows, seed, first, count):
    """The people who would have reached one random person, in samples ``first ...``.

    ``rows`` is a ``RowSampler`` against the direction of the edges. Returns the people, sample by sample, and where
    each sample begins (with a closing entry).
    """
    offsets, contacts, probabilities, p, (at_most, guide, log_fail), silent_below = rows
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
            state = stream(base, person)
            if mix(state) < silent_below[person]:
                continue
            edge, end = index(offsets[person]), index(offsets[person + 1])
            edge += gap(mix(state), at_most, guide, log_fail)
            while edge < end:
                live, state = is_live(edge, state + GOLDEN, probabilities, p)
                if live and found_in[contacts[edge]] != i:
                    found_in[contacts[edge]] = i
                    queue[size] = contacts[edge]
                    size += 1
                edge += ONE + gap(mix(state), at_most, guide, log_fail)
        members = grown(members, filled + size)
        members[filled : filled + size] = queue[:size]
        filled += size
        starts[i + 1] = filled
    return members[:filled], starts
