"""Compiled loops of leader selection."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import find, join_live_edges, kernel


@kernel
def first_gains(samples, starts, member_offsets, member_numbers):
    """How many people each person alone reaches, summed over all worlds."""
    n = len(member_offsets) - 1
    gains = np.empty(n, dtype=np.int64)
    for person in range(n):
        total = samples
        for i in range(member_offsets[person], member_offsets[person + 1]):
            component = member_numbers[i]
            total += starts[component + 1] - starts[component] - 1
        gains[person] = total
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
def replayed_gains(n, sources, targets, thinned, p, table, seed, first_world, worlds, leaders):
    """Gains given the leaders so far; worlds are drawn again and forgotten, so memory does not grow with them."""
    gains = np.full(n, worlds, dtype=np.int64)
    parent = np.full(n, -1, dtype=np.int32)
    size = np.empty(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    for i in range(worlds):
        count = join_live_edges(sources, targets, thinned, p, table, seed, first_world + i, parent, size, touched)
        for leader in leaders:
            if parent[leader] >= 0:
                size[find(parent, leader)] = 0  # nothing more to gain in this component
        for j in range(count):
            gains[touched[j]] += size[find(parent, touched[j])] - 1
        for j in range(count):
            parent[touched[j]] = -1
    return gains
