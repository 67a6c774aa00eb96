"""Compiled loops of the cascades; ``tests/cascade_reference.py`` has the same in readable Python.

Random numbers are replayable: a stream is named by (seed, world, key), and the same name gives the same numbers, in any
order and on any thread, so worlds need not be stored to be shared. The generator is SplitMix64 (Steele, Lea and Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014). Failed edges are never visited: the gap to the next live
edge is geometric, so one number skips all failures before it.

Kernels release the interpreter lock and take a range of worlds, so that threads can share the work; which thread does
what never changes a result. Indices in the inner loops are unsigned: numba tests signed ones for being negative. An
unpredictable condition is multiplied with, not branched on, where that is cheap.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claim.compiling import compiled
from claim.networks.network import OffsetArray

kernel = compiled(nogil=True)
inlined = compiled(inline="always")
index = np.uint64

GOLDEN, MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Odd constants that keep the worlds of a seed and the streams of a world apart
WORLD_KEY, STREAM_KEY = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)
UNIT = 2.0**-53
ONE = np.uint64(1)
_S30, _S27, _S31, _S11, _S43, _S32 = (np.uint64(bits) for bits in (30, 27, 31, 11, 43, 32))
_LOW = np.uint64(2**32 - 1)  # the low half of 64 bits
GUIDE = 1024  # 2^(53 - 43)
LONGEST_IN_TABLE = 256
_LONGEST = np.uint64(LONGEST_IN_TABLE)
FAR = 2.0**40  # a gap beyond any network, small enough to be added to a position


class GapTable(NamedTuple):
    """Turns a random number into a geometric gap without a logarithm.

    A uniform number is ``k / 2^53``. ``at_most[j]`` is the largest ``k`` for which the gap is ``j`` or longer, from
    (1 - p)^j, with a closing 0. ``guide[b]`` is a lower bound of the gaps of the numbers in the ``b``-th of ``GUIDE``
    equal slices; from there a step or two reach the gap itself.
    """

    at_most: npt.NDArray[np.uint64]
    guide: npt.NDArray[np.uint16]
    log_fail: float

    def silent_below(self, degrees: OffsetArray) -> npt.NDArray[np.uint64]:
        """For each degree: a person whose first 64 random bits are below has no live edge."""
        bits = self.at_most[np.minimum(degrees, LONGEST_IN_TABLE)]
        below = np.where(bits < 2**53, bits << _S11, np.iinfo(np.uint64).max)
        return np.where(degrees < LONGEST_IN_TABLE, below, np.uint64(0))


@lru_cache(maxsize=64)
def gap_table(p: float) -> GapTable:
    """The table for one probability above 0."""
    log_fail = math.log1p(-p) if p < 1 else -math.inf
    power = np.ones(LONGEST_IN_TABLE + 1)
    power[1:] = np.exp(np.arange(1, LONGEST_IN_TABLE + 1) * log_fail)
    slice_ends = np.minimum(np.arange(1, GUIDE + 2) / GUIDE, 1.0)
    guide = np.searchsorted(-power, -slice_ends, side="right") - 1
    at_most = np.append(np.floor(power / UNIT), 0.0)
    return GapTable(at_most.astype(np.uint64), guide.astype(np.uint16), log_fail)


@inlined
def mix(x):
    """Scramble 64 bits."""
    x = (x ^ (x >> _S30)) * MIX_1
    x = (x ^ (x >> _S27)) * MIX_2
    return x ^ (x >> _S31)


@inlined
def world_state(seed, world):
    """The state that all streams of one world start from."""
    return mix(np.uint64(seed) + np.uint64(world) * WORLD_KEY)


@inlined
def stream(world, key):
    """The state of one stream of a world."""
    return world + np.uint64(key) * STREAM_KEY


@inlined
def random_bits(state):
    """53 random bits of a state."""
    return mix(state) >> _S11


@inlined
def uniform(state):
    """The uniform number in (0, 1] of a state; add ``GOLDEN`` to the state for the next one."""
    return float(random_bits(state) + ONE) * UNIT


@inlined
def gap(bits, at_most, guide, log_fail):
    """The number of failures before the next live edge, from 64 random bits and the fields of a ``GapTable``."""
    k = (bits >> _S11) + ONE
    failures = index(guide[k >> _S43])
    while k <= at_most[failures + ONE]:
        failures += ONE
    if failures == _LONGEST:
        failures = index(min(math.log(float(k) * UNIT) / log_fail, FAR))
    return failures


@inlined
def is_live(edge, state, probabilities, p):
    """Whether an edge that the gaps lead to is live, and the state of the next gap.

    ``p`` is the probability of every edge, or the largest of ``probabilities``: then a second number keeps the edge
    with probability ``probabilities[edge] / p``.
    """
    if not len(probabilities):
        return True, state
    return uniform(state) * p <= probabilities[edge], state + GOLDEN


@kernel
def draw_live(begin, end, state, probabilities, p, table, live):
    """Write the live ones among the edges ``begin`` to ``end - 1`` to ``live``; returns how many there are."""
    at_most, guide, log_fail = table
    count = index(0)
    edge = index(begin) + gap(mix(state), at_most, guide, log_fail)
    while edge < index(end):
        live[count] = edge
        kept, state = is_live(edge, state + GOLDEN, probabilities, p)
        count += index(kept)
        edge += ONE + gap(mix(state), at_most, guide, log_fail)
    return np.int64(count)


@kernel
def live_contacts(rows, person, seed, world):
    """The contacts that an active person activates in one world; each person has a random stream of their own.

    On an undirected network the two directions of an edge are drawn separately. Only the direction that is tried first
    can matter, because the second attempt meets an active person, so reach has the same distribution.
    """
    offsets, contacts, probabilities, p, table, _ = rows
    begin, end = offsets[person], offsets[person + 1]
    live = np.empty(end - begin + 1, dtype=np.uint32)
    state = stream(world_state(seed, world), person)
    return contacts[live[: draw_live(begin, end, state, probabilities, p, table, live)]]


@inlined
def add_contact(found, leaves, contact, came_from, person, leaf, behind):
    """Add the contact behind a live edge to those found, in the high half who tries to activate them.

    A leaf is only counted, and an edge back is left out. Returns how many contacts and how many leaves there are.
    """
    is_leaf = index(leaf[contact])
    behind[found] = contact | (person << _S32)
    return found + (index(contact != came_from) & (is_leaf ^ ONE)), leaves + is_leaf


@kernel
def spread(rows, leaders, seed, first_world, symmetric, surprises, reach, surprise):
    """Cascades from the leaders in worlds ``first_world ...``; ``rows`` is a ``RowSampler``.

    ``reach[i]`` becomes the number of people reached. ``surprise[i]`` becomes the worth of all contacts behind live
    edges of reached people, minus its expectation; its mean is 0. On a symmetric network the edge back to the person
    who reached a person is left out on both sides: it leads nowhere and would only add noise.

    Step by step, the live edges of everyone in the queue are drawn, and then people behind them who are new and have a
    live edge are put into the next queue. Whether an edge is the last live one of its row cannot be predicted, so edges
    are drawn in pairs, and one beyond the row counts as an edge back.
    """
    offsets, contacts, probabilities, p, (at_most, guide, log_fail), silent_below = rows
    worth, expected, change, leaf, worth_of_leaf = surprises
    n, own = len(offsets) - 1, len(probabilities) > 0
    active_in = np.full(n, -1, dtype=np.int32)  # the last of these worlds in which each person was active
    queue = np.empty(n + 1, dtype=np.uint64)  # people, and in the high half who reached them; of a leader themselves
    first = np.empty(n + 1, dtype=np.uint64)  # their first random bits
    behind = np.empty(len(contacts) + 2, dtype=np.uint64)  # contacts behind live edges, as in the queue
    back = np.empty(len(contacts) + 2)  # what the edge back from each of them adds to the expectation
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        total = 0.0
        count, leaves, queued = index(len(leaders)), index(0), index(0)
        for each in leaders:
            leader = index(each)
            active_in[leader] = i
            queue[queued] = leader | (leader << _S32)
            first[queued] = mix(stream(base, leader))
            queued += index(first[queued] >= silent_below[leader])
            total -= expected[leader]
        while queued:
            found = index(0)
            for head in range(queued):
                person = queue[head] & _LOW
                came_from = queue[head] >> _S32 if symmetric else person
                edge, end, state = index(offsets[person]), index(offsets[person + ONE]), stream(base, person)
                edge += gap(first[head], at_most, guide, log_fail)
                while edge < end:
                    for _ in range(2):
                        place = min(edge, end - ONE)
                        live, state = is_live(place, state + GOLDEN, probabilities, p)
                        contact = index(contacts[place])
                        contact = contact if live & (edge < end) else came_from
                        back[found] = worth[person] * symmetric * (probabilities[place] if own else p)
                        found, leaves = add_contact(found, leaves, contact, came_from, person, leaf, behind)
                        edge += ONE + gap(mix(state), at_most, guide, log_fail)
            queued = index(0)
            for j in range(found):
                contact = behind[j] & _LOW
                new = index(active_in[contact] != i)
                active_in[contact] = i
                count += new
                total += change[contact, new] + back[j] * new
                queue[queued] = behind[j]
                first[queued] = mix(stream(base, contact))
                queued += new & index(first[queued] >= silent_below[contact])
        reach[i] = count + leaves
        surprise[i] = total + leaves * worth_of_leaf


@kernel
def grown(array, needed):
    """The array, or a copy at least twice as long if ``needed`` entries do not fit."""
    if needed <= len(array):
        return array
    larger = np.empty(max(2 * len(array), needed), dtype=array.dtype)
    for i in range(len(array)):  # compiles in a tenth of the time of an assignment to a slice
        larger[i] = array[i]
    return larger


@inlined
def touch(person, i, seen, parent, size, touched, people):
    """Add a person with a live edge in world ``i`` to those touched, once; returns how many these are.

    The parent becomes the root: in order of first appearance, the parent of a person's parent is a root already.
    """
    new = index(seen[person] != i)
    seen[person] = i
    touched[people] = person
    root = index(parent[index(parent[person])])
    parent[person] = root
    size[root] += new
    return people + new


@kernel
def draw_components(edges, seed, first_world, worlds):
    """Components of two or more people in each world; ``edges`` is an ``EdgeSampler``.

    Returns ``members`` (people, component by component), ``starts`` (where each component begins in ``members``) and
    ``world_starts`` (the first component of each world), the last two with a closing entry.

    Edges are sorted by their smaller end, and a world's live edges are joined from the last to the first. The smaller
    end is then smaller than everyone joined before, so it becomes the parent of all on the way from the other end up.
    """
    n, sources, targets, probabilities, p, expected_live, table = edges
    parent = np.empty(n, dtype=np.uint32)  # of a touched person: the next on the way to the root of their component
    size = np.empty(n, dtype=np.uint32)  # of a root: the size of its component; 0 for all others
    seen = np.empty(n, dtype=np.int32)
    for i in range(n):  # one loop compiles faster than arange, zeros and full
        parent[i], size[i], seen[i] = i, 0, -1
    touched = np.empty(n + 1, dtype=np.uint32)
    live = np.empty(len(sources) + 1, dtype=np.uint32)
    place = np.empty(n, dtype=np.uint64)  # of a root: where its component's next member goes
    guess = int(1.5 * worlds * expected_live) + 64  # rarely exceeded, and memory that is not written to costs nothing
    members = np.empty(guess, dtype=np.int32)
    starts = np.empty(guess // 2 + 1, dtype=np.int64)
    world_starts = np.empty(worlds + 1, dtype=np.int64)
    filled = index(0)
    found = index(0)
    for i in range(worlds):
        world_starts[i] = found
        state = stream(world_state(seed, first_world + i), 0)
        count = index(draw_live(0, len(sources), state, probabilities, p, table, live))
        for back in range(ONE, count + ONE):
            edge = index(live[count - back])
            root, person = index(sources[edge]), index(targets[edge])
            above = index(parent[person])
            parent[person] = root
            while above != person:
                person = above
                above = index(parent[person])
                parent[person] = root
        people = index(0)
        for edge in live[: np.int64(count)]:
            people = touch(index(sources[index(edge)]), i, seen, parent, size, touched, people)
            people = touch(index(targets[index(edge)]), i, seen, parent, size, touched, people)
        members = grown(members, np.int64(filled + people))
        starts = grown(starts, np.int64(found + people + ONE))
        for j in range(people):
            person = index(touched[j])
            root = index(parent[person])
            starts[found] = filled  # kept only if this is a root; the size of all others is 0
            place[person] = filled
            found += index(root == person)
            filled += index(size[person])
            members[place[root]] = person
            place[root] += ONE
            parent[person] = person
            size[person] = 0
    world_starts[worlds] = found
    starts[found] = filled
    return members[: np.int64(filled)], starts[: np.int64(found) + 1], world_starts


@kernel
def memberships(n, members, starts):
    """For each person the components they belong to, ascending: row offsets and component numbers."""
    offsets = np.zeros(n + 1, dtype=np.int64)
    for person in members:
        offsets[index(person) + ONE] += 1
    for person in range(n):
        offsets[person + 1] += offsets[person]
    place = offsets[:-1].copy()
    numbers = np.empty(len(members), dtype=np.int32)
    for component in range(len(starts) - 1):
        for i in range(index(starts[component]), index(starts[component + 1])):
            person = index(members[i])
            numbers[index(place[person])] = component
            place[person] += 1
    return offsets, numbers


@kernel
def reach_in_worlds(worlds, leaders, reach):
    """``reach[w]`` becomes the number of people in the leaders' components in world ``w``; takes ``tuple(worlds)``."""
    _, _, _, starts, world_starts, member_offsets, member_numbers = worlds
    counted = np.zeros(len(starts) - 1, dtype=np.bool_)
    reach[:] = len(leaders)
    for leader in leaders:
        world = 0
        for i in range(member_offsets[leader], member_offsets[leader + 1]):
            component = member_numbers[i]
            while component >= world_starts[world + 1]:
                world += 1
            reach[world] -= 1  # counted with the component instead
            if not counted[component]:
                counted[component] = True
                reach[world] += starts[component + 1] - starts[component]
