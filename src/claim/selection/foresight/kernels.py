"""Compiled loops of foresight."""

import numpy as np

from claim.cascades.kernels import find, kernel

# mypy: disable-error-code="no-untyped-def,untyped-decorator"


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


# mypy: disable-error-code="no-untyped-def,untyped-decorator"


STILL = 14  # features that do not change while leaders are picked


@kernel
def seen_components(offsets, contacts):
    """The number of the seen component of each person, and the size of each."""
    n = len(offsets) - 1
    parent = np.arange(n)
    for person in range(n):
        for i in range(offsets[person], offsets[person + 1]):
            a, b = find(parent, person), find(parent, contacts[i])
            parent[max(a, b)] = min(a, b)
    size = np.zeros(n, dtype=np.int64)
    for person in range(n):
        parent[person] = find(parent, person)
        size[parent[person]] += 1
    return parent, size


@kernel
def surveyed_around(surveyed, offsets, contacts):
    """For each person the number of surveyed contacts and the sum of the logarithms of their degrees."""
    n = len(surveyed)
    count, logs = np.zeros(n), np.zeros(n)
    for person in range(n):
        for i in range(offsets[person], offsets[person + 1]):
            contact = contacts[i]
            if surveyed[contact]:
                count[person] += 1
                logs[person] += np.log(offsets[contact + 1] - offsets[contact])
    return count, logs


@kernel
def ties_among(people, mark, stamp, offsets, contacts):
    """How many pairs of the people are contacts of one another."""
    for person in people:
        mark[person] = stamp
    ties = 0
    for person in people:
        for i in range(offsets[person], offsets[person + 1]):
            ties += mark[contacts[i]] == stamp
    return ties // 2


@kernel
def still_features(who, surveyed, start, size, offsets, contacts, component, people_in):
    """Rows of the features that do not change; ``who`` stands for each class, ``size`` is the number of its people."""
    count, logs = surveyed_around(surveyed, offsets, contacts)
    rows = np.zeros((len(who), STILL))
    mark = np.full(len(surveyed), -1, dtype=np.int64)
    for row in range(len(who)):
        person = who[row]
        around = contacts[offsets[person] : offsets[person + 1]]
        namers = around[surveyed[around]]
        out = rows[row]
        siblings, sibling_logs = 0.0, 0.0
        own = np.log(max(offsets[person + 1] - offsets[person], 1)) if surveyed[person] else 0.0
        for w in namers:
            d = float(offsets[w + 1] - offsets[w])
            out[1] += 1.0 / d
            out[2] = max(out[2], 1.0 / d)
            out[3] = max(out[3], np.log(d))
            out[4] += np.log(d)
            out[5] += start[w]
            siblings += count[w] - surveyed[person]
            sibling_logs += logs[w] - own
        out[0] = len(namers)
        if len(namers):
            out[4] /= len(namers)
            out[5] /= len(namers)
        out[6] = np.log(people_in[component[person]])
        out[7] = ties_among(namers, mark, row, offsets, contacts)
        out[8] = sibling_logs / siblings if siblings > 0 else -1.0
        out[9] = siblings
        out[10] = surveyed[person]
        out[11] = offsets[person + 1] - offsets[person] if surveyed[person] else 0.0
        out[12] = np.log(size[row])
        out[13] = start[person]
    return rows


@kernel
def overlap_features(who, picked, picked_around, picked_in, surveyed, offsets, contacts, component):
    """What the leaders so far have to do with each candidate.

    Over the surveyed contacts w of a candidate: leaders among the contacts of w, the same divided by d(w), and how many
    w are leaders; then leaders among the candidate's own contacts and in the seen component.
    """
    rows = np.zeros((len(who), 5))
    for row in range(len(who)):
        person = who[row]
        for i in range(offsets[person], offsets[person + 1]):
            w = contacts[i]
            if surveyed[w]:
                rows[row, 0] += picked_around[w]
                rows[row, 1] += picked_around[w] / (offsets[w + 1] - offsets[w])
                rows[row, 2] += picked[w]
        rows[row, 3] = picked_around[person]
        rows[row, 4] = picked_in[component[person]]
    return rows


@kernel
def component_totals(weights, members, starts):
    """The summed weights of each component, for each column of weights, and a last column of ones."""
    columns = weights.shape[1]
    totals = np.zeros((len(starts) - 1, columns + 1))
    for component in range(len(starts) - 1):
        for i in range(starts[component], starts[component + 1]):
            for j in range(columns):
                totals[component, j] += weights[members[i], j]
        totals[component, columns] = 1.0
    return totals


@kernel
def first_totals(samples, weights, totals, members, starts, member_offsets):
    """What each person alone reaches, summed over the worlds, for each column of the totals."""
    n, columns = weights.shape
    reach = np.zeros((n, columns + 1))
    for person in range(n):
        alone = samples - (member_offsets[person + 1] - member_offsets[person])
        for j in range(columns):
            reach[person, j] = alone * weights[person, j]
        reach[person, columns] = alone
    for component in range(len(starts) - 1):
        for i in range(starts[component], starts[component + 1]):
            for j in range(columns + 1):
                reach[members[i], j] += totals[component, j]
    return reach


@kernel
def cover_totals(person, attendance, residual, totals, reach, members, starts, member_offsets, member_numbers):
    """Take what a new leader covers out of what everybody reaches; ``residual`` is brought up to date elsewhere."""
    for i in range(member_offsets[person], member_offsets[person + 1]):
        component = member_numbers[i]
        taken = attendance * residual[component]
        if taken > 0.0:
            for j in range(starts[component], starts[component + 1]):
                for column in range(totals.shape[1]):
                    reach[members[j], column] -= taken * totals[component, column]


@kernel
def mean_rows(values, left, group, groups):
    """The mean row over the people left in each class; zeros where nobody is left."""
    means = np.zeros((groups, values.shape[1]))
    count = np.zeros(groups, dtype=np.int64)
    for person in range(len(values)):
        if left[person]:
            count[group[person]] += 1
            for j in range(values.shape[1]):
                means[group[person], j] += values[person, j]
    for g in range(groups):
        if count[g]:
            means[g] /= count[g]
    return means
