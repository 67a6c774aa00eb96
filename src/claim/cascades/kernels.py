"""Compiled loops of the cascades; ``tests/cascade_reference.py`` has the same in readable Python.

Random numbers are replayable: a stream is named by (seed, world, key), and the same name gives the same numbers, in any
order and on any thread, so worlds need not be stored to be shared. The generator is SplitMix64 (Steele, Lea and Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014). Failed edges are never visited: the gap to the next live
edge is geometric, so one number skips all failures before it.

Kernels release the interpreter lock and take a range of worlds, so that threads can share the work; which thread does
what never changes a result.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from claim.compiling import compiled
from claim.networks.network import FloatArray, IntArray

kernel = compiled(nogil=True)
inlined = compiled(inline="always")

GOLDEN, MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Odd constants that keep the worlds of a seed and the streams of a world apart
WORLD_KEY, STREAM_KEY = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xA0761D6478BD642F)
UNIT = 2.0**-53
_S30, _S27, _S31, _S11, _ONE = (np.uint64(bits) for bits in (30, 27, 31, 11, 1))
GUIDE = 1024
LONGEST_IN_TABLE = 256
FAR = 2.0**40  # a gap beyond any network, small enough to be added to a position


class GapTable(NamedTuple):
    """Turns a uniform number into a geometric gap without a logarithm.

    ``power[j]`` is (1 - p)^j, the probability that a gap is ``j`` or longer. ``guide[b]`` is a lower bound of the gaps
    of the numbers in the ``b``-th of ``GUIDE`` equal slices; from there a step or two reach the gap itself.
    """

    power: FloatArray
    guide: IntArray
    log_fail: float


@lru_cache(maxsize=64)
def gap_table(p: float) -> GapTable:
    """The table for one probability above 0."""
    log_fail = math.log1p(-p) if p < 1 else -math.inf
    power = np.ones(LONGEST_IN_TABLE + 1)
    power[1:] = np.exp(np.arange(1, LONGEST_IN_TABLE + 1) * log_fail)
    slice_ends = np.minimum(np.arange(1, GUIDE + 2) / GUIDE, 1.0)
    guide = np.searchsorted(-power, -slice_ends, side="right") - 1
    return GapTable(power, guide.astype(np.int32), log_fail)


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
def uniform(state):
    """The uniform number in (0, 1] of a state; add ``GOLDEN`` to the state for the next one."""
    return float((mix(state) >> _S11) + _ONE) * UNIT


@inlined
def gap(u, power, guide, log_fail):
    """The number of failures before the next live edge, from a uniform number and the fields of a ``GapTable``."""
    last = len(power) - 1
    failures = np.int64(guide[int(u * GUIDE)])
    while failures < last and u <= power[failures + 1]:
        failures += 1
    if failures == last:
        failures = np.int64(min(math.log(u) / log_fail, FAR))
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
    power, guide, log_fail = table
    count = 0
    edge = begin + gap(uniform(state), power, guide, log_fail)
    while edge < end:
        live[count] = edge
        kept, state = is_live(edge, state + GOLDEN, probabilities, p)
        count += kept
        edge += 1 + gap(uniform(state), power, guide, log_fail)
    return count


@kernel
def live_contacts(rows, person, seed, world):
    """The contacts that an active person activates in one world; each person has a random stream of their own.

    On an undirected network the two directions of an edge are drawn separately. Only the direction that is tried first
    can matter, because the second attempt meets an active person, so reach has the same distribution.
    """
    offsets, contacts, probabilities, p, table = rows
    begin, end = offsets[person], offsets[person + 1]
    live = np.empty(end - begin + 1, dtype=np.int64)
    state = stream(world_state(seed, world), person)
    return contacts[live[: draw_live(begin, end, state, probabilities, p, table, live)]]


@kernel
def spread(rows, leaders, seed, first_world, symmetric, worth, expected, reach, surprise):
    """Cascades from the leaders in worlds ``first_world ...``; ``rows`` is a ``RowSampler``.

    ``reach[i]`` becomes the number of people reached. ``surprise[i]`` becomes the worth of all contacts behind live
    edges of reached people, minus its expectation; its mean is 0. On a symmetric network the edge back to the person
    who reached a person is left out on both sides: it leads nowhere and would only add noise.
    """
    offsets, contacts, probabilities, p, (power, guide, log_fail) = rows
    n = len(offsets) - 1
    active_in = np.full(n, -1, dtype=np.int32)  # the last of these worlds in which each person was active
    queue = np.empty(n, dtype=np.int32)
    reached_by = np.empty(n, dtype=np.int32)
    worth_back = np.empty(n)  # what the edge back adds to the expectation
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        total = 0.0
        count = 0
        for leader in leaders:
            active_in[leader] = i
            reached_by[leader] = -1
            worth_back[leader] = 0.0
            queue[count] = leader
            count += 1
        head = 0
        while head < count:
            person = queue[head]
            head += 1
            total -= expected[person] - worth_back[person]
            end, state = offsets[person + 1], stream(base, person)
            edge = offsets[person] + gap(uniform(state), power, guide, log_fail)
            while edge < end:
                live, state = is_live(edge, state + GOLDEN, probabilities, p)
                contact = contacts[edge]
                if live and contact != reached_by[person]:
                    total += worth[contact]
                    if active_in[contact] != i:
                        active_in[contact] = i
                        reached_by[contact] = person if symmetric else -1
                        back = probabilities[edge] if len(probabilities) else p
                        worth_back[contact] = worth[person] * back * symmetric
                        queue[count] = contact
                        count += 1
                edge += 1 + gap(uniform(state), power, guide, log_fail)
        reach[i] = count
        surprise[i] = total


@kernel
def find(parent, person):
    """The root of a person's component, halving the path on the way."""
    while parent[person] != person:
        parent[person] = parent[parent[person]]
        person = parent[person]
    return person


@kernel
def grown(array, needed):
    """The array, or a copy at least twice as long if ``needed`` entries do not fit."""
    if needed <= len(array):
        return array
    larger = np.empty(max(2 * len(array), needed), dtype=array.dtype)
    for i in range(len(array)):  # compiles in a tenth of the time of an assignment to a slice
        larger[i] = array[i]
    return larger


@kernel
def draw_components(edges, seed, first_world, worlds):
    """Components of two or more people in each world; ``edges`` is an ``EdgeSampler``.

    Returns ``members`` (people, component by component), ``starts`` (where each component begins in ``members``) and
    ``world_starts`` (the first component of each world), the last two with a closing entry. Appending without a branch
    and linking to the smaller index save mispredicted jumps, most of the cost here.
    """
    n, sources, targets, probabilities, p, expected_live, table = edges
    parent = np.empty(n, dtype=np.int32)  # of a touched person: the root of their component
    size = np.empty(n, dtype=np.int32)  # of a root: the size of its component; 0 for all others
    seen = np.empty(n, dtype=np.int32)
    for person in range(n):  # one loop compiles faster than arange, zeros and full
        parent[person], size[person], seen[person] = person, 0, -1
    touched = np.empty(n + 1, dtype=np.int32)
    live = np.empty(len(sources) + 1, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)  # of a root: where its component's next member goes
    guess = int(1.5 * worlds * expected_live) + 64  # rarely exceeded, and memory that is not written to costs nothing
    members = np.empty(guess, dtype=np.int32)
    starts = np.empty(guess // 2 + 1, dtype=np.int64)
    world_starts = np.empty(worlds + 1, dtype=np.int64)
    filled = 0
    found = 0
    for i in range(worlds):
        world_starts[i] = found
        state = stream(world_state(seed, first_world + i), 0)
        count = draw_live(0, len(sources), state, probabilities, p, table, live)
        people = 0
        for edge in live[:count]:
            u, v = sources[edge], targets[edge]
            for person in (u, v):
                touched[people] = person
                people += seen[person] != i
                seen[person] = i
            a, b = find(parent, u), find(parent, v)
            parent[max(a, b)] = min(a, b)
        for person in touched[:people]:
            root = find(parent, person)
            parent[person] = root
            size[root] += 1
        members = grown(members, filled + people)
        starts = grown(starts, found + people + 1)
        for person in touched[:people]:
            starts[found] = filled  # kept only if this is a root; the size of all others is 0
            place[person] = filled
            found += parent[person] == person
            filled += size[person]
        for person in touched[:people]:
            root = parent[person]
            members[place[root]] = person
            place[root] += 1
        for person in touched[:people]:
            parent[person] = person
            size[person] = 0
    world_starts[worlds] = found
    starts[found] = filled
    return members[:filled], starts[: found + 1], world_starts


@kernel
def memberships(n, members, starts):
    """For each person the components they belong to, ascending: row offsets and component numbers."""
    offsets = np.zeros(n + 1, dtype=np.int64)
    for person in members:
        offsets[person + 1] += 1
    for person in range(n):
        offsets[person + 1] += offsets[person]
    place = offsets[:-1].copy()
    numbers = np.empty(len(members), dtype=np.int32)
    for component in range(len(starts) - 1):
        for i in range(starts[component], starts[component + 1]):
            person = members[i]
            numbers[place[person]] = component
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
