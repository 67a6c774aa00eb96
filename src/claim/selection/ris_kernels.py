"""Compiled loops of reverse influence sampling."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.coins import _GOLDEN, gap, stream, uniform, world_state
from claim.cascades.kernels import grown, kernel
from claim.selection.kernels import best_candidate


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
