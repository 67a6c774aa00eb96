"""Compiled loops of the cascades; ``claim.cascades.reference`` says the same in readable Python.

Kernels release the interpreter lock and take a range of worlds, so that threads can share the work; which thread does
what never changes a result, because every world draws its own coins.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np
from numba import njit

from claim.cascades.coins import _GOLDEN, gap_within, stream, uniform, world_state

kernel = njit(cache=True, nogil=True)


@kernel
def spread(offsets, contacts, thinned, p, table, leaders, seed, first_world, worth, expected, reach, surprise):
    """Cascades from the leaders in worlds ``first_world ...``.

    ``reach[i]`` becomes the number of people reached. ``surprise[i]`` becomes the worth of all contacts behind live
    edges of reached people, minus what was to be expected of these people; its mean is 0.
    """
    n = len(offsets) - 1
    active_in = np.full(n, -1, dtype=np.int32)  # the last of these worlds in which each person was active
    queue = np.empty(n, dtype=np.int32)
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        luck = 0.0
        count = 0
        for leader in leaders:
            active_in[leader] = i
            queue[count] = leader
            count += 1
        head = 0
        while head < count:
            person = queue[head]
            head += 1
            luck -= expected[person]
            position, end = offsets[person], offsets[person + 1]
            state = stream(base, person)
            while position < end:
                position += gap_within(uniform(state), end - position, table)
                if position >= end:
                    break
                state += _GOLDEN
                live = True
                if len(thinned):
                    live = uniform(state) * p <= thinned[position]
                    state += _GOLDEN
                contact = contacts[position]
                position += 1
                if live:
                    luck += worth[contact]
                    if active_in[contact] != i:
                        active_in[contact] = i
                        queue[count] = contact
                        count += 1
        reach[i] = count
        surprise[i] = luck


@kernel
def find(parent, person):
    """The root of a person's component, halving the path on the way."""
    while parent[person] != person:
        parent[person] = parent[parent[person]]
        person = parent[person]
    return person


@kernel
def join_live_edges(sources, targets, thinned, p, table, seed, world, parent, size, touched):
    """Union the live edges of one world; ``parent`` must be -1 everywhere. Returns how many people were touched."""
    state = stream(world_state(seed, world), 0)
    count = 0
    position = 0
    edges = len(sources)
    while position < edges:
        position += gap_within(uniform(state), edges - position, table)
        if position >= edges:
            break
        state += _GOLDEN
        live = True
        if len(thinned):
            live = uniform(state) * p <= thinned[position]
            state += _GOLDEN
        if live:
            u, v = sources[position], targets[position]
            for person in (u, v):
                if parent[person] < 0:
                    parent[person] = person
                    size[person] = 1
                    touched[count] = person
                    count += 1
            a, b = find(parent, u), find(parent, v)
            if a != b:
                if size[a] < size[b]:
                    a, b = b, a
                parent[b] = a
                size[a] += size[b]
        position += 1
    return count


@kernel
def grown(array, needed):
    """The array, or a copy at least twice as long if ``needed`` entries do not fit."""
    if needed <= len(array):
        return array
    larger = np.empty(max(2 * len(array), needed), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def draw_components(n, sources, targets, thinned, p, table, seed, first_world, worlds):
    """Components of two or more people in each world.

    Returns ``members`` (people, component by component), ``starts`` (where each component begins in ``members``) and
    ``world_starts`` (the first component of each world), the last two with a closing entry.
    """
    parent = np.full(n, -1, dtype=np.int32)
    size = np.empty(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    place = np.full(n, -1, dtype=np.int64)  # of a root: where its component's next member goes
    guess = int(worlds * p * len(sources)) + 64
    members = np.empty(guess, dtype=np.int32)
    starts = np.empty(guess // 2 + 1, dtype=np.int64)
    world_starts = np.empty(worlds + 1, dtype=np.int64)
    filled = 0
    found = 0
    for i in range(worlds):
        world_starts[i] = found
        count = join_live_edges(sources, targets, thinned, p, table, seed, first_world + i, parent, size, touched)
        members = grown(members, filled + count)
        starts = grown(starts, found + count + 1)
        for j in range(count):
            person = touched[j]
            root = find(parent, person)
            if place[root] < 0:
                starts[found] = filled
                found += 1
                place[root] = filled
                filled += size[root]
            members[place[root]] = person
            place[root] += 1
        for j in range(count):
            parent[touched[j]] = -1
            place[touched[j]] = -1
    world_starts[worlds] = found
    starts[found] = filled
    return members[:filled].copy(), starts[: found + 1].copy(), world_starts


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
def reach_in_worlds(leaders, starts, world_starts, member_offsets, member_numbers, reach):
    """``reach[w]`` becomes the number of people in the leaders' components in world ``w``."""
    k = len(leaders)
    position = np.empty(k, dtype=np.int64)
    for j in range(k):
        position[j] = member_offsets[leaders[j]]
    met = np.empty(k, dtype=np.int32)
    for world in range(len(reach)):
        last = world_starts[world + 1]
        people = k
        different = 0
        for j in range(k):
            i = position[j]
            if i < member_offsets[leaders[j] + 1] and member_numbers[i] < last:
                component = member_numbers[i]
                position[j] = i + 1
                people -= 1  # counted with the component instead
                new = True
                for slot in range(different):
                    if met[slot] == component:
                        new = False
                        break
                if new:
                    met[different] = component
                    different += 1
                    people += starts[component + 1] - starts[component]
        reach[world] = people
