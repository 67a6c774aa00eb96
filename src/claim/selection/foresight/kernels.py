"""Compiled loops of foresight; ``worlds`` is the plain tuple of a :class:`claim.cascades.Worlds`."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import kernel


@kernel
def discount_siblings(person, factor, beyond, surveyed, offsets, contacts):
    """For every surveyed contact of a leader, multiply the hidden reach of their other unsurveyed contacts."""
    for i in range(offsets[person], offsets[person + 1]):
        namer = contacts[i]
        if surveyed[namer]:
            for j in range(offsets[namer], offsets[namer + 1]):
                sibling = contacts[j]
                if sibling != person and not surveyed[sibling]:
                    beyond[sibling] *= factor


@kernel
def common_contacts(surveyed, offsets, contacts):
    """Over all pairs of surveyed contacts: their common contacts, and how many they could have at most."""
    mark = np.full(len(surveyed), -1, dtype=np.int64)
    common = 0
    possible = 0
    for one in range(len(surveyed)):
        if surveyed[one]:
            for i in range(offsets[one], offsets[one + 1]):
                mark[contacts[i]] = one
            for i in range(offsets[one], offsets[one + 1]):
                other = contacts[i]
                if other > one and surveyed[other]:
                    possible += min(offsets[one + 1] - offsets[one], offsets[other + 1] - offsets[other]) - 1
                    for j in range(offsets[other], offsets[other + 1]):
                        common += mark[contacts[j]] == one
    return common, possible


@kernel
def true_gains(worlds, people, row_of, rows, most, covered):
    """The mean number of people that the people of each row add in the true worlds; at most ``most`` of a row count."""
    _, samples, _, starts, _, offsets, numbers = worlds
    total = np.zeros(rows)
    count = np.zeros(rows, dtype=np.int64)
    for i in range(len(people)):
        person, row = people[i], row_of[i]
        if count[row] < most:
            count[row] += 1
            total[row] += samples - (offsets[person + 1] - offsets[person])
            for component in numbers[offsets[person] : offsets[person + 1]]:
                if not covered[component]:
                    total[row] += starts[component + 1] - starts[component]
    return total / (np.maximum(count, 1) * samples)


@kernel
def ties_of_namers(member, surveyed, offsets, contacts):
    """How many pairs of the surveyed contacts of each ``member`` are contacts of one another."""
    ties = np.zeros(len(member), dtype=np.int64)
    mark = np.full(len(surveyed), -1, dtype=np.int64)
    for row in range(len(member)):
        around = contacts[offsets[member[row]] : offsets[member[row] + 1]]
        namers = around[surveyed[around]]
        mark[namers] = row
        for namer in namers:
            for contact in contacts[offsets[namer] : offsets[namer + 1]]:
                ties[row] += mark[contact] == row
    return ties // 2


@kernel
def first_totals(worlds, weights):
    """The totals of each component, and what each person alone reaches, summed over the worlds.

    Of shape (components, columns + 1) and (n, columns + 1): a column for each of ``weights`` and a last one that
    counts components.
    """
    _, samples, members, starts, _, offsets, _ = worlds
    n, columns = weights.shape
    totals = np.ones((len(starts) - 1, columns + 1))
    reach = np.zeros((n, columns + 1))
    for person in range(n):
        alone = samples - (offsets[person + 1] - offsets[person])
        for j in range(columns):
            reach[person, j] = alone * weights[person, j]
        reach[person, columns] = alone
    for component in range(len(totals)):
        begin, end = starts[component], starts[component + 1]
        for j in range(columns):
            total = 0.0
            for i in range(begin, end):
                total += weights[members[i], j]
            totals[component, j] = total
        for i in range(begin, end):
            for j in range(columns + 1):
                reach[members[i], j] += totals[component, j]
    return totals, reach


@kernel
def cover_totals(worlds, person, attendance, uncovered, totals, reach):
    """Subtract what a new leader covers from what each person reaches; ``uncovered`` is updated elsewhere."""
    _, _, members, starts, _, offsets, numbers = worlds
    for k in range(offsets[person], offsets[person + 1]):
        component = numbers[k]
        taken = attendance * uncovered[component]
        if taken > 0.0:
            for i in range(starts[component], starts[component + 1]):
                for j in range(totals.shape[1]):
                    reach[members[i], j] -= taken * totals[component, j]
