"""Compiled loops of foresight; ``claim.selection.foresight.reference`` says the same in readable Python."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from claim.cascades.kernels import kernel


@kernel
def expected_gains(samples, weights, residual, members, starts, member_offsets):
    """The weight each person reaches beyond what is covered, on average over the worlds.

    ``residual[c]`` is the chance that nobody chosen so far has covered component ``c``. Components of one person are
    not stored: in all worlds in which a person is in no component they reach themselves.
    """
    n = len(weights)
    gains = np.empty(n)
    for person in range(n):
        gains[person] = (samples - (member_offsets[person + 1] - member_offsets[person])) * weights[person]
    for component in range(len(starts) - 1):
        if residual[component] > 0.0:
            begin, end = starts[component], starts[component + 1]
            total = 0.0
            for i in range(begin, end):
                total += weights[members[i]]
            total *= residual[component]
            for i in range(begin, end):
                gains[members[i]] += total
    for person in range(n):
        gains[person] /= samples
    return gains


@kernel
def cover_components(person, attendance, residual, member_offsets, member_numbers):
    """A new leader covers their components if they come."""
    for i in range(member_offsets[person], member_offsets[person + 1]):
        residual[member_numbers[i]] *= 1.0 - attendance


@kernel
def class_means(values, left, group, groups):
    """The mean value over the people left in each class; 0 where nobody is left.

    Members of a class differ by nothing but the luck of the worlds drawn; with it the largest of many would look better
    than it is.
    """
    means = np.zeros(groups)
    count = np.zeros(groups, dtype=np.int64)
    for person in range(len(values)):
        if left[person]:
            means[group[person]] += values[person]
            count[group[person]] += 1
    return means / np.maximum(count, 1)


@kernel
def discount_siblings(person, factor, hidden, surveyed, offsets, contacts):
    """For every surveyed contact of a leader, take a part off what their other unsurveyed contacts are worth."""
    for i in range(offsets[person], offsets[person + 1]):
        namer = contacts[i]
        if surveyed[namer]:
            for j in range(offsets[namer], offsets[namer + 1]):
                sibling = contacts[j]
                if sibling != person and not surveyed[sibling]:
                    hidden[sibling] *= factor


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
def true_gains(people, row_of, rows, most, covered, samples, starts, member_offsets, member_numbers):
    """The mean number of people that the people of each row add in the true worlds; at most ``most`` of a row count."""
    total = np.zeros(rows)
    count = np.zeros(rows, dtype=np.int64)
    for i in range(len(people)):
        person, row = people[i], row_of[i]
        if count[row] < most:
            count[row] += 1
            total[row] += samples - (member_offsets[person + 1] - member_offsets[person])
            for j in range(member_offsets[person], member_offsets[person + 1]):
                component = member_numbers[j]
                if not covered[component]:
                    total[row] += starts[component + 1] - starts[component]
    return total / (np.maximum(count, 1) * samples)
