"""Compiled loops of leader selection."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import draw_live_edges, join_live_edges, kernel, part_again, union_space


@kernel
def first_gains(n, samples, members, starts):
    """How many people each person alone reaches, summed over all worlds."""
    gains = np.full(n, samples, dtype=np.int64)
    for component in range(len(starts) - 1):
        begin, end = starts[component], starts[component + 1]
        for i in range(begin, end):
            gains[members[i]] += end - begin - 1
    return gains


@kernel
def cover(person, gains, covered, members, starts, member_offsets, member_numbers):
    """Take the components of a new leader out of everybody's gains."""
    for i in range(member_offsets[person], member_offsets[person + 1]):
        component = member_numbers[i]
        if not covered[component]:
            covered[component] = True
            begin, end = starts[component], starts[component + 1]
            for j in range(begin, end):
                gains[members[j]] -= end - begin


@kernel
def best_candidate(gains, allowed, priority):
    """The allowed person of the largest gain; among equals the one of the highest priority; -1 if nobody is left."""
    best = -1
    for person in range(len(gains)):
        if allowed[person] and (
            best < 0
            or gains[person] > gains[best]
            or (gains[person] == gains[best] and priority[person] > priority[best])
        ):
            best = person
    return best


@kernel
def pick_covering(k, must, allowed, priority, gains, members, starts, member_offsets, member_numbers):
    """The people of ``must``, then whoever gains the most until there are ``k``; spends ``gains`` and ``allowed``."""
    covered = np.zeros(len(starts) - 1, dtype=np.bool_)
    leaders = np.empty(k, dtype=np.int64)
    count = 0
    while count < k:
        person = must[count] if count < len(must) else best_candidate(gains, allowed, priority)
        if person < 0:
            break
        leaders[count] = person
        count += 1
        allowed[person] = False
        cover(person, gains, covered, members, starts, member_offsets, member_numbers)
    return leaders[:count]


@kernel
def replayed_gains(n, sources, targets, thinned, p, table, seed, first_world, worlds, leaders):
    """Gains given the leaders so far; worlds are drawn again and forgotten, so memory does not grow with them."""
    gains = np.full(n, worlds, dtype=np.int64)
    parent, size, seen, touched = union_space(n)
    live = np.empty(len(sources) + 1, dtype=np.int32)
    for i in range(worlds):
        count = draw_live_edges(len(sources), thinned, p, table, seed, first_world + i, live)
        people = join_live_edges(sources, targets, live, count, i, parent, size, seen, touched)
        for leader in leaders:
            size[parent[leader]] = 0  # nothing more to gain in this component
        for j in range(people):
            gains[touched[j]] += size[parent[touched[j]]] - 1
        part_again(people, parent, size, touched)
    return gains


@kernel
def replayed_components(
    n, sources, targets, thinned, p, table, seed, first_world, leaders, shortlist, roots, sizes
):  # fmt: skip
    """Worlds drawn again: which component each shortlisted person is in, and its size (0 if a leader is in it)."""
    parent, size, seen, touched = union_space(n)
    live = np.empty(len(sources) + 1, dtype=np.int32)
    for i in range(len(roots)):
        count = draw_live_edges(len(sources), thinned, p, table, seed, first_world + i, live)
        people = join_live_edges(sources, targets, live, count, i, parent, size, seen, touched)
        for j in range(len(shortlist)):
            roots[i, j] = parent[shortlist[j]]
            sizes[i, j] = max(size[parent[shortlist[j]]], 1)
        for leader in leaders:
            for j in range(len(shortlist)):
                if roots[i, j] == parent[leader]:
                    sizes[i, j] = 0
        part_again(people, parent, size, touched)


@kernel
def pick_from_shortlist(k, bound, priority, roots, sizes):
    """Up to ``k`` picks (positions in the shortlist), as long as they gain more than ``bound``; at least one.

    The first is the first of the list: it was sorted by what everybody gains at this point.
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
