"""Compiled loops of leader selection; ``worlds`` is the plain tuple of a :class:`claim.cascades.Worlds`."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import math

import numpy as np

from claim.cascades.kernels import (
    FAR,
    GOLDEN,
    ONE,
    UNIT,
    gap,
    grown,
    index,
    inlined,
    is_live,
    kernel,
    mix,
    stream,
    uniform,
    world_state,
)

FARTHEST, SHORTEST = FAR, 1e-300  # bounds on -1 / log(1 - p), which is neither infinite nor 0
MET = -2  # in place of the last set that a person was found in: sets stop at this person
_S11 = np.uint64(11)
_MANTISSA = np.uint64(2**53)


@kernel
def best_candidate(gains, free, priority):
    """The free person of the largest gain; among equals the one of the highest priority; -1 if no one is free."""
    best = -1
    for person in range(len(gains)):
        if free[person] and (
            best < 0
            or gains[person] > gains[best]
            or (gains[person] == gains[best] and priority[person] > priority[best])
        ):
            best = person
    return best


@kernel
def gains_beyond(leaders, n, samples, members, starts):
    """How many people each person adds to the leaders, summed over ``samples`` worlds of ``n`` people."""
    is_leader = np.zeros(n, dtype=np.bool_)
    is_leader[leaders] = True
    gains = np.full(n, samples, dtype=np.int64)
    for component in range(len(starts) - 1):
        begin, end = starts[component], starts[component + 1]
        added = end - begin
        if len(leaders):
            for i in range(begin, end):
                if is_leader[members[i]]:
                    added = 0
        for i in range(index(begin), index(end)):
            gains[index(members[i])] += added - 1
    return gains


@kernel
def cover(components, members, starts, covered, gains):
    """Cover these components: each counts as many times as it has members, and once. Changes ``gains``."""
    for component in components:
        if not covered[component]:
            covered[component] = True
            begin, end = starts[component], starts[component + 1]
            for i in range(index(begin), index(end)):
                gains[index(members[i])] -= end - begin


@kernel
def shortlist_components(leaders, shortlist, n, members, starts, world_starts, roots, sizes):
    """For each world and shortlisted person: their component, and its size (0 if a leader is in it).

    ``roots`` and ``sizes`` are of shape (worlds, people on the shortlist).
    """
    column = np.full(n, -1, dtype=np.int64)
    column[shortlist] = np.arange(len(shortlist))
    is_leader = np.zeros(n, dtype=np.bool_)
    is_leader[leaders] = True
    for world in range(len(roots)):
        roots[world] = -1 - np.arange(len(shortlist))  # alone in this world
        sizes[world] = 1
        for component in range(world_starts[world], world_starts[world + 1]):
            begin, end = starts[component], starts[component + 1]
            size = end - begin
            for i in range(begin, end):
                if is_leader[members[i]]:
                    size = 0
            for i in range(begin, end):
                j = column[members[i]]
                if j >= 0:
                    roots[world, j] = component
                    sizes[world, j] = size


@kernel
def pick_from_shortlist(k, bound, priority, roots, sizes):
    """Up to ``k`` picks (positions in the shortlist), as long as they gain more than ``bound``; at least one.

    The first is the first of the list, which is sorted by what each person gains at this point.
    """
    people = roots.shape[1]
    gains = np.zeros(people, dtype=np.int64)
    for i in range(len(roots)):
        for j in range(people):
            gains[j] += sizes[i, j]
    free = np.ones(people, dtype=np.bool_)
    picked = np.empty(k, dtype=np.int64)
    count = 0
    while count < k:
        best = best_candidate(gains, free, priority)
        if best < 0 or (count > 0 and gains[best] <= bound):
            break
        picked[count] = best
        count += 1
        free[best] = False
        for i in range(len(roots)):
            if sizes[i, best]:
                root = roots[i, best]
                for j in range(people):
                    if roots[i, j] == root:
                        gains[j] -= sizes[i, j]
                        sizes[i, j] = 0
    return picked[:count]


@kernel
def expected_gains(worlds, weights, uncovered):
    """The weight that each person reaches beyond what is covered, on average over the worlds.

    ``uncovered[c]`` is the probability that no leader so far has covered component ``c``. Components of one person are
    not stored: in all worlds in which a person is in no component they reach themselves.
    """
    _, samples, members, starts, _, offsets, _ = worlds
    gains = (samples - (offsets[1:] - offsets[:-1])) * weights
    for component in range(len(starts) - 1):
        if uncovered[component] > 0.0:
            begin, end = starts[component], starts[component + 1]
            total = 0.0
            for i in range(begin, end):
                total += weights[members[i]]
            total *= uncovered[component]
            for i in range(begin, end):
                gains[members[i]] += total
    return gains / samples


@kernel
def expected_gains_of(people, worlds, weights, uncovered):
    """The same for some people only, in the same order of additions: (people,)."""
    _, samples, members, starts, _, offsets, numbers = worlds
    gains = np.empty(len(people))
    for j in range(len(people)):
        begin, end = offsets[people[j]], offsets[people[j] + 1]
        gain = (samples - (end - begin)) * weights[people[j]]
        for component in numbers[begin:end]:
            if uncovered[component] > 0.0:
                total = 0.0
                for i in range(starts[component], starts[component + 1]):
                    total += weights[members[i]]
                gain += total * uncovered[component]
        gains[j] = gain
    return gains / samples


@kernel
def cover_components(worlds, person, attendance, uncovered):
    """A new leader covers their components if they come."""
    offsets, numbers = worlds[5:]
    for i in range(offsets[person], offsets[person + 1]):
        uncovered[numbers[i]] *= 1.0 - attendance


@inlined
def next_gap(bits, per_gap, at_most, guide, log_fail):
    """The number of failures before the next contact that may succeed; ``per_gap`` is 0 where a table says it."""
    if per_gap == 0.0:
        return gap(bits, at_most, guide, log_fail)
    return index(min(math.log(float((bits >> _S11) + ONE) * UNIT) * per_gap, FAR))


@inlined
def some_gap(bits, alone):
    """Random bits of which a share ``alone``, those that make the longest gaps, is left out."""
    least = index(alone * float(_MANTISSA))
    kept = index(float(bits >> _S11) * UNIT * float(_MANTISSA - least))
    return min(least + kept, _MANTISSA - ONE) << _S11


@inlined
def draw_root(base, n, roots, guide):
    """A random person, by the share of ``roots`` that is theirs."""
    position = uniform(stream(base, n))
    root = index(guide[min(index(position * n), index(n - 1))])
    while roots[root] < position * roots[n - 1]:
        root += ONE
    return root


@kernel
def draw_reverse_sets(sampler, seed, first, count, stops, keep):
    """The people who would have reached one random person, in samples ``first ...``; no set of one person.

    ``sampler`` is a ``ReverseSampler``. A set that comes to a person in ``stops`` is drawn no further, and is counted
    but not kept (these people are the sentinels of Guo, Wang, Wei and Chen, "Influence maximization revisited", SIGMOD
    2020). Returns the people of the other sets, set by set; where each set begins (with a closing entry); the number
    of sets that were stopped; and how many people were found in all. Without ``keep``, no set is kept.
    """
    offsets, contacts, probabilities, largest, per_gap, (at_most, guide, log_fail), alone, roots, root_guide = sampler
    n = len(alone)
    found_in = np.full(n, -1, dtype=np.int32)  # the last of these samples in which each person was found
    for person in stops:
        found_in[person] = MET
    queue = np.empty(n, dtype=np.uint32)
    members = np.empty(keep * 4 * count + 64, dtype=np.int32)
    starts = np.zeros(count + 1, dtype=np.int32)
    filled, kept, met = 0, 0, 0
    found = np.int64(0)
    for i in range(count):
        base = world_state(seed, first + i)
        root = draw_root(base, n, roots, root_guide)
        if found_in[root] == MET:
            met += 1
            continue
        found_in[root] = i
        queue[0] = root
        head, size = index(0), index(1)
        stopped = False
        while head < size and not stopped:
            person = index(queue[head])
            edge, end, state = index(offsets[person]), index(offsets[person + ONE]), stream(base, person)
            rate, p = 0.0, 1.0
            if len(per_gap):
                rate, p = per_gap[person], largest[person]
            bits = mix(state)
            if head == 0:
                bits = some_gap(bits, alone[person])
            edge += next_gap(bits, rate, at_most, guide, log_fail)
            while edge < end:
                live, state = is_live(edge, state + GOLDEN, probabilities, p)
                contact = index(contacts[edge])
                mark = found_in[contact]
                if live and mark != i:
                    if mark == MET:
                        stopped = True
                        break
                    found_in[contact] = i
                    queue[size] = contact
                    size += ONE
                edge += ONE + next_gap(mix(state), rate, at_most, guide, log_fail)
            head += ONE
        met += stopped
        found += np.int64(size)
        if keep and not stopped:
            members = grown(members, filled + np.int64(size))
            for j in range(size):
                members[filled] = queue[j]
                filled += 1
            kept += 1
            starts[kept] = filled
    return members[:filled].copy(), starts[: kept + 1].copy(), met, found


@kernel
def count_members(members, total):
    """Add the number of sets that each person is in to ``total``."""
    for person in members:
        total[index(person)] += 1


@kernel
def sets_of(row, rows, members, starts):
    """The sets of those people who have a ``row`` (others -1), row by row: where each row begins, and set numbers."""
    begins = np.zeros(rows + 1, dtype=np.int32)
    for person in members:
        place = row[index(person)]
        if place >= 0:
            begins[place + 1] += 1
    for place in range(rows):
        begins[place + 1] += begins[place]
    following = begins[:-1].copy()
    sets = np.empty(begins[rows], dtype=np.int32)
    for number in range(len(starts) - 1):
        for i in range(index(starts[number]), index(starts[number + 1])):
            place = row[index(members[i])]
            if place >= 0:
                sets[following[place]] = number
                following[place] += 1
    return begins, sets


@kernel
def cover_sets(sets, members, starts, covered, gains):
    """Cover some sets, and subtract those newly covered from the gains of the people in them."""
    for number in sets:
        if not covered[number]:
            covered[number] = True
            for i in range(index(starts[number]), index(starts[number + 1])):
                gains[index(members[i])] -= 1
