"""Compiled loops of leader selection; ``worlds`` is the plain tuple of a :class:`claim.cascades.Worlds`."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import index, kernel


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
def pick_covering(k, must, free, priority, gains, by_size, members, starts, offsets, numbers):
    """Greedy coverage of groups: the people of ``must``, then the largest gain until there are ``k`` leaders.

    ``numbers[offsets[u]:offsets[u + 1]]`` are the groups of person ``u``. A group counts once, or ``by_size`` as many
    times as it has members. Returns the leaders and, unless ``by_size``, an upper bound on the groups that any ``k``
    people cover: at each pick those covered so far plus the largest gains left. Changes ``gains`` and ``free``.
    """
    covered = np.zeros(len(starts) - 1, dtype=np.bool_)
    leaders = np.empty(k, dtype=np.int64)
    reached = 0
    count = 0
    bound = len(covered)
    while True:
        if not by_size and count >= len(must):
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
        for group in numbers[offsets[person] : offsets[person + 1]]:
            if not covered[group]:
                covered[group] = True
                begin, end = starts[group], starts[group + 1]
                weight = end - begin if by_size else 1
                for i in range(index(begin), index(end)):
                    gains[index(members[i])] -= weight
    return leaders[:count], bound


@kernel
def largest_sum(gains, free, count):
    """The sum of the ``count`` largest gains among the free; gains are at least 0.

    The smallest gain that counts is found by bisection: ``np.partition`` takes four seconds to compile.
    """
    least, most = 0, 0
    for gain in gains:
        most = max(most, gain)
    while least < most:
        middle = (least + most + 1) // 2
        larger = 0
        for person in range(len(gains)):
            larger += free[person] and gains[person] >= middle
        if larger >= count:
            least = middle
        else:
            most = middle - 1
    total = 0
    for person in range(len(gains)):
        if free[person] and gains[person] > least:
            total += gains[person]
            count -= 1
    return total + count * least


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
