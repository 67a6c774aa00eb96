"""Compiled loops of the cascades; ``claim.cascades.reference`` says the same in readable Python.

Kernels release the interpreter lock and take a range of worlds, so that threads can share the work; which thread does
what never changes a result, because every world draws its own coins.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np
from numba import njit

from claim.cascades.coins import _GOLDEN, gap, stream, uniform, world_state

kernel = njit(cache=True, nogil=True)


@kernel
def spread(
    offsets, contacts, thinned, p, table, leaders, seed, first_world, symmetric, worth, expected, reach, surprise
):  # fmt: skip
    """Cascades from the leaders in worlds ``first_world ...``.

    ``reach[i]`` becomes the number of people reached. ``surprise[i]`` becomes the worth of all contacts behind live
    edges of reached people, minus what was to be expected of these people; its mean is 0. On a symmetric network the
    edge back to whoever reached a person is left out on both sides: it leads nowhere and would only add noise.
    """
    power, guide, log_fail = table
    n = len(offsets) - 1
    active_in = np.full(n, -1, dtype=np.int32)  # the last of these worlds in which each person was active
    queue = np.empty(n, dtype=np.int32)
    reached_by = np.empty(n, dtype=np.int32)
    worth_back = np.empty(n)  # what the edge back adds to the expectation
    for i in range(len(reach)):
        base = world_state(seed, first_world + i)
        luck = 0.0
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
            luck -= expected[person] - worth_back[person]
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
                if live and contact != reached_by[person]:
                    luck += worth[contact]
                    if active_in[contact] != i:
                        active_in[contact] = i
                        reached_by[contact] = person if symmetric else -1
                        worth_back[contact] = worth[person] * (thinned[position] if len(thinned) else p) * symmetric
                        queue[count] = contact
                        count += 1
                position += 1 + gap(uniform(state), power, guide, log_fail)
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
def draw_live_edges(edges, thinned, p, table, seed, world, live):
    """Write the positions of the live ones among the edges of a world to ``live``; returns how many there are."""
    power, guide, log_fail = table
    state = stream(world_state(seed, world), 0)
    count = 0
    position = gap(uniform(state), power, guide, log_fail)
    while position < edges:
        state += _GOLDEN
        live[count] = position
        if len(thinned):
            count += uniform(state) * p <= thinned[position]
            state += _GOLDEN
        else:
            count += 1
        position += 1 + gap(uniform(state), power, guide, log_fail)
    return count


@kernel
def join_live_edges(sources, targets, live, count, mark, parent, size, seen, touched):
    """Union ``count`` live edges and return how many people they touch.

    Afterwards ``parent`` of a touched person is the root of their component, and ``size`` of a root its size. Between
    worlds ``parent`` is everybody's own index and ``size`` is 0 (see :func:`part_again`); ``mark`` is new in each
    world. Appending without a branch and linking to the smaller index save mispredicted jumps, most of the cost here.
    """
    people = 0
    for i in range(count):
        u, v = sources[live[i]], targets[live[i]]
        for person in (u, v):
            touched[people] = person
            people += seen[person] != mark
            seen[person] = mark
        a, b = find(parent, u), find(parent, v)
        parent[max(a, b)] = min(a, b)
    for i in range(people):
        root = find(parent, touched[i])
        parent[touched[i]] = root
        size[root] += 1
    return people


@kernel
def part_again(people, parent, size, touched):
    """Undo the unions of a world."""
    for i in range(people):
        person = touched[i]
        parent[person] = person
        size[person] = 0


@kernel
def union_space(n):
    """Arrays for :func:`join_live_edges`: ``parent``, ``size``, ``seen`` and ``touched``."""
    return (
        np.arange(n).astype(np.int32),
        np.zeros(n, dtype=np.int32),
        np.full(n, -1, dtype=np.int32),
        np.empty(n + 1, dtype=np.int32),
    )


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
    parent, size, seen, touched = union_space(n)
    live = np.empty(len(sources) + 1, dtype=np.int32)
    place = np.empty(n, dtype=np.int64)  # of a root: where its component's next member goes
    expected = thinned.sum() if len(thinned) else p * len(sources)
    guess = int(1.5 * worlds * expected) + 64  # rarely exceeded, and memory that is not written to costs nothing
    members = np.empty(guess, dtype=np.int32)
    starts = np.empty(guess // 2 + 1, dtype=np.int64)
    world_starts = np.empty(worlds + 1, dtype=np.int64)
    filled = 0
    found = 0
    for i in range(worlds):
        world_starts[i] = found
        count = draw_live_edges(len(sources), thinned, p, table, seed, first_world + i, live)
        people = join_live_edges(sources, targets, live, count, i, parent, size, seen, touched)
        members = grown(members, filled + people)
        starts = grown(starts, found + people + 1)
        for j in range(people):
            person = touched[j]
            starts[found] = filled  # kept only if this is a root; everybody else's size is 0
            place[person] = filled
            found += parent[person] == person
            filled += size[person]
        for j in range(people):
            root = parent[touched[j]]
            members[place[root]] = touched[j]
            place[root] += 1
        part_again(people, parent, size, touched)
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
